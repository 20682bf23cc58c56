package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// leastValidity is how long a certificate should still hold.
const leastValidity = 14 * 24 * time.Hour

// checkPublic opens the addresses that browsers are told, and looks at the certificates: those of files, and those that
// a balancer shows. A public address before a listener that is not public means a balancer, which has to be trusted for
// its callers to be told apart.
func (p *checkup) checkPublic(ctx context.Context) {
	const area = "public addresses"
	for _, u := range []struct{ flag, url string }{
		{"--public-url", p.serve.PublicURL},
		{"--page-url", p.serve.PageURL},
	} {
		if u.url == "" {
			continue
		}
		status, state, err := getHealth(ctx, strings.TrimSuffix(u.url, "/"))
		switch {
		case err != nil:
			p.reportWarning(
				area,
				u.flag+": "+oneLineReason(err),
				"is the service up, does the name lead here, does the balancer pass requests on, is the certificate "+
					"right?",
			)
			continue
		case status != http.StatusOK:
			p.reportWarning(
				area,
				fmt.Sprintf("%s: /healthz is answered %d there", u.flag, status),
				"does the balancer pass requests to the right listener?",
			)
		default:
			p.reportOK(area, "%s %s answers", u.flag, u.url)
		}
		if state != nil {
			p.checkValidity(u.flag, state.PeerCertificates[0])
		}
		if len(p.serve.TrustedProxies) == 0 && !strings.HasPrefix(u.url, "http://"+p.serve.Listen) &&
			!strings.HasPrefix(u.url, "http://"+p.serve.ConsoleListen) &&
			p.serve.TLSCert == "" {
			p.reportWarning(
				"balancer",
				u.flag+" leads through a balancer, and none is trusted: all callers share one address and its budget",
				"name the addresses that the service sees of it in --trusted-proxies",
			)
		}
	}
	if p.serve.TLSCert != "" {
		pair, err := tls.LoadX509KeyPair(p.serve.TLSCert, p.serve.TLSKey)
		if err != nil {
			p.reportProblem(
				"TLS",
				oneLineReason(err),
				"--tls-cert and --tls-key have to be a certificate and its key, in PEM",
			)
			return
		}
		p.checkValidity("--tls-cert", pair.Leaf)
	}
}

// checkValidity warns of a certificate that is about to end.
func (p *checkup) checkValidity(flag string, c *x509.Certificate) {
	if left := c.NotAfter.Sub(p.now); left < leastValidity {
		p.reportWarning(
			"TLS",
			fmt.Sprintf("the certificate of %s ends at %s", flag, formatTime(c.NotAfter)),
			"renew it; files are read again when they change",
		)
		return
	}
	p.reportOK("TLS", "the certificate of %s holds until %s", flag, formatTime(c.NotAfter))
}
