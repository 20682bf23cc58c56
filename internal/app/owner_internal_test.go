package app

import (
	"os"
	"runtime"
	"strings"
	"testing"
)

// TestForeignDataFolder: a data folder of another user is refused, whoever that is.
func TestForeignDataFolder(t *testing.T) {
	folder := t.TempDir()
	info, err := os.Stat(folder)
	if err != nil {
		t.Fatal(err)
	}
	if err := checkOwner(folder, info, os.Geteuid()); err != nil {
		t.Error("one's own folder:", err)
	}
	if runtime.GOOS == "windows" {
		return // there are no such numbers
	}
	for _, user := range []int{0, 1000, 65534} {
		if err := checkOwner(
			folder,
			info,
			user,
		); user != os.Geteuid() &&
			(err == nil || !strings.Contains(err.Error(), folder)) {
			t.Errorf("user %d may use the folder of another: %v", user, err)
		}
	}
	if os.Geteuid() == 0 { // only then can a folder be given away
		if err := os.Chown(folder, 65534, -1); err != nil {
			t.Fatal(err)
		}
		if err := prepareFolder(folder); err == nil {
			t.Error("a folder of somebody else was taken")
		}
	}
}
