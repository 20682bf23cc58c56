package api

func (s *Server) openCase(*request) (any, error) { return nil, errNotOffered }
