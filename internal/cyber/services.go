// Package cyber holds the rules of the /cyber area: what a partner may ask for a person, and what the answer is.
//
// Its files are named after the path segments of the API. It knows neither HTTP nor SQL nor any sentence a partner
// reads, and it declares the small interfaces that the store fulfils.
package cyber

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// ServiceID names a support service.
type ServiceID string

// Service is something a person can get help with. The catalogue is the operator's and the same for every partner.
type Service struct {
	ID          ServiceID
	Name        string
	Description string
	// Position orders the catalogue.
	Position int64
	// Retired services are not offered any more; cases opened for them keep their name.
	Retired   bool
	CreatedAt time.Time
}

// Faults of the service catalogue.
var (
	ErrServiceNotFound = fault.New(fault.NotFound, "service.not_found")
	ErrServiceInvalid  = fault.New(fault.Invalid, "service.invalid")
)

// ServiceStore keeps the catalogue.
type ServiceStore interface {
	// ListServices returns the catalogue in order, retired services too.
	ListServices(ctx context.Context) ([]Service, error)
	InsertService(ctx context.Context, s Service) error
	UpdateService(ctx context.Context, id ServiceID, change func(*Service) error) (Service, error)
	// SeedServices keeps the list if the catalogue has never had an entry.
	SeedServices(ctx context.Context, list []Service) error
}

// Services is the catalogue of support services.
type Services struct {
	store ServiceStore
	now   func() time.Time
	cache *offeredServices
}

// offeredServices is what was read last, shared by all who were made of one Services.
type offeredServices struct {
	mu     sync.Mutex
	cached []Service
	until  time.Time
}

// offeredFor is how long a list of services is answered from memory: a change by the operator shows within this time.
const offeredFor = 2 * time.Second

// NewServices joins the rules to a store and a clock.
func NewServices(store ServiceStore, now func() time.Time) *Services {
	return &Services{store: store, now: now, cache: &offeredServices{}}
}

// WithStore returns the same catalogue over another store: inside a transaction.
func (s *Services) WithStore(store ServiceStore) *Services {
	inside := *s
	inside.store = store
	return &inside
}

// ListOffered returns the services that cases can be opened for, in order. The list is shared: do not change it.
func (s *Services) ListOffered(ctx context.Context) ([]Service, error) {
	c := s.cache
	c.mu.Lock()
	defer c.mu.Unlock() // held while reading, so that an expired list is read once and not by every request
	now := s.now()
	if now.Before(c.until) {
		return c.cached, nil
	}
	all, err := s.store.ListServices(ctx)
	if err != nil {
		return nil, fmt.Errorf("list services: %w", err)
	}
	offered := make([]Service, 0, len(all))
	for _, sv := range all {
		if !sv.Retired {
			offered = append(offered, sv)
		}
	}
	c.cached, c.until = offered, now.Add(offeredFor)
	return offered, nil
}

// ListServices returns the whole catalogue, for the operator.
func (s *Services) ListServices(ctx context.Context) ([]Service, error) {
	return s.store.ListServices(ctx)
}

// AddService puts a service at the end of the catalogue.
func (s *Services) AddService(ctx context.Context, name, description string) (Service, error) {
	now := s.now()
	sv := Service{
		ID:          ServiceID("sv_" + uuid.Must(uuid.NewV7()).String()),
		Name:        name,
		Description: description,
		Position:    now.UnixMicro(),
		CreatedAt:   now,
	}
	if err := sv.checkService(); err != nil {
		return Service{}, err
	}
	if err := s.store.InsertService(ctx, sv); err != nil {
		return Service{}, fmt.Errorf("add service: %w", err)
	}
	s.forgetOffered()
	return sv, nil
}

// EditService changes a service's name, description or place.
func (s *Services) EditService(ctx context.Context, id ServiceID, edit func(*Service)) (Service, error) {
	sv, err := s.store.UpdateService(ctx, id, func(sv *Service) error {
		before := *sv
		edit(sv)
		sv.ID, sv.CreatedAt = before.ID, before.CreatedAt
		return sv.checkService()
	})
	s.forgetOffered()
	return sv, err
}

// RetireService takes a service out of the offer.
func (s *Services) RetireService(ctx context.Context, id ServiceID) (Service, error) {
	return s.EditService(ctx, id, func(sv *Service) { sv.Retired = true })
}

// forgetOffered has the next caller read the catalogue again.
func (s *Services) forgetOffered() {
	s.cache.mu.Lock()
	s.cache.until = time.Time{}
	s.cache.mu.Unlock()
}

// checkService refuses a service without a name or with texts that are too long.
func (sv *Service) checkService() error {
	sv.Name, sv.Description = strings.TrimSpace(sv.Name), strings.TrimSpace(sv.Description)
	return errors.Join(
		fault.When(!partner.IsPrintableLine(sv.Name, 1, 120), ErrServiceInvalid.With("name", fault.PlainLength, 120)),
		fault.When(
			!partner.Paragraphs(sv.Description, 1, 1000),
			ErrServiceInvalid.With("description", fault.TextLength, 1000),
		),
	)
}
