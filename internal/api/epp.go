package api

func (s *Server) issueKey(*request) (any, error) { return nil, errNotOffered }

func (s *Server) listDevices(*request) (any, error) { return nil, errNotOffered }
