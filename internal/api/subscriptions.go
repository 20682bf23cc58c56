package api

func (s *Server) createSubscriptions(*request) (any, error) { return nil, errNotOffered }

func (s *Server) listSubscriptions(*request) (any, error) { return nil, errNotOffered }

func (s *Server) getSubscription(*request) (any, error) { return nil, errNotOffered }
