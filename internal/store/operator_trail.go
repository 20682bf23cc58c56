package store

import (
	"context"
	"crypto/hmac"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/vigiahq/vigia/internal/operator"
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
		err := execStatement(ctx, tx, `INSERT INTO audit_head (id, seq, mac, tag) VALUES (1, 0, $1, $1)
			ON CONFLICT (id) DO UPDATE SET seq = audit_head.seq`,
			[]byte{})
		if err != nil {
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
		return e, tx.RunStatements(ctx, sqldb.Statements{
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

// KeepTogether runs fn on a trail whose lines are kept together or not at all.
func (s Audit) KeepTogether(ctx context.Context, fn func(operator.Ledger) error) error {
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error { return fn(Audit{s.withTransaction(tx)}) })
}
