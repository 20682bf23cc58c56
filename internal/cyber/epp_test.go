package cyber_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

func TestNextWarning(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	const day = 24 * time.Hour
	for _, c := range []struct {
		left, want time.Duration // from now; 0 for none
	}{{365 * day, 335 * day}, {31 * day, day}, {30 * day, 23 * day}, {8 * day, day}, {7 * day, 0}, {day, 0}, {-day, 0}} {
		got := cyber.NextWarning(now, now.Add(c.left))
		if c.want == 0 && !got.IsZero() || c.want != 0 && !got.Equal(now.Add(c.want)) {
			t.Errorf("with %v left: next notice at %v", c.left, got)
		}
	}
}

// TestLoadPool: forms of a vendor's file, duplicates, and what is no such file.
func TestLoadPool(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		ctx := context.Background()
		endpoints := cyber.NewEndpoints(e.Store, e.Clock.Now, nil)
		var reports int
		load := func(text string) (cyber.Loaded, error) {
			return endpoints.LoadPool(ctx, cyber.Android, strings.NewReader(text), func(cyber.Loaded) { reports++ })
		}
		for _, c := range []struct {
			name, file string
			read, new  int
		}{
			{"plain lines", "AAA-1\nAAA-2\n\nAAA-3\n", 3, 3},
			{"known ones again", "AAA-3\r\nAAA-4\r\n", 2, 1},
			{"a column by name", "\ufefforder,Key,note\n7,BBB-1,x\n8,BBB-2,\"a, b\"\n", 2, 2},
			{"twice in one file", "CCC-1\nCCC-1\n", 2, 1},
			{"more than one batch", many("DDD-", 2500), 2500, 2500},
		} {
			done, err := load(c.file)
			if err != nil || done.Read != c.read || done.New != c.new {
				t.Errorf("%s: %+v, %v", c.name, done, err)
			}
		}
		if reports != 7 {
			t.Errorf("%d reports of progress", reports)
		}
		for name, bad := range map[string]string{"nothing": "", "only a heading": "key\n", "a missing column": "order,key\n7\n", "control characters": "A\x01B\n", "a broken quote": "\"A\n"} {
			if _, err := load(bad); !errors.Is(err, cyber.ErrPoolFile) {
				t.Errorf("%s: %v", name, err)
			}
		}
		sources, err := endpoints.Sources(ctx)
		if err != nil || len(sources) != 4 {
			t.Fatal(sources, err)
		}
		for _, src := range sources {
			if src.Pooled != (src.System == cyber.Android) || src.System == cyber.Android && src.Free != 2507 {
				t.Errorf("%+v", src)
			}
		}
	})
}

func many(prefix string, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(prefix)
		b.WriteString(time.Duration(i).String())
		b.WriteByte('\n')
	}
	return b.String()
}
