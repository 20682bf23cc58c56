package leak

import "testing"

// TestSitesEndAtADot: a host under a site belongs to it, one whose name merely ends like it does not: a log-in stolen from
// naobanco.com.br is none of banco.com.br.
func TestSitesEndAtADot(t *testing.T) {
	for host, want := range map[string]bool{
		"banco.com.br": true, "app.banco.com.br": true, "naobanco.com.br": false, "banco.com": false, "banco.com.br.outro.com": false,
	} {
		if isAnyUnder([]string{host}, []string{"banco.com.br"}) != want {
			t.Errorf("%s under banco.com.br: %t", host, !want)
		}
	}
}
