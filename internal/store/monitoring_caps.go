package store

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/sqldb"
)

// places are new values that this process may let a partner add without asking the database: it takes some at a time,
// so that the caps hold over all replicas and most requests pay nothing for them. What a process holds when it ends is
// lost to the partner for that hour.
type places struct {
	mu   sync.Mutex
	held map[partner.ID]*heldPlaces
}

type heldPlaces struct {
	hour, ready int64
	// used are the places that all processes had taken when this one last asked, those it holds ready included; day is
	// the same for the day.
	used, day int64
}

// placesAtOnce is how many are taken at a time: few of a small cap, so that none is left over where many replicas run.
func placesAtOnce(perHour int64) int64 { return min(max(perHour/50, 1), 64) }

// take uses a place that is held ready.
func (p *places) take(id partner.ID, hour int64, caps cyber.Caps) (cyber.Allowance, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.held[id]
	if h == nil || h.hour != hour || h.ready == 0 {
		return cyber.Allowance{}, false
	}
	h.ready--
	return caps.Left(h.used-h.ready, h.day-h.ready), true
}

// add holds places ready that were taken in a transaction which is on disk now.
func (p *places) add(id partner.ID, hour, n, used, day int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.held[id]
	if h == nil || h.hour != hour { // what was held of an hour that is over is of no use
		h = &heldPlaces{hour: hour}
		if p.held == nil {
			p.held = map[partner.ID]*heldPlaces{}
		}
		p.held[id] = h // one per partner that exists: nothing to evict
	}
	h.ready += n
	h.used, h.day = max(h.used, used), max(h.day, day)
}

// capAsset holds a new value against the partner's caps.
func (s Monitoring) capAsset(ctx context.Context, tx *sqldb.Tx, id partner.ID, u user, has standing, caps cyber.Caps) (cyber.Allowance, error) {
	if !has.enrolled && !has.stranger {
		if err := s.addStranger(ctx, tx, id, u, caps.Strangers); err != nil {
			return cyber.Allowance{}, err
		}
	}
	// Last: a refusal whose answer is kept undoes what was written, and not that places are held ready.
	return s.takePlace(ctx, tx, id, caps)
}

// takePlace takes a place for a new value from those that are held ready, or some more from the database.
func (s Monitoring) takePlace(ctx context.Context, tx *sqldb.Tx, id partner.ID, caps cyber.Caps) (cyber.Allowance, error) {
	now := s.now()
	hour := cyber.HourOf(now)
	if left, ok := s.places.take(id, hour, caps); ok {
		return left, nil
	}
	// Locks the row, so that two who take do not both see the last place.
	_, err := tx.ExecContext(ctx, `INSERT INTO asset_pace (partner_id, hour, taken, hits) VALUES ($1, $2, 0, 0)
		ON CONFLICT (partner_id, hour) DO UPDATE SET taken = asset_pace.taken`, number(id), hour)
	if err != nil {
		return cyber.Allowance{}, fmt.Errorf("take places: %w", err)
	}
	hours, err := collect(ctx, tx, scanPace, `SELECT hour, taken, hits FROM asset_pace WHERE partner_id = $1 AND hour > $2 AND hour <= $3 ORDER BY hour`,
		number(id), hour-cyber.DayHours, hour)
	if err != nil {
		return cyber.Allowance{}, fmt.Errorf("take places: %w", err)
	}
	g, err := caps.Grant(now, hours, placesAtOnce(caps.PerHour))
	if err != nil {
		return g.Left, err
	}
	if _, err := tx.ExecContext(ctx, `UPDATE asset_pace SET taken = taken + $3 WHERE partner_id = $1 AND hour = $2`, number(id), hour, g.Places); err != nil {
		return cyber.Allowance{}, fmt.Errorf("take places: %w", err)
	}
	tx.AfterCommit(func() { s.places.add(id, hour, g.Places-1, g.Hour, g.Day) })
	return g.Left, nil
}

func scanPace(row scanner) (h cyber.HourPace, err error) {
	err = row.Scan(&h.Hour, &h.Taken, &h.Hits)
	return h, err
}

// addStranger counts a person whom no subscription names.
func (s Monitoring) addStranger(ctx context.Context, tx *sqldb.Tx, id partner.ID, u user, most int64) error {
	n, err := affected(tx.ExecContext(ctx, `INSERT INTO asset_stranger_counter (partner_id, strangers) VALUES ($1, 1)
		ON CONFLICT (partner_id) DO UPDATE SET strangers = asset_stranger_counter.strangers + 1 WHERE asset_stranger_counter.strangers < $2`,
		number(id), most))
	if err != nil {
		return fmt.Errorf("count strangers: %w", err)
	}
	if n == 0 {
		return cyber.ErrStrangers.With("userHash: no subscription in force names this person, and this partner watches %d such people already", most)
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO asset_stranger (partner_id, user_index, since) VALUES ($1, $2, $3)
		ON CONFLICT (partner_id, user_index) DO NOTHING`, number(id), u.write, micros(s.now()))
	if err != nil {
		return fmt.Errorf("keep stranger: %w", err)
	}
	return nil
}

// noteHit counts a new value that was found as soon as it was added.
func (s Monitoring) noteHit(ctx context.Context, tx *sqldb.Tx, id partner.ID) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO asset_pace (partner_id, hour, taken, hits) VALUES ($1, $2, 0, 1)
		ON CONFLICT (partner_id, hour) DO UPDATE SET hits = asset_pace.hits + 1`, number(id), cyber.HourOf(s.now()))
	if err != nil {
		return fmt.Errorf("count hits: %w", err)
	}
	return nil
}

// strangerStays is how long a person whom no subscription names counts at least: taking the values away and adding
// somebody else's must not be a way round the cap.
const strangerStays = 30 * 24 * time.Hour

// SweepStrangers lets go of people who were enrolled since, or have not been watched for long, counts the rest of each
// partner's anew, and forgets paces that nobody compares with any more.
func (s Monitoring) SweepStrangers(ctx context.Context) (int, error) {
	all, err := s.partners().Partners(ctx)
	if err != nil {
		return 0, err
	}
	total := 0
	for _, p := range all {
		if p.Mode == partner.Sandbox {
			continue
		}
		n, err := s.sweepStrangers(ctx, p.ID)
		if total += n; err != nil {
			return total, fmt.Errorf("sweep strangers: %w", err)
		}
	}
	return total, nil
}

func (s Monitoring) sweepStrangers(ctx context.Context, id partner.ID) (int, error) {
	now := s.now()
	const left = ` AND (since < $3 AND NOT EXISTS (SELECT 1 FROM asset a WHERE a.partner_id = $1 AND a.user_index = asset_stranger.user_index)
		OR EXISTS (SELECT 1 FROM person r JOIN subscription b ON b.partner_id = r.partner_id AND b.cpf = r.cpf
			WHERE r.partner_id = $1 AND (r.user_512 = asset_stranger.user_index OR r.user_256 = asset_stranger.user_index) AND b.ended_at = 0))`
	gone, err := s.sweepFound(ctx, found{
		first: []any{number(id), []byte{}}, args: []any{micros(now.Add(-strangerStays))},
		find: `SELECT partner_id, user_index FROM asset_stranger WHERE partner_id = $1 AND user_index > $2` + left + ` ORDER BY user_index LIMIT $4`,
		// The counter's lock first, as everybody takes it.
		lock: `UPDATE asset_stranger_counter SET strangers = strangers WHERE partner_id = $1`, locked: []any{number(id)},
		change: `DELETE FROM asset_stranger WHERE partner_id = $1 AND user_index = $2` + left,
	})
	if err != nil {
		return int(gone), err
	}
	return int(gone), s.inTx(ctx, func(tx *sqldb.Tx) error {
		// To count is quick: there are never more of them than the partner's cap.
		_, err := tx.ExecContext(ctx, `UPDATE asset_stranger_counter SET strangers = (SELECT count(*) FROM asset_stranger g WHERE g.partner_id = $1)
			WHERE partner_id = $1`, number(id))
		if err == nil {
			_, err = tx.ExecContext(ctx, `DELETE FROM asset_pace WHERE partner_id = $1 AND hour < $2`, number(id), cyber.HourOf(now)-cyber.PaceHours)
		}
		return err
	})
}
