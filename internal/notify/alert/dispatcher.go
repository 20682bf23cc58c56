package alert

import (
	"context"
	"log/slog"
	"net/http" // its client is handed on to webhook.Send; nothing here speaks HTTP
	"sync"
	"time"

	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/partner"
)

// EndpointRef names an endpoint that has deliveries to make.
type EndpointRef struct {
	Partner   partner.ID
	Endpoint  EndpointID
	ChangedAt time.Time
	// Newest is the number of the newest delivery that is due.
	Newest int64
}

// Open is a pending delivery that is due, or that later ones of its person wait for.
type Open struct {
	Delivery
	Due bool
}

// Queue is where deliveries are kept. Any number of dispatchers, in this process and in others, may share one: each
// endpoint is in the hands of one of them at a time.
type Queue interface {
	// NewHolds makes the holds of one dispatcher.
	NewHolds() Holds
	// DueEndpoints returns the enabled endpoints that have a delivery due.
	DueEndpoints(ctx context.Context) ([]EndpointRef, error)
	// EnabledEndpoints reads those of some endpoints that are enabled.
	EnabledEndpoints(ctx context.Context, list []EndpointRef) ([]Endpoint, error)
	// OpenDeliveries returns the first open deliveries after a number, in the order of their events and without bodies.
	OpenDeliveries(ctx context.Context, id partner.ID, endpoint EndpointID, after int64, limit int) ([]Open, error)
	// WithBodies gives deliveries of one partner, in the order of their events, their bodies. Those whose event is gone
	// are left out.
	WithBodies(ctx context.Context, id partner.ID, list []Delivery) ([]Delivery, error)
	// RecordResults writes results in one transaction.
	RecordResults(ctx context.Context, worker string, results []Result) error
	UpdateEndpoint(
		ctx context.Context, id partner.ID, endpoint EndpointID, change func(*Endpoint) error,
	) (Endpoint, error)
	// DueSignal is signalled after a commit of this process made deliveries due.
	DueSignal() <-chan struct{}
}

// Dispatcher pushes due deliveries: it claims endpoints that have some, reads their deliveries, sends them with a few
// senders per endpoint and records the results in groups.
//
// An endpoint is held by one dispatcher at a time, so the dispatcher need not claim its deliveries one by one: it knows
// what is in flight, and only results are written. Memory holds nothing that cannot be read from rows: in doubt it is
// emptied and read again.
//
// What is sent and not yet on disk is bounded for each endpoint. So a process that is killed repeats no more than that,
// and a slow database slows the sending instead of growing a heap of unrecorded results.
type Dispatcher struct {
	queue  Queue
	client *http.Client
	opts   DispatcherOptions
	log    *slog.Logger
	now    func() time.Time
	worker string
	gates  *webhook.Gates[EndpointID]
	holds  Holds

	results chan record
	// more is signalled when an endpoint runs low or may be asked again.
	more    chan struct{}
	senders sync.WaitGroup
	// due are the endpoints that had work when they were last asked for, tidyAt is when those that nothing is sent to
	// are let go of. Only Run's goroutine looks at them.
	due    []EndpointRef
	tidyAt time.Time

	mu    sync.Mutex
	lanes map[EndpointID]*lane
	// heldUntil is when an attempt may not begin any more unless the holds were made sure of again; losses counts how
	// often all were lost.
	heldUntil time.Time
	losses    int
	sending   int // senders running
	stopping  bool
}

// NewDispatcher makes a dispatcher; Run runs it. opts.NextTry is required.
func NewDispatcher(
	queue Queue, client *http.Client, now func() time.Time, log *slog.Logger, opts DispatcherOptions,
) *Dispatcher {
	opts = opts.withDefaults()
	return &Dispatcher{
		queue: queue, client: client, opts: opts, log: log, now: now, worker: opts.Worker,
		gates: webhook.NewGates[EndpointID](opts.Gate, now), holds: queue.NewHolds(),
		results: make(chan record, opts.MaxSenders), more: make(chan struct{}, 1), lanes: map[EndpointID]*lane{},
	}
}

// Run works until ctx ends. Then it begins nothing more, lets attempts finish for a while, records them and lets go of
// its endpoints.
func (d *Dispatcher) Run(ctx context.Context) {
	sendCtx, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	recorded := make(chan struct{})
	go func() { d.recordAll(sendCtx); close(recorded) }()
	standing := make(chan struct{})
	go func() { d.keepHolds(sendCtx); close(standing) }()

	tick := time.NewTicker(d.opts.Poll)
	defer tick.Stop()
	for anew := true; ctx.Err() == nil; {
		if err := d.dispatchRound(ctx, sendCtx, anew); err != nil && ctx.Err() == nil {
			d.log.Error("deliveries cannot be taken up", "cause", err.Error())
		}
		anew = true
		select {
		case <-ctx.Done():
		case <-d.queue.DueSignal():
		case <-d.more:
			anew = false
		case <-tick.C:
		}
	}
	d.stopSenders()
	// Also cuts the recording: a database that is away does not keep a process from stopping.
	grace := time.AfterFunc(d.opts.Grace, cut)
	defer grace.Stop()
	d.senders.Wait()
	close(d.results)
	<-recorded
	cut()
	<-standing
	if err := d.holds.Close(); err != nil {
		d.log.Error("endpoints cannot be let go of", "cause", err.Error())
	}
}
