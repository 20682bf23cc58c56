package config

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
)

// Outgoing is where the service may call: what a server and the commands that check or call an address have in common.
type Outgoing struct {
	WebhookAllow []string `name:"webhook-allow" env:"VIGIA_WEBHOOK_ALLOW" placeholder:"CIDR" help:"Address ranges that outgoing calls may reach although they are not public; give the same as to the server."`
	WebhookProxy string   `name:"webhook-proxy" env:"VIGIA_WEBHOOK_PROXY" placeholder:"URL" help:"Proxy that every outgoing call goes through; give the same as to the server."`
}

// OutgoingSettings returns the server's settings of outgoing connections.
func (s Serve) OutgoingSettings() Outgoing {
	return Outgoing{WebhookAllow: s.WebhookAllow, WebhookProxy: s.WebhookProxy}
}

// CheckOutgoing validates it.
func (o Outgoing) CheckOutgoing() error {
	var p Problems
	if _, err := o.AllowedRanges(); err != nil {
		p = append(p, err.Error())
	}
	if _, err := o.ParseProxy(); err != nil {
		p = append(p, err.Error())
	}
	return p.problemsAsError()
}

// AllowedRanges parses --webhook-allow.
func (o Outgoing) AllowedRanges() ([]netip.Prefix, error) {
	return parseRanges("--webhook-allow", o.WebhookAllow)
}

// ParseProxy parses --webhook-proxy; nil means none. The text is not repeated in the error, as it may hold a password.
func (o Outgoing) ParseProxy() (*url.URL, error) {
	if o.WebhookProxy == "" {
		return nil, nil //nolint:nilnil // no proxy is the usual answer, and http.Transport spells it nil too
	}
	u, err := url.Parse(o.WebhookProxy)
	if err != nil || u.Hostname() == "" || !slices.Contains([]string{"http", "https", "socks5", "socks5h"}, u.Scheme) {
		return nil, fmt.Errorf("--webhook-proxy: expected http://host:port, https://host:port or socks5://host:port")
	}
	return u, nil
}
