package app

import (
	"context"
	"log/slog"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// TestFailedStartStopsInOrder: a server that cannot take its second address has begun its work by then. It ends all of
// it before Run returns, as a stop does: it counts no more among the replicas, and lets go of its files.
func TestFailedStartStopsInOrder(t *testing.T) {
	ctx := context.Background()
	taken, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() })
	a, err := OpenApp(ctx, config.Common{
		Data: filepath.Join(t.TempDir(), "data"), Database: storetest.NewAddress(t, sqldb.PostgreSQL, ""),
	}, sqldb.Options{MaxConns: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	srv, err := NewServer(ctx, a, config.Serve{
		Listen:         "127.0.0.1:0",
		ConsoleListen:  taken.Addr().String(),
		Roles:          []string{"api"},
		MaxConnections: 4,
		StopTime:       time.Minute,
	}, slog.New(slog.DiscardHandler), "test")
	if err != nil {
		t.Fatal(err)
	}
	if err := srv.Run(ctx); err == nil {
		t.Fatal("the address is taken, and the server ran")
	}
	if list, err := a.ListReplicas(ctx); err != nil || len(list) != 0 {
		t.Errorf("a server that did not start still counts among the replicas: %v %v", list, err)
	}
	if list := srv.passwords.ListCorpora(); len(list) != 0 {
		t.Error("the corpora are still open:", list)
	}
}
