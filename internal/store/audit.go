package store

import (
	"context"
	"crypto/hmac"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/seal"
	"github.com/vigiahq/vigia/internal/sqldb"
)

var _ operator.Ledger = Audit{}

func auditPlace(seq int64) seal.Place {
	return seal.Place{Table: "audit", Column: "detail", Row: strconv.FormatInt(seq, 10)}
}

// auditDetail is what the sealed column of a line holds.
type auditDetail struct {
	From string `json:"from"`
	Text string `json:"text"`
}

// auditMAC chains a line to the one before. It covers the plain detail and not its ciphertext, so that a rotation of
// keys, which seals details anew, leaves the chain whole.
func (s Audit) auditMAC(before []byte, e operator.Entry) []byte {
	var numbers [16]byte
	binary.BigEndian.PutUint64(numbers[:8], uint64(e.Seq))
	binary.BigEndian.PutUint64(numbers[8:], uint64(micros(e.At)))
	return s.keys.MAC("audit", before, numbers[:], []byte(e.Name), []byte(e.From), []byte(e.Action), []byte(e.Subject), []byte(e.Detail))
}

func (s Audit) auditTag(seq int64, mac []byte) []byte {
	return s.keys.MAC("audit.head", binary.BigEndian.AppendUint64(nil, uint64(seq)), mac)
}

// AppendAudit adds a line to the trail.
func (s Audit) AppendAudit(ctx context.Context, e operator.Entry) (operator.Entry, error) {
	err := s.inTx(ctx, func(tx *sqldb.Tx) error {
		// The first statement locks the head until the transaction ends: lines are chained in the order of their
		// commits.
		_, err := tx.ExecContext(ctx, `INSERT INTO audit_head (id, seq, mac, tag) VALUES (1, 0, $1, $1)
			ON CONFLICT (id) DO UPDATE SET seq = audit_head.seq`, []byte{})
		if err != nil {
			return fmt.Errorf("lock audit head: %w", err)
		}
		head, err := s.auditHead(ctx, tx)
		if err != nil {
			return err
		}
		e.Seq, e.At = head.Seq+1, fromMicros(micros(e.At))
		plain, err := json.Marshal(auditDetail{e.From, e.Detail})
		if err != nil {
			return fmt.Errorf("encode audit: %w", err)
		}
		sealed, err := s.keys.Seal(auditPlace(e.Seq), plain)
		if err != nil {
			return fmt.Errorf("seal audit: %w", err)
		}
		mac := s.auditMAC(head.MAC, e)
		_, err = tx.ExecContext(ctx, `INSERT INTO audit (seq, at, actor, action, subject, detail, mac) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			e.Seq, micros(e.At), e.Name, e.Action, e.Subject, sealed, mac)
		if err == nil {
			_, err = tx.ExecContext(ctx, `UPDATE audit_head SET seq = $1, mac = $2, tag = $3 WHERE id = 1`, e.Seq, mac, s.auditTag(e.Seq, mac))
		}
		if err != nil {
			return fmt.Errorf("append audit: %w", err)
		}
		return nil
	})
	return e, err
}

// auditHead reads the head and refuses one that the keys did not make: going on from it would bury the damage.
func (s Audit) auditHead(ctx context.Context, q querier) (operator.Head, error) {
	var h operator.Head
	var tag []byte
	err := q.QueryRowContext(ctx, `SELECT seq, mac, tag FROM audit_head WHERE id = 1`).Scan(&h.Seq, &h.MAC, &tag)
	if errors.Is(err, sql.ErrNoRows) || err == nil && h.Seq == 0 && len(tag) == 0 {
		return operator.Head{}, nil
	}
	if err != nil {
		return h, classify(fmt.Errorf("read audit head: %w", err))
	}
	if !hmac.Equal(tag, s.auditTag(h.Seq, h.MAC)) {
		return h, operator.ErrTrailBroken.With("", fault.TrailHeadForged)
	}
	return h, nil
}

// AuditHead returns the end of the trail.
func (s Audit) AuditHead(ctx context.Context) (operator.Head, error) {
	return s.auditHead(ctx, s.reader())
}

// auditRow is a line together with its mac.
type auditRow struct {
	operator.Entry
	mac []byte
}

const auditColumns = `seq, at, actor, action, subject, detail, mac`

func (s Audit) scanAudit(row scanner) (auditRow, error) {
	var r auditRow
	var at int64
	var sealed []byte
	if err := row.Scan(&r.Seq, &at, &r.Name, &r.Action, &r.Subject, &sealed, &r.mac); err != nil {
		return r, err
	}
	r.At = fromMicros(at)
	plain, err := s.keys.Unseal(auditPlace(r.Seq), sealed)
	if err != nil {
		return r, operator.ErrTrailBroken.With("", fault.TrailDetailSealed, r.Seq).Because(err)
	}
	var d auditDetail
	if err := json.Unmarshal(plain, &d); err != nil {
		return r, operator.ErrTrailBroken.With("", fault.TrailDetailUnreadable, r.Seq).Because(err)
	}
	r.From, r.Detail = d.From, d.Text
	return r, nil
}

// clockDrift is by how much the clocks of replicas may differ: lines are numbered in the order of their commits, and nearly in
// that of their times.
const clockDrift = time.Minute

// Audit returns lines of the trail, newest first unless the filter turns them round.
func (s Audit) Audit(ctx context.Context, f operator.Filter) ([]operator.Entry, error) {
	where, args := ``, []any{}
	add := func(condition string, value any) {
		args = append(args, value)
		where += condition + strconv.Itoa(len(args))
	}
	if f.Actor != "" {
		add(` AND actor = $`, f.Actor)
	}
	if f.Action != "" {
		add(` AND action = $`, f.Action)
	}
	if f.Subject != "" {
		add(` AND subject = $`, f.Subject)
	}
	if !f.From.IsZero() { // the time's index finds where the period lies, and numbers are walked from there
		add(` AND at >= $`, micros(f.From))
		add(` AND seq > coalesce((SELECT seq FROM audit WHERE at < $`, micros(f.From.Add(-clockDrift)))
		where += ` ORDER BY at DESC, seq DESC LIMIT 1), 0)`
	}
	if !f.To.IsZero() {
		add(` AND at < $`, micros(f.To))
		add(` AND seq < coalesce((SELECT seq FROM audit WHERE at >= $`, micros(f.To.Add(clockDrift)))
		where += ` ORDER BY at, seq LIMIT 1), ` + strconv.Itoa(math.MaxInt64) + `)`
	}
	order := ` ORDER BY seq DESC`
	switch {
	case f.OldestFirst:
		order = ` ORDER BY seq`
		add(` AND seq > $`, f.Before)
	case f.Before > 0:
		add(` AND seq < $`, f.Before)
	}
	args = append(args, int64(max(f.Limit, 1)))
	order += ` LIMIT $` + strconv.Itoa(len(args))
	if f.Partner != "" {
		people, err := s.peopleOf(ctx, f.Partner)
		if err != nil || len(people) == 0 {
			return nil, err
		}
		where = ` AND seq IN (` + linesOf(people, where+order, &args) + `)`
	}
	return collect(ctx, s.reader(), func(row scanner) (operator.Entry, error) {
		r, err := s.scanAudit(row)
		return r.Entry, err
	}, `SELECT `+auditColumns+` FROM audit WHERE true`+where+order, args...)
}

// peopleOf are a partner's own people.
func (s Audit) peopleOf(ctx context.Context, id partner.ID) ([]operator.ID, error) {
	people, err := collect(ctx, s.reader(), func(row scanner) (id operator.ID, err error) { return id, row.Scan(&id) },
		`SELECT id FROM operator WHERE works_for = $1 ORDER BY id`, number(id))
	if err != nil {
		return nil, fmt.Errorf("read people: %w", err)
	}
	return people, nil
}

// peopleParts is into how many parts people are put when there are very many: no engine takes hundreds in one statement.
const peopleParts = 50

// linesOf are the numbers of the first lines that people wrote or that are about them, each found by an index: asked for together,
// all of the trail would be walked for the few of a small partner's.
func linesOf(people []operator.ID, rest string, args *[]any) string {
	var each []string
	for part := range slices.Chunk(people, max(1, len(people)/peopleParts)) {
		marks := list(args, part)
		for _, column := range []string{"actor", "subject"} {
			each = append(each, `SELECT seq FROM (SELECT seq FROM audit WHERE `+column+` IN (`+marks+`)`+rest+`) AS lines`)
		}
	}
	return strings.Join(each, ` UNION `)
}

// VerifyAudit walks the trail from its first line to its head.
func (s Audit) VerifyAudit(ctx context.Context, expect operator.Head, progress func(seq int64)) (operator.Head, error) {
	const batch = 1000
	head, err := s.auditHead(ctx, s.reader())
	if err != nil {
		return head, err
	}
	at, err := s.auditBase(ctx, s.reader())
	if err != nil {
		return at, err
	}
	if expect.Seq > 0 && expect.Seq <= at.Seq {
		return at, operator.ErrTrailBroken.With("", fault.TrailLineTooOld, expect.Seq, at.Seq+1)
	}
	for at.Seq < head.Seq {
		rows, err := collect(ctx, s.reader(), s.scanAudit,
			`SELECT `+auditColumns+` FROM audit WHERE seq > $1 AND seq <= $2 ORDER BY seq LIMIT $3`, at.Seq, head.Seq, int64(batch))
		if err != nil {
			return at, err
		}
		if len(rows) == 0 {
			return at, operator.ErrTrailBroken.With("", fault.TrailLineMissing, at.Seq+1)
		}
		for _, r := range rows {
			if at, err = s.follow(at, r, expect); err != nil {
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

// follow checks one line against the one before.
func (s Audit) follow(before operator.Head, r auditRow, expect operator.Head) (operator.Head, error) {
	if r.Seq != before.Seq+1 {
		return before, operator.ErrTrailBroken.With("", fault.TrailLineMissing, before.Seq+1)
	}
	if !hmac.Equal(r.mac, s.auditMAC(before.MAC, r.Entry)) {
		return before, operator.ErrTrailBroken.With("", fault.TrailLineChanged, r.Seq, before.Seq)
	}
	if r.Seq == expect.Seq && !hmac.Equal(r.mac, expect.MAC) {
		return before, operator.ErrTrailBroken.With("", fault.TrailLineNotNoted, r.Seq)
	}
	return operator.Head{Seq: r.Seq, MAC: r.mac}, nil
}

// nothingBeyond finds lines after the head that are not simply newer than the reading of it.
func (s Audit) nothingBeyond(ctx context.Context, head operator.Head) error {
	now, err := s.auditHead(ctx, s.reader())
	if err != nil || now.Seq > head.Seq {
		return err
	}
	base, err := s.auditBase(ctx, s.reader())
	if err != nil {
		return err
	}
	var beyond int64
	err = s.reader().QueryRowContext(ctx, `SELECT count(*) FROM audit WHERE seq > $1 OR seq <= $2`, head.Seq, base.Seq).Scan(&beyond)
	if err != nil {
		return classify(fmt.Errorf("read audit: %w", err))
	}
	if beyond > 0 {
		return operator.ErrTrailBroken.With("", fault.TrailLinesOutside, beyond)
	}
	return nil
}

// Together runs fn on a trail whose lines are kept together or not at all.
func (s Audit) Together(ctx context.Context, fn func(operator.Ledger) error) error {
	return s.inTx(ctx, func(tx *sqldb.Tx) error { return fn(Audit{s.within(tx)}) })
}
