package operator

import (
	"context"
	"testing"
	"time"
)

// TestTOTPVectors runs the published vectors of RFC 6238 for SHA-1, cut to six digits.
func TestTOTPVectors(t *testing.T) {
	secret := []byte("12345678901234567890")
	for unix, want := range map[int64]string{
		59: "287082", 1111111109: "081804", 1111111111: "050471", 1234567890: "005924", 2000000000: "279037", 20000000000: "353130",
	} {
		if got := codeOfStep(secret, unix/totpPeriod); got != want {
			t.Errorf("at %d: %s, want %s", unix, got, want)
		}
	}
}

func TestTOTPWindow(t *testing.T) {
	secret, now := []byte("12345678901234567890"), time.Unix(1234567890, 0)
	step := now.Unix() / totpPeriod
	for _, c := range []struct {
		code string
		last int64
		ok   bool
	}{
		{codeOfStep(secret, step), 0, true},
		{codeOfStep(secret, step-1), 0, true},
		{codeOfStep(secret, step+1), 0, true},
		{codeOfStep(secret, step-2), 0, false},
		{codeOfStep(secret, step+2), 0, false},
		{codeOfStep(secret, step), step, false}, // used
		{codeOfStep(secret, step-1), step, false},
		{"", 0, false},
		{"000000", 0, false},
	} {
		if _, ok := findStep(secret, c.code, now, c.last); ok != c.ok {
			t.Errorf("code %q after step %d: %t", c.code, c.last, ok)
		}
	}
}

func TestRolesCover(t *testing.T) {
	for _, c := range []struct {
		have, need Role
		ok         bool
	}{
		{Admin, Admin, true},
		{Admin, Viewer, true},
		{Support, Support, true},
		{Support, Viewer, true},
		{Viewer, Viewer, true},
		{Support, Admin, false},
		{Viewer, Support, false},
		{Viewer, Admin, false},
		{"", Viewer, false},
		{"root", Viewer, false},
		{Admin, "", false},
		{"", "", false},
	} {
		if c.have.Covers(c.need) != c.ok {
			t.Errorf("%q covers %q: %t", c.have, c.need, !c.ok)
		}
	}
}

func TestPasswordHash(t *testing.T) {
	atFullCost(t)
	ctx, h := context.Background(), newHasher()
	encoded, err := h.hashPassword(ctx, "correta cavalo bateria")
	if err != nil {
		t.Fatal(err)
	}
	// Made with the reference parameters; a change of them would lock everybody out.
	const known = "$argon2id$v=19$m=19456,t=2,p=1$c3Nzc3Nzc3Nzc3Nzc3Nzcw$QB/vC7hsbK3wTDyyY89zRTRCVpJH5+1e1x0BsW8Q8C4"
	for _, c := range []struct {
		password, encoded string
		want              bool
	}{
		{"correta cavalo bateria", known, true},
		{"correta cavalo bateria", encoded, true},
		{"correta cavalo bateriA", encoded, false},
		{"", "", false},
		{"anything", "", false},
		{"anything", "$argon2id$v=19$m=19456,t=2,p=1$$", false},
		{"anything", "$2a$10$", false},
	} {
		if got, err := h.matchesHash(ctx, c.password, c.encoded); err != nil || got != c.want {
			t.Errorf("%q against %q: %t, %v", c.password, c.encoded, got, err)
		}
	}
}

// TestHashesAreBounded: the third hash waits, and beyond the queue people are sent away instead of piling up.
func TestHashesAreBounded(t *testing.T) {
	h := newHasher()
	for range hashesAtOnce {
		h.running <- struct{}{}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := h.deriveKey(
		ctx,
		"x",
		make([]byte, argonSalt),
	); err != context.Canceled { //nolint:errorlint // returned as it is
		t.Errorf("a hash started although %d were running: %v", hashesAtOnce, err)
	}
	for range cap(h.waiting) {
		h.waiting <- struct{}{}
	}
	_, err := h.deriveKey(context.Background(), "x", make([]byte, argonSalt))
	if err != error(ErrBusy) { //nolint:errorlint // the sentinel itself
		t.Errorf("the queue has no end: %v", err)
	}
}

func TestPenaltyGrows(t *testing.T) {
	for n, want := range map[int]time.Duration{
		0: 0, 4: 0, 5: 2 * time.Second, 6: 4 * time.Second, 9: 32 * time.Second, 10: 30 * time.Minute, 1000: 30 * time.Minute,
	} {
		if got := tryPenalty(n); got != want {
			t.Errorf("after %d wrong tries: %v, want %v", n, got, want)
		}
	}
}
