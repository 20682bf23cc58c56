package intake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/vigiahq/vigia/internal/dump/container"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// The names of volumes: a.7z.001, a.z01 with a.zip, a.part01.rar, a.r00 with a.rar.
var (
	numbered  = regexp.MustCompile(`(?i)^(.+)\.(\d{2,4})$`)
	zipVolume = regexp.MustCompile(`(?i)^(.+)\.z(\d{2,3})$`)
	rarPart   = regexp.MustCompile(`(?i)^(.+)\.part(\d{1,5})\.rar$`)
	rarOld    = regexp.MustCompile(`(?i)^(.+)\.r(\d{2})$`)
)

// volume is what a name says: the set it belongs to and its place there.
type volume struct {
	set   string
	place int
}

// volumeOf reads a name. The file that holds the end of a zip, or the beginning of an old RAR, has no number.
func volumeOf(name string) (volume, bool) {
	dir, base := path.Split(strings.ReplaceAll(name, "\\", "/"))
	const last = 1 << 20
	for i, pattern := range []*regexp.Regexp{rarPart, numbered, zipVolume, rarOld} {
		if m := pattern.FindStringSubmatch(base); m != nil {
			n, err := strconv.Atoi(m[2])
			return volume{fmt.Sprintf("%s%s %d", dir, strings.ToLower(m[1]), i), n}, err == nil
		}
	}
	switch lower := strings.ToLower(base); {
	case strings.HasSuffix(lower, ".zip"):
		return volume{fmt.Sprintf("%s%s %d", dir, strings.TrimSuffix(lower, ".zip"), 2), last}, true
	case strings.HasSuffix(lower, ".rar"):
		return volume{fmt.Sprintf("%s%s %d", dir, strings.TrimSuffix(lower, ".rar"), 3), -1}, true
	}
	return volume{}, false
}

// JoinVolumes makes one input of the volumes of each set. It stands where the first of them stood.
func JoinVolumes(inputs []Input) []Input {
	sets := map[string][]int{}
	places := make([]int, len(inputs))
	for i, in := range inputs {
		if v, ok := volumeOf(in.Name); ok && in.refused == "" && in.Size > 0 && in.open != nil {
			sets[v.set], places[i] = append(sets[v.set], i), v.place
		}
	}
	gone := make([]bool, len(inputs))
	joined := append([]Input{}, inputs...)
	for _, members := range sets {
		first := slices.Min(members)
		slices.SortFunc(members, func(a, b int) int { return places[a] - places[b] })
		if len(members) < 2 || places[members[0]] > 1 {
			continue
		}
		var volumes []Input
		for _, i := range members {
			volumes, gone[i] = append(volumes, inputs[i]), i != first
		}
		joined[first] = setInput(volumes)
	}
	kept := joined[:0]
	for i, in := range joined {
		if !gone[i] {
			kept = append(kept, in)
		}
	}
	return kept
}

// setInput is one input of several volumes.
func setInput(volumes []Input) Input {
	in := Input{Name: fmt.Sprintf("%s and %d more volumes", volumes[0].Name, len(volumes)-1), inner: volumes[0].inner}
	var marks []string
	for _, v := range volumes {
		in.Size += v.Size
		marks = append(marks, v.Mark)
	}
	in.Mark = strings.Join(marks, "\n")
	in.path, in.isSet = volumes[0].path, true
	in.open = func(ctx context.Context) (io.ReadCloser, error) { return openVolumes(ctx, volumes) }
	return in
}

// volumeSet is an open set. A volume is closed with it.
type volumeSet struct {
	*container.Set
	close []io.Closer
}

func openVolumes(ctx context.Context, volumes []Input) (io.ReadCloser, error) {
	s := &volumeSet{}
	var parts []container.Volume
	for _, v := range volumes {
		r, err := v.open(ctx)
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		s.close = append(s.close, r)
		at, ok := r.(io.ReaderAt)
		if !ok {
			return nil, errors.Join(ErrInput.With("inputs", fault.FileUnreadableInPlace, v.Name), s.Close())
		}
		parts = append(
			parts,
			container.Volume{Name: path.Base(strings.ReplaceAll(v.Name, "\\", "/")), At: at, Size: v.Size},
		)
	}
	s.Set = container.NewSet(parts)
	return s, nil
}

// Close lets go of all volumes.
func (s *volumeSet) Close() error {
	var errs []error
	for _, c := range s.close {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}
