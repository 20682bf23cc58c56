package partner

import (
	"strings"
	"testing"
)

// TestWellFormed: both prefixes and no third one, letters and digits only, even where the checksum is right. Mutation
// testing found that no other test of this package would have noticed.
func TestWellFormed(t *testing.T) {
	secret := strings.Repeat("aZ09", 11)[:secretLen]
	for body, want := range map[string]bool{
		livePrefix + secret: true, SandboxKeyPrefix + secret: true, "vg_none_" + secret: false, "VG_LIVE_" + secret: false,
		livePrefix + "-" + secret[1:]: false, livePrefix + secret[:secretLen-1] + "/": false, livePrefix + secret[1:]: false, livePrefix + secret + "0": false,
	} {
		if got := WellFormed(body + keyChecksum(body)); got != want {
			t.Errorf("%s...: %v, want %v", body[:prefixLen], got, want)
		}
	}
}
