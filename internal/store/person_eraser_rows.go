package store

import (
	"strconv"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/notify/alert"
)

// subscriptions deletes up to limit subscriptions of the CPF and takes the live ones off the partner's counts. The
// partner's counter is locked first, as every change of subscriptions does.
func (e *eraser) subscriptions(limit int64) int64 {
	if len(e.x.cpf) == 0 {
		return 0
	}
	if _, e.err = lockSubscriptions(e.ctx, e.tx, e.x.partner); e.err != nil {
		return 0
	}
	for _, half := range []string{`ended_at = 0`, `ended_at <> 0`} { // see unsubscribed
		var seats []seat
		seats, e.err = collectRows(
			e.ctx,
			e.tx,
			func(row scanner, s *seat) error { return row.Scan(&s.seq, &s.expiry) },
			`SELECT seq, expiry_day FROM subscription WHERE partner_id = $1 AND cpf = $2 AND created_at <= $3
			AND `+half+`
			LIMIT $4`,
			e.x.partner,
			e.x.cpf,
			e.upTo,
			limit,
		)
		if e.err != nil {
			return 0
		}
		if len(seats) == 0 {
			continue
		}
		args := []any{e.x.partner}
		seqs := make([]int64, len(seats))
		for i, s := range seats {
			seqs[i] = s.seq
		}
		n := e.deleteRows(
			"subscriptions",
			`DELETE FROM subscription WHERE partner_id = $1 AND seq `+e.tx.EngineName().NumbersCondition(&args, seqs),
			args...,
		)
		if e.err == nil && half == `ended_at = 0` {
			e.err = Subscriptions(e.in).removeActive(e.ctx, e.tx, e.x.partner, seats)
		}
		return n
	}
	return 0
}

// valuesAtOnce is how many watched values, or cases, are looked at for what hangs on them.
const valuesAtOnce = 20

// deleteValues deletes watched values: first what hangs on some of them, then these.
func (e *eraser) deleteValues(limit int64) int64 {
	values := e.readRowNames(
		`SELECT id FROM asset WHERE partner_id = $1 AND user_index IN ($2, $3) AND created_at <= $4 LIMIT $5`,
		e.userArguments(valuesAtOnce)...,
	)
	if len(values) == 0 { // the person's CPF, where others watch it
		args := e.x.assetArguments()
		values = e.readRowNames(
			`SELECT id FROM asset WHERE partner_id = $1 AND kind = $2 AND value_index = $3 AND created_at <= $4
			LIMIT $5`,
			args[0],
			args[3],
			args[4],
			e.upTo,
			valuesAtOnce,
		)
	}
	if len(values) == 0 {
		return 0
	}
	args, isNamed := e.namedArguments(values)
	findings := e.readRowNames(
		`SELECT id FROM finding WHERE partner_id = $1 AND asset_id `+isNamed+appendLimit(&args, limit),
		args...,
	)
	if len(findings) > 0 {
		args, isNamed := e.namedArguments(findings)
		e.deleteRows("steps", `DELETE FROM finding_step WHERE partner_id = $1 AND finding_id `+isNamed, args...)
		return e.deleteRows("findings", `DELETE FROM finding WHERE partner_id = $1 AND id `+isNamed, args...)
	}
	args, isNamed = e.namedArguments(values)
	n := e.deleteRows("status changes", `DELETE FROM asset_history WHERE partner_id = $1 AND (asset_id, seq) IN (
		SELECT asset_id, seq FROM asset_history WHERE partner_id = $1
		AND asset_id `+isNamed+appendLimit(&args, limit)+`)`,
		args...)
	if n > 0 {
		return n
	}
	args, isNamed = e.namedArguments(values)
	return e.deleteRows("watched values", `DELETE FROM asset WHERE partner_id = $1 AND id `+isNamed, args...)
}

// deleteCases deletes cases: first the moves of some of them, then these.
func (e *eraser) deleteCases(limit int64) int64 {
	cases := e.readRowNames(
		`SELECT id FROM support_case WHERE partner_id = $1 AND user_index IN ($2, $3) AND created_at <= $4 LIMIT $5`,
		e.userArguments(valuesAtOnce)...,
	)
	if len(cases) == 0 {
		return 0
	}
	args, isNamed := e.namedArguments(cases)
	n := e.deleteRows("case moves", `DELETE FROM case_move WHERE partner_id = $1 AND (case_id, number) IN (
		SELECT case_id, number FROM case_move WHERE partner_id = $1
		AND case_id `+isNamed+appendLimit(&args, limit)+`)`,
		args...)
	if n > 0 {
		return n
	}
	for _, id := range cases { // one after the other, since bookings may be on another machine than cases
		e.deleteRows("bookings", `DELETE FROM case_booking WHERE partner_id = $1 AND case_id = $2`, e.x.partner, id)
	}
	args, isNamed = e.namedArguments(cases)
	return e.deleteRows("cases", `DELETE FROM support_case WHERE partner_id = $1 AND id `+isNamed, args...)
}

// deleteDevices deletes keys. Keys that were live end with it, and the partner that installed them is told, by the
// key's ID alone.
func (e *eraser) deleteDevices(limit int64) int64 {
	keys := e.readRowNames(
		`SELECT id FROM epp_key WHERE partner_id = $1 AND user_index IN ($2, $3) AND issued_at <= $4 LIMIT $5`,
		e.userArguments(limit)...,
	)
	if len(keys) == 0 {
		return 0
	}
	e.addEndEvents(keys, e.in.now())
	args, isNamed := e.namedArguments(keys)
	args = append(args, takenByErased)
	e.changeRows(`UPDATE epp_pool SET taken_by = $`+strconv.Itoa(len(args))+` WHERE key_index IN (
		SELECT key_index FROM epp_key WHERE partner_id = $1 AND id `+isNamed+`) AND taken_by <> ''`,
		args...,
	)
	args, isNamed = e.namedArguments(keys)
	return e.deleteRows("devices", `DELETE FROM epp_key WHERE partner_id = $1 AND id `+isNamed, args...)
}

// addEndEvents makes the events of keys that were live.
func (e *eraser) addEndEvents(keys []string, now time.Time) {
	args, isNamed := e.namedArguments(keys)
	args = append(args, now)
	var live []cyber.Device
	live, e.err = collectRows(
		e.ctx,
		e.tx,
		Devices(e.in).scanDevice,
		`SELECT `+deviceColumns+` FROM epp_key WHERE partner_id = $1 AND id `+isNamed+`
		AND ended_at = 0 AND valid_until > $`+strconv.Itoa(len(args)),
		args...,
	)
	for _, d := range live {
		d.EndedAt, d.EndReason = now, cyber.EndErased
		e.told = append(e.told, alert.NewKeyEndEvent(d, now, ""))
	}
}

// deleteAnswers deletes answers to questions of the content.
func (e *eraser) deleteAnswers(limit int64) int64 {
	return e.deleteRows(
		"answers",
		`DELETE FROM content_answer WHERE partner_id = $1 AND (user_index, content_id) IN (SELECT user_index, content_id
		FROM content_answer WHERE partner_id = $1 AND user_index IN ($2, $3) AND answered_at <= $4 LIMIT $5)`,
		e.userArguments(limit)...,
	)
}

// deleteScores deletes days. A score counts for its whole day: one of the day of the erasure goes too.
func (e *eraser) deleteScores(limit int64) int64 {
	return e.deleteRows(
		"scores",
		`DELETE FROM score_day WHERE partner_id = $1 AND (user_index, day) IN (SELECT user_index, day
		FROM score_day WHERE partner_id = $1 AND user_index IN ($2, $3) AND day <= $4 LIMIT $5)`,
		append(e.x.userArguments(), dayOfMicros(e.upTo), limit)...,
	)
}

// deleteEvents deletes what the partner was told, on its way or kept, and remembers the numbers: they are not losses.
func (e *eraser) deleteEvents(limit int64) int64 {
	if e.err = Alerts(e.in).lockEvents(e.ctx, e.tx, e.x.partner); e.err != nil {
		return 0
	}
	var seqs []int64
	seqs, e.err = collectValues[int64](
		e.ctx,
		e.tx,
		`SELECT seq FROM event WHERE partner_id = $1 AND person IN ($2, $3) AND created_at <= $4 LIMIT $5`,
		e.userArguments(limit)...,
	)
	if len(seqs) == 0 {
		return 0
	}
	var endpoints []alert.EndpointID
	endpoints, e.err = deliveredTo(e.ctx, e.tx, e.x.partner)
	e.eraseEvents(seqs, endpoints)
	return int64(len(seqs))
}

// eraseEvents deletes events by their numbers.
func (e *eraser) eraseEvents(seqs []int64, endpoints []alert.EndpointID) {
	for _, endpoint := range endpoints {
		args := []any{e.x.partner, endpoint}
		isErased := e.tx.EngineName().NumbersCondition(&args, seqs)
		e.deleteRows(
			"attempts",
			`UPDATE delivery SET tried = NULL WHERE partner_id = $1 AND endpoint_id = $2
			AND seq `+isErased+` AND tried IS NOT NULL`,
			args...,
		)
		e.deleteRows(
			"deliveries",
			`DELETE FROM delivery WHERE partner_id = $1 AND endpoint_id = $2 AND seq `+isErased,
			args...,
		)
		e.deleteRows(
			"attempts",
			`DELETE FROM attempt WHERE partner_id = $1 AND endpoint_id = $2 AND seq `+isErased,
			args...) // see deleteDelivery
	}
	args := []any{e.x.partner}
	isErased := e.tx.EngineName().NumbersCondition(&args, seqs)
	e.changeRows(`INSERT INTO event_gap (partner_id, seq) SELECT partner_id, seq FROM event
		WHERE partner_id = $1 AND seq `+isErased+` ON CONFLICT (partner_id, seq) DO NOTHING`,
		args...,
	)
	e.deleteRows("events", `DELETE FROM event WHERE partner_id = $1 AND seq `+isErased, args...)
}

// deletePersonRows deletes what is one row of a person's: holder of keys, how the partner spelt the hash, and the row
// that joins the forms of it unless a newer enrolment uses that.
func (e *eraser) deletePersonRows() {
	e.changeRows(`DELETE FROM epp_holder WHERE partner_id = $1 AND user_index IN ($2, $3) AND NOT EXISTS (
		SELECT 1 FROM epp_key k WHERE k.partner_id = $1 AND k.user_index IN ($2, $3))`,
		e.x.userArguments()...,
	)
	e.deleteRows(
		"names",
		`DELETE FROM person_name WHERE partner_id = $1 AND user_index IN ($2, $3) AND named_at <= $4`,
		e.userArguments()...,
	)
	if len(e.x.cpf) > 0 {
		e.deleteRows(
			"person",
			`DELETE FROM person WHERE partner_id = $1 AND cpf = $2 AND created_at <= $3`+unsubscribed,
			e.x.partner,
			e.x.cpf,
			e.upTo,
		)
	}
}
