package alert

import (
	"cmp"
	"context"
	"crypto/rand"
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
		ctx context.Context,
		id partner.ID,
		endpoint EndpointID,
		change func(*Endpoint) error,
	) (Endpoint, error)
	// DueSignal is signalled after a commit of this process made deliveries due.
	DueSignal() <-chan struct{}
}

// Holds are the endpoints that one dispatcher has. They end with it: those of a process that was killed are free at
// once. After an error of any of its methods nothing is held any more.
type Holds interface {
	// TakeHold claims endpoints and returns those it holds now; no other dispatcher holds them.
	TakeHold(ctx context.Context, endpoints []EndpointID) ([]EndpointID, error)
	// ReleaseHold lets go of endpoints.
	ReleaseHold(ctx context.Context, endpoints []EndpointID) error
	// ConfirmHeld makes sure that what was taken is still held.
	ConfirmHeld(ctx context.Context) error
	// Close lets go of everything.
	Close() error
}

// BUG(alert): a delivery is made again when its worker dies between the receiver's answer and the record of it. These
// are at most Unrecorded for an endpoint. Receivers tell repeats by webhook-id.

// DispatcherOptions tune a dispatcher. The zero value of a field means its default.
type DispatcherOptions struct {
	// Gate is what one endpoint may take: webhook.DefaultGate.
	Gate webhook.GateRule
	// Worker names the dispatcher to others; it must be its own. A random name unless given.
	Worker string
	// Hold is how long after the last proof that the holds stand an attempt may begin: 4 s. It must be less than the
	// time after which a silent holder loses them.
	Hold time.Duration
	// Poll is how often due deliveries are looked for that another process made, endpoints asked for that another has,
	// and holds made sure of: 250 ms.
	Poll time.Duration
	// Grace is how long a stopping dispatcher lets attempts finish before it cuts them: 5 s.
	Grace time.Duration
	// MaxBatch bounds what is read at once for one endpoint: 512.
	MaxBatch int
	// MaxSenders bounds the senders of this process: 1024.
	MaxSenders int
	// NextTry is the schedule: that of package webhook.
	NextTry NextTry
	// Observe is told of every attempt, for metrics.
	Observe func(action webhook.Action, outcome webhook.Outcome)
}

// withDefaults fills in what is not set. Every dispatcher gets a worker name of its own, even within one process.
func (o DispatcherOptions) withDefaults() DispatcherOptions {
	if o.Gate.Concurrent == 0 {
		o.Gate = webhook.DefaultGate
	}
	o.Hold = cmp.Or(o.Hold, 4*time.Second)
	o.Poll = cmp.Or(o.Poll, 250*time.Millisecond)
	o.Grace = cmp.Or(o.Grace, 5*time.Second)
	o.MaxBatch = cmp.Or(o.MaxBatch, 512)
	o.MaxSenders = cmp.Or(o.MaxSenders, 1024)
	if o.Worker == "" {
		o.Worker = "d_" + rand.Text()
	}
	if o.Observe == nil {
		o.Observe = func(webhook.Action, webhook.Outcome) {}
	}
	return o
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

// resultsPerSlot is how many results for each slot may be on their way to disk: a sync of the disk is as long as dozens
// of attempts, and a slot must not be idle for it.
const resultsPerSlot = 6

// Unrecorded returns how many deliveries to an endpoint with that many slots may have been sent and not be on disk. It
// is what a killed process repeats to an endpoint at most.
func Unrecorded(slots int) int { return resultsPerSlot * slots }

// NewDispatcher makes a dispatcher; Run runs it. opts.NextTry is required.
func NewDispatcher(
	queue Queue,
	client *http.Client,
	now func() time.Time,
	log *slog.Logger,
	opts DispatcherOptions,
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
	grace := time.AfterFunc(
		d.opts.Grace,
		cut,
	) // also cuts the recording: a database that is away does not keep a process from stopping
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

// dispatchRound takes endpoints with due deliveries, reads what their lanes can take and sets senders to work. Which
// endpoints have work is asked anew only if told to: a lane that runs low knows that there is more.
func (d *Dispatcher) dispatchRound(ctx, sendCtx context.Context, anew bool) error {
	defer d.startIdleSenders(sendCtx)
	if err := d.releaseIdleEndpoints(ctx); err != nil {
		return err
	}
	if anew {
		due, err := d.queue.DueEndpoints(ctx)
		if err != nil {
			return err
		}
		d.due = due
	}
	hungry, take := d.findHungryLanes(d.due)
	if err := d.holdEndpoints(ctx, take); err != nil {
		return err
	}
	for _, l := range hungry {
		if err := d.readDueDeliveries(ctx, l); err != nil {
			return err
		}
	}
	return nil
}

// findHungryLanes returns the lanes that run low and are not paused, and which endpoints have to be taken for that.
func (d *Dispatcher) findHungryLanes(due []EndpointRef) (hungry []*lane, take []EndpointRef) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	isDue := make(map[EndpointID]bool, len(due))
	for _, ref := range due {
		isDue[ref.Endpoint] = true
		l := d.lanes[ref.Endpoint]
		if l == nil {
			l = newEndpointLane(ref, d.opts)
			d.lanes[ref.Endpoint] = l
		}
		if !l.changedAt.Equal(ref.ChangedAt) { // enabled again, or new keys: forget old grudges, and read it anew
			l.changedAt, l.pausedUntil, l.ours, l.takeAt = ref.ChangedAt, time.Time{}, false, time.Time{}
			l.clearQueued()
			d.gates.ForgetEndpoint(ref.Endpoint)
		}
		l.forgetSettled()
		if l.queued >= l.batch || now.Before(l.pausedUntil) || !l.worthALook(ref.Newest, now) {
			continue
		}
		if !l.ours {
			if now.Before(l.takeAt) { // another has it, or had it a moment ago
				continue
			}
			l.takeAt = now.Add(d.opts.Poll)
			take = append(take, ref)
		}
		hungry = append(hungry, l)
	}
	for id, l := range d.lanes {
		if isDue[id] {
			continue
		}
		// What is queued would be due: the endpoint was disabled or deleted.
		l.clearQueued()
		if l.forgetSettled(); len(l.held) == 0 && !l.ours && !now.Before(l.pausedUntil) &&
			len(d.lanes) > 2*len(due)+64 {
			delete(d.lanes, id) // so that deleted endpoints leave no trace
			d.gates.ForgetEndpoint(id)
		}
	}
	return hungry, take
}

// readDueDeliveries reads deliveries into a lane that this process holds.
func (d *Dispatcher) readDueDeliveries(ctx context.Context, l *lane) error {
	d.mu.Lock()
	now := d.now()
	if !d.holdsEndpoint(l, now) {
		d.mu.Unlock()
		return nil
	}
	l.used = true
	if l.cursor == 0 || now.Sub(l.passAt) >= passTime || now.Before(l.passAt) {
		l.startPass()
		l.passAt = now
	}
	e, after, limit, pass := l.endpoint, l.cursor, l.batch, l.pass
	d.mu.Unlock()

	var free []Delivery
	ended := false
	for page := limit; len(free) < limit && !ended; page = min(2*page, maxLook) {
		rows, err := d.queue.OpenDeliveries(ctx, e.Partner, e.ID, after, page)
		if err != nil {
			return err
		}
		d.mu.Lock()
		stale := l.pass != pass
		for _, row := range rows {
			if stale || len(free) == limit {
				break
			}
			if after = row.Seq; l.canTakeDelivery(row) {
				free = append(free, row.Delivery)
			}
		}
		d.mu.Unlock()
		if stale { // the lane was emptied meanwhile: the order of deliveries has to be read again
			return nil
		}
		ended = len(rows) < page && len(free) < limit
	}
	read, err := d.queue.WithBodies(ctx, e.Partner, free)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopping || l.pass != pass {
		return nil
	}
	l.seen = max(l.seen, after)
	if l.cursor, l.more = after, !ended; ended {
		l.cursor = 0
		l.lookAgain = now.Add(d.opts.Poll)
	}
	if len(free) >= limit && l.arrived >= limit/2 { // there is more, and the receiver keeps up
		l.batch = min(2*limit, d.opts.MaxBatch)
	}
	l.arrived = 0
	l.queueDeliveries(read)
	return nil
}

// startIdleSenders sets idle slots to work, also those of lanes that found no sender free before.
func (d *Dispatcher) startIdleSenders(ctx context.Context) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, l := range d.lanes {
		for l.active < d.opts.Gate.Concurrent && len(l.chains) > 0 && d.sending < d.opts.MaxSenders {
			l.active++
			d.sending++
			chain := l.takeChain()
			d.senders.Go(func() { d.sendChains(ctx, l, chain) })
		}
	}
}

// stopSenders forgets everything that was not begun and keeps senders from beginning more.
func (d *Dispatcher) stopSenders() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopping = true
	for _, l := range d.lanes {
		l.clearQueued()
	}
}

// requestRound asks for another round.
func (d *Dispatcher) requestRound() {
	select {
	case d.more <- struct{}{}:
	default:
	}
}
