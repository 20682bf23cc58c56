package alert

import (
	"context"
	"crypto/rand"
	"io"
	"net/http" // its client is handed on to webhook.Send; nothing here speaks HTTP
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// EndpointID names an endpoint: "whe_" and a UUIDv7.
type EndpointID string

// EndpointState tells whether events are pushed to an endpoint.
type EndpointState string

// The states. Events of a disabled endpoint are held and pushed when it is enabled again.
const (
	Enabled  EndpointState = "enabled"
	Disabled EndpointState = "disabled"
)

// Reason is why an endpoint is disabled.
type Reason string

// The reasons; empty while it is enabled.
const (
	ByOperator Reason = "operator"
	Gone       Reason = "gone"    // the receiver answered 410
	Failing    Reason = "failing" // nothing but failures for DeadAfter
)

// DeadAfter is how long an endpoint may do nothing but fail before it is disabled. It is longer than the 75 hours over
// which one event is tried, so that a weekend's outage never disables anything.
const DeadAfter = 5 * 24 * time.Hour

// MaxEndpoints bounds how many rows one event can become.
const MaxEndpoints = 50

// Endpoint is an address that a partner wants its events pushed to.
type Endpoint struct {
	ID      EndpointID
	Partner partner.ID
	URL     string
	// Types are those it wants; empty means all.
	Types []Type
	Keys  webhook.Keyring
	State EndpointState
	// Reason is why it is disabled.
	Reason Reason
	// FailingSince is the first failure after the last success; zero when the last attempt succeeded or there was none.
	FailingSince time.Time
	// ChangedAt moves with state and keys, so that other processes notice.
	ChangedAt time.Time
	CreatedAt time.Time
}

// IsFailing reports whether the endpoint gets nothing at present: its last try failed, or failures switched it off.
func (e Endpoint) IsFailing() bool {
	if e.State == Disabled {
		return e.Reason == Failing || e.Reason == Gone
	}
	return !e.FailingSince.IsZero()
}

// WantsType reports whether events of a type go to the endpoint.
func (e Endpoint) WantsType(t Type) bool { return len(e.Types) == 0 || slices.Contains(e.Types, t) }

// InitialDeliveryState returns the state in which a delivery to the endpoint begins, and begins anew.
func (e Endpoint) InitialDeliveryState() DeliveryState {
	if e.State == Disabled {
		return Held
	}
	return Pending
}

// Address returns where the endpoint is, without the query: receivers keep tokens there.
func (e Endpoint) Address() string {
	address, _, _ := strings.Cut(e.URL, "?")
	return address
}

// IsFailingTooLong reports whether a failure now is one too many.
func (e Endpoint) IsFailingTooLong(now time.Time) bool {
	return !e.FailingSince.IsZero() && now.Sub(e.FailingSince) >= DeadAfter
}

// Secret returns the current shared secret, in the form that a partner keeps.
func (e Endpoint) Secret() string {
	for _, k := range e.Keys {
		if s, ok := k.Key.(webhook.Secret); ok && k.Until.IsZero() {
			return s.Reveal()
		}
	}
	return ""
}

// PublicKeys returns the keys that verify v1a signatures made at now, newest first.
func (e Endpoint) PublicKeys(now time.Time) []string {
	var list []string
	for _, k := range e.Keys.LiveKeys(now) {
		if s, ok := k.(webhook.SigningKey); ok {
			list = append(list, s.PublicText())
		}
	}
	return list
}

// Faults of endpoints.
var (
	ErrEndpointNotFound = fault.New(fault.NotFound, "webhook.not_found")
	ErrTypes            = fault.New(fault.Invalid, "webhook.types_invalid")
	ErrTooManyEndpoints = fault.New(fault.Conflict, "webhook.too_many")
)

// EndpointStore is what the rules of endpoints need to keep.
type EndpointStore interface {
	// InsertEndpoint keeps a new endpoint unless the partner has limit of them.
	InsertEndpoint(ctx context.Context, id partner.ID, e Endpoint, limit int) error
	// EndpointOwner finds the partner of an endpoint, for the operator and for the public keys.
	EndpointOwner(ctx context.Context, endpoint EndpointID) (partner.ID, error)
	// UpdateEndpoint changes an endpoint. When its state changes, its deliveries follow: they are held, or pending
	// again. change may be called more than once.
	UpdateEndpoint(
		ctx context.Context,
		id partner.ID,
		endpoint EndpointID,
		change func(*Endpoint) error,
	) (Endpoint, error)
	// ClaimTest keeps a test event and its one delivery, which no dispatcher sends before the given time.
	ClaimTest(ctx context.Context, id partner.ID, endpoint EndpointID, until time.Time, e Event) (Delivery, error)
	RecordResults(ctx context.Context, worker string, results []Result) error
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

// Endpoints are the rules of webhook endpoints, for the command line and the console alike.
type Endpoints struct {
	store  EndpointStore
	now    func() time.Time
	random io.Reader
}

// NewEndpoints joins the rules to a store, a clock and a source of randomness (nil means the system's).
func NewEndpoints(store EndpointStore, now func() time.Time, random io.Reader) *Endpoints {
	if random == nil {
		random = rand.Reader
	}
	return &Endpoints{store: store, now: now, random: random}
}

// ListEndpoints lists a partner's endpoints, oldest first.
func (e *Endpoints) ListEndpoints(ctx context.Context, id partner.ID) ([]Endpoint, error) {
	return e.store.ListEndpoints(ctx, id)
}

// EndpointByID returns one endpoint of a partner.
func (e *Endpoints) EndpointByID(ctx context.Context, id partner.ID, endpoint EndpointID) (Endpoint, error) {
	return e.store.EndpointByID(ctx, id, endpoint)
}

// FollowEndpoint has the deliveries of a disabled endpoint follow a change of its state, in as many transactions as
// they need: before it is enabled what it missed is made due, after it was disabled what waits is held. It changes
// nothing that an enabled endpoint is sent. Callers that change the state in a larger transaction call it before
// they enable and after they disable, so that the transaction stays short.
func (e *Endpoints) FollowEndpoint(ctx context.Context, id partner.ID, endpoint EndpointID, to EndpointState) error {
	return e.store.FollowEndpoint(ctx, id, endpoint, to)
}

// DeleteEndpoint forgets an endpoint with its deliveries and attempts; the events stay.
func (e *Endpoints) DeleteEndpoint(ctx context.Context, id partner.ID, endpoint EndpointID) error {
	return e.store.DeleteEndpoint(ctx, id, endpoint)
}

// AddressCheck says whether an address may be called at all; webhook.Guard does.
type AddressCheck interface {
	CheckTargetURL(ctx context.Context, url string) error
}

// CreateEndpoint registers an endpoint with a secret and a signing key of its own.
func (s *Endpoints) CreateEndpoint(
	ctx context.Context,
	id partner.ID,
	url string,
	types []string,
	guard AddressCheck,
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
	ctx context.Context,
	id partner.ID,
	endpoint EndpointID,
	overlap time.Duration,
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

// testTime is longer than an attempt can last.
const testTime = 30 * time.Second

// SendTestEvent sends a sample of a type to one endpoint now, whatever its filter and state, and returns the result. It
// is not retried: the caller sees the result.
//
// What is kept is a webhook.test of the same id: the feed, the statistics and a replay must never show a leak or an end
// that did not happen.
func (s *Endpoints) SendTestEvent(
	ctx context.Context,
	id partner.ID,
	endpoint EndpointID,
	t Type,
	client *http.Client,
) (webhook.Outcome, EventID, error) {
	if err := CheckType(t); err != nil {
		return webhook.Outcome{}, "", err
	}
	e, err := s.store.EndpointByID(ctx, id, endpoint)
	if err != nil {
		return webhook.Outcome{}, "", err
	}
	event := NewEvent(id, WebhookTest, "", s.now(), Test{SampleOf: sampledType(t)})
	worker := "t_" + rand.Text()
	d, err := s.store.ClaimTest(ctx, id, endpoint, s.now().Add(testTime), event)
	if err != nil {
		return webhook.Outcome{}, "", err
	}
	if d.Body, err = event.sampleOf(t).MarshalBody(); err != nil {
		return webhook.Outcome{}, "", err
	}
	at := s.now()
	outcome := webhook.SendAttempt(ctx, client, webhook.Attempt{
		URL: e.URL, EventID: string(d.Event), At: at, Body: d.Body, Keys: e.Keys.LiveKeys(at),
	})
	r := Result{Delivery: d, At: at, Outcome: &outcome, State: DeliveryFailed, Attempts: 1, Now: s.now()}
	if webhook.JudgeOutcome(outcome).Action == webhook.Delivered {
		r.State = Delivered
	}
	return outcome, event.ID, s.store.RecordResults(context.WithoutCancel(ctx), worker, []Result{r})
}

// sampledType returns the type that a test is kept with; none for the plain one.
func sampledType(t Type) Type {
	if t == WebhookTest {
		return ""
	}
	return t
}

// TypeNames returns the types of events as a sentence lists them.
func TypeNames() string {
	names := make([]string, len(Types))
	for i, t := range Types {
		names[i] = string(t)
	}
	return strings.Join(names, ", ")
}

// CheckType refuses a name that is no type of event.
func CheckType(t Type) error {
	if !slices.Contains(Types, t) {
		return ErrTypes.With("type", fault.OneOf, TypeNames())
	}
	return nil
}

// ParseTypes reads names of event types; none means all.
func ParseTypes(names []string) ([]Type, error) {
	var list []Type
	for _, n := range names {
		t := Type(n)
		if !slices.Contains(Types, t) {
			return nil, ErrTypes.With("types", fault.EachOneOf, TypeNames())
		}
		if !slices.Contains(list, t) {
			list = append(list, t)
		}
	}
	return list, nil
}
