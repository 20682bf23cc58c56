package main

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// addresses reports whether the listeners' addresses are free, and who sits there if not.
func (p *checkup) addresses(ctx context.Context) {
	const area = "addresses"
	list := []struct{ flag, value string }{{"--listen", p.serve.Listen}, {"--console-listen", p.serve.ConsoleListen}}
	for _, a := range list {
		ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", a.value)
		if err == nil {
			_ = ln.Close()
			p.reportOK(area, "%s %s is free", a.flag, a.value)
			continue
		}
		switch {
		case errors.Is(err, syscall.EADDRINUSE) && vigiaAnswers(ctx, a.value):
			p.reportOK(area, "%s %s: a Vigia answers there", a.flag, a.value)
		case errors.Is(err, syscall.EADDRINUSE):
			p.reportProblem(
				area,
				a.flag+" "+a.value+" is taken by another program",
				"stop it, or choose another address; who: ss -ltnp",
			)
		case errors.Is(err, syscall.EACCES):
			p.reportProblem(
				area,
				a.flag+" "+a.value+": ports below 1024 need a right of their own",
				"choose a port above 1023, put a proxy in front, or grant CAP_NET_BIND_SERVICE",
			)
		default:
			p.reportProblem(area, a.flag+" "+a.value+": "+oneLineReason(err), "is the address one of this machine's?")
		}
	}
	if host, _, err := net.SplitHostPort(p.serve.ConsoleListen); err == nil &&
		(host == "" || host == "0.0.0.0" || host == "::") {
		p.reportWarning(
			area,
			"the operator's listener takes connections from everywhere",
			"keep it on a private address, or behind a firewall: it shows metrics and the console",
		)
	}
	if host, _, err := net.SplitHostPort(p.serve.Listen); err == nil && p.serve.TLSCert == "" && !loopback(host) {
		p.reportWarning(
			area,
			"the partner API is offered without TLS",
			"give --tls-cert and --tls-key, or make sure that a proxy in front speaks TLS",
		)
	}
	for listen, told := range map[string]string{
		p.serve.ConsoleListen: p.serve.PublicURL,
		p.serve.Listen:        p.serve.PublicURL + p.serve.PageURL,
	} {
		if host, _, err := net.SplitHostPort(listen); err == nil && !loopback(host) && told == "" {
			p.reportWarning(
				area,
				listen+" has no public address",
				"give --public-url: without it there are no passkeys, and no links to people's pages for live partners",
			)
		}
	}
}

// loopback reports whether the host is this machine; other names are not resolved.
func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// vigiaAnswers asks the address's health page, which only we answer in this way.
func vigiaAnswers(ctx context.Context, address string) bool {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	status, _, err := getHealth(ctx, "http://"+net.JoinHostPort(host, port))
	return err == nil && status == http.StatusOK
}

// getHealth asks for the health page below an address. The state of TLS is nil where the address is without it.
func getHealth(ctx context.Context, base string) (status int, state *tls.ConnectionState, err error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/healthz", nil)
	if err != nil {
		return 0, nil, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	return res.StatusCode, res.TLS, res.Body.Close()
}
