package telemetry_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/telemetry"
)

// TestSameLinesAsSlog: what we write ourselves is what slog's handler writes, for whatever is logged.
func TestSameLinesAsSlog(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	texts := []string{"", "request", "GET /v1/cyber/services", `a "quoted" \ one`, "linha\nnova", "não", "\x00\x7f", "<b>&amp;", "\xff broken", "\u2028"}
	text := func() string {
		if random.IntN(10) > 0 {
			return "route"
		}
		return texts[random.IntN(len(texts))]
	}
	attr := func() slog.Attr {
		key := text()
		switch random.IntN(9) {
		case 0:
			return slog.Int(key, random.IntN(1000)-500)
		case 1:
			return slog.Duration(key, time.Duration(random.Int64()))
		case 2:
			return slog.Any(key, errors.New(text()))
		case 3:
			return slog.Group(key, slog.String("inner", text()))
		case 4:
			return slog.Bool(key, true)
		default:
			return slog.String(key, text())
		}
	}
	attrs := func() (list []slog.Attr) {
		for range random.IntN(7) {
			list = append(list, attr())
		}
		return list
	}
	plain := 0
	for range 20_000 {
		var ours, theirs bytes.Buffer
		ctx := context.Background()
		o := telemetry.NewLogger(&ours, telemetry.LogOptions{Format: "json", Level: slog.LevelInfo}).Handler()
		s := slog.Handler(slog.NewJSONHandler(&theirs, &slog.HandlerOptions{Level: slog.LevelInfo}))
		for range random.IntN(3) {
			if random.IntN(4) == 0 {
				name := text()
				o, s = o.WithGroup(name), s.WithGroup(name)
			}
			list := attrs()
			o, s = o.WithAttrs(list), s.WithAttrs(list)
		}
		at := time.Unix(random.Int64N(4e9), random.Int64N(1e9)).In(time.FixedZone("x", -3*3600))
		if random.IntN(20) == 0 {
			at = time.Time{}
		}
		r := slog.NewRecord(at, slog.Level(random.IntN(14)-4), text(), 0)
		r.AddAttrs(attrs()...)
		if o.Enabled(ctx, r.Level) != s.Enabled(ctx, r.Level) {
			t.Fatal("one of them would not write at level", r.Level)
		}
		if err := errors.Join(o.Handle(ctx, r), s.Handle(ctx, r)); err != nil {
			t.Fatal(err)
		}
		if ours.String() != theirs.String() {
			t.Fatalf("ours   %q\nslog's %q", ours.String(), theirs.String())
		}
		if !strings.Contains(ours.String(), `\`) {
			plain++
		}
	}
	if plain < 1000 {
		t.Error("only", plain, "lines were plain")
	}
}

// BenchmarkRequestLine compares the line of a request with slog's own.
func BenchmarkRequestLine(b *testing.B) {
	ctx := telemetry.WithRequestID(context.Background(), "0123456789abcdef0123456789abcdef")
	for name, log := range map[string]*slog.Logger{
		"ours": telemetry.NewLogger(nowhere{}, telemetry.LogOptions{Format: "json"}),
		"slog": slog.New(slog.NewJSONHandler(nowhere{}, nil)),
	} {
		h := log.With("method", "GET", "route", "/v1/cyber/services").Handler()
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := slog.NewRecord(time.Now(), slog.LevelInfo, "request", 0)
				r.AddAttrs(slog.Int("status", 200), slog.Int64("us", 17), slog.String("partner", "prt_018f"), slog.String("key", "key_018f"))
				if name == "slog" {
					r.AddAttrs(slog.String("request_id", telemetry.RequestID(ctx)))
				}
				_ = h.Handle(ctx, r)
			}
		})
	}
}

type nowhere struct{}

func (nowhere) Write(p []byte) (int, error) { return len(p), nil }
