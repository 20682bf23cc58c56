package alert

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http" //nolint:depguard // its client is handed on to webhook.Send; nothing here speaks HTTP
	"sync"
	"time"

	"vigia/internal/partner"
	"vigia/internal/webhook"
)

// EndpointRef names an endpoint that has deliveries to make.
type EndpointRef struct {
	Partner   partner.ID
	Endpoint  EndpointID
	ChangedAt time.Time
}

// Want is how many deliveries a worker would take for an endpoint.
type Want struct {
	Partner  partner.ID
	Endpoint EndpointID
	Limit    int
}

// Batch is what a worker got: an endpoint as it is now, and deliveries in the order of their events.
type Batch struct {
	Endpoint   Endpoint
	Deliveries []Delivery
}

// Queue is where deliveries are kept. Any number of dispatchers, in this process and in others, may share one.
type Queue interface {
	// DueEndpoints returns the enabled endpoints that have a delivery due.
	DueEndpoints(ctx context.Context) ([]EndpointRef, error)
	// ClaimDeliveries takes due deliveries for worker until the given time. A delivery is not due while an earlier ordered
	// one of the same person and endpoint is pending elsewhere; earlier ones in the same batch come first in it.
	ClaimDeliveries(ctx context.Context, worker string, until time.Time, wants []Want) ([]Batch, error)
	// RecordResults writes results in one transaction.
	RecordResults(ctx context.Context, worker string, results []Result) error
	UpdateEndpoint(ctx context.Context, id partner.ID, endpoint EndpointID, change func(*Endpoint) error) (Endpoint, error)
	// Due is signalled after a commit of this process made deliveries due.
	Due() <-chan struct{}
}

// DispatcherOptions tune a dispatcher. The zero value of a field means its default.
type DispatcherOptions struct {
	// Gate is what one endpoint may take: webhook.DefaultGate.
	Gate webhook.GateRule
	// Lease is how long a claim lasts: 45 s. A dead worker's deliveries are taken up after that, within a minute.
	Lease time.Duration
	// Timeout is the client's, 15 s: no attempt is begun that could outlast its claim.
	Timeout time.Duration
	// Poll is how often due deliveries are looked for that another process made: 500 ms.
	Poll time.Duration
	// Grace is how long a stopping dispatcher lets attempts finish before it cuts them: 5 s.
	Grace time.Duration
	// MaxBatch bounds one claim for one endpoint: 512.
	MaxBatch int
	// MaxSenders bounds the senders of this process: 1024.
	MaxSenders int
	// NextTry is the schedule: that of package webhook.
	NextTry NextTry
	// Observe is told of every attempt, for metrics.
	Observe func(action webhook.Action, outcome webhook.Outcome)
}

func (o DispatcherOptions) withDefaults() DispatcherOptions {
	if o.Gate.Concurrent == 0 {
		o.Gate = webhook.DefaultGate
	}
	setDefault(&o.Lease, 45*time.Second)
	setDefault(&o.Timeout, 15*time.Second)
	setDefault(&o.Poll, 500*time.Millisecond)
	setDefault(&o.Grace, 5*time.Second)
	setDefault(&o.MaxBatch, 512)
	setDefault(&o.MaxSenders, 1024)
	if o.Observe == nil {
		o.Observe = func(webhook.Action, webhook.Outcome) {}
	}
	return o
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Dispatcher pushes due deliveries: it claims them in batches, sends them with a few senders per endpoint and records
// what came of them in groups.
//
// A sender takes the next delivery only when its last result is on disk. So a process that is killed repeats no more than there
// are senders for an endpoint, and a slow database slows the sending instead of growing a heap of unrecorded results.
type Dispatcher struct {
	queue  Queue
	client *http.Client
	opts   DispatcherOptions
	log    *slog.Logger
	now    func() time.Time
	worker string
	gates  *webhook.Gates[EndpointID]

	results chan record
	// more is signalled when an endpoint runs low or may be asked again.
	more    chan struct{}
	senders sync.WaitGroup

	mu       sync.Mutex
	lanes    map[EndpointID]*lane
	sending  int // senders running
	stopping bool
}

// From manySlots on an endpoint has sendersPerSlot senders for each slot: one sends while the others are being recorded. Below
// it has one, which is slower and repeats less after a crash; the default is below.
const (
	manySlots      = 16
	sendersPerSlot = 6
)

// perEndpoint is how many senders an endpoint may have.
func (d *Dispatcher) perEndpoint() int {
	if d.opts.Gate.Concurrent < manySlots {
		return d.opts.Gate.Concurrent
	}
	return sendersPerSlot * d.opts.Gate.Concurrent
}

// NewDispatcher makes a dispatcher; Run runs it. opts.NextTry is required.
func NewDispatcher(queue Queue, client *http.Client, now func() time.Time, log *slog.Logger, opts DispatcherOptions) *Dispatcher {
	opts = opts.withDefaults()
	return &Dispatcher{
		queue: queue, client: client, opts: opts, log: log, now: now, worker: "d_" + rand.Text(),
		gates:   webhook.NewGates[EndpointID](opts.Gate, now),
		results: make(chan record, opts.MaxSenders), more: make(chan struct{}, 1), lanes: map[EndpointID]*lane{},
	}
}

// Run works until ctx ends. Then it gives back what it has not begun, lets attempts finish for a while, and records them.
func (d *Dispatcher) Run(ctx context.Context) {
	sendCtx, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	recorded := make(chan struct{})
	go func() { d.recordAll(sendCtx); close(recorded) }()

	tick := time.NewTicker(d.opts.Poll)
	defer tick.Stop()
	for ctx.Err() == nil {
		d.round(ctx, sendCtx)
		select {
		case <-ctx.Done():
		case <-d.queue.Due():
		case <-d.more:
		case <-tick.C:
		}
	}
	d.stop()
	grace := time.AfterFunc(d.opts.Grace, cut) // also cuts the recording: a database that is away does not keep a process from stopping
	defer grace.Stop()
	d.senders.Wait()
	close(d.results)
	<-recorded
}

// round looks for endpoints with due deliveries, claims what their lanes can take and sets senders to work.
func (d *Dispatcher) round(ctx, sendCtx context.Context) {
	due, err := d.queue.DueEndpoints(ctx)
	if err == nil {
		var batches []Batch
		if wants := d.wants(due); len(wants) > 0 {
			batches, err = d.queue.ClaimDeliveries(ctx, d.worker, d.now().Add(d.opts.Lease), wants)
		}
		d.accept(sendCtx, batches)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		d.log.Error("deliveries cannot be claimed", "cause", err.Error())
	}
}

// wants says what to claim: for endpoints whose lane runs low and is not paused.
func (d *Dispatcher) wants(due []EndpointRef) []Want {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	var wants []Want
	for _, ref := range due {
		l := d.lanes[ref.Endpoint]
		if l == nil {
			l = &lane{batch: d.perEndpoint(), changedAt: ref.ChangedAt, slots: make(chan struct{}, d.opts.Gate.Concurrent)}
			d.lanes[ref.Endpoint] = l
		}
		if !l.changedAt.Equal(ref.ChangedAt) { // enabled again, or new keys: forget old grudges
			l.changedAt, l.pausedUntil = ref.ChangedAt, time.Time{}
			d.gates.Forget(ref.Endpoint)
		}
		if l.queued >= l.batch || now.Before(l.pausedUntil) {
			continue
		}
		wants = append(wants, Want{Partner: ref.Partner, Endpoint: ref.Endpoint, Limit: l.batch})
	}
	d.forgetIdle(due)
	return wants
}

// forgetIdle drops the lanes of endpoints that have nothing to do, so that deleted ones leave no trace.
func (d *Dispatcher) forgetIdle(due []EndpointRef) {
	if len(d.lanes) <= 2*len(due)+64 {
		return
	}
	busy := make(map[EndpointID]bool, len(due))
	for _, ref := range due {
		busy[ref.Endpoint] = true
	}
	for id, l := range d.lanes {
		if !busy[id] && l.queued == 0 && l.active == 0 {
			delete(d.lanes, id)
			d.gates.Forget(id)
		}
	}
}

// accept puts batches in their lanes and sets idle slots to work, also those of lanes that found no sender free before.
func (d *Dispatcher) accept(ctx context.Context, batches []Batch) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, b := range batches {
		l := d.lanes[b.Endpoint.ID]
		l.endpoint = b.Endpoint
		if len(b.Deliveries) >= l.batch && l.arrived >= l.batch/2 { // there is more, and the receiver keeps up
			l.batch = min(2*l.batch, d.opts.MaxBatch)
		}
		l.arrived = 0
		l.add(b.Deliveries)
	}
	for _, l := range d.lanes {
		for l.active < d.perEndpoint() && len(l.chains) > 0 && d.sending < d.opts.MaxSenders {
			l.active++
			d.sending++
			chain := l.take()
			d.senders.Go(func() { d.send(ctx, l, chain) })
		}
	}
}

// stop gives back everything that was not begun and keeps senders from beginning more.
func (d *Dispatcher) stop() {
	d.mu.Lock()
	d.stopping = true
	var back []Delivery
	for _, l := range d.lanes {
		back = append(back, l.clear()...)
	}
	d.mu.Unlock()
	d.giveBack(back)
}

// wake asks for another round.
func (d *Dispatcher) wake() {
	select {
	case d.more <- struct{}{}:
	default:
	}
}
