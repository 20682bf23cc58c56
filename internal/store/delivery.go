package store

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

var _ alert.Queue = Alerts{}

// DueSignal is signalled after a commit of this process made deliveries due.
func (s Alerts) DueSignal() <-chan struct{} { return s.due }

// signalDue wakes the dispatcher of this process.
func (s Alerts) signalDue() {
	select {
	case s.due <- struct{}{}:
	default: // a notification is pending already
	}
}

// DueEndpoints returns the enabled endpoints that have a delivery due. Its cost grows with the endpoints, not with what
// is waiting for them: it looks from the newest, as what waits for its next try is old.
func (s Alerts) DueEndpoints(ctx context.Context) ([]alert.EndpointRef, error) {
	return collectRows(ctx, s.db.UnpreparedReader(), func(row scanner, r *alert.EndpointRef) error {
		return row.Scan(&r.Partner, &r.Endpoint, &r.ChangedAt, &r.Newest)
	}, `SELECT partner_id, id, changed_at, newest FROM (SELECT e.partner_id, e.id, e.changed_at, (SELECT d.seq
		FROM delivery d
			WHERE d.partner_id = e.partner_id AND d.endpoint_id = e.id AND d.state = 'pending' AND d.next_at <= $1
			ORDER BY d.seq DESC LIMIT 1) AS newest
		FROM endpoint e WHERE e.state = 'enabled') AS due WHERE newest IS NOT NULL`,
		s.now(),
	)
}

// EnabledEndpoints reads those of some endpoints that are enabled.
func (s Alerts) EnabledEndpoints(ctx context.Context, refs []alert.EndpointRef) ([]alert.Endpoint, error) {
	var args []any
	ids, partners := make([]alert.EndpointID, len(refs)), make([]partner.ID, len(refs))
	for i, ref := range refs {
		ids[i], partners[i] = ref.Endpoint, ref.Partner
	}
	return collectGenuine(
		ctx,
		s.readQuerier(),
		s.scanEndpoint,
		`SELECT `+endpointColumns+` FROM endpoint WHERE state = 'enabled'
		AND partner_id IN (`+appendMarks(&args, uniqueValues(partners))+`) AND id IN (`+appendMarks(&args, ids)+`)`,
		args...,
	)
}

// NewHolds makes the holds of one dispatcher. That one at a time has an endpoint is what keeps a person's events in
// order: it knows every earlier one as it is.
func (s Alerts) NewHolds() alert.Holds { return holds{s.db.NewHolder()} }

// holds are a holder's, by the names of endpoints.
type holds struct{ *sqldb.Holder }

// TakeHold takes endpoints that no other dispatcher holds.
func (h holds) TakeHold(ctx context.Context, endpoints []alert.EndpointID) ([]alert.EndpointID, error) {
	taken, err := h.Holder.TakeNames(ctx, convertTexts[string](endpoints))
	return convertTexts[alert.EndpointID](taken), classifyError(err)
}

// ReleaseHold lets others take endpoints.
func (h holds) ReleaseHold(ctx context.Context, endpoints []alert.EndpointID) error {
	return classifyError(h.Holder.ReleaseNames(ctx, convertTexts[string](endpoints)))
}

// convertTexts returns texts as another type.
func convertTexts[To, From ~string](texts []From) []To {
	converted := make([]To, len(texts))
	for i, t := range texts {
		converted[i] = To(t)
	}
	return converted
}

// OpenDeliveries returns, in the order of their events, pending deliveries that are due, and ordered ones that are not:
// those are close to their next try, and later ones of the same person have to wait for them.
func (s Alerts) OpenDeliveries(
	ctx context.Context,
	id partner.ID,
	endpoint alert.EndpointID,
	after int64,
	limit int,
) ([]alert.Open, error) {
	now := toMicros(s.now())
	return collectRows(ctx, s.db.UnpreparedReader(), func(row scanner, d *alert.Open) error {
		*d = alert.Open{Delivery: alert.Delivery{Partner: id, Endpoint: endpoint}}
		var person []byte
		var next int64
		err := row.Scan(&d.Seq, &d.Event, &person, &d.Ordered, &d.Attempts, &next, &d.Tried)
		d.Person, d.Due = string(person), next <= now
		return err
	}, `SELECT seq, event_id, person, ordered, attempts, next_at, tried IS NOT NULL FROM delivery
		WHERE partner_id = $1 AND endpoint_id = $2 AND state = 'pending' AND seq > $3 AND (next_at <= $4 OR ordered)
		ORDER BY seq LIMIT $5`,
		id,
		endpoint,
		after,
		now,
		limit,
	)
}

// openDeliveriesCondition returns the condition for some open deliveries of one endpoint, which are neighbours or
// nearly so: a stretch of the index of what is open, narrowed to those meant.
func openDeliveriesCondition(tx *sqldb.Tx, args *[]any, list []alert.Delivery) string {
	low, high := list[0].Seq, list[0].Seq
	numbers := make([]int64, len(list))
	for i, d := range list {
		low, high, numbers[i] = min(low, d.Seq), max(high, d.Seq), d.Seq
	}
	n := len(*args)
	*args = append(*args, low, high)
	one := tx.EngineName().NumbersCondition(args, numbers)
	return fmt.Sprintf("state = 'pending' AND seq >= $%d AND seq <= $%d AND seq %s", n+1, n+2, one)
}

// seqGap is how many unwanted events one statement reads over before a second statement is cheaper.
const seqGap = 64

// neighbours returns how many of n deliveries, in the order of their events, one statement is for.
func neighbours(n int, seq func(i int) int64) int {
	for i := 1; i < n; i++ {
		if seq(i)-seq(i-1) > seqGap {
			return i
		}
	}
	return n
}

// WithBodies gives deliveries, in the order of their events, their bodies: the events are mostly neighbours, so they
// are read in runs. A delivery whose event was swept in between is left out: its row goes with the sweep.
func (s Alerts) WithBodies(ctx context.Context, id partner.ID, list []alert.Delivery) ([]alert.Delivery, error) {
	kept := list[:0]
	for len(list) > 0 {
		n := neighbours(len(list), func(i int) int64 { return list[i].Seq })
		type sealedBody struct {
			id   string
			body []byte
		}
		bodies := make(map[int64]sealedBody, n)
		err := eachRow(ctx, s.readQuerier(), func(row scanner) error {
			var seq int64
			var b sealedBody
			err := row.Scan(&b.id, &seq, &b.body)
			bodies[seq] = b
			return err
		}, `SELECT id, seq, body FROM event WHERE partner_id = $1 AND seq >= $2 AND seq <= $3`,
			id,
			list[0].Seq,
			list[n-1].Seq,
		)
		if err != nil {
			return nil, err
		}
		for _, d := range list[:n] {
			b, ok := bodies[d.Seq]
			if !ok {
				continue
			}
			if err := s.openSealed(eventPlace(id, b.id), b.body, &d.Body); err != nil {
				return nil, err
			}
			kept = append(kept, d)
		}
		list = list[n:]
	}
	return kept, nil
}

// attemptPlace binds a receiver's answer to one attempt: two workers may have tried the same delivery at the same time.
func attemptPlace(id, endpoint, seq, at, worker string) seal.Place {
	return seal.Place{
		Table:   "attempt",
		Column:  "answer",
		Partner: id,
		Row:     endpoint + "/" + seq + "/" + at + "/" + worker,
	}
}

// endpointKey names an endpoint within its partner.
type endpointKey struct {
	partner  partner.ID
	endpoint alert.EndpointID
}

// health is what a group of results says of an endpoint.
type health struct {
	// succeeded: something arrived; marked: the endpoint may bear the mark of one that fails; revived: it had been
	// given up before.
	succeeded, marked, revived bool
	// failedAt is the first failure of the group, 0 when there was none.
	failedAt int64
}

// RecordResults writes the outcomes of deliveries: the attempts, the states of the deliveries, and since when an
// endpoint has been failing. A delivery that arrived is recorded even if another worker holds the endpoint by now; a
// failure counts only if no other result was written since the delivery was read.
//
// The call may be repeated with results that were stored although the first call reported an error.
func (s Alerts) RecordResults(ctx context.Context, worker string, results []alert.Result) error {
	folded, arrived := map[endpointKey][]alert.Result{}, map[endpointKey][]alert.Delivery{}
	endpoints := map[endpointKey]health{}
	var statements []sqldb.Statement
	var apart []alert.Result // tries that get a row of their own
	for _, r := range results {
		k := endpointKey{r.Delivery.Partner, r.Delivery.Endpoint}
		h := endpoints[k]
		switch {
		case isFoldable(r):
			folded[k] = append(folded[k], r)
		case r.State == alert.Delivered:
			apart, arrived[k] = append(apart, r), append(arrived[k], r.Delivery)
		default:
			apart, statements = append(apart, r), append(statements, requeueStatement(r))
			if h.failedAt == 0 && r.Attempts > r.Delivery.Attempts {
				h.failedAt = toMicros(r.Now)
			}
		}
		h.succeeded, h.marked, h.revived = h.succeeded ||
			r.State == alert.Delivered, h.marked ||
			!r.Well, h.revived ||
			r.Revived
		endpoints[k] = h
	}
	for k, h := range endpoints {
		if st, ok := h.healthStatement(k); ok {
			statements = append(statements, st)
		}
		if h.revived { // what was tried in vain need not wait for hours now
			statements = append(
				statements,
				sqldb.NewStatement(
					`UPDATE delivery SET next_at = $3 WHERE partner_id = $1 AND endpoint_id = $2 AND state = 'pending'
					AND next_at > $3`,
					k.partner,
					k.endpoint,
					s.now(),
				),
			)
		}
	}
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		there, err := s.keepDeliveries(ctx, tx, apart)
		if err != nil {
			return err
		}
		// Tries that an earlier call has written are left as they are.
		_, err = tx.LoadMissing(
			ctx,
			"attempt",
			attemptColumns,
			"",
			rowsOf(there, func(_ int, r alert.Result) ([]any, error) {
				return s.attemptRow(worker, r)
			}),
		)
		if err != nil {
			return err
		}
		return s.recordResults(ctx, tx, worker, folded, arrived, statements, toMicros(s.now()))
	})
}

// keepDeliveries returns the results whose deliveries are there, and keeps those from being deleted until the
// transaction ends. A delivery that was swept or erased while it was on its way gets no try: nothing would delete it.
func (s Alerts) keepDeliveries(ctx context.Context, tx *sqldb.Tx, results []alert.Result) ([]alert.Result, error) {
	seqs := map[endpointKey][]int64{}
	for _, r := range results {
		k := endpointKey{r.Delivery.Partner, r.Delivery.Endpoint}
		seqs[k] = append(seqs[k], r.Delivery.Seq)
	}
	type deliveryKey struct {
		endpointKey
		seq int64
	}
	there := map[deliveryKey]bool{}
	for k, list := range seqs {
		args := []any{k.partner, k.endpoint}
		kept, err := collectValues[int64](ctx, tx, `SELECT seq FROM delivery WHERE partner_id = $1 AND endpoint_id = $2
			AND seq `+tx.EngineName().NumbersCondition(&args, list)+` ORDER BY seq`+s.db.KeepRows(),
			args...,
		)
		if err != nil {
			return nil, err
		}
		for _, seq := range kept {
			there[deliveryKey{k, seq}] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(results), func(r alert.Result) bool {
		return !there[deliveryKey{endpointKey{r.Delivery.Partner, r.Delivery.Endpoint}, r.Delivery.Seq}]
	}), nil
}

// recordResults writes what became of deliveries, all endpoints' in one round trip. A second one follows for those that
// were not pending any more: held meanwhile, or written by another worker or before.
func (s Alerts) recordResults(
	ctx context.Context,
	tx *sqldb.Tx,
	worker string,
	folded map[endpointKey][]alert.Result,
	arrived map[endpointKey][]alert.Delivery,
	statements []sqldb.Statement,
	now int64,
) error {
	var runs []deliveredRun
	for k, list := range folded {
		runs = append(runs, s.foldedRuns(worker, k, list, now)...)
	}
	for k, list := range arrived {
		runs = append(runs, arrivedRun(tx, k, list, now))
	}
	all := make([]sqldb.Statement, len(runs), len(runs)+len(statements))
	for i, r := range runs {
		all[i] = r.write
	}
	written, err := tx.RunCounting(ctx, append(all, statements...))
	if err != nil {
		return err
	}
	var rest []sqldb.Statement
	for i, r := range runs {
		if written[i] < r.count {
			rest = append(rest, r.rest()...)
		}
	}
	return tx.RunStatements(ctx, rest)
}

// deliveredRun is a statement for deliveries of one endpoint that arrived, how many rows it should write, and what is
// to be done when it wrote fewer.
type deliveredRun struct {
	write sqldb.Statement
	count int64
	rest  func() []sqldb.Statement
}

// attemptColumns are those of a try, as bulk inserts write them.
var attemptColumns = []string{
	"partner_id",
	"endpoint_id",
	"seq",
	"at",
	"worker",
	"status",
	"failure",
	"duration",
	"answer",
}

// attemptRow gives the columns of an attempt.
func (s Alerts) attemptRow(worker string, r alert.Result) ([]any, error) {
	d, o := r.Delivery, r.Outcome
	place := attemptPlace(
		string(d.Partner),
		string(d.Endpoint),
		strconv.FormatInt(d.Seq, 10),
		strconv.FormatInt(toMicros(r.At), 10),
		worker,
	)
	answer, err := s.sealOptional(place, o.Answer)
	return []any{d.Partner, d.Endpoint, d.Seq, r.At, worker, o.Status, o.Failure, o.Duration, answer}, err
}

// requeueStatement writes a delivery that did not arrive. The tries it had say whether that is news: a worker that lost
// its hold in the middle of an attempt does not count one twice.
func requeueStatement(r alert.Result) sqldb.Statement {
	finished := int64(0)
	if r.State == alert.DeliveryFailed {
		finished = toMicros(r.Now)
	}
	return sqldb.NewStatement(
		`UPDATE delivery SET state = $5, attempts = $6, next_at = $7, ordered = $8, finished_at = $9
		WHERE partner_id = $1 AND endpoint_id = $2 AND seq = $3 AND state = 'pending' AND attempts = $4`,
		r.Delivery.Partner,
		r.Delivery.Endpoint,
		r.Delivery.Seq,
		r.Delivery.Attempts,
		r.State,
		r.Attempts,
		r.NextAt,
		r.Ordered,
		finished,
	)
}

// arrivedRun writes deliveries of one endpoint that arrived and whose tries have rows of their own.
func arrivedRun(tx *sqldb.Tx, k endpointKey, list []alert.Delivery, now int64) deliveredRun {
	args := []any{k.endpoint, now, k.partner}
	write := sqldb.Statement{Query: `UPDATE delivery SET state = 'delivered', finished_at = $2, attempts = attempts + 1
		WHERE partner_id = $3 AND endpoint_id = $1 AND ` + openDeliveriesCondition(tx, &args, list)}
	write.Args = args
	return deliveredRun{write, int64(len(list)), func() []sqldb.Statement {
		held := make([]sqldb.Statement, len(list))
		for i, d := range list {
			held[i] = sqldb.NewStatement(
				`UPDATE delivery SET state = 'delivered', finished_at = $4, attempts = attempts + 1
				WHERE partner_id = $1 AND endpoint_id = $2 AND seq = $3 AND state = 'held'`,
				k.partner,
				k.endpoint,
				d.Seq,
				now,
			)
		}
		return held
	}}
}

// healthStatement keeps the time since which an endpoint does nothing but fail. In a group with both, the success
// counts.
func (h health) healthStatement(k endpointKey) (sqldb.Statement, bool) {
	switch {
	case h.succeeded:
		return sqldb.NewStatement(`UPDATE endpoint SET failing_since = 0
			WHERE partner_id = $1 AND id = $2 AND failing_since <> 0`,
			k.partner,
			k.endpoint,
		), h.marked
	case h.failedAt != 0:
		return sqldb.NewStatement(`UPDATE endpoint SET failing_since = $3
			WHERE partner_id = $1 AND id = $2 AND failing_since = 0`,
			k.partner,
			k.endpoint,
			h.failedAt,
		), true
	}
	return sqldb.Statement{}, false
}

// RequeueDeliveries makes deliveries pending again with new tries. For an event or a window it also makes those that
// never were: for endpoints that came later, or whose filter has widened. What is pending already is left alone in a
// window, since it goes by itself; who names one event wants it now. Large windows go in batches.
func (s Alerts) RequeueDeliveries(ctx context.Context, id partner.ID, sel alert.Selection) (int64, error) {
	if sel.Failed {
		return s.requeueFailed(ctx, id, sel.Endpoint)
	}
	first, end := timeWindow(sel.From, sel.To)
	after, upTo := int64(0), int64(math.MaxInt64)
	without := string(alert.WebhookTest) // a test was meant for one endpoint, once
	if sel.Event != "" {
		seq, err := s.eventSeq(ctx, s.readQuerier(), id, sel.Event)
		if err != nil {
			return 0, err
		}
		after, upTo, without = seq-1, seq, ""
	} else {
		lowest, highest, err := s.seqRange(ctx, s.readQuerier(), id, sel.From, sel.To)
		if err != nil {
			return 0, err
		}
		after, upTo = lowest-1, highest
	}
	var total int64
	for {
		var seen, most int
		var n int64
		last := after
		err := s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
			endpoints, err := s.replayTargets(ctx, tx, id, sel.Endpoint)
			if err != nil {
				return err
			}
			most = max(1, sweepBatch/max(1, len(endpoints)))
			events, err := collectRows(
				ctx,
				tx,
				func(row scanner, e *keptEvent) error { return row.Scan(&e.id, &e.kind, &e.seq, &e.person) },
				`SELECT id, type, seq, person FROM event
				WHERE partner_id = $1 AND seq > $2 AND seq <= $3 AND created_at >= $4 AND created_at < $5
				AND type <> $6 ORDER BY seq LIMIT $7`,
				id,
				after,
				upTo,
				first,
				end,
				without,
				most,
			)
			if err != nil {
				return err
			}
			if seen = len(events); seen > 0 {
				last = events[seen-1].seq
			}
			n, err = s.requeueEvents(ctx, tx, id, events, endpoints, sel.Event != "")
			return err
		})
		if err == nil {
			after, total = last, total+n
		}
		if err != nil || seen < most {
			return total, err
		}
	}
}

// replayTargets returns the endpoints to replay to, held still until the transaction ends.
func (s Alerts) replayTargets(
	ctx context.Context,
	tx *sqldb.Tx,
	id partner.ID,
	only alert.EndpointID,
) ([]alert.Endpoint, error) {
	if err := s.lockEvents(ctx, tx, id); err != nil {
		return nil, err
	}
	all, err := s.endpointFilters(ctx, tx, id)
	if err != nil || only == "" {
		return all, err
	}
	for _, e := range all {
		if e.ID == only {
			return []alert.Endpoint{e}, nil
		}
	}
	return nil, alert.ErrEndpointNotFound
}

// requeueEvents makes deliveries of events pending with new tries; those that are pending already too if again says so.
func (s Alerts) requeueEvents(
	ctx context.Context,
	tx *sqldb.Tx,
	id partner.ID,
	events []keptEvent,
	endpoints []alert.Endpoint,
	again bool,
) (int64, error) {
	now := toMicros(s.now())
	var total int64
	for _, to := range endpoints {
		for _, e := range events {
			if !to.WantsType(e.kind) {
				continue
			}
			n, err := execCounting(
				ctx,
				tx,
				`INSERT INTO delivery
				(partner_id, endpoint_id, seq, event_id, person, state, ordered, attempts, next_at, created_at,
				finished_at)
				VALUES ($1, $2, $3, $4, $5, $6, $7, 0, $8, $8, 0)
				ON CONFLICT (partner_id, endpoint_id, seq) DO UPDATE SET state = $6, ordered = $7, attempts = 0,
				next_at = $8, finished_at = 0
				WHERE delivery.state <> 'pending' OR $9`,
				id,
				to.ID,
				e.seq,
				e.id,
				orEmptyBytes(e.person),
				to.InitialDeliveryState(),
				len(e.person) > 0,
				now,
				again,
			)
			if err != nil {
				return 0, err
			}
			total += n
		}
	}
	if total > 0 {
		tx.AfterCommit(s.signalDue)
	}
	return total, nil
}

// requeueFailed repeats every delivery whose tries are used up.
func (s Alerts) requeueFailed(ctx context.Context, id partner.ID, only alert.EndpointID) (total int64, err error) {
	endpoints, err := s.endpointFilters(ctx, s.readQuerier(), id)
	if err != nil {
		return 0, err
	}
	if only != "" {
		endpoints = slices.DeleteFunc(endpoints, func(e alert.Endpoint) bool { return e.ID != only })
		if len(endpoints) == 0 {
			return 0, alert.ErrEndpointNotFound
		}
	}
	for _, to := range endpoints {
		for after := int64(0); ; {
			seqs, err := collectValues[int64](
				ctx,
				s.readQuerier(),
				`SELECT seq FROM delivery WHERE partner_id = $1 AND endpoint_id = $2 AND seq > $3
				AND state = 'failed' ORDER BY seq LIMIT $4`,
				id,
				to.ID,
				after,
				sweepBatch,
			)
			if err != nil {
				return total, err
			}
			if len(seqs) == 0 {
				break
			}
			_, err = runInParts(ctx, s.core, seqs, sweepBatch, func(tx *sqldb.Tx, part []int64) error {
				n, err := s.requeueSeqs(ctx, tx, id, to.ID, part)
				tx.AfterCommit(func() { total += n })
				return err
			})
			if err != nil {
				return total, err
			}
			after = seqs[len(seqs)-1]
		}
	}
	return total, nil
}

// requeueSeqs repeats failed deliveries of an endpoint that is still there.
func (s Alerts) requeueSeqs(
	ctx context.Context,
	tx *sqldb.Tx,
	id partner.ID,
	endpoint alert.EndpointID,
	seqs []int64,
) (total int64, err error) {
	to, err := s.replayTargets(ctx, tx, id, endpoint)
	if err != nil {
		return 0, err
	}
	state, now := to[0].InitialDeliveryState(), toMicros(s.now())
	updates := make([]sqldb.Statement, len(seqs))
	for i, seq := range seqs {
		updates[i] = sqldb.NewStatement(
			`UPDATE delivery SET state = $4, ordered = (length(person) > 0), attempts = 0, next_at = $5, finished_at = 0
			WHERE partner_id = $1 AND endpoint_id = $2 AND seq = $3 AND state = 'failed'`,
			id,
			endpoint,
			seq,
			state,
			now,
		)
	}
	changed, err := tx.RunCounting(ctx, updates)
	for _, n := range changed {
		total += n
	}
	tx.AfterCommit(s.signalDue)
	return total, err
}

// A try that arrived and whose answer had no text is kept in the delivery's row, the first such one at least: when it
// began in microseconds (8 bytes), how many it took (4), the status (2), two bytes of nothing. It holds nothing
// personal, so it is not sealed.
const triedSize = 16

// isFoldable reports whether a try goes into the delivery's row.
func isFoldable(r alert.Result) bool {
	return r.State == alert.Delivered && !r.Delivery.Tried && r.Outcome.Answer == ""
}

// encodeAttempt writes a try into the delivery's row.
func encodeAttempt(to []byte, r alert.Result) {
	binary.BigEndian.PutUint64(to, uint64(toMicros(r.At)))
	binary.BigEndian.PutUint32(to[8:], uint32(min(r.Outcome.Duration.Microseconds(), math.MaxUint32)))
	binary.BigEndian.PutUint16(to[12:], uint16(r.Outcome.Status))
}

// decodeAttempt reads what encodeAttempt wrote.
func decodeAttempt(tried []byte, a *alert.AttemptLog) error {
	if len(tried) != triedSize {
		return nil
	}
	a.At = fromMicros(int64(binary.BigEndian.Uint64(tried)))
	a.Duration = time.Duration(binary.BigEndian.Uint32(tried[8:])) * time.Microsecond
	a.Status = int(binary.BigEndian.Uint16(tried[12:]))
	return nil
}

// foldedRuns writes deliveries of one endpoint that arrived, with their tries. One statement writes a run of
// neighbours: the tries are one argument, from which each row cuts its own by its number. A row that is not meant finds
// nothing there.
func (s Alerts) foldedRuns(worker string, k endpointKey, results []alert.Result, now int64) (runs []deliveredRun) {
	slices.SortFunc(results, func(a, b alert.Result) int { return cmp.Compare(a.Delivery.Seq, b.Delivery.Seq) })
	for len(results) > 0 {
		n := neighbours(len(results), func(i int) int64 { return results[i].Delivery.Seq })
		run := results[:n]
		results = results[n:]
		low, high := run[0].Delivery.Seq, run[n-1].Delivery.Seq
		tries := make([]byte, triedSize*(high-low+1))
		for _, r := range run {
			encodeAttempt(tries[triedSize*(r.Delivery.Seq-low):], r)
		}
		// coalesce is there for what it says of the type of $3.
		write := sqldb.NewStatement(`UPDATE delivery SET state = 'delivered', finished_at = $2, attempts = attempts + 1,
			tried = substr(coalesce($3, tried), CAST((seq - $4) * 16 + 1 AS INTEGER), 16)
			WHERE partner_id = $5 AND endpoint_id = $1 AND state = 'pending' AND seq >= $4 AND seq <= $6
			AND substr(coalesce($3, tried), CAST((seq - $4) * 16 + 1 AS INTEGER), 16) <> $7`,
			k.endpoint,
			now,
			tries,
			low,
			k.partner,
			high,
			make([]byte, triedSize),
		)
		runs = append(
			runs,
			deliveredRun{write, int64(n), func() []sqldb.Statement { return s.foldOthers(worker, k, run, now) }},
		)
	}
	return runs
}

// foldOthers is for deliveries that were not pending any more: held meanwhile, or delivered by another worker, or by a
// transaction that was reported as failed. The row takes the try if it has none, or has this one; otherwise it gets a
// row of its own.
func (s Alerts) foldOthers(worker string, k endpointKey, run []alert.Result, now int64) (statements []sqldb.Statement) {
	for _, r := range run {
		tried := make([]byte, triedSize)
		encodeAttempt(tried, r)
		statements = append(
			statements,
			sqldb.NewStatement(`UPDATE delivery SET state = 'delivered', finished_at = $4, attempts = attempts + 1,
			tried = $5 WHERE partner_id = $1 AND endpoint_id = $2 AND seq = $3 AND state = 'held' AND tried IS NULL`,
				k.partner,
				k.endpoint,
				r.Delivery.Seq,
				now,
				tried,
			),
			sqldb.NewStatement(
				`INSERT INTO attempt (partner_id, endpoint_id, seq, at, worker, status, failure, duration)
			SELECT partner_id, endpoint_id, seq, CAST($4 AS BIGINT), CAST($5 AS TEXT), CAST($6 AS BIGINT), '',
			CAST($7 AS BIGINT) FROM delivery
			WHERE partner_id = $1 AND endpoint_id = $2 AND seq = $3 AND (tried IS NULL
			OR tried <> $8)`+s.db.KeepRows()+`
			ON CONFLICT DO NOTHING`,
				k.partner,
				k.endpoint,
				r.Delivery.Seq,
				r.At,
				worker,
				r.Outcome.Status,
				r.Outcome.Duration,
				tried,
			),
		)
	}
	return statements
}
