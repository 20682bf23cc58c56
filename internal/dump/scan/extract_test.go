package scan

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vigiahq/vigia/internal/dump/scan/record"
	"github.com/vigiahq/vigia/internal/identifier"
)

// found lists what a scan of text finds, each as "kind value", sorted.
func found(t testing.TB, text string) []string {
	t.Helper()
	var got []string
	s := NewScanner(func(kind identifier.Kind, normal []byte) { got = append(got, kind.String()+" "+string(normal)) })
	if n, err := s.Scan(context.Background(), strings.NewReader(text)); err != nil || n != int64(len(text)) {
		t.Fatalf("scan took %d of %d bytes: %v", n, len(text), err)
	}
	slices.Sort(got)
	return got
}

var extractCases = []struct {
	name, text string
	want       []string
}{
	{
		"combo",
		"maria.silva@exemplo.com.br:senha123\nJOAO+1@Exemplo.COM;x",
		[]string{"email joao+1@exemplo.com", "email maria.silva@exemplo.com.br"},
	},
	{
		"csv",
		"1,Maria,52998224725,11987654321,\"maria@exemplo.com\"",
		[]string{"cpf 52998224725", "email maria@exemplo.com", "phone +5511987654321"},
	},
	{
		"sql",
		"(1,'529.982.247-25','(11) 98765-4321','4111111111111111'),",
		[]string{"cpf 52998224725", "credit_card 4111111111111111", "phone +5511987654321"},
	},
	{
		"json",
		`{"cpf":"11144477735","tel":"+5521987654321","mail":"a@exemplo.com"}`,
		[]string{"cpf 11144477735", "email a@exemplo.com", "phone +5521987654321"},
	},
	{
		"html", `<a href="mailto:maria@exemplo.com">Maria</a>&lt;joao@exemplo.com&gt;<td>529.982.247-25</td>`,
		[]string{"cpf 52998224725", "email joao@exemplo.com", "email maria@exemplo.com"},
	},
	{
		"url",
		"https://x.test/?email=maria%40exemplo.com&cpf%3D52998224725&q=%2011987654321",
		[]string{"cpf 52998224725", "email maria@exemplo.com", "phone +5511987654321"},
	},
	{
		"json escapes",
		`"a\nmaria@exemplo.com","\u003cjoao@exemplo.com\u003e"`,
		[]string{"email joao@exemplo.com", "email maria@exemplo.com", "email nmaria@exemplo.com"},
	},
	{"sentence", "escreva a maria@exemplo.com. Obrigado.", []string{"email maria@exemplo.com"}},
	{"number after domain", "maria@exemplo.com.2024-01", []string{"email maria@exemplo.com"}},
	{"nul bytes", "maria@exemplo.com\x00\x0052998224725\x00", []string{"cpf 52998224725", "email maria@exemplo.com"}},
	{"other scripts", "“joão@exemplo.com” \xffana@exemplo.com\xff maria@ação.com.br", []string{
		"email ana@exemplo.com", "email joão@exemplo.com", "email maria@xn--ao-siap.com.br",
	}},
	{
		"word behind",
		"joão@exemplo.com.brção",
		[]string{"email joão@exemplo.com.br", "email joão@exemplo.com.xn--bro-nlat"},
	},
	{
		"apostrophe",
		"x o'brien@exemplo.ie 'ana@exemplo.com'",
		[]string{"email ana@exemplo.com", "email brien@exemplo.ie", "email o'brien@exemplo.ie"},
	},
	{"picture", "logo@2x.png a@b @ x@ @y.com", nil},
	{"dots", "...maria@exemplo.com joao.@exemplo.com", []string{"email maria@exemplo.com"}},

	{
		"cpf forms",
		"529.982.247-25 529.982.247 -25 529982247-25 529 982 247 25 529-982-247-25 CPF52998224725",
		[]string{
			"cpf 52998224725",
			"cpf 52998224725",
			"cpf 52998224725",
			"cpf 52998224725",
			"cpf 52998224725",
			"cpf 52998224725",
		},
	},
	{"cpf wrong digits", "529.982.247-26 52998224726 11111111111 000.000.000-00", nil},
	{
		"cpf in longer runs",
		"152998224725 529982247250 0.52998224725 1-52998224725 52998224725-1 529.982.247-251 9529.982.247-25",
		nil,
	},
	{"cpf in hash", "a52998224725b e52998224725 52998224725f 0af52998224725", nil},
	{"not an ip", "192.168.100.10 529.982.247.25", []string{"cpf 52998224725"}},

	{
		"phone forms",
		"(11)98765-4321 11 98765-4321 +55 11 98765-4321 55 (11) 98765-4321 +55-11-98765-4321 5511987654321 " +
			"+5511987654321",
		slices.Repeat([]string{"phone +5511987654321"}, 7),
	},
	{
		"phone forms, more",
		"(11) 9 8765-4321 011 98765-4321 (011) 98765.4321 5511 98765-4321 1198765-4321 11 987654321 011987654321",
		slices.Repeat([]string{"phone +5511987654321"}, 7),
	},
	{
		"old mobiles",
		"(11) 8765-4321 11 8765-4321 +55 11 8765-4321 551187654321 1187654321",
		slices.Repeat([]string{"phone +5511987654321"}, 5),
	},
	{"landlines", "(21) 2345-6789 552123456789 tel: 2123456789", slices.Repeat([]string{"phone +552123456789"}, 3)},
	{"no phones", "(20) 98765-4321 11 18765-4321 11 2019-2020 11 20240131 12 3456 7890 8765-4321 +1 98765-4321", nil},
	{"times", `1699999999,1500000000;"id":2123456789 created=2123456789`, nil},
	{"foreign", "+351912345678 +12125552368 +999123456789", []string{"phone +12125552368", "phone +351912345678"}},
	// 11900000164 has right check digits and is a mobile of São Paulo.
	{"both readings", "x;11900000164;y", []string{"cpf 11900000164", "phone +5511900000164"}},
	{"label says cpf", `"cpf": "11900000164"`, []string{"cpf 11900000164"}},
	{"label says phone", `<celular>11900000164</celular>`, []string{"phone +5511900000164"}},

	{
		"cards",
		"4111 1111 1111 1111|5555-5555-5555-4444|3782 822463 10005|6062826786276634|12|27|123",
		[]string{
			"credit_card 378282246310005",
			"credit_card 4111111111111111",
			"credit_card 5555555555554444",
			"credit_card 6062826786276634",
		},
	},
	{"card with expiry", "4111 1111 1111 1111 1227 123", []string{"credit_card 4111111111111111"}},
	{"no cards", "4111111111111112 1234567890123452 0000000000000000 4111 1111-1111 1111 4111  1111 1111 1111", nil},
	{
		"cards in longer numbers",
		"94111111111111111 1234 4111 1111 1111 1111 4111-1111-1111-1111-1 4111 1111 1111 1111 1111 1111 " +
			"0.4111111111111111",
		nil,
	},
	{
		"cards in hex",
		"a4111111111111111 4111111111111111c deadbeef-4111111111111111 0f-4111111111111111",
		[]string{"credit_card 4111111111111111"},
	},
	{"cnpj is no card", "60000223000180", nil},
}

func TestExtract(t *testing.T) {
	for _, c := range extractCases {
		t.Run(c.name, func(t *testing.T) {
			if got := found(t, c.text); !slices.Equal(got, c.want) {
				t.Errorf("%q:\n got %q\nwant %q", c.text, got, c.want)
			}
		})
	}
}

// Every case is found again wherever a buffer ends: the text slides over the border byte by byte.
func TestExtractOverBufferBorders(t *testing.T) {
	const size = PieceSize + record.Reach
	var text bytes.Buffer
	for _, c := range extractCases {
		text.WriteString("\n" + c.text + "\n")
	}
	want := found(t, text.String())
	step := 7 // each border is a scan of a whole piece
	if os.Getenv("VIGIA_TEST_LONG") != "" {
		step = 1
	}
	for shift := 0; shift <= text.Len()+margin; shift += step {
		if got := found(t, strings.Repeat("\n", size-shift)+text.String()); !slices.Equal(got, want) {
			t.Fatalf("border at byte %d: %d found instead of %d", shift, len(got), len(want))
		}
	}
}

// TestFillersAreNoCards: a number whose digits after the first six are all the same is what people type to get past a
// form. Everybody's test card, which is one, stays.
func TestFillersAreNoCards(t *testing.T) {
	fillers := 0
	for prefix := 400000; prefix < 600000; prefix += 7919 {
		for digit := '0'; digit <= '9'; digit++ {
			n := strconv.Itoa(prefix) + strings.Repeat(string(digit), 10)
			if !record.IsCardNumber([]byte(n)) && !identifier.IsLuhnValid([]byte(n)) {
				continue
			}
			fillers++
			grouped := n[:4] + " " + n[4:8] + " " + n[8:12] + " " + n[12:]
			want := []string(nil)
			if strings.HasPrefix(n, "41") {
				want = []string{"credit_card " + n, "credit_card " + n}
			}
			if got := found(t, "x;"+n+";y\n"+grouped+"\n"); !slices.Equal(got, want) {
				t.Errorf("%s: found %q, want %q", n, got, want)
			}
		}
	}
	if fillers < 10 {
		t.Fatal("too few fillers were made:", fillers)
	}
}

// TestNumbersThatLeadElsewhere: texts made to hurt, with what is found in them.
func TestNumbersThatLeadElsewhere(t *testing.T) {
	for text, want := range map[string]int{
		"++351912345678\n":                                    1,
		strings.Repeat("1234 ", 1000):                         0,
		strings.Repeat("529.982.247 ", 9):                     0,
		strings.Repeat("++351912345678 %2B351912345679\n", 3): 6,
	} {
		if got := found(t, text); len(got) != want {
			t.Errorf("%.40q: %q", text, got)
		}
	}
}
