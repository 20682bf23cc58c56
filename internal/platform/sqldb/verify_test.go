package sqldb_test

import (
	"context"
	"net"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

// TestUnverifiedServer: a PostgreSQL that is not on this machine is not spoken to unless its certificate is checked, or
// the operator said so.
func TestUnverifiedServer(t *testing.T) {
	for address, refused := range map[string]bool{
		"postgres://u@db.example/x":                                           true, // prefer: in the clear if need be
		"postgres://u@db.example/x?sslmode=disable":                           true,
		"postgres://u@db.example/x?sslmode=require":                           true, // encrypted, to whoever answers
		"postgres://u@db.example/x?sslmode=verify-full":                       false,
		"postgres://u@db.example/x?sslmode=verify-ca":                         false,
		"postgres://u@127.0.0.1,db.example/x?sslmode=disable":                 true,
		"postgres://u@192.0.2.1/x?sslmode=disable":                            true,
		"postgres://u@127.0.0.1,[::1]/x?sslmode=disable":                      false,
		"postgres://u@localhost/x":                                            false,
		"postgres:///x?host=/run/postgresql&sslmode=disable":                  false,
		"postgres://u@127.0.0.1.db.example/x?sslmode=disable":                 true,
		"postgres://u@db.example/x?host=192.0.2.7&sslmode=allow&user=someone": true,
	} {
		if got := sqldb.Unverified(address); got != refused {
			t.Errorf("%s: unverified %v", address, got)
		}
	}
	// Whoever answers on an address of another machine is not even dialled. The name is of this machine, so that
	// today's program would have reached it.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dialled := make(chan struct{}, 1)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
			select {
			case dialled <- struct{}{}:
			default:
			}
		}
	}()
	defer func() { _ = l.Close() }()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	address := "postgres://nobody:secret-word@127.0.0.1.:" + port + "/x?sslmode=disable&connect_timeout=1"
	open := func(insecure bool) string {
		db, err := sqldb.OpenDatabase(context.Background(), address, sqldb.Options{Insecure: insecure})
		if err == nil {
			_ = db.Close()
			t.Fatal("it opened")
		}
		return err.Error()
	}
	if why := open(false); !strings.Contains(why, "verify-full") || strings.Contains(why, "secret-word") {
		t.Error(why)
	}
	select {
	case <-dialled:
		t.Error("it was dialled")
	default:
	}
	if why := open(true); strings.Contains(why, "verify-full") {
		t.Error("although the operator said so:", why)
	}
}
