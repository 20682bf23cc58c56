package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/feed"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/seal"
	"github.com/vigiahq/vigia/internal/sqldb"
)

var _ feed.Store = Feeds{}

// sealedFeedPlace binds a sealed column of a feed to its row.
func sealedFeedPlace(column, name string) seal.Place {
	return seal.Place{Table: "feed", Column: column, Row: name}
}

const feedColumns = `name, kind, target, secret, settings, paused, every_s, state, failures, error, next_at, last_at, created_at, mac`

// scanFeed reads feedColumns. A forged row is a feed that is paused.
func (c core) scanFeed(row scanner) (checked[feed.Feed], error) {
	var f feed.Feed
	var target, sealed, mac []byte
	var settings, state string
	var every, next, last, created int64
	if err := row.Scan(&f.Name, &f.Kind, &target, &sealed, &settings, &f.Paused, &every, &state, &f.Failures, &f.Error, &next, &last, &created, &mac); err != nil {
		return checked[feed.Feed]{}, err
	}
	f.Every, f.NextAt, f.LastAt, f.Created = time.Duration(every)*time.Second, fromMicros(next), fromMicros(last), fromMicros(created)
	where, err := c.keys.Unseal(sealedFeedPlace("target", f.Name), target)
	f.Target = string(where)
	if err == nil && sealed != nil {
		var secret []byte
		secret, err = c.keys.Unseal(sealedFeedPlace("secret", f.Name), sealed)
		f.Secret = string(secret)
	}
	err = errors.Join(err, json.Unmarshal([]byte(settings), &f.Settings), json.Unmarshal([]byte(state), &f.State))
	at := "feed " + f.Name
	if err != nil || !c.isGenuine("feed", feedSettingsGrant(f, settings), mac) {
		return checked[feed.Feed]{feed.Feed{Name: f.Name, Kind: f.Kind, Paused: true, Error: forgedRowError("feed", f.Name).Error(), Created: f.Created}, at, true}, nil
	}
	return checked[feed.Feed]{value: f, row: at}, nil
}

// feedColumnValues returns the values of a feed's columns.
func (s Feeds) feedColumnValues(f feed.Feed) ([]any, error) {
	settings, err := json.Marshal(f.Settings)
	if err != nil {
		return nil, err
	}
	state, err := json.Marshal(f.State)
	if err != nil {
		return nil, err
	}
	target, err := s.keys.Seal(sealedFeedPlace("target", f.Name), []byte(f.Target))
	if err != nil {
		return nil, err
	}
	var sealed []byte
	if f.Secret != "" {
		if sealed, err = s.keys.Seal(sealedFeedPlace("secret", f.Name), []byte(f.Secret)); err != nil {
			return nil, err
		}
	}
	return []any{
		f.Name, string(f.Kind), target, sealed, string(settings), f.Paused, int64(f.Every / time.Second), string(state), f.Failures, f.Error,
		toMicros(f.NextAt), toMicros(f.LastAt), toMicros(f.Created), s.grantMAC("feed", feedSettingsGrant(f, string(settings))),
	}, nil
}

// ListFeeds returns all feeds by name.
func (s Feeds) ListFeeds(ctx context.Context) ([]feed.Feed, error) {
	rows, err := collectRows(ctx, s.readQuerier(), s.scanFeed, `SELECT `+feedColumns+` FROM feed ORDER BY name`)
	list := make([]feed.Feed, len(rows))
	for i, r := range rows {
		list[i] = r.value
	}
	return list, err
}

// FeedByName returns one feed.
func (s Feeds) FeedByName(ctx context.Context, name string) (feed.Feed, error) {
	return s.feedByName(ctx, s.readQuerier(), name)
}

// feedByName returns feed.ErrNotFound for an unknown name, and an error for a forged row: its address must not be
// fetched.
func (s Feeds) feedByName(ctx context.Context, q querier, name string) (feed.Feed, error) {
	f, err := s.scanFeed(q.QueryRowContext(ctx, `SELECT `+feedColumns+` FROM feed WHERE name = $1`, name))
	if errors.Is(err, sql.ErrNoRows) {
		return f.value, feed.ErrNotFound.With("name", fault.NoSuchFeed)
	}
	return f.value, errors.Join(classifyError(err), f.forgedError())
}

// InsertFeed stores a new feed.
func (s Feeds) InsertFeed(ctx context.Context, f feed.Feed) error {
	row, err := s.feedColumnValues(f)
	if err != nil {
		return fmt.Errorf("insert feed: %w", err)
	}
	return s.runInTx(ctx, func(tx *sqldb.Tx) error {
		res, err := tx.ExecContext(ctx, `INSERT INTO feed (`+feedColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
			ON CONFLICT (name) DO NOTHING`, row...)
		if err != nil {
			return fmt.Errorf("insert feed: %w", err)
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return errors.Join(feed.ErrExists.With("name", fault.IsTaken), err)
		}
		return nil
	})
}

// UpdateFeed changes a feed under the lock of its row.
func (s Feeds) UpdateFeed(ctx context.Context, name string, change func(*feed.Feed) error) (feed.Feed, error) {
	var f feed.Feed
	err := s.runInTx(ctx, func(tx *sqldb.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE feed SET paused = paused WHERE name = $1`, name); err != nil {
			return fmt.Errorf("lock feed: %w", err)
		}
		var err error
		if f, err = s.feedByName(ctx, tx, name); err != nil {
			return err
		}
		if err := change(&f); err != nil {
			return err
		}
		row, err := s.feedColumnValues(f)
		if err != nil {
			return fmt.Errorf("update feed: %w", err)
		}
		return execStatement(ctx, tx, "update feed", `UPDATE feed SET kind = $2, target = $3, secret = $4, settings = $5, paused = $6, every_s = $7, state = $8,
			failures = $9, error = $10, next_at = $11, last_at = $12, created_at = $13, mac = $14 WHERE name = $1`, row...)
	})
	return f, err
}

// itemMark returns how an item is recognised again. Names of files and pages may hold anything, so it is keyed.
func (s Feeds) itemMark(feed, item string) []byte {
	return s.keys.BlindIndex("feed", feed, []byte(item))
}

// IsTaken reports whether a feed has taken an item before.
func (s Feeds) IsTaken(ctx context.Context, feed, item string) (bool, error) {
	var taken bool
	err := s.readQuerier().QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM feed_item WHERE feed = $1 AND mark = $2)`,
		feed, s.itemMark(feed, item)).Scan(&taken)
	return taken, classifyError(wrapError("look for item", err))
}

// MarkTaken remembers an item.
func (s Feeds) MarkTaken(ctx context.Context, feed, item, breach string) error {
	return s.runInTx(ctx, func(tx *sqldb.Tx) error {
		return execStatement(ctx, tx, "take item", `INSERT INTO feed_item (feed, mark, breach, seen_at) VALUES ($1, $2, $3, $4)
			ON CONFLICT (feed, mark) DO NOTHING`, feed, s.itemMark(feed, item), breach, toMicros(s.now()))
	})
}

// WatchedEmails returns addresses that live partners watch, by partner and id, behind one of a partner. Only they have a
// fingerprint. Those that wait for their first look are left out: what is asked about them would be one.
func (s Feeds) WatchedEmails(ctx context.Context, of partner.ID, after cyber.AssetID, limit int) ([]cyber.Asset, error) {
	return collectRows(ctx, s.readQuerier(), func(row scanner) (cyber.Asset, error) {
		var a cyber.Asset
		var sealed []byte
		if err := row.Scan(&a.ID, scanPartnerID(&a.Partner), &a.Kind, &sealed); err != nil {
			return a, err
		}
		return a, s.monitoring().openAssetValue(&a, sealed)
	}, `SELECT id, partner_id, kind, value FROM asset WHERE kind = $1 AND fingerprint IS NOT NULL AND look <> 2 AND (partner_id, id) > ($2, $3)
		ORDER BY partner_id, id LIMIT $4`, int64(identifier.Email), partnerNumber(of), string(after), int64(limit))
}
