package operator

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/vigiahq/vigia/internal/platform/difftest"
)

// pile is a ledger in memory.
type pile struct {
	Ledger
	lines []Entry
	fail  error
	depth int
}

func (p *pile) AppendAudit(_ context.Context, e Entry) (Entry, error) {
	if p.fail != nil {
		return e, p.fail
	}
	p.lines = append(p.lines, e)
	return e, nil
}

func (p *pile) KeepTogether(_ context.Context, fn func(Ledger) error) error {
	p.depth++
	kept := len(p.lines)
	err := fn(p)
	if err != nil {
		p.lines = p.lines[:kept]
	}
	return err
}

var noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

func newTestTrail() (*Trail, *pile) {
	p := &pile{}
	return NewTrail(p, func() time.Time { return noon }), p
}

var errOnPurpose = errors.New("failed on purpose")

// TestRecord: who, what, when; and a detail that is too long is cut between letters.
func TestRecord(t *testing.T) {
	ctx, who := context.Background(), Actor{Name: "op_1", From: "192.0.2.7"}
	trail, p := newTestTrail()
	if err := trail.RecordAction(ctx, who, "asset.reveal", "as_1", "motivo"); err != nil {
		t.Fatal(err)
	}
	if want := (Entry{At: noon, Actor: who, Action: "asset.reveal", Subject: "as_1", Detail: "motivo"}); p.lines[0] != want {
		t.Errorf("%+v", p.lines[0])
	}
	for text, kept := range map[string]int{
		strings.Repeat("a", maxDetail):            maxDetail,
		strings.Repeat("a", maxDetail+1):          maxDetail,
		"a" + strings.Repeat("é", maxDetail/2):    maxDetail - 1, // the last letter does not fit
		"aa" + strings.Repeat("é", maxDetail/2+9): maxDetail,
	} {
		if err := trail.RecordAction(ctx, who, "partner.show", "", text); err != nil {
			t.Fatal(err)
		}
		last := p.lines[len(p.lines)-1].Detail
		if len(last) != kept || !utf8.ValidString(last) || !strings.HasPrefix(text, last) {
			t.Errorf("%d bytes became %d, want %d", len(text), len(last), kept)
		}
	}
	p.fail = errOnPurpose
	if err := trail.RecordAction(ctx, who, "partner.show", "", ""); !errors.Is(err, errOnPurpose) {
		t.Error("a line that was not kept went unnoticed:", err)
	}
}

// TestTogether: lines that belong together are kept in one step, and one that cannot be kept fails them all.
func TestTogether(t *testing.T) {
	ctx, who := context.Background(), Actor{Name: "op_1"}
	trail, p := newTestTrail()
	err := trail.RecordAll(ctx, who, "asset.reveal", []string{"a", "b"}, "x")
	if err != nil || len(p.lines) != 2 || p.depth != 1 {
		t.Fatal(p.lines, p.depth, err)
	}
	second := p.lines[1]
	second.Subject, second.Detail = "b", "x"
	difftest.Check(t, "the second line", p.lines[1], second)
	p.fail = errOnPurpose
	if err := trail.RecordAll(ctx, who, "asset.reveal", []string{"a"}, ""); !errors.Is(err, errOnPurpose) {
		t.Error(err)
	}
}

// TestActionsHaveWords: a line is written only of an action that can be read, in words of its own.
func TestActionsHaveWords(t *testing.T) {
	trail, p := newTestTrail()
	if err := trail.RecordAction(context.Background(), Actor{Name: "op_1"}, "nobody.knows", "", ""); err == nil ||
		len(p.lines) != 0 {
		t.Error("an action without words was recorded:", err)
	}
	seen := map[string]string{}
	for _, action := range Actions() {
		words, known := DescribeAction(action)
		if !known || words == "" {
			t.Errorf("%s has no words", action)
		}
		if other, twice := seen[words]; twice {
			t.Errorf("%s and %s are both %q", other, action, words)
		}
		seen[words] = action
	}
}

func TestParseHead(t *testing.T) {
	if h, err := ParseHead(""); err != nil || h.Seq != 0 || h.MAC != nil {
		t.Error(h, err)
	}
	if h, err := ParseHead("1:ff00"); err != nil || h.Seq != 1 || string(h.MAC) != "\xff\x00" {
		t.Error(h, err)
	}
	for _, bad := range []string{"1", "1:", ":ff", "0:ff", "-1:ff", "x:ff", "1:f", "1:zz"} {
		if h, err := ParseHead(bad); !errors.Is(err, ErrHead) || h.Seq != 0 {
			t.Errorf("%q: %v, %v", bad, h, err)
		}
	}
}

// TestLastDays: thirty days in Brasília up to today, zeros where nothing was counted, nothing of other days.
func TestLastDays(t *testing.T) {
	late := time.Date(2026, 11, 16, 2, 59, 0, 0, time.UTC) // still the 15th in Brasília
	today := time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC)
	counts := []DayCount{
		{today, 1},
		{today, 2},
		{today.AddDate(0, 0, -29), 5},
		{today.AddDate(0, 0, -30), 7},
		{today.AddDate(0, 0, 1), 9},
	}
	days := FillLastDays(counts, late, 30)
	var sum int64
	for _, d := range days {
		sum += d.Count
	}
	last := days[len(days)-1]
	if last.Day != today { // the zone too
		t.Errorf("the last day is %v", last.Day)
	}
	difftest.Check(t, "how many days", len(days), 30)
	difftest.Check(t, "the last, the first and all", []int64{last.Count, days[0].Count, sum}, []int64{3, 5, 8})
	if next := FillLastDays(counts, late.Add(time.Minute), 30); next[len(next)-1].Day != today.AddDate(0, 0, 1) {
		t.Error("midnight in Brasília begins a day")
	}
}

// TestSessionOver: to the moment, and also for a clock that was set back.
func TestSessionOver(t *testing.T) {
	s := Session{CreatedAt: noon, SeenAt: noon, ProvedAt: noon}
	for after, over := range map[time.Duration]bool{
		0: false, IdleLimit - 1: false, IdleLimit: true, -IdleLimit: false, -IdleLimit - 1: true,
	} {
		if got := s.isOverAt(noon.Add(after)); got != over {
			t.Errorf("%v after its last use: over %t", after, got)
		}
	}
	s.SeenAt = noon.Add(AbsoluteLimit)
	if s.isOverAt(noon.Add(AbsoluteLimit-1)) || !s.isOverAt(noon.Add(AbsoluteLimit)) {
		t.Error("the absolute limit is missed")
	}
	if !s.IsFresh(noon.Add(ProofLimit-1)) || s.IsFresh(noon.Add(ProofLimit)) {
		t.Error("a proof ages wrongly")
	}
}

func TestParseRole(t *testing.T) {
	for _, r := range ListRoles() {
		if got, err := ParseRole(string(r)); err != nil || got != r {
			t.Error(got, err)
		}
	}
	for _, bad := range []string{"", "root", "Admin"} {
		if _, err := ParseRole(bad); !errors.Is(err, ErrInvalid) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestPasswordRules: length in letters, not bytes; not the address; not what is known.
func TestPasswordRules(t *testing.T) {
	known := func(p string) (bool, error) {
		if p == "falha de leitura" {
			return false, errOnPurpose
		}
		return p == "senha vazada ontem" || p == "futebol", nil
	}
	r := NewRegistry(nil, known, nil)
	long := func(n int) string { return string([]rune(strings.Repeat("água de beber é pão. ", n))[:n]) }
	for password, want := range map[string]error{
		long(MinPassword): nil, long(MinPassword - 1): ErrPassword,
		long(MaxPassword): nil, long(MaxPassword + 1): ErrPassword,
		// no corpus needs to know these
		"123456789012": ErrPassword, "aaaaaaaaaaaaaa": ErrPassword, "qwertyuiopasdf": ErrPassword,
		"1q2w3e4r5t6y": ErrPassword, "098765432109": ErrPassword, "abcdefghijklm": ErrPassword,
		"joaojoaojoaojoao": ErrPassword, "AbababABABAB": ErrPassword, strings.Repeat("é", MinPassword): ErrPassword,
		"longa mas \xff inválida": ErrPassword, "anasouzasilva": ErrPassword, "Vigia-Admin-2026": ErrPassword, "exemplo AnaSouzaSilva": ErrPassword, "AnaSouzaSilva@exemplo.com.br": ErrPassword,
		"senha vazada ontem": ErrPasswordExposed, "falha de leitura": errOnPurpose, "girafa amarela no telhado": nil,
		// common ones with a suffix; not when what is beside them is long enough by itself
		"senha12345678": ErrPassword, "12345678senha!": ErrPassword, "futebol12345": ErrPasswordExposed, "2026-Futebol-2026": ErrPasswordExposed, "FUTEBOL!!!2026": ErrPasswordExposed,
		"futebol 7302-9164-5528": nil, "7302-9164-5528": nil,
	} {
		if err := r.checkPassword(password, "anasouzasilva@exemplo.com.br"); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", password, err, want)
		}
	}
}

func TestTOTPForApps(t *testing.T) {
	o := Operator{Email: "ana@exemplo.com.br", TOTP: []byte("12345678901234567890")}
	const secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ" // of the published vectors
	if o.TOTPSecretText() != secret {
		t.Error(o.TOTPSecretText())
	}
	if got := o.TOTPAddress(); got != "otpauth://totp/Vigia:ana@exemplo.com.br?issuer=Vigia&secret="+secret {
		t.Error(got)
	}
}
