package client

import (
	"slices"
	"testing"
)

func TestNotCreatedIndex(t *testing.T) {
	for header, want := range map[string][]int{
		"0":          {0},
		"3,17,18":    {3, 17, 18},
		"3,17-19,40": {3, 17, 18, 19, 40},
		":kAE=:":     {0, 3, 15},
	} {
		if got := notCreatedIndex(header); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", header, got, want)
		}
	}
	for _, header := range []string{"", "x", "1,", "5-2", ":!:", "0-999999999999", "-1"} {
		if got := notCreatedIndex(header); got != nil {
			t.Errorf("%q: %v", header, got)
		}
	}
}
