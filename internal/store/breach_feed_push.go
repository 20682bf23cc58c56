package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/vigiahq/vigia/internal/dump/feed"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// pushPart is how much of a body stands in one row.
const pushPart = 512 << 10

// pushBodyPlace binds a part of a push's body to its row.
func pushBodyPlace(feed string, mark []byte, number string) seal.Place {
	return seal.Place{
		Table:  "feed_push_part",
		Column: "body",
		Row:    feed + "/" + hex.EncodeToString(mark) + "/" + number,
	}
}

// pushColumns are those that scanning a push expects, in its order.
const pushColumns = `feed, mark, breach, told, records, bytes, state, error, received_at, ended_at`

// scanPushRow reads a push without its body.
func scanPushRow(row scanner, p *feed.Push) error {
	var told string
	err := row.Scan(
		&p.Feed,
		&p.Mark,
		&p.Breach,
		&told,
		&p.Records,
		&p.Bytes,
		&p.State,
		&p.Error,
		&p.ReceivedAt,
		&p.EndedAt,
	)
	p.Told = []byte(told)
	return err
}

// KeepPush stores a push and its body, or finds the one of the same id.
func (s Feeds) KeepPush(
	ctx context.Context, p feed.Push, id string, body []byte,
) (kept feed.Push, fresh bool, err error) {
	sum := sha256.Sum256(body)
	p.Mark = s.itemMark(p.Feed, "push "+id)
	bodyMark := s.itemMark(p.Feed, "body "+string(sum[:]))
	// Sealed, and what waits counted, before others have to wait for this writer.
	parts, err := s.sealBodyParts(p, body)
	if err != nil {
		return p, false, err
	}
	// What arrives at the same moment is not in it.
	waiting, err := readValue[int64](
		ctx,
		s.readQuerier(),
		`SELECT CAST(coalesce(sum(bytes), 0) AS BIGINT) FROM feed_push WHERE feed = $1 AND state = $2`,
		p.Feed,
		feed.PushWaiting,
	)
	if err != nil {
		return p, false, err
	}
	err = s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		n, err := execCounting(
			ctx,
			tx,
			`INSERT INTO feed_push (`+pushColumns+`, body_mark) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
			ON CONFLICT (feed, mark) DO NOTHING`,
			p.Feed,
			p.Mark,
			p.Breach,
			string(p.Told),
			p.Records,
			p.Bytes,
			p.State,
			p.Error,
			p.ReceivedAt,
			p.EndedAt,
			bodyMark,
		)
		if err != nil {
			return err
		}
		if fresh = n > 0; !fresh {
			kept, err = s.findSamePush(ctx, tx, p, bodyMark)
			return err
		}
		if kept = p; waiting+p.Bytes > feed.MostWaiting {
			return feed.ErrBacklog.Note("feed: %d bytes wait already; send later", waiting)
		}
		for number, sealed := range parts {
			err := execStatement(ctx, tx,
				`INSERT INTO feed_push_part (feed, mark, number, body) VALUES ($1, $2, $3, $4)`,
				p.Feed, p.Mark, number, sealed)
			if err != nil {
				return err
			}
		}
		return nil
	})
	return kept, fresh, err
}

// findSamePush returns the push that came under the same id.
func (s Feeds) findSamePush(ctx context.Context, tx *sqldb.Tx, p feed.Push, bodyMark []byte) (feed.Push, error) {
	var before []byte
	kept, err := readRow(
		ctx,
		tx,
		func(row scanner, kept *feed.Push) error { return scanPushRow(longer{row, []any{&before}}, kept) },
		sql.ErrNoRows,
		`SELECT `+pushColumns+`, body_mark FROM feed_push WHERE feed = $1 AND mark = $2`,
		p.Feed,
		p.Mark,
	)
	if err == nil && !bytes.Equal(before, bodyMark) {
		err = feed.ErrRepeated.Note("webhook-id: was used before, with another body")
	}
	return kept, err
}

// sealBodyParts cuts a body into what stands in one row each.
func (s Feeds) sealBodyParts(p feed.Push, body []byte) (parts [][]byte, err error) {
	for part := range slices.Chunk(body, pushPart) {
		sealed, err := s.sealValue(pushBodyPlace(p.Feed, p.Mark, strconv.Itoa(len(parts))), part)
		if err != nil {
			return nil, err
		}
		parts = append(parts, sealed)
	}
	return parts, nil
}

// WaitingPushes returns what waits, oldest first.
func (s Feeds) WaitingPushes(ctx context.Context, name string, limit int) ([]feed.Push, error) {
	return collectRows(
		ctx,
		s.readQuerier(),
		scanPushRow,
		`SELECT `+pushColumns+` FROM feed_push WHERE feed = $1 AND state = $2 ORDER BY received_at, mark LIMIT $3`,
		name,
		feed.PushWaiting,
		limit,
	)
}

// ListPushes returns the last pushes of a feed, newest first.
func (s Feeds) ListPushes(ctx context.Context, name string, limit int) ([]feed.Push, error) {
	return collectRows(
		ctx,
		s.readQuerier(),
		scanPushRow,
		`SELECT `+pushColumns+` FROM feed_push WHERE feed = $1 ORDER BY received_at DESC, mark LIMIT $2`,
		name,
		limit,
	)
}

// OpenPushBody returns the body of one that waits.
func (s Feeds) OpenPushBody(ctx context.Context, p feed.Push) ([]byte, error) {
	parts, err := collectRows(ctx, s.readQuerier(), func(row scanner, part *[]byte) error {
		var number int64
		return row.Scan(
			&number,
			s.unseals(part, func() seal.Place { return pushBodyPlace(p.Feed, p.Mark, strconv.FormatInt(number, 10)) }),
		)
	}, `SELECT number, body FROM feed_push_part WHERE feed = $1 AND mark = $2 ORDER BY number`,
		p.Feed,
		p.Mark,
	)
	if err != nil {
		return nil, err
	}
	body := bytes.Join(parts, nil)
	if int64(len(body)) != p.Bytes {
		return nil, fmt.Errorf("read push: %d bytes of %d", len(body), p.Bytes)
	}
	return body, nil
}

// FinishPush stores the result of a push and deletes its body.
func (s Feeds) FinishPush(ctx context.Context, p feed.Push) error {
	return s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		err := execStatement(
			ctx,
			tx,
			`UPDATE feed_push SET state = $3, error = $4, ended_at = $5 WHERE feed = $1 AND mark = $2`,
			p.Feed,
			p.Mark,
			p.State,
			p.Error,
			p.EndedAt,
		)
		if err == nil {
			err = execStatement(ctx, tx, `DELETE FROM feed_push_part WHERE feed = $1 AND mark = $2`, p.Feed, p.Mark)
		}
		return err
	})
}

// SweepPushes deletes pushes that ended before a time, a few at a time.
func (s Feeds) SweepPushes(ctx context.Context, name string, before time.Time) error {
	_, err := s.runInBatches(ctx, func(tx *sqldb.Tx, limit int64) (int64, error) {
		return execCounting(ctx, tx, `DELETE FROM feed_push WHERE feed = $1 AND mark IN (
			SELECT mark FROM feed_push WHERE feed = $1 AND state IN ($2, $3) AND received_at < $4 LIMIT $5)`,
			name,
			feed.PushDone,
			feed.PushFailed,
			before,
			limit,
		)
	})
	return err
}
