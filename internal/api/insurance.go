package api

func (s *Server) insurance(*request) (any, error) { return nil, errNotOffered }
