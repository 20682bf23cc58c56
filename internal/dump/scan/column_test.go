package scan

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/identifier"
)

// twoReadings makes up a mobile of area 21 that is a CPF with right check digits.
func twoReadings(t *testing.T) string {
	t.Helper()
	for n := range 10_000 {
		if number := fmt.Sprintf("2198765%04d", n); identifier.IsValidCPF(number) {
			return number
		}
	}
	t.Fatal("there is none")
	return ""
}

// TestColumnDecidesBetweenTwoReadings: a column decides between CPF and mobile, and keeps both where it says two
// things or nothing.
func TestColumnDecidesBetweenTwoReadings(t *testing.T) {
	number := twoReadings(t)
	for name, c := range map[string]struct {
		text string
		want string
	}{
		"CPFs before and after":    {"1,Ana,52998224725,x\n2,Bia,?,y\n3,Caio,111.444.777-35,z\n", "cpf"},
		"CPFs after":               {"1,Ana,?,x\n2,Bia,52998224725,y\n3,Caio,11144477735,z\n", "cpf"},
		"phones before":            {"1;(11) 98765-4321\n2;+55 21 98765-4321\n3;?\n", "phone"},
		"phones, no last line end": {"1;?\n2;11987654321\n3;5511987654321", "phone"},
		"phones with CPFs beside":  {"52998224725;11987654321\n52998224725;?\n52998224725;11 3456-7890\n", "phone"},
		"first column":             {"52998224725 a\n? b\n111444777-35 c\n", "cpf"},
		"SQL, a row a line":        {"(1,'a@exemplo.com','52998224725'),\n(2,'b@exemplo.com','?'),\n(3,'c@exemplo.com','11144477735');\n", "cpf"},
		"SQL, all in one line": {"INSERT INTO t VALUES (1,'(11) " +
			"98765-4321','x'),(2,'?','y'),(3,'11987654321','z'),(4,'11987654322','w');", "phone"},
		"HTML":                       {"<tr><td>a</td><td>52998224725</td></tr>\n<tr><td>b</td><td>?</td></tr>\n<tr><td>c</td><td>11144477735</td></tr>\n", "cpf"},
		"CRLF":                       {"a:52998224725\r\nb:?\r\nc:11144477735\r\n", "cpf"},
		"a label is nearer":          {"52998224725\ntelefone: ?\n11144477735\n", "phone"},
		"one other CPF":              {"1,52998224725\n2,?\n", "cpf"},
		"no votes":                   {"?\n", "cpf phone"},
		"a column of both":           {"52998224725\n11144477735\n?\n11987654321\n", "cpf"},
		"neighbours of two readings": {"?\n?\n?\n", "cpf phone"},
		"times are no phones":        {"a,1700000000\nb,1700000001\nc,?\nd,1700000002\n", "cpf phone"},
		"another column":             {"52998224725,x\n11144477735,y\nz,?\n", "cpf phone"},
		"longer numbers":             {"a,529982247251\nb,?\nc,111444777351\n", "cpf phone"},
		"words with digits":          {"a,52998224725x\nb,?\nc,11144477735_\n", "cpf"},
		"too far away": {
			"52998224725\n11144477735\n" + strings.Repeat("x", 12<<10) + "\n?\n",
			"cpf phone",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			s := NewScanner(func(kind identifier.Kind, normal []byte) {
				if strings.HasSuffix(string(normal), number) {
					got = append(got, kind.String())
				}
			})
			_, err := s.Scan(context.Background(), strings.NewReader(strings.ReplaceAll(c.text, "?", number)))
			must(t, err)
			slices.Sort(got)
			if all := strings.Join(slices.Compact(got), " "); all != c.want {
				t.Errorf("read as %q, want %q", all, c.want)
			}
		})
	}
}
