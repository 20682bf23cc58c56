package api

func (s *Server) checkPassword(*request) (any, error) { return nil, errNotOffered }
