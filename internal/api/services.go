package api

// serviceList is the answer of GET /cyber/services.
type serviceList struct {
	Services []serviceItem `json:"services"`
}

type serviceItem struct {
	ID          string `json:"_id"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

func (s *Server) listServices(r *request) (any, error) {
	offered, err := s.Rules.Services.Offered(r.ctx)
	if err != nil {
		return nil, err
	}
	list := serviceList{Services: make([]serviceItem, len(offered))}
	for i, sv := range offered {
		list.Services[i] = serviceItem{ID: string(sv.ID), Name: sv.Name, Description: sv.Description}
	}
	return list, nil
}
