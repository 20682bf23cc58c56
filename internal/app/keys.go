package app

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/vigiahq/vigia/internal/store"
)

const (
	// holderTells is how often a server says which keys it has, when they do not change.
	holderTells = 5 * time.Second
	// KeyHolderGone is how long ago a server that still counts may have said so.
	KeyHolderGone = 20 * time.Second
	// lackingAgain is how often a server that lacks keys looks whether it still does.
	lackingAgain = time.Minute
)

// holdKeys tells others which keys this server has, looks for values that it cannot open, and takes up what others
// change of the keys, until ctx ends. The first time is before the first request.
func (s *Server) holdKeys(ctx context.Context, group *errgroup.Group) error {
	upkeep, keys := s.app.Store.Upkeep, s.app.Keys
	own := store.KeyHolder{ID: "h_" + rand.Text(), Place: s.app.Place(), Root: keys.Root().ID()}
	var told time.Time
	tell := func() error {
		if own.Epoch == keys.Epoch() && time.Since(told) < holderTells {
			return nil
		}
		own.Epoch = keys.Epoch()
		err := upkeep.NoteKeyHolder(ctx, own, KeyHolderGone)
		if err == nil {
			told = time.Now()
		} else {
			own.Epoch = 0
		}
		return err
	}
	if err := errors.Join(tell(), s.findLacking(ctx)); err != nil {
		return err
	}
	looked := time.Now()
	repeatWork(ctx, group, time.Second, func() {
		changed, err := upkeep.FollowRing(ctx)
		s.reportChore(ctx, "look at the keys", err)
		if changed {
			s.log.Info("the keys changed", "epoch", keys.Epoch(), "primary", keys.PrimaryID())
		}
		if changed || s.lacksKeys() && time.Since(looked) > lackingAgain {
			looked = time.Now()
			s.reportChore(ctx, "look for values that cannot be opened", s.findLacking(ctx))
		}
		if !s.stopping.Load() {
			s.reportChore(ctx, "telling which keys this server has", tell())
		}
	})
	s.leave = append(s.leave, func(ctx context.Context) {
		if err := upkeep.DropKeyHolder(ctx, own.ID); err != nil {
			s.log.Warn("keys cannot be dropped for some more seconds", "cause", err.Error())
		}
	})
	return nil
}

// findLacking looks for values that this process cannot open, in a sample.
func (s *Server) findLacking(ctx context.Context) error {
	list, err := s.app.Store.Upkeep.FindUnopenable(ctx)
	if err != nil {
		return err
	}
	s.lacking.Store(&list)
	if len(list) > 0 {
		s.log.Error("there are values that nobody can open with the keys of this database",
			"values", strings.Join(list, "; "),
			"mend", "restore a backup that has these keys; 'vigia check' counts all")
	}
	return nil
}

// lacksKeys reports whether values were found that this process cannot open.
func (s *Server) lacksKeys() bool {
	lacking := s.lacking.Load()
	return lacking != nil && len(*lacking) > 0
}

// checkKeys returns why this process must not get requests: it cannot take up the keys of the database, or they do not
// open what is in it.
func (s *Server) checkKeys(ctx context.Context) error {
	if _, err := s.app.Store.Upkeep.FollowRing(ctx); err != nil {
		return err
	}
	if s.lacksKeys() {
		return errors.New("there are values that cannot be opened: " + strings.Join(*s.lacking.Load(), "; "))
	}
	return nil
}

// DropOldKeys removes every key but the one that seals now, for good, and returns their ids. What it cannot see are
// backups; they carry their own ring, which the root of their time opens.
func (a *App) DropOldKeys(ctx context.Context) ([]uint32, error) {
	return a.Store.Upkeep.DropOldKeys(ctx, KeyHolderGone)
}
