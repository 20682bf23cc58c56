package app

import (
	"net/http"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/platform/config"
)

const (
	// downloadTime bounds one download of a dump.
	downloadTime = 12 * time.Hour
	mostRedirect = 5
)

// harmless are the headers that may follow a redirect to another host: none of them can hold a secret.
var harmless = []string{"Accept", "User-Agent", "Range", "If-None-Match"}

// followRedirect follows a few redirects. Only harmless headers go to another host: net/http takes the usual secrets
// away, but not a key in a header of its own, nor the address before, which may be a signed one.
func followRedirect(req *http.Request, via []*http.Request) error {
	if len(via) > mostRedirect {
		return http.ErrUseLastResponse
	}
	req.Header.Del("Referer")
	if first := via[0].URL; req.URL.Host != first.Host || req.URL.Scheme != first.Scheme {
		for name := range req.Header {
			if !slices.Contains(harmless, name) {
				req.Header.Del(name)
			}
		}
	}
	return nil
}

// Outgoing is what calls out: one guard, and the clients that pass it.
type Outgoing struct {
	Guard *webhook.Guard
	// Webhooks sends events. Downloads fetches dumps: it is patient and follows a few redirects, each of which passes
	// the guard again.
	Webhooks, Downloads *http.Client
}

// OpenOutgoing makes what calls out of its settings, and refuses wrong ones.
func OpenOutgoing(o config.Outgoing) (out Outgoing, err error) {
	if err := o.CheckOutgoing(); err != nil {
		return out, err
	}
	ranges, _ := o.AllowedRanges() // both were checked
	proxy, _ := o.ParseProxy()
	out.Guard = webhook.NewGuard(ranges)
	out.Webhooks = out.Guard.NewClient(webhook.ClientOptions{Proxy: proxy})
	out.Downloads = out.Guard.NewClient(webhook.ClientOptions{Proxy: proxy, Timeout: downloadTime})
	out.Downloads.CheckRedirect = followRedirect
	return out, nil
}
