package store

import (
	"context"
	"crypto/hmac"
	"encoding/binary"

	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/subject"
)

// tombstoneMAC shows later that the service wrote a tombstone: a log kept elsewhere could otherwise be made to erase
// anybody.
func (s Subjects) tombstoneMAC(t subject.Tombstone) []byte {
	at := binary.BigEndian.AppendUint64(nil, uint64(t.ErasedAt))
	return s.keys.MAC(
		"erasure",
		[]byte(t.ID),
		[]byte(t.Partner),
		[]byte(t.Person),
		t.CPF,
		t.User256,
		t.User512,
		t.Watched,
		at,
	)
}

// keepTombstone stores a tombstone that is not there yet and returns how many rows it added. It counts once the erasure
// is done.
func (s Subjects) keepTombstone(
	ctx context.Context, tx *sqldb.Tx, t subject.Tombstone, kept keptTrail, done bool,
) (int64, error) {
	sealed, err := s.sealValue(trailPlace(t.Partner, t.ID), kept)
	if err != nil {
		return 0, err
	}
	return execCounting(
		ctx,
		tx,
		`INSERT INTO erasure (id, partner_id, person, cpf, user_256, user_512, watched, erased_at, trail, done)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (partner_id, id) DO NOTHING`,
		t.ID,
		t.Partner,
		t.Person,
		orEmptyBytes(t.CPF),
		t.User256,
		t.User512,
		orEmptyBytes(t.Watched),
		t.ErasedAt,
		sealed,
		done,
	)
}

// ReplayErasure erases again what is older than the erasure: see subject.Store.
func (s Subjects) ReplayErasure(ctx context.Context, t subject.Tombstone) (subject.Erased, error) {
	var erased subject.Erased
	if !hmac.Equal(t.MAC, s.tombstoneMAC(t)) {
		return erased, subject.ErrForeign.Note("this service did not write the line")
	}
	x := indexesOf(t)
	ahead, err := s.eraseAhead(ctx, x, t.ErasedAt)
	if err != nil {
		return erased, err
	}
	files, err := s.dropNamedExports(ctx, t.Partner, t.ErasedAt)
	if err != nil {
		return erased, err
	}
	err = s.runInTransaction(ctx, func(tx *sqldb.Tx) (err error) {
		if err = s.joinOpenRequests(ctx, tx, x, t, 0); err != nil {
			return err
		}
		if erased, err = s.insideTx(tx).eraseRowsOf(ctx, tx, x, t.ErasedAt); err != nil {
			return err
		}
		ahead.addToCounts(erased.Counts)
		files.addToCounts(erased.Counts)
		_, err = s.keepTombstone(ctx, tx, t, keptTrail{Reason: "replayed"}, true)
		return err
	})
	return erased, err
}

// tombstoneColumns are what stays of an erased person: keyed hashes, so that a restored backup erases them again.
const tombstoneColumns = `id, partner_id, person, cpf, user_256, user_512, watched, erased_at`

// scanTombstone reads a tombstone, and more columns behind it, and computes its MAC anew from the columns.
func (s Subjects) scanTombstone(row scanner, t *subject.Tombstone, more ...any) error {
	columns := []any{&t.ID, &t.Partner, &t.Person, &t.CPF, &t.User256, &t.User512, &t.Watched, &t.ErasedAt}
	err := row.Scan(append(columns, more...)...)
	t.MAC = s.tombstoneMAC(*t)
	return err
}

// Tombstones returns all erasures that have ended, oldest first.
func (s Subjects) Tombstones(ctx context.Context) ([]subject.Tombstone, error) {
	return collectRows(
		ctx,
		s.readQuerier(),
		func(row scanner, t *subject.Tombstone) error { return s.scanTombstone(row, t) },
		`SELECT `+tombstoneColumns+` FROM erasure WHERE done ORDER BY erased_at, id`,
	)
}

// indexesOf returns the keys that a tombstone names.
func indexesOf(t subject.Tombstone) indexes {
	return indexes{
		partner: t.Partner,
		cpf:     orEmptyBytes(t.CPF),
		user256: t.User256,
		user512: t.User512,
		value:   orEmptyBytes(t.Watched),
	}
}

// erasedQueries find rows of people who were erased that are older than their erasure. A day of a score ends at
// midnight in Brasília, three hours after that of UTC.
func erasedQueries() []string {
	var list []string
	for _, of := range []struct{ table, match string }{
		{"subscription", `t.cpf = e.cpf AND length(e.cpf) > 0 AND t.created_at <= e.erased_at`},
		{"asset", `t.user_index IN (e.user_256, e.user_512) AND t.created_at <= e.erased_at`},
		{"person_name", `t.user_index IN (e.user_256, e.user_512) AND t.named_at <= e.erased_at`},
		{"support_case", `t.user_index IN (e.user_256, e.user_512) AND t.created_at <= e.erased_at`},
		{"epp_key", `t.user_index IN (e.user_256, e.user_512) AND t.issued_at <= e.erased_at`},
		{"content_answer", `t.user_index IN (e.user_256, e.user_512) AND t.answered_at <= e.erased_at`},
		{
			"score_day",
			`t.user_index IN (e.user_256, e.user_512) AND (t.day + 1) * 86400000000 + 10800000000 <= e.erased_at`,
		},
		{"event", `t.person IN (e.user_256, e.user_512) AND t.created_at <= e.erased_at`},
	} {
		list = append(
			list,
			`SELECT '`+of.table+` of ' || e.partner_id, count(*) || ' rows of somebody who was erased (' || e.id ||
			') are back: replay the log of erasures'
			FROM erasure e JOIN `+of.table+` t ON t.partner_id = e.partner_id
			AND `+of.match+` WHERE e.done GROUP BY e.partner_id, e.id ORDER BY 1`,
		)
	}
	return list
}

// takenByErased is what a vendor's key says of the key that took it when that one was erased: it stays taken.
const takenByErased = "erased"
