package api

func (s *Server) score(*request) (any, error) { return nil, errNotOffered }
