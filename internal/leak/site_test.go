package leak

import (
	"slices"
	"testing"

	"github.com/vigiahq/vigia/internal/cyber"
)

// TestSitesEndAtADot: a host under a site belongs to it, one whose name merely ends like it does not: a log-in stolen
// from naobanco.com.br is none of banco.com.br.
func TestSitesEndAtADot(t *testing.T) {
	for host, want := range map[string]bool{
		"banco.com.br": true, "app.banco.com.br": true, "naobanco.com.br": false, "banco.com": false, "banco.com.br.outro.com": false,
	} {
		if isAnyUnder([]string{host}, []string{"banco.com.br"}) != want {
			t.Errorf("%s under banco.com.br: %t", host, !want)
		}
	}
}

// TestSitesTellOpenFindingsOnly: when a partner names a site, people hear of credentials for it that they have not
// dealt with. A finding that was resolved is judged again and stays quiet.
func TestSitesTellOpenFindingsOnly(t *testing.T) {
	finding := func(breach string, resolution cyber.Resolution) cyber.Finding {
		return cyber.Finding{
			Breach: cyber.Breach{
				Name:    breach,
				Basis:   cyber.BasisRow,
				Exposes: []cyber.Exposed{cyber.ExposedPassword},
			},
			Trace:      cyber.Trace{Told: true, Sites: []string{"app.banco.com.br"}},
			Asset:      "as_1",
			Resolution: resolution,
		}
	}
	w := &Watched{
		Asset:    cyber.Asset{ID: "as_1", User: "ana"},
		Findings: []cyber.Finding{finding("aberto", ""), finding("resolvido", cyber.ResolvedNotMe)},
		Sites:    []string{"banco.com.br"},
	}
	v := Judge{}.RejudgeSites([]*Watched{w})
	if len(v.Judged) != 2 {
		t.Errorf("%d findings were judged again", len(v.Judged))
	}
	var told []string
	for _, n := range v.News {
		for _, f := range n.Found {
			told = append(told, f.Breach.Name)
		}
	}
	if !slices.Equal(told, []string{"aberto"}) {
		t.Error("people hear of", told)
	}
}
