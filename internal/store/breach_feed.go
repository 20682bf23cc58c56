package store

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/vigiahq/vigia/internal/dump/feed"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

var _ feed.Store = Feeds{}

// sealedFeedPlace binds a sealed column of a feed to its row.
func sealedFeedPlace(column, name string) seal.Place {
	return seal.Place{Table: "feed", Column: column, Row: name}
}

// feedColumns are those that scanning a feed expects, in its order.
const feedColumns = `name, kind, target, secret, settings, paused, every_s, state, failures, error, next_at, last_at,
	created_at, mac`

// scanFeed reads feedColumns. A forged row is a feed that is paused.
func (c core) scanFeed(row scanner, into *checked[feed.Feed]) error {
	f := &into.value
	var target, secret, mac []byte
	var settings, state string
	var seconds int64
	err := row.Scan(&f.Name, &f.Kind, &target, &secret, &settings, &f.Paused, &seconds, &state, &f.Failures, &f.Error,
		&f.NextAt, &f.LastAt, &f.Created, &mac)
	if err != nil {
		return err
	}
	f.Every, into.row = time.Duration(seconds)*time.Second, "feed "+f.Name
	err = errors.Join(
		c.openSealed(sealedFeedPlace("target", f.Name), target, &f.Target),
		json.Unmarshal([]byte(settings), &f.Settings),
		json.Unmarshal([]byte(state), &f.State),
	)
	if secret != nil {
		err = errors.Join(err, c.openSealed(sealedFeedPlace("secret", f.Name), secret, &f.Secret))
	}
	if into.forged = err != nil || !c.isGenuine("feed", feedSettingsGrant(*f, settings), mac); into.forged {
		*f = feed.Feed{
			Name:    f.Name,
			Kind:    f.Kind,
			Paused:  true,
			Error:   forgedRowError("feed", f.Name).Error(),
			Created: f.Created,
		}
	}
	return nil
}

// feedSettingsGrant takes the settings as they are kept. Target and secret are sealed, and where a feed stands decides
// nothing.
func feedSettingsGrant(f feed.Feed, settings string) *grant {
	return new(grant).addTexts(f.Name, string(f.Kind), settings).addBools(f.Paused).
		addNumbers(int64(f.Every), toMicros(f.Created))
}

func (s Feeds) feedColumnValues(f feed.Feed) ([]any, error) {
	settings, err := json.Marshal(f.Settings)
	target, failed := s.sealValue(sealedFeedPlace("target", f.Name), f.Target)
	secret, failedToo := s.sealOptional(sealedFeedPlace("secret", f.Name), f.Secret)
	return []any{
		f.Name, f.Kind, target, secret, string(settings), f.Paused, int64(f.Every / time.Second),
		jsonArgument{f.State},
		f.Failures, f.Error,
		f.NextAt, f.LastAt, f.Created, s.grantMAC("feed", feedSettingsGrant(f, string(settings))),
	}, errors.Join(err, failed, failedToo)
}

// ListFeeds returns all feeds by name.
func (s Feeds) ListFeeds(ctx context.Context) ([]feed.Feed, error) {
	rows, err := collectRows(ctx, s.readQuerier(), s.scanFeed, `SELECT `+feedColumns+` FROM feed ORDER BY name`)
	return valuesOf(rows), err
}

func (s Feeds) FeedByName(ctx context.Context, name string) (feed.Feed, error) {
	return s.feedByName(ctx, s.readQuerier(), name)
}

// feedByName returns feed.ErrNotFound for an unknown name, and an error for a forged row: its address must not be
// fetched.
func (s Feeds) feedByName(ctx context.Context, q querier, name string) (feed.Feed, error) {
	return readGenuine(
		ctx,
		q,
		s.scanFeed,
		feed.ErrNotFound.With("name", fault.NoSuchFeed),
		`SELECT `+feedColumns+` FROM feed WHERE name = $1`,
		name,
	)
}

// InsertFeed stores a new feed.
func (s Feeds) InsertFeed(ctx context.Context, f feed.Feed) error {
	row, err := s.feedColumnValues(f)
	if err != nil {
		return err
	}
	return s.expectAlone(ctx, feed.ErrExists.With("name", fault.IsTaken), `INSERT INTO feed (`+feedColumns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) ON CONFLICT (name) DO NOTHING`,
		row...,
	)
}

// UpdateFeed changes a feed under the lock of its row.
func (s Feeds) UpdateFeed(ctx context.Context, name string, change func(*feed.Feed) error) (feed.Feed, error) {
	return runReturning(ctx, s.core, func(tx *sqldb.Tx) (f feed.Feed, err error) {
		if err := execStatement(ctx, tx, `UPDATE feed SET paused = paused WHERE name = $1`, name); err != nil {
			return f, err
		}
		if f, err = s.feedByName(ctx, tx, name); err != nil {
			return f, err
		}
		if err := change(&f); err != nil {
			return f, err
		}
		row, err := s.feedColumnValues(f)
		if err != nil {
			return f, err
		}
		return f, execStatement(
			ctx,
			tx,
			`UPDATE feed SET kind = $2, target = $3, secret = $4, settings = $5, paused = $6, every_s = $7, state = $8,
			failures = $9, error = $10, next_at = $11, last_at = $12, created_at = $13, mac = $14 WHERE name = $1`,
			row...,
		)
	})
}

// DeleteFeed deletes a feed and all that is kept of it: it is paused, what it has goes a few rows at a time, and itself
// at last. Should it end half way, the feed is still there to be deleted.
func (s Feeds) DeleteFeed(ctx context.Context, name string) error {
	if err := s.changeFeed(ctx, `UPDATE feed SET paused = TRUE WHERE name = $1`, name); err != nil {
		return err
	}
	_, err := s.runInBatches(ctx, sweepBatch, func(tx *sqldb.Tx, _, limit int64) (int64, error) {
		return execCounting(ctx, tx, `DELETE FROM feed_item WHERE feed = $1 AND mark IN (SELECT mark FROM feed_item
			WHERE feed = $1 LIMIT $2)`, name, limit)
	})
	if err != nil {
		return err
	}
	return s.changeFeed(ctx, `DELETE FROM feed WHERE name = $1`, name)
}

// changeFeed runs a statement about a feed that has to be there.
func (s Feeds) changeFeed(ctx context.Context, statement, name string) error {
	return s.expectAlone(ctx, feed.ErrNotFound.Note("name: there is no such feed"), statement, name)
}

// itemMark returns how an item is recognised again. Names of files and pages may hold anything, so it is keyed.
func (s Feeds) itemMark(feed, item string) []byte {
	return s.keys.BlindIndex("feed", feed, []byte(item))
}

// IsTaken reports whether a feed has taken an item before.
func (s Feeds) IsTaken(ctx context.Context, feed, item string) (bool, error) {
	return readValue[bool](
		ctx,
		s.readQuerier(),
		`SELECT EXISTS (SELECT 1 FROM feed_item WHERE feed = $1 AND mark = $2)`,
		feed,
		s.itemMark(feed, item),
	)
}

func (s Feeds) MarkTaken(ctx context.Context, feed, item, breach string) error {
	return s.execAlone(ctx, `INSERT INTO feed_item (feed, mark, breach, seen_at) VALUES ($1, $2, $3, $4)
			ON CONFLICT (feed, mark) DO NOTHING`,
		feed,
		s.itemMark(feed, item),
		breach,
		s.now(),
	)
}
