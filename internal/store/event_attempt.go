package store

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// attemptPlace binds a receiver's answer to one attempt: two workers may have tried the same delivery at the same time.
func attemptPlace(id, endpoint, seq, at, worker string) seal.Place {
	return seal.Place{
		Table:   "attempt",
		Column:  "answer",
		Partner: id,
		Row:     endpoint + "/" + seq + "/" + at + "/" + worker,
	}
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
			deliveredRun{write, int64(n), func() sqldb.Statements { return s.foldOthers(worker, k, run, now) }},
		)
	}
	return runs
}

// foldOthers is for deliveries that were not pending any more: held meanwhile, or delivered by another worker, or by a
// transaction that was reported as failed. The row takes the try if it has none, or has this one; otherwise it gets a
// row of its own.
func (s Alerts) foldOthers(worker string, k endpointKey, run []alert.Result, now int64) (statements sqldb.Statements) {
	for _, r := range run {
		tried := make([]byte, triedSize)
		encodeAttempt(tried, r)
		statements.Add(`UPDATE delivery SET state = 'delivered', finished_at = $4, attempts = attempts + 1,
			tried = $5 WHERE partner_id = $1 AND endpoint_id = $2 AND seq = $3 AND state = 'held' AND tried IS NULL`,
			k.partner,
			k.endpoint,
			r.Delivery.Seq,
			now,
			tried,
		)
		statements.Add(
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
		)
	}
	return statements
}
