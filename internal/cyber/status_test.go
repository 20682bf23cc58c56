package cyber

import "testing"

// TestRecycled: a combolist is old news to whoever was found elsewhere before. A finding that was withdrawn was never
// news, so it does not silence a later one.
func TestRecycled(t *testing.T) {
	combolist := Breach{Kind: SourceCombolist}
	withdrawn := Finding{Resolution: ResolvedRetracted}
	for name, c := range map[string]struct {
		breach  Breach
		earlier []Finding
		want    bool
	}{
		"found before":                 {combolist, []Finding{{}}, true},
		"found before, and settled":    {combolist, []Finding{{Resolution: ResolvedPasswordChanged}}, true},
		"found nowhere":                {combolist, nil, false},
		"withdrawn":                    {combolist, []Finding{withdrawn}, false},
		"one withdrawn, one settled":   {combolist, []Finding{withdrawn, {Resolution: ResolvedNotMe}}, true},
		"a breach of its own":          {Breach{Kind: SourceBreach}, []Finding{{}}, false},
		"what a stealer took just now": {Breach{Kind: SourceStealer}, []Finding{{}}, false},
	} {
		if got := Recycled(c.breach, c.earlier); got != c.want {
			t.Errorf("%s: recycled %t, want %t", name, got, c.want)
		}
	}
}
