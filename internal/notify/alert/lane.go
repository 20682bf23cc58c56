package alert

import "time"

// lane is what this process does for one endpoint. The dispatcher's lock guards it.
type lane struct {
	endpoint  Endpoint // as of when it was taken
	changedAt time.Time
	ours      bool      // the dispatcher has the endpoint
	takeAt    time.Time // when to ask for it again
	used      bool      // since endpoints were last let go of

	// chains are deliveries that no sender has begun: each is a person's, in order, or a single one about no person.
	chains [][]Delivery
	queued int // deliveries in chains
	active int // senders at work
	// unrecorded bounds what was sent and is not on disk.
	unrecorded chan struct{}
	// held are the deliveries in memory, with their person: queued, under way, or recorded since the last look. persons
	// counts them.
	held    map[int64]string
	persons map[string]int
	// recorded are on disk and forgotten before the next look, never during one: the look may have begun before they
	// were written.
	recorded []Result

	// cursor is how far the pass over the open deliveries has come; 0 when a new one is to begin. pass numbers it, and
	// it began at passAt.
	cursor int64
	pass   int
	passAt time.Time
	// blocked are the persons with an earlier delivery, met in this pass, that has to be sent first.
	blocked map[string]bool
	// skipped means that the pass left something out because its person was in memory.
	skipped bool
	// more means that the pass is not over, seen is the highest number it has met, lookAgain when to begin another
	// without need.
	more      bool
	seen      int64
	lookAgain time.Time

	// batch is how many deliveries are read at once: it grows while a receiver keeps up and starts over when it does
	// not.
	batch int
	// arrived counts deliveries since the last look.
	arrived     int
	pausedUntil time.Time
	// unmarkedAt is when the mark of failing was last taken from the endpoint, if there was one.
	unmarkedAt time.Time
}

const (
	// passTime is when a pass begins anew though it is not over: what is tried again has low numbers.
	passTime = 3 * time.Second
	// maxLook is how far a look goes in one statement at most: a long look is only needed when many deliveries wait for
	// their person's earlier one.
	maxLook = 4096
	// firstBatch is how many deliveries are read for an endpoint of which nothing is known: few for a dead one, and
	// many enough that a hundred live ones are not read in crumbs.
	firstBatch = 64
)

// newEndpointLane returns an empty lane of an endpoint.
func newEndpointLane(ref EndpointRef, opts DispatcherOptions) *lane {
	return &lane{
		changedAt:  ref.ChangedAt,
		unrecorded: make(chan struct{}, Unrecorded(opts.Gate.Concurrent)),
		batch:      opts.firstBatch(),
		held:       map[int64]string{},
		persons:    map[string]int{},
		blocked:    map[string]bool{},
	}
}

// startPass begins a new pass.
func (l *lane) startPass() {
	l.cursor, l.skipped = 0, false
	l.pass++
	clear(l.blocked)
}

// worthALook reports whether there may be due deliveries that are not in memory. A retry has a low number and causes no
// notification, so it is found by a new pass only, and while others are queued it waits until the pass has lasted
// passTime.
func (l *lane) worthALook(newest int64, now time.Time) bool {
	if l.more || newest > l.seen || l.lookAgain.IsZero() {
		return true
	}
	return !now.Before(l.lookAgain) && (l.queued == 0 || now.Sub(l.passAt) >= passTime)
}

// canTakeDelivery reports whether a delivery that a look has met may be taken. It may not while an earlier one of its
// person is in memory, or is waited for. An earlier one that is itself free is no obstacle: it is taken along, and sent
// before it.
func (l *lane) canTakeDelivery(o Open) bool {
	if _, held := l.held[o.Seq]; held {
		return false
	}
	switch {
	case o.Person == "":
		return o.Due
	case l.blocked[o.Person]:
		return false
	case !o.Due:
		l.blocked[o.Person] = true
		return false
	case l.persons[o.Person] > 0: // and what follows on later pages waits for this one
		l.skipped, l.blocked[o.Person] = true, true
		return false
	}
	return true
}

// queueDeliveries queues deliveries, those of one person behind each other.
func (l *lane) queueDeliveries(list []Delivery) {
	chainOf := make(map[string]int, len(list))
	for _, d := range list {
		l.held[d.Seq] = d.Person
		l.persons[d.Person]++
		if i, ok := chainOf[d.Person]; ok && d.Person != "" {
			l.chains[i] = append(l.chains[i], d)
			continue
		}
		chainOf[d.Person] = len(l.chains)
		l.chains = append(l.chains, []Delivery{d})
	}
	l.queued += len(list)
}

// takeChain removes the first chain; nil when there is none.
func (l *lane) takeChain() []Delivery {
	if len(l.chains) == 0 {
		return nil
	}
	chain := l.chains[0]
	l.chains[0] = nil
	l.chains = l.chains[1:]
	l.queued -= len(chain)
	return chain
}

// clearQueued forgets what no sender has begun; the rows say all there is to know, so it is read again.
func (l *lane) clearQueued() {
	for _, chain := range l.chains {
		l.dropDeliveries(chain)
	}
	l.chains, l.queued, l.more = nil, 0, true
	l.startPass()
}

// dropDeliveries removes deliveries from memory; their rows stay.
func (l *lane) dropDeliveries(list []Delivery) {
	for _, d := range list {
		if _, ok := l.held[d.Seq]; !ok {
			continue
		}
		delete(l.held, d.Seq)
		if l.persons[d.Person]--; l.persons[d.Person] == 0 {
			delete(l.persons, d.Person)
		}
	}
}

// forgetSettled drops deliveries whose result is on disk. A person whose delivery waits for a retry stays blocked until
// the pass has met that delivery.
func (l *lane) forgetSettled() {
	for _, r := range l.recorded {
		l.dropDeliveries([]Delivery{r.Delivery})
		if r.State == Pending && r.Ordered {
			l.blocked[r.Delivery.Person] = true
		}
	}
	l.recorded = l.recorded[:0]
}
