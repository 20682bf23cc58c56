package leak_test

import (
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
)

// TestRejudge: what a breach says after its content was renewed is held against what the person was told.
func TestRejudge(t *testing.T) {
	shop := cyber.Breach{
		Name:    "loja",
		Kind:    cyber.SourceBreach,
		Exposes: []cyber.Exposed{cyber.ExposedEmail, cyber.ExposedPassword},
		Content: "new",
	}
	row := func(passwords []uint32, classes ...cyber.Exposed) cyber.Trace {
		return cyber.Trace{Told: true, Classes: cyber.NewClasses(classes), Passwords: passwords}
	}
	email, password := cyber.ExposedEmail, cyber.ExposedPassword
	for name, c := range map[string]struct {
		before cyber.Trace
		why    cyber.Resolution
		quiet  bool
		also   *cyber.Trace // what another breach told
		now    leak.Held
		open   cyber.Resolution
		alert  bool
		kept   bool // the row is written
	}{
		"the same":                            {row(nil, email), "", false, nil, leak.Held{Found: true, Trace: row(nil, email)}, "", false, false},
		"gone":                                {row(nil, email), "", false, nil, leak.Held{}, cyber.ResolvedRetracted, false, true},
		"gone, resolved before":               {row(nil, email), cyber.ResolvedOther, false, nil, leak.Held{}, cyber.ResolvedOther, false, false},
		"a class more":                        {row(nil, email), "", false, nil, leak.Held{Found: true, Trace: row([]uint32{1}, email, password)}, "", true, true},
		"a class less":                        {row([]uint32{1}, email, password), "", false, nil, leak.Held{Found: true, Trace: row(nil, email)}, "", false, true},
		"another password":                    {row([]uint32{1}, email, password), "", false, nil, leak.Held{Found: true, Trace: row([]uint32{1, 2}, email, password)}, "", true, true},
		"a password that another told":        {row(nil, email), "", false, new(row([]uint32{1}, email, password)), leak.Held{Found: true, Trace: row([]uint32{1}, email, password)}, "", false, true},
		"told as a whole, a password now":     {cyber.Trace{}, "", false, nil, leak.Held{Found: true, Trace: row([]uint32{1}, email, password)}, "", false, true},
		"told as a whole, none now":           {cyber.Trace{}, "", false, nil, leak.Held{Found: true, Trace: row(nil, email)}, "", false, true},
		"a record, now as a whole":            {row(nil, email), "", false, nil, leak.Held{Found: true}, "", true, true},
		"quiet, a class more":                 {row(nil, email), "", true, nil, leak.Held{Found: true, Trace: row(nil, email, cyber.ExposedCPF)}, "", true, true},
		"resolved, a class more":              {row(nil, email), cyber.ResolvedPasswordChanged, false, nil, leak.Held{Found: true, Trace: row(nil, email, cyber.ExposedCPF)}, "", true, true},
		"resolved, a class less":              {row(nil, email, password), cyber.ResolvedOther, false, nil, leak.Held{Found: true, Trace: row(nil, email)}, cyber.ResolvedOther, false, true},
		"not theirs, a class more":            {row(nil, email), cyber.ResolvedNotMe, false, nil, leak.Held{Found: true, Trace: row(nil, email, cyber.ExposedCPF)}, cyber.ResolvedNotMe, false, true},
		"withdrawn, there again":              {row(nil, email), cyber.ResolvedRetracted, false, nil, leak.Held{Found: true, Trace: row(nil, email)}, "", true, true},
		"withdrawn, there again, told before": {row(nil, email), cyber.ResolvedRetracted, false, new(row(nil, email)), leak.Held{Found: true, Trace: row(nil, email)}, "", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := valueOf("ana", "a")
			f := cyber.Finding{
				ID:         "fd",
				Asset:      "a",
				Breach:     shop.ForTrace(c.before),
				Trace:      c.before,
				Quiet:      c.quiet,
				Resolution: c.why,
				FoundAt:    noon,
			}
			w.Findings = []cyber.Finding{f}
			if c.also != nil {
				other := cyber.Breach{Name: "outra", Kind: cyber.SourceBreach}
				w.Findings = append(
					w.Findings,
					cyber.Finding{
						ID:      "fd2",
						Asset:   "a",
						Breach:  other.ForTrace(*c.also),
						Trace:   *c.also,
						FoundAt: noon,
					},
				)
			}
			w.Status, w.OpenBreaches = cyber.ComputeStatus(w.Findings), cyber.JoinBreachNames(w.Findings)
			v := judge.RejudgeFindings(
				[]*leak.Watched{w},
				shop,
				map[cyber.AssetID]leak.Held{"a": c.now},
				noon.Add(time.Hour),
			)
			if got := w.Findings[0]; got.Resolution != c.open || (len(v.News) == 1) != c.alert ||
				(len(v.Closed)+len(v.Judged) == 1) != c.kept {
				t.Errorf(
					"resolution %q, news %d, closed %d, judged %d",
					got.Resolution,
					len(v.News),
					len(v.Closed),
					len(v.Judged),
				)
			}
			if renewed := w.Findings[0].RenewedAt; renewed.IsZero() == c.alert ||
				c.alert && !renewed.Equal(noon.Add(time.Hour)) {
				t.Errorf("its plan begins anew: %v, news: %t", renewed, c.alert)
			}
			if c.now.Found && !w.Findings[0].Trace.IsEqual(c.now.Trace) {
				t.Errorf("says %+v", w.Findings[0].Trace)
			}
			if w.Status != cyber.ComputeStatus(w.Findings) || w.OpenBreaches != cyber.JoinBreachNames(w.Findings) {
				t.Errorf("the value says %s %s", w.Status, w.OpenBreaches)
			}
			again := judge.RejudgeFindings(
				[]*leak.Watched{w},
				shop,
				map[cyber.AssetID]leak.Held{"a": c.now},
				noon.Add(2*time.Hour),
			)
			if len(again.News)+len(again.Closed)+len(again.Judged)+len(again.Restated) > 0 {
				t.Errorf("a repetition changed something: %+v", again)
			}
		})
	}
	w := valueOf("ana", "a")
	w.Findings = []cyber.Finding{{ID: "fd", Asset: "a", Breach: shop, FoundAt: noon}}
	if v := judge.RejudgeFindings([]*leak.Watched{w}, shop, nil, noon); len(v.Closed)+len(v.Judged) > 0 {
		t.Errorf("a value that was not asked about was judged: %+v", v)
	}
}
