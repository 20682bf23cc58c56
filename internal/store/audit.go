package store

import (
	"context"
	"crypto/hmac"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

var _ operator.Ledger = Audit{}

// auditPlace binds the detail of an audit line to its number, so that it cannot be moved to another line.
func auditPlace(seq int64) seal.Place {
	return seal.Place{Table: "audit", Column: "detail", Row: strconv.FormatInt(seq, 10)}
}

// auditDetail is what the sealed column of a line holds.
type auditDetail struct {
	From string `json:"from"`
	Text string `json:"text"`
}

// chainMAC chains a line to the one before. It covers the plain detail and not its ciphertext, so that a rotation of
// keys, which seals details anew, leaves the chain whole.
func (s Audit) chainMAC(before []byte, e operator.Entry) []byte {
	var numbers [16]byte
	binary.BigEndian.PutUint64(numbers[:8], uint64(e.Seq))
	binary.BigEndian.PutUint64(numbers[8:], uint64(toMicros(e.At)))
	return s.keys.MAC(
		"audit",
		before,
		numbers[:],
		[]byte(e.Name),
		[]byte(e.From),
		[]byte(e.Action),
		[]byte(e.Subject),
		[]byte(e.Detail),
	)
}

// trailHeadTag returns the keyed hash of the trail's head.
func (s Audit) trailHeadTag(seq int64, mac []byte) []byte {
	return s.keys.MAC("audit.head", binary.BigEndian.AppendUint64(nil, uint64(seq)), mac)
}

// AppendAudit adds a line to the trail.
func (s Audit) AppendAudit(ctx context.Context, e operator.Entry) (operator.Entry, error) {
	return runReturning(ctx, s.core, func(tx *sqldb.Tx) (operator.Entry, error) {
		// The first statement locks the head until the transaction ends: lines are chained in the order of their
		// commits.
		if err := execStatement(ctx, tx, `INSERT INTO audit_head (id, seq, mac, tag) VALUES (1, 0, $1, $1)
			ON CONFLICT (id) DO UPDATE SET seq = audit_head.seq`,
			[]byte{},
		); err != nil {
			return e, err
		}
		head, err := s.loadHead(ctx, tx)
		if err != nil {
			return e, err
		}
		e.Seq, e.At = head.Seq+1, fromMicros(toMicros(e.At))
		sealed, err := s.sealValue(auditPlace(e.Seq), auditDetail{e.From, e.Detail})
		if err != nil {
			return e, err
		}
		mac := s.chainMAC(head.MAC, e)
		return e, tx.RunStatements(ctx, []sqldb.Statement{
			sqldb.NewStatement(
				`INSERT INTO audit (seq, at, actor, action, subject, detail, mac) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
				e.Seq,
				e.At,
				e.Name,
				e.Action,
				e.Subject,
				sealed,
				mac,
			),
			sqldb.NewStatement(
				`UPDATE audit_head SET seq = $1, mac = $2, tag = $3 WHERE id = 1`,
				e.Seq,
				mac,
				s.trailHeadTag(e.Seq, mac),
			),
		})
	})
}

// loadHead reads the head and refuses one that the keys did not make: going on from it would bury the damage.
func (s Audit) loadHead(ctx context.Context, q querier) (operator.Head, error) {
	var h operator.Head
	var tag []byte
	err := readColumns(ctx, q, []any{&h.Seq, &h.MAC, &tag}, `SELECT seq, mac, tag FROM audit_head WHERE id = 1`)
	if errors.Is(err, sql.ErrNoRows) || err == nil && h.Seq == 0 && len(tag) == 0 {
		return operator.Head{}, nil
	}
	if err != nil {
		return h, err
	}
	if !hmac.Equal(tag, s.trailHeadTag(h.Seq, h.MAC)) {
		return h, operator.ErrTrailBroken.With("", fault.TrailHeadForged)
	}
	return h, nil
}

// TrailHead returns the end of the trail.
func (s Audit) TrailHead(ctx context.Context) (operator.Head, error) {
	return s.loadHead(ctx, s.readQuerier())
}

// auditRow is a line together with its mac.
type auditRow struct {
	operator.Entry
	mac []byte
}

// auditColumns are those that scanning a line of the trail expects, in its order.
const auditColumns = `seq, at, actor, action, subject, detail, mac`

// scanAuditLine reads a line of the trail.
func (s Audit) scanAuditLine(row scanner, r *auditRow) error {
	var sealed []byte
	if err := row.Scan(&r.Seq, &r.At, &r.Name, &r.Action, &r.Subject, &sealed, &r.mac); err != nil {
		return err
	}
	plain, err := s.keys.Unseal(auditPlace(r.Seq), sealed)
	if err != nil {
		return operator.ErrTrailBroken.With("", fault.TrailDetailSealed, r.Seq).Because(err)
	}
	var d auditDetail
	if err := json.Unmarshal(plain, &d); err != nil {
		return operator.ErrTrailBroken.With("", fault.TrailDetailUnreadable, r.Seq).Because(err)
	}
	r.From, r.Detail = d.From, d.Text
	return nil
}

// scanEntry reads a line without its mac.
func (s Audit) scanEntry(row scanner, e *operator.Entry) error {
	var r auditRow
	err := s.scanAuditLine(row, &r)
	*e = r.Entry
	return err
}

// clockDrift is by how much the clocks of replicas may differ: lines are numbered in the order of their commits, and
// nearly in that of their times.
const clockDrift = time.Minute

// ListLines returns lines of the trail, newest first unless the filter turns them round.
func (s Audit) ListLines(ctx context.Context, f operator.Filter) ([]operator.Entry, error) {
	var c conditions
	if f.Actor != "" {
		c.addCondition(`actor = `, f.Actor)
	}
	if f.Action != "" {
		c.addCondition(`action = `, f.Action)
	}
	if f.Subject != "" {
		c.addCondition(`subject = `, f.Subject)
	}
	if !f.From.IsZero() { // the time's index finds where the period lies, and numbers are walked from there
		c.addCondition(`at >= `, f.From)
		c.addCondition(`seq > coalesce((SELECT seq FROM audit WHERE at < `, f.From.Add(-clockDrift))
		c.text += ` ORDER BY at DESC, seq DESC LIMIT 1), 0)`
	}
	if !f.To.IsZero() {
		c.addCondition(`at < `, f.To)
		c.addCondition(`seq < coalesce((SELECT seq FROM audit WHERE at >= `, f.To.Add(clockDrift))
		c.text += ` ORDER BY at, seq LIMIT 1), ` + strconv.Itoa(math.MaxInt64) + `)`
	}
	order := ` ORDER BY seq DESC`
	switch {
	case f.OldestFirst:
		order = ` ORDER BY seq`
		c.addCondition(`seq > `, f.Before)
	case f.Before > 0:
		c.addCondition(`seq < `, f.Before)
	}
	order += c.addLimit(f.Limit)
	if f.Partner != "" {
		people, err := s.partnerOperators(ctx, f.Partner)
		if err != nil || len(people) == 0 {
			return nil, err
		}
		c.text = ` AND seq IN (` + lineNumbersOf(people, c.text+order, &c.args) + `)`
	}
	return collectRows(
		ctx,
		s.readQuerier(),
		s.scanEntry,
		`SELECT `+auditColumns+` FROM audit WHERE true`+c.text+order,
		c.args...,
	)
}

// partnerOperators returns a partner's own people.
func (s Audit) partnerOperators(ctx context.Context, id partner.ID) ([]operator.ID, error) {
	return collectValues[operator.ID](
		ctx,
		s.readQuerier(),
		`SELECT id FROM operator WHERE works_for = $1 ORDER BY id`,
		id,
	)
}

// peopleParts is into how many parts people are put when there are very many: no engine takes hundreds in one
// statement.
const peopleParts = 50

// lineNumbersOf returns the numbers of the first lines that people wrote or that are about them, each found by an
// index: asked for together, all of the trail would be walked for the few of a small partner's.
func lineNumbersOf(people []operator.ID, rest string, args *[]any) string {
	var each []string
	for part := range slices.Chunk(people, max(1, len(people)/peopleParts)) {
		marks := appendMarks(args, part)
		for _, column := range []string{"actor", "subject"} {
			each = append(
				each,
				`SELECT seq FROM (SELECT seq FROM audit WHERE `+column+` IN (`+marks+`)`+rest+`) AS lines`,
			)
		}
	}
	return strings.Join(each, ` UNION `)
}

// VerifyAudit walks the trail from its first line to its head.
func (s Audit) VerifyAudit(ctx context.Context, expect operator.Head, progress func(seq int64)) (operator.Head, error) {
	const batch = 1000
	head, err := s.loadHead(ctx, s.readQuerier())
	if err != nil {
		return head, err
	}
	at, err := s.loadBase(ctx, s.readQuerier())
	if err != nil {
		return at, err
	}
	if expect.Seq > 0 && expect.Seq <= at.Seq {
		return at, operator.ErrTrailBroken.With("", fault.TrailLineTooOld, expect.Seq, at.Seq+1)
	}
	for at.Seq < head.Seq {
		rows, err := collectRows(
			ctx,
			s.readQuerier(),
			s.scanAuditLine,
			`SELECT `+auditColumns+` FROM audit WHERE seq > $1 AND seq <= $2 ORDER BY seq LIMIT $3`,
			at.Seq,
			head.Seq,
			batch,
		)
		if err != nil {
			return at, err
		}
		if len(rows) == 0 {
			return at, operator.ErrTrailBroken.With("", fault.TrailLineMissing, at.Seq+1)
		}
		for _, r := range rows {
			if at, err = s.checkLine(at, r, expect); err != nil {
				return at, err
			}
		}
		if progress != nil {
			progress(at.Seq)
		}
	}
	if !hmac.Equal(at.MAC, head.MAC) {
		return at, operator.ErrTrailBroken.With("", fault.TrailLineNotLast, at.Seq)
	}
	if expect.Seq > head.Seq {
		return head, operator.ErrTrailBroken.With("", fault.TrailTooShort, head.Seq, expect.Seq)
	}
	return head, s.nothingBeyond(ctx, head)
}

// checkLine checks one line against the one before.
func (s Audit) checkLine(before operator.Head, r auditRow, expect operator.Head) (operator.Head, error) {
	if r.Seq != before.Seq+1 {
		return before, operator.ErrTrailBroken.With("", fault.TrailLineMissing, before.Seq+1)
	}
	if !hmac.Equal(r.mac, s.chainMAC(before.MAC, r.Entry)) {
		return before, operator.ErrTrailBroken.With("", fault.TrailLineChanged, r.Seq, before.Seq)
	}
	if r.Seq == expect.Seq && !hmac.Equal(r.mac, expect.MAC) {
		return before, operator.ErrTrailBroken.With("", fault.TrailLineNotNoted, r.Seq)
	}
	return operator.Head{Seq: r.Seq, MAC: r.mac}, nil
}

// nothingBeyond finds lines after the head that are not simply newer than the reading of it.
func (s Audit) nothingBeyond(ctx context.Context, head operator.Head) error {
	now, err := s.loadHead(ctx, s.readQuerier())
	if err != nil || now.Seq > head.Seq {
		return err
	}
	base, err := s.loadBase(ctx, s.readQuerier())
	if err != nil {
		return err
	}
	beyond, err := readValue[int64](
		ctx,
		s.readQuerier(),
		`SELECT count(*) FROM audit WHERE seq > $1 OR seq <= $2`,
		head.Seq,
		base.Seq,
	)
	if err != nil {
		return err
	}
	if beyond > 0 {
		return operator.ErrTrailBroken.With("", fault.TrailLinesOutside, beyond)
	}
	return nil
}

// KeepTogether runs fn on a trail whose lines are kept together or not at all.
func (s Audit) KeepTogether(ctx context.Context, fn func(operator.Ledger) error) error {
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error { return fn(Audit{s.withTransaction(tx)}) })
}
