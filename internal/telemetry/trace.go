package telemetry

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// Tracer makes the one span of a request and sends it to a collector. It does nothing unless OpenTelemetry's own
// environment variables name one. The service has no other spans, so it does without OpenTelemetry's libraries: what is
// here is the part of their specification that an operator can set.
type Tracer struct {
	// Enabled lets the hot path skip the work of a span that nobody would see.
	Enabled bool
	sample  func(parent spanContext, id traceID) bool
	send    func(ctx context.Context, spans []*Span) error
	log     *slog.Logger
	ended   chan *Span
	stop    chan struct{}
	done    chan struct{}
}

// Sizes and times of the specification's batch processor.
const (
	spanQueue = 2048
	spanBatch = 512
	spanEvery = 5 * time.Second
)

// NewTracer reads OTEL_EXPORTER_OTLP_ENDPOINT or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, and the variables beside them that
// say how to send, what to sample and what the service is called.
func NewTracer(version string, log *slog.Logger) (*Tracer, error) {
	endpoint, err := tracesEndpoint()
	if err != nil || endpoint == "" || os.Getenv("OTEL_SDK_DISABLED") == "true" {
		return &Tracer{}, err
	}
	t := &Tracer{Enabled: true, log: log, ended: make(chan *Span, spanQueue), stop: make(chan struct{}), done: make(chan struct{})}
	if t.sample, err = sampler(os.Getenv("OTEL_TRACES_SAMPLER"), os.Getenv("OTEL_TRACES_SAMPLER_ARG")); err != nil {
		return nil, err
	}
	if t.send, err = newCollector(endpoint, version); err != nil {
		return nil, err
	}
	go t.sending()
	return t, nil
}

type (
	traceID [16]byte
	spanID  [8]byte
)

// spanContext is what a caller tells of the trace that its request belongs to.
type spanContext struct {
	trace   traceID
	span    spanID
	sampled bool
}

// parseTraceparent reads the header of W3C Trace Context. What cannot be read begins a trace of its own.
func parseTraceparent(text string) (c spanContext, ok bool) {
	part := strings.Split(text, "-")
	if len(part) < 4 || len(part[0]) != 2 || part[0] == "ff" || len(part[1]) != 32 || len(part[2]) != 16 || len(part[3]) != 2 {
		return c, false
	}
	var flags [1]byte
	_, err1 := hex.Decode(c.trace[:], []byte(part[1]))
	_, err2 := hex.Decode(c.span[:], []byte(part[2]))
	_, err3 := hex.Decode(flags[:], []byte(part[3]))
	if errors.Join(err1, err2, err3) != nil || strings.ToLower(text) != text || c.trace == (traceID{}) || c.span == (spanID{}) {
		return spanContext{}, false
	}
	c.sampled = flags[0]&1 != 0
	return c, true
}

// sampler follows OTEL_TRACES_SAMPLER.
func sampler(name, arg string) (func(spanContext, traceID) bool, error) {
	alone, parentBased := strings.CutPrefix(name, "parentbased_")
	if name == "" {
		alone, parentBased = "always_on", true
	}
	ratio := 1.0
	switch alone {
	case "always_on":
	case "always_off":
		ratio = 0
	case "traceidratio":
		if arg != "" {
			var err error
			if ratio, err = strconv.ParseFloat(arg, 64); err != nil || !(ratio >= 0 && ratio <= 1) {
				return nil, errors.New("traces: OTEL_TRACES_SAMPLER_ARG is not a number from 0 to 1")
			}
		}
	default:
		return nil, fmt.Errorf("traces: OTEL_TRACES_SAMPLER: %q is not known", name)
	}
	below := uint64(ratio * (1 << 63)) // the same ids on every service: a trace is whole or not there
	return func(parent spanContext, id traceID) bool {
		if parentBased && parent.trace != (traceID{}) {
			return parent.sampled
		}
		return binary.BigEndian.Uint64(id[8:])>>1 < below
	}, nil
}

// Span is one request being answered. A nil one is not sampled.
type Span struct {
	tracer        *Tracer
	trace         traceID
	id, parent    spanID
	method, route string
	start, end    time.Time
	status        int
}

// Start begins the span of a request. The route is a template: no path reaches a trace.
func (t *Tracer) Start(header http.Header, method, route string, at time.Time) *Span {
	s := &Span{tracer: t, method: method, route: route, start: at}
	parent, ok := parseTraceparent(header.Get("Traceparent"))
	if s.trace, s.parent = parent.trace, parent.span; !ok {
		binary.NativeEndian.PutUint64(s.trace[:8], rand.Uint64())   //nolint:gosec // has to be unlike the others, not unguessable
		binary.NativeEndian.PutUint64(s.trace[8:], rand.Uint64()|1) //nolint:gosec // as above
	}
	binary.NativeEndian.PutUint64(s.id[:], rand.Uint64()|1) //nolint:gosec // as above
	if !t.sample(parent, s.trace) {
		return nil
	}
	return s
}

// End hands the span over. Where spans end faster than the collector takes them, this one is lost: a request never
// waits.
func (s *Span) End(status int, at time.Time) {
	if s == nil {
		return
	}
	s.status, s.end = status, at
	select {
	case s.tracer.ended <- s:
	default:
	}
}

func (t *Tracer) sending() {
	defer close(t.done)
	tick := time.NewTicker(spanEvery)
	defer tick.Stop()
	var batch []*Span
	flush := func() {
		if len(batch) == 0 {
			return
		}
		if err := t.send(context.Background(), batch); err != nil {
			t.log.Warn("traces were not sent", "spans", len(batch), "err", err)
		}
		batch = nil
	}
	for {
		select {
		case s := <-t.ended:
			if batch = append(batch, s); len(batch) == spanBatch {
				flush()
			}
		case <-tick.C:
			flush()
		case <-t.stop:
			for len(t.ended) > 0 {
				batch = append(batch, <-t.ended)
			}
			flush()
			return
		}
	}
}

// Stop sends what is left. No span may end afterwards.
func (t *Tracer) Stop(ctx context.Context) error {
	if !t.Enabled {
		return nil
	}
	close(t.stop)
	select {
	case <-t.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
