package feed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/net/proxy"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/intake"
	"github.com/vigiahq/vigia/internal/job"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/scan"
)

func (s Settings) crawlDefaults() Settings {
	setDefault(&s.Depth, 2)
	setDefault(&s.Pages, 200)
	setDefault(&s.PageBytes, 2<<20)
	setDefault(&s.Bytes, 64<<20)
	setDefault(&s.Delay, 2*time.Second)
	if len(s.Exposes) == 0 {
		s.Exposes = []cyber.Exposed{cyber.ExposedEmail}
	}
	return s
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// runCrawl reads pages of one site through a SOCKS5 proxy and imports those that are new as one breach. It stays on the
// host it begins with, so a page cannot send it anywhere, and holds what it read in memory only.
func (fs *Feeds) runCrawl(ctx context.Context, f *Feed) error {
	c := &crawl{fs: fs, feed: f, limits: f.Settings.crawlDefaults(), seen: map[string]bool{}}
	var err error
	if c.start, err = url.Parse(f.Target); err != nil {
		return ErrInvalid.With("target: not an address").Because(err)
	}
	if addr, err := netip.ParseAddr(c.start.Hostname()); err == nil && (addr.IsPrivate() || addr.IsLoopback() || addr.IsLinkLocalUnicast()) {
		return ErrInvalid.With("target: an inner address is not crawled")
	}
	if c.client, err = socksClient(f.Settings.Proxy, fs.dialer(), c.sameHost); err != nil {
		return err
	}
	defer c.client.CloseIdleConnections()
	if err := c.giveUpKilled(ctx); err != nil {
		return err
	}
	if err := c.walk(ctx); err != nil {
		return err
	}
	return c.imports(ctx)
}

// giveUpKilled takes back what a run that was killed left as being imported: the pages were in memory only, so it
// cannot go on. They were not noted as taken, so this run reads them again.
func (c *crawl) giveUpKilled(ctx context.Context) error {
	all, err := c.fs.Breaches.Breaches(ctx)
	if err != nil {
		return err
	}
	for _, r := range all {
		if r.State != leak.Importing || r.Source != "feed "+c.feed.Name || !strings.HasPrefix(r.Name, c.feed.Name+"-") {
			continue
		}
		if err := c.fs.Importer.Discard(r.Name); errors.Is(err, intake.ErrBusy) {
			continue // another process is at it after all
		} else if err != nil {
			return err
		}
		if _, err := c.fs.Breaches.RetractBreach(ctx, r.Name); err != nil {
			return err
		}
	}
	return nil
}

// dial connects to proxies: it makes a function what package proxy calls a dialer.
type dial func(ctx context.Context, network, address string) (net.Conn, error)

// Dial implements proxy.Dialer.
func (d dial) Dial(network, address string) (net.Conn, error) {
	return d.DialContext(context.Background(), network, address)
}

// DialContext implements proxy.ContextDialer.
func (d dial) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return d(ctx, network, address)
}

func (fs *Feeds) dialer() proxy.Dialer {
	if fs.DialProxy == nil {
		return dial((&net.Dialer{}).DialContext)
	}
	return dial(fs.DialProxy)
}

// socksClient reaches the outside through the proxy alone: names are resolved there, and nothing is ever dialled
// directly.
func socksClient(address string, to proxy.Dialer, allowed func(*url.URL) bool) (*http.Client, error) {
	d, err := proxy.SOCKS5("tcp", address, nil, to)
	if err != nil {
		return nil, ErrInvalid.With("proxy: expected host:port").Because(err)
	}
	dial, ok := d.(proxy.ContextDialer)
	if !ok {
		return nil, ErrInvalid.With("proxy: cannot be used")
	}
	return &http.Client{
		Timeout:   time.Minute,
		Transport: &http.Transport{DialContext: dial.DialContext, MaxResponseHeaderBytes: 64 << 10, MaxIdleConnsPerHost: 1},
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			if len(via) > 5 || !allowed(req.URL) {
				return http.ErrUseLastResponse
			}
			return nil
		},
	}, nil
}

type crawl struct {
	fs     *Feeds
	feed   *Feed
	limits Settings
	client *http.Client
	start  *url.URL
	seen   map[string]bool
	text   bytes.Buffer // new pages, one after another
	fresh  []string     // their marks
	failed error
}

type link struct {
	at    *url.URL
	depth int
}

func (c *crawl) sameHost(u *url.URL) bool {
	return (u.Scheme == "http" || u.Scheme == "https") && u.Host == c.start.Host
}

// walk reads pages in the order found, politely, until a limit is reached. A page that fails is left out; a start that
// fails is a failure.
func (c *crawl) walk(ctx context.Context) error {
	queue := []link{{c.start, 0}}
	c.seen[c.start.String()] = true
	for read := 0; len(queue) > 0 && read < c.limits.Pages && int64(c.text.Len()) < c.limits.Bytes; read++ {
		if read > 0 {
			if err := job.Wait(ctx, c.limits.Delay); err != nil {
				return err
			}
		}
		next := queue[0]
		queue = queue[1:]
		links, err := c.page(ctx, next)
		if err != nil {
			if read == 0 {
				return err
			}
			c.failed = errors.Join(c.failed, err)
			continue
		}
		queue = append(queue, links...)
	}
	return ctx.Err()
}

// page reads one page, keeps it if it is new, and returns where it leads.
func (c *crawl) page(ctx context.Context, l link) ([]link, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, l.at.String(), nil)
	if err != nil {
		return nil, err
	}
	res, err := c.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("read page: %w", err)
	}
	defer func() { _ = res.Body.Close() }() // only read
	if res.StatusCode == http.StatusTooManyRequests || res.StatusCode == http.StatusServiceUnavailable {
		return nil, errors.Join(fmt.Errorf("read page: answered %d", res.StatusCode), job.Wait(ctx, min(retryAfter(res.Header, c.limits.Delay), time.Minute)))
	}
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("read page: answered %d", res.StatusCode)
	}
	// A page that is cut by the limit, or by the other side, is still worth what came of it.
	body, _ := io.ReadAll(io.LimitReader(res.Body, c.limits.PageBytes))
	mark := string(body)
	taken, err := c.fs.Store.Taken(ctx, c.feed.Name, mark)
	if err != nil {
		return nil, err
	}
	if !taken {
		c.text.Write(body)
		c.text.WriteByte('\n')
		c.fresh = append(c.fresh, mark)
	}
	if l.depth == c.limits.Depth || !strings.Contains(res.Header.Get("Content-Type"), "html") {
		return nil, nil
	}
	return c.links(res.Request.URL, body, l.depth+1), nil
}

func (c *crawl) links(base *url.URL, body []byte, depth int) []link {
	var links []link
	for z := html.NewTokenizer(bytes.NewReader(body)); ; {
		kind := z.Next()
		if kind == html.ErrorToken {
			return links
		}
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		u, err := base.Parse(target(z))
		if err != nil || !c.sameHost(u) {
			continue
		}
		if u.Fragment = ""; !c.seen[u.String()] && len(c.seen) < maxSeen {
			c.seen[u.String()] = true
			links = append(links, link{u, depth})
		}
	}
}

// maxSeen bounds the memory of a site that makes up links without end.
const maxSeen = 100_000

// target is where the tag leads, if it is a link at all.
func target(z *html.Tokenizer) string {
	name, more := z.TagName()
	if string(name) != "a" {
		return "about:blank"
	}
	for more {
		var key, value []byte
		if key, value, more = z.TagAttr(); string(key) == "href" {
			return string(value)
		}
	}
	return "about:blank"
}

// imports makes a breach of the new pages, if there is an identifier in them at all.
func (c *crawl) imports(ctx context.Context) error {
	found := 0
	if _, err := scan.NewScanner(func(identifier.Kind, []byte) { found++ }).Scan(ctx, bytes.NewReader(c.text.Bytes())); err != nil {
		return err
	}
	name := ""
	if found > 0 {
		now := c.fs.Now().UTC()
		name = fmt.Sprintf("%s-%s", c.feed.Name, now.Format("20060102-150405"))
		b := cyber.Breach{
			Name: name, Title: "Coleta de " + c.feed.Name + " em " + now.Format(time.DateOnly), Date: now.Truncate(24 * time.Hour), Kind: cyber.SourcePaste,
			Exposes: c.limits.Exposes, Source: "feed " + c.feed.Name,
		}
		in := intake.ReaderInput(c.feed.Name, name, int64(c.text.Len()), func(context.Context) (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(c.text.Bytes())), nil
		})
		if _, err := c.fs.Importer.Import(ctx, intake.Spec{Breach: b, Inputs: []intake.Input{in}, NoPairs: c.limits.NoPairs}); err != nil {
			return err
		}
	}
	for _, mark := range c.fresh {
		if err := c.fs.Store.Take(ctx, c.feed.Name, mark, name); err != nil {
			return err
		}
		c.feed.State.Items++
	}
	return c.failed
}
