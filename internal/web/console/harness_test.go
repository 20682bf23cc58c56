package console_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/platform/sqldb/sqldbtest"
)

const consolePassword = "girafa amarela no telhado"

// open makes an installation on a SQLite file.
func open(t *testing.T) *app.App {
	t.Helper()
	c := config.Common{Data: filepath.Join(sqldbtest.Folder(t), "data")}
	a, err := app.OpenApp(context.Background(), c, sqldb.Options{MaxConns: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	return a
}

// serve runs the whole service until the test ends; prepare is done to the server before.
func serve(t *testing.T, a *app.App, change func(*config.Serve), prepare ...func(*app.Server)) *app.Server {
	t.Helper()
	cfg := config.Serve{
		Listen:         "127.0.0.1:0",
		ConsoleListen:  "127.0.0.1:0",
		Roles:          []string{"api", "worker", "console"},
		MaxConnections: 8,
		StopTime:       time.Minute,
	}
	if change != nil {
		change(&cfg)
	}
	srv, err := app.NewServer(context.Background(), a, cfg, slog.New(slog.DiscardHandler), "test")
	if err != nil {
		t.Fatal(err)
	}
	for _, do := range prepare {
		do(srv)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- srv.Run(ctx) }()
	select {
	case <-srv.Ready:
	case err := <-done:
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error("stop:", err)
		}
	})
	return srv
}

// call asks the partner API.
func call(t *testing.T, method, url, key, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("x-api-key", key)
	req.Header.Set("content-type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}
