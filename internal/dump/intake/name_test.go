package intake

import (
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/dump/container"
	"github.com/vigiahq/vigia/internal/dump/reader"
)

// TestNamesOfMembersAreCleaned: what a reader says of a member is kept and printed without identifiers of people and
// without characters that steer a terminal; the operator's own name of the input stays.
func TestNamesOfMembersAreCleaned(t *testing.T) {
	for name, want := range map[string]string{
		"vitimas/maria.silva@exemplo.com.br.txt": "vitimas/***@***",
		"529.982.247-25.pdf":                     "***.pdf",
		"52998224725/lista.csv":                  "***/lista.csv",
		"+55 11 98765-4321.vcf":                  "+***.vcf",
		"4111 1111 1111 1111.txt":                "***.txt",
		"2026-01-31.csv":                         "2026-01-31.csv",
		"20260131/parte-0001.csv":                "20260131/parte-0001.csv",
		"a\x1b[2J\u202eb\xff\n":                  "a?[2J?b??",
	} {
		if got := reader.CleanText(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	const own = "/dumps/11987654321.zip"
	run := &importRun{}
	run.spec.Inputs = []Input{{Name: own}}
	run.countProblem(container.Skip{Name: own + "!52998224725.txt", Reason: "damaged: 52998224725 \x1b[2J"})
	run.countProblem(container.Skip{Name: "529.982.247-25", Reason: "damaged"})
	if got := run.skips[0]; got.Name != own+"!***.txt" || got.Reason != "damaged: *** ?[2J" {
		t.Errorf("%+v", got)
	}
	if got := run.skips[1].Name; got != "***" {
		t.Error(got)
	}
	for reason := range run.verdicts.Reasons {
		if strings.Contains(reason, "529") {
			t.Error("kept:", reason)
		}
	}
}
