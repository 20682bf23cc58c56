package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/vigiahq/vigia/internal/feed"
	"github.com/vigiahq/vigia/internal/seal"
	"github.com/vigiahq/vigia/internal/sqldb"
)

// pushPart is how much of a body stands in one row.
const pushPart = 512 << 10

// pushBodyPlace binds a part of a push's body to its row.
func pushBodyPlace(feed string, mark []byte, number string) seal.Place {
	return seal.Place{Table: "feed_push_part", Column: "body", Row: feed + "/" + hex.EncodeToString(mark) + "/" + number}
}

const pushColumns = `feed, mark, breach, told, records, bytes, state, error, received_at, ended_at`

// scanPushRow reads a push without its body.
func scanPushRow(row scanner) (feed.Push, error) {
	var p feed.Push
	var told string
	var received, ended int64
	err := row.Scan(&p.Feed, &p.Mark, &p.Breach, &told, &p.Records, &p.Bytes, &p.State, &p.Error, &received, &ended)
	p.Told, p.ReceivedAt, p.EndedAt = []byte(told), fromMicros(received), fromMicros(ended)
	return p, err
}

// KeepPush stores a push and its body, or finds the one of the same id.
func (s Feeds) KeepPush(ctx context.Context, p feed.Push, id string, body []byte) (kept feed.Push, fresh bool, err error) {
	sum := sha256.Sum256(body)
	p.Mark = s.itemMark(p.Feed, "push "+id)
	bodyMark := s.itemMark(p.Feed, "body "+string(sum[:]))
	// Sealed, and what waits counted, before others have to wait for this writer.
	parts, err := s.sealBodyParts(p, body)
	if err != nil {
		return p, false, err
	}
	waiting, err := s.waitingBytes(ctx, p.Feed)
	if err != nil {
		return p, false, err
	}
	err = s.runInTx(ctx, func(tx *sqldb.Tx) error {
		res, err := tx.ExecContext(ctx, `INSERT INTO feed_push (`+pushColumns+`, body_mark) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
			ON CONFLICT (feed, mark) DO NOTHING`, p.Feed, p.Mark, p.Breach, string(p.Told), p.Records, p.Bytes, string(p.State), p.Error,
			toMicros(p.ReceivedAt), toMicros(p.EndedAt), bodyMark)
		if err != nil {
			return fmt.Errorf("keep push: %w", err)
		}
		n, err := res.RowsAffected()
		if err != nil {
			return fmt.Errorf("keep push: %w", err)
		}
		if fresh = n > 0; !fresh {
			kept, err = s.findSamePush(ctx, tx, p, bodyMark)
			return err
		}
		if kept = p; waiting+p.Bytes > feed.MostWaiting {
			return feed.ErrBacklog.Note("feed: %d bytes wait already; send later", waiting)
		}
		for number, sealed := range parts {
			if err := execStatement(ctx, tx, "keep push", `INSERT INTO feed_push_part (feed, mark, number, body) VALUES ($1, $2, $3, $4)`, p.Feed, p.Mark, int64(number), sealed); err != nil {
				return err
			}
		}
		return nil
	})
	return kept, fresh, err
}

// findSamePush returns the push that came under the same id.
func (s Feeds) findSamePush(ctx context.Context, tx *sqldb.Tx, p feed.Push, bodyMark []byte) (feed.Push, error) {
	kept, err := scanPushRow(tx.QueryRowContext(ctx, `SELECT `+pushColumns+` FROM feed_push WHERE feed = $1 AND mark = $2`, p.Feed, p.Mark))
	if err != nil {
		return kept, fmt.Errorf("read push: %w", err)
	}
	var before []byte
	if err := tx.QueryRowContext(ctx, `SELECT body_mark FROM feed_push WHERE feed = $1 AND mark = $2`, p.Feed, p.Mark).Scan(&before); err != nil {
		return kept, fmt.Errorf("read push: %w", err)
	}
	if !bytes.Equal(before, bodyMark) {
		return kept, feed.ErrRepeated.Note("webhook-id: was used before, with another body")
	}
	return kept, nil
}

// waitingBytes returns how much waits of a feed. What arrives at the same moment is not in it.
func (s Feeds) waitingBytes(ctx context.Context, name string) (waiting int64, err error) {
	err = s.readQuerier().QueryRowContext(ctx, `SELECT CAST(coalesce(sum(bytes), 0) AS BIGINT) FROM feed_push WHERE feed = $1 AND state = $2`,
		name, string(feed.PushWaiting)).Scan(&waiting)
	return waiting, classifyError(wrapError("count pushes", err))
}

// sealBodyParts cuts a body into what stands in one row each.
func (s Feeds) sealBodyParts(p feed.Push, body []byte) (parts [][]byte, err error) {
	for part := range slices.Chunk(body, pushPart) {
		sealed, err := s.keys.Seal(pushBodyPlace(p.Feed, p.Mark, strconv.Itoa(len(parts))), part)
		if err != nil {
			return nil, fmt.Errorf("seal push: %w", err)
		}
		parts = append(parts, sealed)
	}
	return parts, nil
}

// WaitingPushes returns what waits, oldest first.
func (s Feeds) WaitingPushes(ctx context.Context, name string, limit int) ([]feed.Push, error) {
	return collectRows(ctx, s.readQuerier(), scanPushRow, `SELECT `+pushColumns+` FROM feed_push WHERE feed = $1 AND state = $2 ORDER BY received_at, mark LIMIT $3`,
		name, string(feed.PushWaiting), int64(limit))
}

// ListPushes returns the last pushes of a feed, newest first.
func (s Feeds) ListPushes(ctx context.Context, name string, limit int) ([]feed.Push, error) {
	return collectRows(ctx, s.readQuerier(), scanPushRow, `SELECT `+pushColumns+` FROM feed_push WHERE feed = $1 ORDER BY received_at DESC, mark LIMIT $2`, name, int64(limit))
}

// OpenPushBody returns the body of one that waits.
func (s Feeds) OpenPushBody(ctx context.Context, p feed.Push) ([]byte, error) {
	parts, err := collectRows(ctx, s.readQuerier(), func(row scanner) ([]byte, error) {
		var number int64
		var sealed []byte
		if err := row.Scan(&number, &sealed); err != nil {
			return nil, err
		}
		return s.keys.Unseal(pushBodyPlace(p.Feed, p.Mark, strconv.FormatInt(number, 10)), sealed)
	}, `SELECT number, body FROM feed_push_part WHERE feed = $1 AND mark = $2 ORDER BY number`, p.Feed, p.Mark)
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
	return s.runInTx(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE feed_push SET state = $3, error = $4, ended_at = $5 WHERE feed = $1 AND mark = $2`,
			p.Feed, p.Mark, string(p.State), p.Error, toMicros(p.EndedAt))
		if err == nil {
			_, err = tx.ExecContext(ctx, `DELETE FROM feed_push_part WHERE feed = $1 AND mark = $2`, p.Feed, p.Mark)
		}
		return wrapError("end push", err)
	})
}

// SweepPushes deletes pushes that ended before a time, a few at a time.
func (s Feeds) SweepPushes(ctx context.Context, name string, before time.Time) error {
	_, err := s.runInBatches(ctx, func(tx *sqldb.Tx, limit int64) (int64, error) {
		return rowsAffected(tx.ExecContext(ctx, `DELETE FROM feed_push WHERE feed = $1 AND mark IN (
			SELECT mark FROM feed_push WHERE feed = $1 AND state IN ($2, $3) AND received_at < $4 LIMIT $5)`,
			name, string(feed.PushDone), string(feed.PushFailed), toMicros(before), limit))
	})
	return wrapError("sweep pushes", err)
}

// DeleteFeed deletes a feed and all that is kept of it: it is paused, what it has goes a few rows at a time, and itself
// at last. Should it end half way, the feed is still there to be deleted.
func (s Feeds) DeleteFeed(ctx context.Context, name string) error {
	err := s.changeFeed(ctx, `UPDATE feed SET paused = TRUE WHERE name = $1`, name)
	for _, of := range []struct {
		most      int64
		statement string
	}{
		{partsAtOnce, `DELETE FROM feed_push_part WHERE feed = $1 AND (mark, number) IN (SELECT mark, number FROM feed_push_part WHERE feed = $1 LIMIT $2)`},
		{sweepBatch, `DELETE FROM feed_push WHERE feed = $1 AND mark IN (SELECT mark FROM feed_push WHERE feed = $1 LIMIT $2)`},
		{sweepBatch, `DELETE FROM feed_item WHERE feed = $1 AND mark IN (SELECT mark FROM feed_item WHERE feed = $1 LIMIT $2)`},
	} {
		if err == nil {
			_, err = s.runBatches(ctx, of.most, func(tx *sqldb.Tx, _, limit int64) (int64, error) {
				return rowsAffected(tx.ExecContext(ctx, of.statement, name, limit))
			})
		}
	}
	if err == nil {
		err = s.changeFeed(ctx, `DELETE FROM feed WHERE name = $1`, name)
	}
	return classifyError(wrapError("delete feed", err))
}

// changeFeed runs a statement about a feed that has to be there.
func (s Feeds) changeFeed(ctx context.Context, statement, name string) error {
	return s.runInTx(ctx, func(tx *sqldb.Tx) error {
		n, err := rowsAffected(tx.ExecContext(ctx, statement, name))
		if err == nil && n == 0 {
			err = feed.ErrNotFound.Note("name: there is no such feed")
		}
		return err
	})
}
