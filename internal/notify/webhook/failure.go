package webhook

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"syscall"
)

// Failure is the class of an attempt that got no answer. It is what the log keeps and a partner may see: the error text
// of the network names addresses, so it goes nowhere.
type Failure string

// The classes.
const (
	FailureNone        Failure = ""
	FailureUnsendable  Failure = "unsendable"  // our own fault: no key, bad id, bad URL
	FailureAddress     Failure = "address"     // the guard refused the address
	FailureDNS         Failure = "dns"         // the name did not resolve
	FailureConnect     Failure = "connect"     // no connection to the address
	FailureTLS         Failure = "tls"         // certificate or handshake
	FailureTimeout     Failure = "timeout"     // no answer in time
	FailureReset       Failure = "reset"       // the connection broke before an answer
	FailureProtocol    Failure = "protocol"    // the answer was not HTTP, or its header too large
	FailureInterrupted Failure = "interrupted" // the worker was stopped; the receiver may or may not have got it
)

// IsKnown reports whether it is one of the classes: see sqldb.Enumerated.
func (f Failure) IsKnown() bool {
	switch f {
	case FailureNone,
		FailureUnsendable,
		FailureAddress,
		FailureDNS,
		FailureConnect,
		FailureTLS,
		FailureTimeout,
		FailureReset,
		FailureProtocol,
		FailureInterrupted:
		return true
	}
	return false
}

// classifyFailure turns a transport error into its class, most telling first. The order matters: a refusal by the guard
// and a failed handshake both come wrapped in general network errors.
func classifyFailure(ctx context.Context, err error) Failure {
	var (
		dns     *net.DNSError
		op      *net.OpError
		timeout interface{ Timeout() bool }
	)
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return FailureInterrupted
	case errors.Is(err, ErrAddress):
		return FailureAddress
	case errors.Is(err, ErrURL):
		return FailureUnsendable
	case errors.As(err, &dns):
		return FailureDNS
	case errors.As(err, &timeout) && timeout.Timeout():
		return FailureTimeout
	case isTLSError(err):
		return FailureTLS
	case errors.As(err, &op) && op.Op == "dial":
		return FailureConnect
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return FailureReset
	}
	return FailureProtocol
}

// isTLSError reports whether the error came from the TLS handshake.
func isTLSError(err error) bool {
	var (
		verify *tls.CertificateVerificationError
		record tls.RecordHeaderError
		alert  tls.AlertError
		host   x509.HostnameError
		op     *net.OpError
	)
	if errors.As(err, &verify) || errors.As(err, &record) || errors.As(err, &alert) || errors.As(err, &host) {
		return true
	}
	// Alerts of the other side come as an OpError of crypto/tls.
	return errors.As(err, &op) && (op.Op == "remote error" || op.Op == "local error")
}
