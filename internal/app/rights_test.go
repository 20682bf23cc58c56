package app_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/app"
)

// TestWarnOfRights: a start says that it is root's and that dumps are not read, or read without confinement; else
// nothing.
func TestWarnOfRights(t *testing.T) {
	const root, unconfined, refused = "runs as root", "that nothing confines", "no dump is read"
	for _, c := range []struct {
		isRoot, canConfine, readsUnconfined bool
		want                                []string
	}{
		{canConfine: true},
		{canConfine: true, readsUnconfined: true},
		{canConfine: true, isRoot: true, want: []string{root}},
		{readsUnconfined: true, want: []string{unconfined}},
		{isRoot: true, want: []string{root, refused}},
	} {
		var log bytes.Buffer
		app.WarnOfRights(slog.New(slog.NewTextHandler(&log, nil)), c.isRoot, c.canConfine, c.readsUnconfined)
		if strings.Count(log.String(), "\n") != len(c.want) {
			t.Errorf("%+v: %s", c, &log)
		}
		for _, sentence := range c.want {
			if !strings.Contains(log.String(), sentence) {
				t.Errorf("%+v: %s", c, &log)
			}
		}
	}
}
