package telemetry

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// otlpSetting reads a variable that may be set for traces alone or for all that OpenTelemetry sends.
func otlpSetting(name string) string {
	return cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_TRACES_"+name), os.Getenv("OTEL_EXPORTER_OTLP_"+name))
}

// tracesEndpoint is where traces are sent; "" when nothing says so.
func tracesEndpoint() (string, error) {
	text := os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
	if base := os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT"); text == "" && base != "" {
		text = strings.TrimSuffix(base, "/") + "/v1/traces"
	}
	if u, err := url.Parse(text); text != "" && (err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "") {
		return "", errors.New("traces: the endpoint of OpenTelemetry's variables is not an http or https address")
	}
	return text, nil
}

// collector sends spans in OTLP's JSON over HTTP.
type collector struct {
	endpoint string
	header   http.Header
	client   *http.Client
	about    []attribute
	version  string
}

func newCollector(endpoint, version string) (func(context.Context, []*Span) error, error) {
	c := &collector{endpoint: endpoint, header: http.Header{"Content-Type": {"application/json"}}, version: version}
	pairs, err := parsePairs(otlpSetting("HEADERS"))
	if err != nil {
		return nil, errors.New("traces: the headers of OpenTelemetry's variables are no list of name=value")
	}
	for _, p := range pairs {
		c.header.Set(p[0], p[1])
	}
	wait, err := strconv.ParseUint(cmp.Or(otlpSetting("TIMEOUT"), "10000"), 10, 31)
	if err != nil {
		return nil, errors.New("traces: the time-out of OpenTelemetry's variables is not a number of milliseconds")
	}
	c.client = &http.Client{Timeout: time.Duration(wait) * time.Millisecond}
	if pairs, err = parsePairs(os.Getenv("OTEL_RESOURCE_ATTRIBUTES")); err != nil {
		return nil, errors.New("traces: OTEL_RESOURCE_ATTRIBUTES is no list of name=value")
	}
	c.about = append(c.about, text("service.name", cmp.Or(os.Getenv("OTEL_SERVICE_NAME"), "vigia")), text("service.version", version))
	for _, p := range pairs {
		if i := slices.IndexFunc(c.about, func(a attribute) bool { return a.Key == p[0] }); i < 0 {
			c.about = append(c.about, text(p[0], p[1]))
		} else if p[0] != "service.name" || os.Getenv("OTEL_SERVICE_NAME") == "" {
			c.about[i] = text(p[0], p[1])
		}
	}
	return c.send, nil
}

// parsePairs reads name=value,name=value with percent signs, as W3C Baggage writes it.
func parsePairs(list string) (pairs [][2]string, err error) {
	for item := range strings.SplitSeq(list, ",") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		name, value, found := strings.Cut(item, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if name = strings.TrimSpace(name); !found || name == "" || err != nil {
			return nil, errors.New("not name=value")
		}
		pairs = append(pairs, [2]string{name, value})
	}
	return pairs, nil
}

// The names of OTLP's JSON that are used here.
type (
	attribute struct {
		Key   string    `json:"key"`
		Value attrValue `json:"value"`
	}
	attrValue struct {
		Text   string `json:"stringValue,omitempty"`
		Number string `json:"intValue,omitempty"`
	}
	otlpSpan struct {
		TraceID    string      `json:"traceId"`
		SpanID     string      `json:"spanId"`
		Parent     string      `json:"parentSpanId,omitempty"`
		Name       string      `json:"name"`
		Kind       int         `json:"kind"`
		Start      string      `json:"startTimeUnixNano"`
		End        string      `json:"endTimeUnixNano"`
		Attributes []attribute `json:"attributes"`
		Status     struct {
			Code int `json:"code,omitempty"`
		} `json:"status"`
	}
)

func text(key, value string) attribute { return attribute{key, attrValue{Text: value}} }

func (c *collector) encode(spans []*Span) ([]byte, error) {
	const server, failed = 2, 2
	list := make([]otlpSpan, len(spans))
	for i, s := range spans {
		list[i] = otlpSpan{
			TraceID: hex.EncodeToString(s.trace[:]), SpanID: hex.EncodeToString(s.id[:]), Name: s.method + " " + s.route, Kind: server,
			Start: strconv.FormatInt(s.start.UnixNano(), 10), End: strconv.FormatInt(s.end.UnixNano(), 10),
			Attributes: []attribute{
				text("http.route", s.route), text("http.request.method", s.method),
				{"http.response.status_code", attrValue{Number: strconv.Itoa(s.status)}},
			},
		}
		if s.parent != (spanID{}) {
			list[i].Parent = hex.EncodeToString(s.parent[:])
		}
		if s.status >= http.StatusInternalServerError {
			list[i].Status.Code = failed
		}
	}
	type object = map[string]any
	return json.Marshal(object{"resourceSpans": []object{{
		"resource":   object{"attributes": c.about},
		"scopeSpans": []object{{"scope": object{"name": "vigia", "version": c.version}, "spans": list}},
	}}})
}

// send gives a collector that cannot take the spans just now two more chances.
func (c *collector) send(ctx context.Context, spans []*Span) error {
	body, err := c.encode(spans)
	if err != nil {
		return err
	}
	for pause := time.Second; ; pause *= 2 {
		again, err := c.sendOnce(ctx, body)
		if err == nil || !again || pause > 2*time.Second {
			return err
		}
		time.Sleep(pause)
	}
}

func (c *collector) sendOnce(ctx context.Context, body []byte) (again bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint, bytes.NewReader(body))
	if err != nil {
		return false, errors.New("not an address")
	}
	req.Header = c.header.Clone()
	res, err := c.client.Do(req)
	if err != nil {
		var asked *url.Error
		if errors.As(err, &asked) {
			err = asked.Err // without the address, which may hold a password
		}
		return true, err
	}
	_, err = io.Copy(io.Discard, io.LimitReader(res.Body, 1<<20))
	err = errors.Join(err, res.Body.Close())
	if res.StatusCode >= 300 {
		again = slices.Contains([]int{http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}, res.StatusCode)
		err = fmt.Errorf("the collector answered %d", res.StatusCode)
	}
	return again, err
}
