// Command console measures how fast the operator's pages answer on a long-lived installation: SQLite with millions of
// subscriptions and a million findings. Every page is asked in turns, through HTTP, with a session; the slowest answer
// of a page counts as much as its median. The figures that pages show are counted beside them, and that is measured
// too.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/sqldb"
)

func main() {
	subscriptions := flag.Int64("subscriptions", 5_000_000, "subscriptions of one partner")
	findings := flag.Int64("findings", 1_000_000, "findings, one for each watched value")
	rounds := flag.Int("rounds", 21, "how often each page is asked")
	folder := flag.String("data", "", "folder to fill or, when it is filled, to use again; by default one that is removed afterwards")
	flag.Parse()
	if err := run(context.Background(), *folder, *subscriptions, *findings, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "console:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, folder string, subscriptions, findings int64, rounds int) (err error) {
	if folder == "" {
		made, err := os.MkdirTemp("", "vigia-bench")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(made) }()
		folder = filepath.Join(made, "data")
	}
	a, err := app.Open(ctx, config.Common{Data: folder}, sqldb.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	w := &world{app: a}
	begin := time.Now()
	if err := w.fill(ctx, subscriptions, findings); err != nil {
		return err
	}
	fmt.Printf("  %d subscriptions, %d watched values with a finding each, made in %v\n", subscriptions, findings, time.Since(begin).Round(time.Second))
	begin = time.Now()
	if err := a.Store.Overview.CountFigures(ctx, 0); err != nil {
		return err
	}
	fmt.Printf("  the figures counted anew in %v, beside the pages and once a minute\n", time.Since(begin).Round(time.Millisecond))
	return w.measure(ctx, rounds)
}

// measure starts a server and asks every page.
func (w *world) measure(ctx context.Context, rounds int) error {
	srv, err := app.NewServer(ctx, w.app, config.Serve{
		Listen: "127.0.0.1:0", ConsoleListen: "127.0.0.1:0", Roles: []string{"console"}, MaxConnections: 8, StopTime: 5 * time.Second,
	}, slog.New(slog.DiscardHandler), "bench")
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- srv.Run(running) }()
	select {
	case <-srv.Ready:
	case err := <-done:
		stop()
		return err
	}
	cookie, err := w.session(ctx)
	if err == nil {
		err = w.ask("http://"+srv.ConsoleAddr.String(), cookie, rounds)
	}
	stop()
	return errors.Join(err, <-done)
}

// session makes an operator who is logged in.
func (w *world) session(ctx context.Context) (*http.Cookie, error) {
	const password = "girafa amarela no telhado"
	_, link, err := w.app.Operators.Create(ctx, fmt.Sprintf("bench%d@exemplo.com.br", time.Now().UnixNano()), operator.Admin)
	if err != nil {
		return nil, err
	}
	o, token, err := w.app.Operators.Accept(ctx, link, password, "127.0.0.1")
	if err != nil {
		return nil, err
	}
	if o, err = w.app.Operators.BeginTOTP(ctx, o.ID); err != nil {
		return nil, err
	}
	_, err = w.app.Operators.ConfirmTOTP(ctx, o.ID, operator.CodeAt(o.TOTP, time.Now()))
	return &http.Cookie{Name: "__Host-vigia", Value: token}, err
}

// ask takes the pages in turns, so that whatever else the machine does falls on all of them.
func (w *world) ask(base string, cookie *http.Cookie, rounds int) error {
	pages := w.pages()
	times := make([][]time.Duration, len(pages))
	for range rounds {
		for i, page := range pages {
			took, err := once(base+page.path, cookie)
			if err != nil {
				return fmt.Errorf("%s: %w", page.path, err)
			}
			times[i] = append(times[i], took)
		}
	}
	worst := time.Duration(0)
	for i, page := range pages {
		slices.Sort(times[i])
		slowest := times[i][rounds-1]
		worst = max(worst, slowest)
		fmt.Printf("  %-34s p50 %8v  slowest of %d %8v\n", page.name, times[i][rounds/2].Round(10*time.Microsecond), rounds, slowest.Round(10*time.Microsecond))
	}
	fmt.Printf("  slowest of all %v (bar: 100 ms)\n", worst.Round(10*time.Microsecond))
	return nil
}

func once(url string, cookie *http.Cookie) (time.Duration, error) {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	req.AddCookie(cookie)
	begin := time.Now()
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, res.Body)
	took := time.Since(begin)
	if err = errors.Join(err, res.Body.Close()); err == nil && (res.StatusCode != http.StatusOK || res.Request.URL.Path == "/login") {
		err = fmt.Errorf("status %d at %s", res.StatusCode, res.Request.URL.Path)
	}
	return took, err
}
