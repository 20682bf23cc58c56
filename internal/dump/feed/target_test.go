package feed_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/vigiahq/vigia/internal/dump/feed"
)

// TestCheckTarget tells of a folder that cannot be read and of an address that does not answer when the feed is saved.
func TestCheckTarget(t *testing.T) {
	t.Parallel()
	status := http.StatusOK
	there := httptest.NewServer(
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }),
	)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	defer there.Close()
	feeds := &feed.Feeds{Client: there.Client()}
	folder := t.TempDir()
	for _, c := range []struct {
		f  feed.Feed
		ok bool
	}{
		{feed.Feed{Kind: feed.Folder, Target: folder}, true},
		{feed.Feed{Kind: feed.Folder, Target: filepath.Join(folder, "nada")}, false},
		{feed.Feed{Kind: feed.Folder, Target: "s3://balde"}, true},
		{feed.Feed{Kind: feed.List, Target: there.URL}, true},
		{feed.Feed{Kind: feed.List, Target: gone.URL}, false},
	} {
		if err := feeds.CheckTarget(t.Context(), c.f); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.f.Target, err)
		}
	}
	status = http.StatusNotFound
	if feeds.CheckTarget(t.Context(), feed.Feed{Kind: feed.List, Target: there.URL}) == nil {
		t.Error("an address without a list is taken")
	}
}
