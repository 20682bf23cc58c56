package leak_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/leak/leaktest"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// A compilation of two older dumps and something new: what was known is counted once, by breach and in all.
func TestOverlapWithEarlierBreaches(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e *storetest.Env) {
		v := newEnv(t, e)
		ctx := context.Background()
		people := func(from, to int) (text string) {
			for i := from; i < to; i++ {
				text += fmt.Sprintf("pessoa%d@exemplo.com.br\n", i)
			}
			return text
		}
		v.Import(leaktest.Breach("compilado", cyber.SourceBreach, cyber.ExposedEmail), v.File("c", people(0, 100)+people(500, 600)))
		_, err := v.Library.Overlap(ctx, "compilado", nil)
		if !errors.Is(err, leak.ErrNotLoaded) {
			t.Errorf("before anything is open: %v", err)
		}
		v.Import(leaktest.Breach("loja-a", cyber.SourceBreach, cyber.ExposedEmail), v.File("a", people(0, 90)))
		v.Import(leaktest.Breach("loja-b", cyber.SourceBreach, cyber.ExposedEmail), v.File("b", people(80, 130)))
		v.Load()
		segments, _, err := v.Breaches.Segments(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range segments {
			if g.Breach != "compilado" {
				continue
			}
			r, err := v.Files.Open(ctx, g.File, g.Digest)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			o, err := v.Library.Overlap(ctx, "compilado", r)
			// Their domain and the one above it, com.br, are keys too.
			want := "[{loja-a 92} {loja-b 22}]"
			if err != nil || o.Keys != 202 || o.Known != 102 || fmt.Sprint(o.Each) != want {
				t.Errorf("%+v, %v; want 202 keys, 102 known, %s", o, err, want)
			}
			if part := o.Part(); part < 0.50 || part > 0.51 {
				t.Errorf("part %v", part)
			}
		}
	})
}
