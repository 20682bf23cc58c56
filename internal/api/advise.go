package api

func (s *Server) advise(*request) (any, error) { return nil, errNotOffered }
