package alert

import (
	"context"
	"crypto/rand"
	"io"
	"time"

	"github.com/google/uuid"

	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// StoredEndpoints is what callers ask of the store itself: no rule stands between.
type StoredEndpoints interface {
	// ListEndpoints lists a partner's endpoints, oldest first; EndpointByID returns one of them.
	ListEndpoints(ctx context.Context, id partner.ID) ([]Endpoint, error)
	EndpointByID(ctx context.Context, id partner.ID, endpoint EndpointID) (Endpoint, error)
	// FollowEndpoint has the deliveries of a disabled endpoint follow a change of its state, in as many transactions as
	// they need: before it is enabled what it missed is made due, after it was disabled what waits is held. It changes
	// nothing that an enabled endpoint is sent. Callers that change the state in a larger transaction call it before
	// they enable and after they disable, so that the transaction stays short.
	FollowEndpoint(ctx context.Context, id partner.ID, endpoint EndpointID, to EndpointState) error
	// DeleteEndpoint forgets an endpoint with its deliveries and attempts; the events stay.
	DeleteEndpoint(ctx context.Context, id partner.ID, endpoint EndpointID) error
}

// EndpointStore is what the rules of endpoints need to keep.
type EndpointStore interface {
	// InsertEndpoint keeps a new endpoint unless the partner has limit of them.
	InsertEndpoint(ctx context.Context, id partner.ID, e Endpoint, limit int) error
	// EndpointOwner finds the partner of an endpoint, for the operator and for the public keys.
	EndpointOwner(ctx context.Context, endpoint EndpointID) (partner.ID, error)
	// UpdateEndpoint changes an endpoint. When its state changes, its deliveries follow: they are held, or pending
	// again. change may be called more than once.
	UpdateEndpoint(
		ctx context.Context, id partner.ID, endpoint EndpointID, change func(*Endpoint) error,
	) (Endpoint, error)
	// ClaimTest keeps a test event and its one delivery, which no dispatcher sends before the given time.
	ClaimTest(ctx context.Context, id partner.ID, endpoint EndpointID, until time.Time, e Event) (Delivery, error)
	RecordResults(ctx context.Context, worker string, results []Result) error
	StoredEndpoints
}

// Endpoints are the rules of webhook endpoints, for the command line and the console alike.
type Endpoints struct {
	StoredEndpoints
	store  EndpointStore
	now    func() time.Time
	random io.Reader
}

// NewEndpoints joins the rules to a store, a clock and a source of randomness (nil means the system's).
func NewEndpoints(store EndpointStore, now func() time.Time, random io.Reader) *Endpoints {
	if random == nil {
		random = rand.Reader
	}
	return &Endpoints{StoredEndpoints: store, store: store, now: now, random: random}
}

// AddressCheck says whether an address may be called at all; webhook.Guard does.
type AddressCheck interface {
	CheckTargetURL(ctx context.Context, url string) error
}

// CreateEndpoint registers an endpoint with a secret and a signing key of its own.
func (s *Endpoints) CreateEndpoint(
	ctx context.Context, id partner.ID, url string, types []string, guard AddressCheck,
) (Endpoint, error) {
	wanted, err := ParseTypes(types)
	if err != nil {
		return Endpoint{}, err
	}
	if err := guard.CheckTargetURL(ctx, url); err != nil {
		return Endpoint{}, err
	}
	keys, err := s.addNewKeys(nil, 0)
	if err != nil {
		return Endpoint{}, err
	}
	now := s.now()
	e := Endpoint{
		ID:        EndpointID("whe_" + uuid.Must(uuid.NewV7()).String()),
		Partner:   id,
		URL:       url,
		Types:     wanted,
		Keys:      keys,
		State:     Enabled,
		ChangedAt: now,
		CreatedAt: now,
	}
	return e, s.store.InsertEndpoint(ctx, id, e, MaxEndpoints)
}

// addNewKeys puts a new secret and a new signing key in front of a ring.
func (s *Endpoints) addNewKeys(ring webhook.Keyring, overlap time.Duration) (webhook.Keyring, error) {
	signing, err := webhook.NewSigningKey(s.random)
	if err != nil {
		return nil, err
	}
	secret, err := webhook.NewSecret(s.random)
	if err != nil {
		return nil, err
	}
	for _, k := range []webhook.Key{signing, secret} {
		if ring, err = ring.RotateKey(k, s.now(), overlap); err != nil {
			return nil, err
		}
	}
	return ring, nil
}

// maxOverlap is how long replaced keys may go on signing.
const maxOverlap = 7 * 24 * time.Hour

// RotateKeys replaces both keys. The old ones go on signing beside the new ones for overlap; zero ends them at once.
func (s *Endpoints) RotateKeys(
	ctx context.Context, id partner.ID, endpoint EndpointID, overlap time.Duration,
) (Endpoint, error) {
	if overlap < 0 || overlap > maxOverlap {
		return Endpoint{}, webhook.ErrKey.With("overlap", fault.HoursUpTo, int(maxOverlap/time.Hour))
	}
	return s.store.UpdateEndpoint(ctx, id, endpoint, func(e *Endpoint) (err error) {
		e.Keys, err = s.addNewKeys(e.Keys, overlap)
		return err
	})
}

// EnableEndpoint pushes again: first what was held and what failed since the trouble began, then what is new.
func (s *Endpoints) EnableEndpoint(ctx context.Context, id partner.ID, endpoint EndpointID) (Endpoint, error) {
	return s.store.UpdateEndpoint(ctx, id, endpoint, func(e *Endpoint) error {
		e.State, e.Reason = Enabled, ""
		return nil
	})
}

// DisableEndpoint stops pushing; events are held.
func (s *Endpoints) DisableEndpoint(ctx context.Context, id partner.ID, endpoint EndpointID) (Endpoint, error) {
	return s.store.UpdateEndpoint(ctx, id, endpoint, func(e *Endpoint) error {
		e.State, e.Reason = Disabled, ByOperator
		return nil
	})
}

// FindEndpoint returns one endpoint of any partner: only the operator and the public keys ask.
func (s *Endpoints) FindEndpoint(ctx context.Context, endpoint EndpointID) (Endpoint, error) {
	id, err := s.store.EndpointOwner(ctx, endpoint)
	if err != nil {
		return Endpoint{}, err
	}
	return s.store.EndpointByID(ctx, id, endpoint)
}

// PublicKeys returns the keys that verify what an endpoint is sent. They are public: the caller needs no rights.
func (s *Endpoints) PublicKeys(ctx context.Context, endpoint EndpointID) ([]string, error) {
	e, err := s.FindEndpoint(ctx, endpoint)
	if err != nil {
		return nil, err
	}
	return e.PublicKeys(s.now()), nil
}
