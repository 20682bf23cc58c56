package app_test

import (
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/platform/telemetry"
	"github.com/vigiahq/vigia/internal/store/storetest"
)

// secretRule finds one kind of thing that has no place in a repository, a log or an answer.
type secretRule struct {
	name string
	// holds is in every line that the pattern can match; empty where there is no such text.
	holds   string
	pattern *regexp.Regexp
	// real tells a hit from what only looks like one; nil: every hit counts.
	real func(text string) bool
}

const base62Digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// issuedKey tells whether the checksum of an API key is right: a placeholder's is not.
func issuedKey(key string) bool {
	sum := crc32.ChecksumIEEE([]byte(key[:len(key)-6]))
	for i := len(key) - 1; i >= len(key)-6; i-- {
		if key[i] != base62Digits[sum%62] {
			return false
		}
		sum /= 62
	}
	return true
}

var bareDigits = strings.NewReplacer(".", "", "-", "")

func validCPF(text string) bool {
	digits := bareDigits.Replace(text)
	return strings.Count(digits, digits[:1]) < len(digits) && checkDigits(digits[:9]) == digits
}

var secretRules = []secretRule{
	{"API key", "vg_", regexp.MustCompile(`vg_(?:live|test)_[0-9A-Za-z]{49}`), issuedKey},
	{"webhook secret", "whsec_", regexp.MustCompile(`whsec_[A-Za-z0-9+/]{24,}=*`), nil},
	{"private key", "PRIVATE ", regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE ` + `KEY-----`), nil},
	{"CPF", "", regexp.MustCompile(`\b[0-9]{3}\.?[0-9]{3}\.?[0-9]{3}-?[0-9]{2}\b`), validCPF},
	{
		"address of a real provider",
		"@",
		regexp.MustCompile(
			`(?i)[a-z0-9._+-]+@(?:gmail|hotmail|outlook|yahoo|icloud|live|uol|bol|terra|ig|globo|proton|protonmail)` + `\.(?:com|com\.br|me)\b`,
		),
		nil,
	},
	{"cloud key", "AKIA", regexp.MustCompile(`\bAKIA[0-9A-Z]{16}\b`), nil},
	{"token of a code host", "gh", regexp.MustCompile(`\bgh[pousr]_[A-Za-z0-9]{36}\b`), nil},
	{"signed token", "eyJ", regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.`), nil},
	{
		"password in an address",
		"://",
		regexp.MustCompile(`\b[a-z]+://[^/\s:@"'` + "`" + `]+:[^/\s@"'` + "`" + `{}%$]{3,}@`),
		nil,
	},
}

// scanSecrets returns what the rules find in a text, without its value: a finding must not be the next leak. No secret
// goes over the end of a line.
func scanSecrets(text string, known map[string]bool) []string {
	var found []string
	for _, rule := range secretRules {
		for start := 0; start < len(text); {
			from, to := rule.next(text, start)
			for _, at := range rule.pattern.FindAllStringIndex(text[from:to], -1) {
				hit := text[from+at[0] : from+at[1]]
				if known[hit] || rule.name == "CPF" && known[bareDigits.Replace(hit)] ||
					rule.real != nil && !rule.real(hit) {
					continue
				}
				found = append(found, fmt.Sprintf("%s in line %d", rule.name, 1+strings.Count(text[:from+at[0]], "\n")))
			}
			start = to + 1
		}
	}
	return found
}

// next is the next part of a text that the pattern has to look at: a line with what it always matches, or all there is.
func (r secretRule) next(text string, start int) (from, to int) {
	if r.holds == "" {
		return start, len(text)
	}
	at := strings.Index(text[start:], r.holds)
	if at < 0 {
		return len(text), len(text)
	}
	at += start
	from = strings.LastIndexByte(text[:at], '\n') + 1
	if end := strings.IndexByte(text[at:], '\n'); end >= 0 {
		return from, at + end
	}
	return from, len(text)
}

// madeUp are the values that this tree is allowed to hold: people of its fixtures, published vectors, and placeholders.
var madeUp = map[string]bool{
	"52998224725": true,
	"11144477735": true,
	"12345678909": true,
	"39053344705": true, // of the first hour: a person whom the demo does not have
	"00000000191": true,
	"98765432100": true,
	"11900000164": true,
	"11122233396": true,
	"44902900203": true,
	"34902900203": true,
	"whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=": true,
	"whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8":  true,
	"whsec_ZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXp7fH1+f4CBgoM=": true,
	"whsec_ZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXp7fH1+f4CBgoM":  true,
	"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw":             true, // of the Standard Webhooks specification
	"postgres://user:password@":                          true,
	"postgres://nobody:secret-word@":                     true,
	"https://user:pass@":                                 true,
}

// madeSecrets are one of each kind, made for this run, so that none of them is in the tree.
func madeSecrets(t *testing.T, key string) map[string]string {
	t.Helper()
	return map[string]string{
		"API key":                    key,
		"webhook secret":             "whsec_" + strings.Repeat("QUJD", 9),
		"private key":                "-----BEGIN RSA PRIVATE " + "KEY-----",
		"CPF":                        checkDigits("731842650"),
		"address of a real provider": "maria.teste" + "@" + "gmail.com",
		"cloud key":                  "AKIA" + strings.Repeat("Q7", 8),
		"token of a code host": "ghp_" + strings.Repeat(
			"a1B2",
			9,
		),
		"signed token":           "eyJ" + strings.Repeat("a", 12) + ".eyJ" + strings.Repeat("b", 12) + ".c",
		"password in an address": "postgres://vigia:" + "Xy7kQ2" + "@db/vigia",
	}
}

// TestNoSecretsInTheTree: no file of the tree holds a key, a token, a person or an address that is somebody's; and each
// rule finds what it is for.
func TestNoSecretsInTheTree(t *testing.T) {
	a := open(t, common(t, sqldb.SQLite))
	_, cred, err := a.Partners.CreatePartner(context.Background(), "Banco", partner.Live, partner.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for name, secret := range madeSecrets(t, cred.APIKey) {
		if found := scanSecrets("x = \""+secret+"\"\n", madeUp); len(found) != 1 || !strings.HasPrefix(found[0], name) {
			t.Errorf("a planted %s: found %v", name, found)
		}
	}
	scanned := 0
	for _, name := range treeFiles(t) {
		text := readTree(t, name)
		if !utf8.ValidString(text) || strings.HasSuffix(name, "go.sum") ||
			strings.HasSuffix(name, "package-lock.json") {
			continue // pictures and compressed fixtures; sums of others' files
		}
		scanned++
		if strings.HasSuffix(name, "vectors.json") { // long secrets, at the limits of the format
			text = regexp.MustCompile(`whsec_AAECAwQF[A-Za-z0-9+/]*=*`).ReplaceAllString(text, "")
		}
		for _, found := range scanSecrets(text, madeUp) {
			t.Errorf("%s: %s", name, found)
		}
	}
	if scanned < 300 {
		t.Errorf("only %d files were scanned", scanned)
	}
	t.Logf("%d files, %d rules", scanned, len(secretRules))
}

// TestNoSecretsInLogsAndErrors sends every kind of secret in every place of a request, and looks for them in the log at
// its most talkative, in the metrics, and in every answer that is an error. One place is left out: x-request-id is the
// caller's own word for a request, and the contract has it written in every log line.
func TestNoSecretsInLogsAndErrors(t *testing.T) {
	a := open(t, common(t, sqldb.SQLite))
	_, cred, err := storetest.Registry(a.Store.Partners, time.Now).CreatePartner(context.Background(), "Banco", partner.Live, partner.Settings{RatePerSecond: 100_000, Burst: 100_000})
	if err != nil {
		t.Fatal(err)
	}
	var log lockedBuffer
	cfg := config.Serve{
		MetricsToken:   metricsToken,
		Listen:         "127.0.0.1:0",
		ConsoleListen:  "127.0.0.1:0",
		Roles:          []string{"api", "worker", "console"},
		MaxConnections: 4,
		StopTime:       time.Minute,
	}
	srv, err := app.NewServer(
		context.Background(),
		a,
		cfg,
		telemetry.NewLogger(&log, telemetry.LogOptions{Level: slog.LevelDebug, Format: "json"}),
		"test",
	)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- srv.Run(ctx) }()
	<-srv.Ready
	errorsSeen := 0
	for name, secret := range madeSecrets(t, cred.APIKey) {
		escaped := url.PathEscape(secret)
		for _, key := range []string{cred.APIKey, secret} {
			for _, c := range [][3]string{
				{"GET", "/v1/cyber/" + escaped, ""},
				{"GET", "/v1/" + escaped, ""},
				{"GET", "/" + escaped + "/x", ""},
				{"GET", "/v1/subscriptions/" + escaped, ""},
				{"GET", "/v1/subscriptions?page=" + url.QueryEscape(secret), ""},
				{"DELETE", "/v1/subscriptions/" + escaped, ""},
				{"GET", "/v1/events?cursor=" + url.QueryEscape(secret), ""},
				{"POST", "/v1/cyber/password-check", fmt.Sprintf(`{"passwordHashPrefix":%q}`, secret)},
				{"POST", "/v1/cyber/password-check", fmt.Sprintf(`{%q:1}`, secret)},
				{"POST", "/v1/cyber/password-check", secret},
				{"POST", "/v1/cyber/credential-check", fmt.Sprintf(`{"userHash":"u","passwordHashPrefix":%q}`, secret)},
				{"POST", "/v1/subscriptions", secret},
				{"POST", "/v1/subscriptions", fmt.Sprintf(`{"cpf":%q}`, secret)},
				{"POST", "/v1/cyber/monitoring", fmt.Sprintf(`{"userHash":%q,"type":%q}`, secret, secret)},
			} {
				req, err := http.NewRequestWithContext(
					ctx,
					c[0],
					"http://"+srv.APIAddr.String()+c[1],
					strings.NewReader(c[2]),
				)
				if err != nil {
					t.Fatal(err)
				}
				req.Header.Set("x-api-key", key)
				req.Header.Set("user-agent", secret)
				req.Header.Set("idempotency-key", secret)
				res, err := http.DefaultClient.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				body, err := io.ReadAll(res.Body)
				_ = res.Body.Close()
				if err != nil {
					t.Fatal(err)
				}
				if res.StatusCode < 400 {
					continue
				}
				errorsSeen++
				answer := fmt.Sprint(res.Header) + string(body)
				if found := scanSecrets(answer, nil); len(found) > 0 || strings.Contains(answer, secret) {
					t.Errorf(
						"%s as %s: the answer %d to %s repeats it",
						name,
						c[0],
						res.StatusCode,
						strings.ReplaceAll(c[1], escaped, "..."),
					)
				}
			}
		}
	}
	_, metrics := get(t, "http://"+srv.ConsoleAddr.String()+"/metrics", withMetricsToken)
	stop()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	// Times, durations and counts are the server's own; eleven digits of them would be a CPF now and then.
	lines := regexp.MustCompile(`"time":"[0-9T:.Z+-]+"|"us":[0-9]+`).ReplaceAllString(string(log.bytes()), "")
	metrics = regexp.MustCompile(`(?m) [0-9.e+-]+$`).ReplaceAllString(metrics, "")
	if errorsSeen < 100 || len(lines) == 0 {
		t.Errorf("%d errors and %d bytes of log: that proves nothing", errorsSeen, len(lines))
	}
	for where, text := range map[string]string{"log": lines, "metrics": metrics} {
		for _, found := range scanSecrets(text, nil) {
			t.Errorf("%s: %s", where, found)
		}
	}
	t.Logf("%d answers, %d KB of log", errorsSeen, len(lines)>>10)
}
