package telemetry

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	v1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// traceSender posts spans to a collector by OTLP over HTTP, as OpenTelemetry's exporter asks of its clients. The
// client that OpenTelemetry brings for that imports gRPC, which nothing here speaks: a fifth of all packages that
// everybody who builds this tree would compile (docs/internal/design/dependencies.md).
type traceSender struct {
	endpoint string
	header   http.Header
	client   http.Client
}

// The time that a collector has for an answer unless OTEL_EXPORTER_OTLP_TIMEOUT says otherwise, how often spans are
// offered to one that has no time for them, and the first wait between two offers.
const (
	traceTimeout  = 10 * time.Second
	traceTries    = 4
	traceRetryGap = 500 * time.Millisecond
)

// traceSetting returns one of OpenTelemetry's variables: that of traces, or that of all signals.
func traceSetting(name string) string {
	return cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_TRACES_"+name), os.Getenv("OTEL_EXPORTER_OTLP_"+name))
}

// newTraceSender reads OpenTelemetry's variables: endpoint, headers, timeout, certificate of the collector's authority
// and certificate and key of ours.
func newTraceSender() (*traceSender, error) {
	s := &traceSender{endpoint: os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), header: http.Header{}}
	if s.endpoint == "" {
		s.endpoint = strings.TrimRight(os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT"), "/") + "/v1/traces"
	}
	if u, err := url.Parse(s.endpoint); err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, errors.New("the endpoint of OpenTelemetry's variables is not an http or https address")
	}
	if protocol := traceSetting("PROTOCOL"); protocol != "" && protocol != "http/protobuf" {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL is %s, and only http/protobuf is spoken", protocol)
	}
	for pair := range strings.SplitSeq(traceSetting("HEADERS"), ",") {
		name, value, found := strings.Cut(strings.TrimSpace(pair), "=")
		plain, err := url.PathUnescape(strings.TrimSpace(value))
		if pair != "" && (!found || err != nil) {
			return nil, errors.New("OTEL_EXPORTER_OTLP_HEADERS is not a list of name=value, separated by commas")
		}
		if found {
			s.header.Set(strings.TrimSpace(name), plain)
		}
	}
	s.header.Set("Content-Type", "application/x-protobuf")
	s.client.Timeout = traceTimeout
	if text := traceSetting("TIMEOUT"); text != "" {
		milliseconds, err := strconv.Atoi(text)
		if err != nil || milliseconds < 1 {
			return nil, errors.New("OTEL_EXPORTER_OTLP_TIMEOUT is not a number of milliseconds")
		}
		s.client.Timeout = time.Duration(milliseconds) * time.Millisecond
	}
	config, err := traceTLS()
	if err != nil {
		return nil, err
	}
	s.client.Transport = &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: config, IdleConnTimeout: time.Minute,
	}
	return s, nil
}

// traceTLS returns who may answer as the collector, and as whom it is asked.
func traceTLS() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if file := traceSetting("CERTIFICATE"); file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CERTIFICATE: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, errors.New("OTEL_EXPORTER_OTLP_CERTIFICATE names a file without a certificate")
		}
	}
	if file := traceSetting("CLIENT_CERTIFICATE"); file != "" {
		own, err := tls.LoadX509KeyPair(file, traceSetting("CLIENT_KEY"))
		if err != nil {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: %w", err)
		}
		config.Certificates = []tls.Certificate{own}
	}
	return config, nil
}

// Start is there for the exporter: there is nothing to open.
func (s *traceSender) Start(context.Context) error { return nil }

// Stop closes the connections to the collector.
func (s *traceSender) Stop(context.Context) error {
	s.client.CloseIdleConnections()
	return nil
}

// UploadTraces sends spans, again if the collector is busy for a moment. TracesData has the same fields on the wire as
// the collector's request.
func (s *traceSender) UploadTraces(ctx context.Context, spans []*v1.ResourceSpans) error {
	body, err := proto.Marshal(&v1.TracesData{ResourceSpans: spans})
	if err != nil {
		return fmt.Errorf("encode spans: %w", err)
	}
	gap := traceRetryGap
	for try := 1; ; try++ {
		busy, err := s.post(ctx, body)
		if !busy || try == traceTries {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(gap):
		}
		gap *= 2
	}
}

// post sends one request, and reports whether the collector may take it later.
func (s *traceSender) post(ctx context.Context, body []byte) (busy bool, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.endpoint, bytes.NewReader(body))
	if err != nil {
		return false, errors.New("the collector's address cannot be asked")
	}
	request.Header = s.header.Clone()
	response, err := s.client.Do(request)
	if err != nil {
		return true, fmt.Errorf("ask the collector: %w", err)
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, io.LimitReader(response.Body, 64<<10)); err != nil {
		return true, fmt.Errorf("read the collector's answer: %w", err)
	}
	switch code := response.StatusCode; {
	case code < http.StatusMultipleChoices:
		return false, nil
	case code == http.StatusTooManyRequests, code >= http.StatusBadGateway && code <= http.StatusGatewayTimeout:
		return true, fmt.Errorf("the collector answered %d", code)
	default:
		return false, fmt.Errorf("the collector answered %d", code)
	}
}
