package webhook

import (
	"context"
	"errors"
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

func TestCheckURLShape(t *testing.T) {
	g := NewGuard([]netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")})
	g.Resolver = newNames(t, map[string][]string{
		"hooks.example.com":    {"93.184.216.34 2606:2800:220:1::1"},
		"inner.example.com":    {"10.1.1.1"},
		"both.example.com":     {"93.184.216.34 10.1.1.1"},
		"receiver":             {"10.1.1.2"},
		"xn--ao-hia.example":   {"93.184.216.34"},
		"under_score.example":  {"93.184.216.34"},
		"no-address.example":   {""},
		"alias.example":        {"CNAME hooks.example.com"},
		"alias-inside.example": {"CNAME loop.example.com"},
		"loop.example.com":     {"127.0.0.1"},
	}).resolver()

	good := []string{
		"https://hooks.example.com",
		"https://hooks.example.com/",
		"https://hooks.example.com/a/b?c=d&e=%20",
		"https://hooks.example.com:443/x",
		"HTTPS://HOOKS.example.com/",
		"https://hooks.example.com./",
		"https://93.184.216.34/x",
		"https://[2606:2800:220:1::1]/",
		"https://xn--ao-hia.example/",
		"https://under_score.example/",
		"https://alias.example/",
		"https://hooks.example.com/@me/x:y",
		"http://inner.example.com/",
		"http://inner.example.com:8080/",
		"https://inner.example.com:9443/",
		"http://10.9.9.9:81/x",
		"http://receiver:3000/hook",
		"https://both.example.com/",
		"https://hooks.example.com/" + strings.Repeat("a", maxURL-len("https://hooks.example.com/")),
	}
	for _, raw := range good {
		if err := g.CheckTargetURL(t.Context(), raw); err != nil {
			t.Errorf("%s: %v", raw, err)
		}
	}
	bad := map[string]error{
		"":                                             ErrURL,
		"hooks.example.com":                            ErrURL,
		"//hooks.example.com/":                         ErrURL,
		"/path":                                        ErrURL,
		"https:///path":                                ErrURL,
		"https:hooks.example.com":                      ErrURL,
		"ftp://hooks.example.com/":                     ErrURL,
		"file:///etc/passwd":                           ErrURL,
		"gopher://hooks.example.com/":                  ErrURL,
		"javascript:alert(1)":                          ErrURL,
		"https://user@hooks.example.com/":              ErrURL,
		"https://user:pass@hooks.example.com/":         ErrURL,
		"https://@hooks.example.com/":                  ErrURL,
		"https://:@hooks.example.com/":                 ErrURL,
		"https://hooks.example.com/#":                  ErrURL,
		"https://hooks.example.com/#frag":              ErrURL,
		"https://hooks.example.com:0/":                 ErrURL,
		"https://hooks.example.com:/":                  ErrURL,
		"https://hooks.example.com:0443/":              ErrURL,
		"https://hooks.example.com:65536/":             ErrURL,
		"https://hooks.example.com:-1/":                ErrURL,
		"https://hooks.example.com:https/":             ErrURL,
		"https://hooks.example.com /":                  ErrURL,
		"https://hooks.example.com/a b":                ErrURL,
		"https://hooks.example.com/\r\nx: y":           ErrURL,
		"https://hooks.example.com\\@evil/":            ErrURL,
		"https://hooks..example.com/":                  ErrURL,
		"https://.hooks.example.com/":                  ErrURL,
		"https://-hooks.example.com/":                  ErrURL,
		"https://hooks%2eexample.com/":                 ErrURL,
		"https://höoks.example.com/":                   ErrURL,
		"https://１２７.0.0.1/":                           ErrURL,
		"https://ⓛocalhost/":                           ErrURL,
		"https://[fe80::1%25eth0]/":                    ErrURL,
		"https://2130706433/":                          ErrURL, // hosts that old resolvers take for 127.0.0.1
		"https://0x7f000001/":                          ErrURL,
		"https://0x7f.1/":                              ErrURL,
		"https://127.1/":                               ErrURL,
		"https://0177.0.0.1/":                          ErrURL,
		"https://127.0.0.1./":                          ErrURL,
		"https://[::1/":                                ErrURL,
		"https://[hooks.example.com]/":                 ErrURL,
		"https://a." + strings.Repeat("b", 64):         ErrURL,
		"https://x.com/" + strings.Repeat("a", maxURL): ErrURL,
		"http://hooks.example.com/":                    ErrAddress, // public without TLS
		"https://hooks.example.com:8443/":              ErrAddress, // a port nobody opened
		"https://hooks.example.com:22/":                ErrAddress,
		"http://both.example.com/":                     ErrAddress, // one of its addresses would get it unencrypted
		"https://unknown.example.com/":                 ErrAddress,
		"https://no-address.example/":                  ErrAddress,
		"https://alias-inside.example/":                ErrAddress,
		"https://loop.example.com/":                    ErrAddress,
	}
	for raw, want := range bad {
		err := g.CheckTargetURL(t.Context(), raw)
		if !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", raw, err, want)
		}
	}
}

// TestRefusalTellsNothing: whether a name exists inside, and where it points, is not for whoever typed the URL.
func TestRefusalTellsNothing(t *testing.T) {
	g := NewGuard(nil)
	g.Resolver = newNames(t, map[string][]string{"secret.inner.example": {"10.20.30.40"}}).resolver()
	detail := func(raw string) string {
		err := g.CheckTargetURL(t.Context(), raw)
		var f interface{ Unwrap() error }
		if !errors.As(err, &f) {
			t.Fatalf("%s: %v", raw, err)
		}
		cause := f.Unwrap().Error()
		return strings.TrimSuffix(err.Error(), cause)
	}
	if a, b := detail("https://secret.inner.example/"), detail("https://absent.inner.example/"); a != b || strings.Contains(a, "10.20") {
		t.Errorf("answers differ or tell: %q and %q", a, b)
	}
}

// FuzzCheckURL: whatever passes is what net/http will dial, and is not loopback.
func FuzzCheckURL(f *testing.F) {
	for _, seed := range append(forbiddenHosts(), "hooks.example.com", "hooks.example.com:443", "a@b", "[::1]:443", "x#", "x\\y") {
		f.Add("https://" + seed + "/p?q")
	}
	g := NewGuard(nil)
	f.Fuzz(func(t *testing.T, raw string) {
		tgt, err := parseTarget(raw)
		if err != nil {
			return
		}
		u, err := url.Parse(raw)
		if err != nil || u.User != nil || u.Hostname() != tgt.host || strings.ContainsAny(raw, "#\\ ") ||
			len(raw) > maxURL {
			t.Fatalf("%q passes as %+v", raw, tgt)
		}
		if addr, err := netip.ParseAddr(tgt.host); (err == nil) != tgt.literal.IsValid() ||
			err == nil && addr != tgt.literal {
			t.Fatalf("%q: literal %v", raw, tgt.literal)
		}
		if tgt.literal.IsValid() && g.CheckTargetURL(context.Background(), raw) == nil &&
			!isPublicAddress(tgt.literal.Unmap()) {
			t.Fatalf("%q passes", raw)
		}
	})
}
