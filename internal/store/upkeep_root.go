package store

import (
	"context"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/platform/seal"
)

// AddRoot lets another root open the keys too, in one transaction.
func (s Upkeep) AddRoot(ctx context.Context, root *seal.Root) error {
	return s.changeRing(
		ctx,
		func(w seal.WrappedRing) (seal.WrappedRing, error) { return s.keys.AddRoot(w, root, s.now()) },
		nil,
	)
}

// NoteRootCopy notes that somebody has shown a copy of a root.
func (s Upkeep) NoteRootCopy(ctx context.Context, root *seal.Root) error {
	return s.changeRing(
		ctx,
		func(w seal.WrappedRing) (seal.WrappedRing, error) { return s.keys.NoteCopy(w, root, s.now()) },
		nil,
	)
}

// DropOtherRoots leaves the root of this process as the only one that opens the keys, and returns the others. It is
// refused while a process that was heard of within a time has another.
func (s Upkeep) DropOtherRoots(ctx context.Context, within time.Duration) (dropped []string, err error) {
	own := s.keys.Root().ID()
	holders, err := s.ListKeyHolders(ctx, within)
	if err != nil {
		return nil, err
	}
	var with []string
	for _, h := range holders {
		if h.Root != own {
			with = append(with, h.Place)
		}
	}
	if len(with) > 0 {
		return nil, seal.ErrKeyNeeded.Note(
			"these servers were started with another root: %s; start them anew with %q first",
			strings.Join(with, ", "),
			s.keys.Root().Place(),
		)
	}
	err = s.changeRing(ctx, func(w seal.WrappedRing) (seal.WrappedRing, error) {
		if dropped = []string{}; len(w.Roots) == 1 {
			return w, seal.ErrKeyNeeded.Note("there is only one root, %s", own)
		}
		for _, id := range w.RootIDs() {
			if id != own {
				dropped = append(dropped, id)
			}
		}
		return s.keys.DropOtherRoots(w)
	}, nil)
	return dropped, err
}
