package api

func (s *Server) addMonitoring(*request) (any, error) { return nil, errNotOffered }

func (s *Server) listMonitoring(*request) (any, error) { return nil, errNotOffered }

func (s *Server) removeMonitoring(*request) (any, error) { return nil, errNotOffered }
