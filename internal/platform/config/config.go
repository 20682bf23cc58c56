// Package config is everything an operator can set, in one struct that is read once and validated whole.
//
// The struct tags are the manual: --help and docs/configuration.md are made from them. Every field has a usable
// default, and Problems lists all that is wrong at once, so that an operator mends a set-up in one go.
package config

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Common is what every command takes.
type Common struct {
	Data             string `name:"data" env:"VIGIA_DATA" default:"./data" type:"path" placeholder:"DIR" help:"Folder of the embedded database, the key file and the corpora; created with mode 0700."`
	Database         string `name:"database" env:"VIGIA_DATABASE" default:"" placeholder:"URL" help:"PostgreSQL address postgres://user:password@host:port/name; empty means SQLite in the data folder. Keep the password out of the process list: use the environment or VIGIA_DATABASE_FILE."`
	DatabaseInsecure bool   `name:"database-insecure" env:"VIGIA_DATABASE_INSECURE" help:"Speak to a PostgreSQL on another machine although the address does not have its certificate checked (sslmode=verify-full); a warning is logged at each start."`
	KeyFile          string `name:"key-file" env:"VIGIA_KEY_FILE" default:"" placeholder:"FILE" help:"Key file with the root key, which opens the keys in the database; created with mode 0600 by the first start of a new database and never written again. Empty means keys.json in the data folder. In production keep it elsewhere, and a copy apart from the database's backups."`
	KMS              string `name:"kms" env:"VIGIA_KMS" default:"" placeholder:"URI" help:"Key of a key-management service that is the root key instead of a key file: aws-kms://arn:aws:kms:REGION:ACCOUNT:key/ID (credentials from AWS_ACCESS_KEY_ID and its kin) or hcvault://HOST:PORT/transit/keys/NAME (VAULT_TOKEN or VAULT_TOKEN_FILE)."`
	Corpora          string `name:"corpora" env:"VIGIA_CORPORA" default:"" placeholder:"URL" help:"Bucket that shares leak corpora and passwords between replicas, s3://bucket?region=... or file:///folder; empty means the data folder alone. A local copy is kept in the data folder either way."`
	GmailAsOne       bool   `name:"gmail-as-one" env:"VIGIA_GMAIL_AS_ONE" default:"true" negatable:"" help:"Find a watched Gmail address in every spelling (dots, plus tags, googlemail.com); without it only in those like its own, from then on. Give it to every command and replica alike."`
	ReaderUnconfined bool   `name:"reader-unconfined" env:"VIGIA_READER_UNCONFINED" help:"Read dumps although the system has neither Landlock nor seccomp to confine the process that reads them, so that a hostile dump may take over this machine; a warning is logged at each start."`
	JSON             bool   `name:"json" env:"VIGIA_JSON" help:"Machine-readable output of admin commands."`
}

// Serve is what a running server takes.
type Serve struct {
	Listen            string        `name:"listen" section:"Addresses and callers" env:"VIGIA_LISTEN" default:"127.0.0.1:8080" placeholder:"ADDR" help:"Address of the partner API."`
	ConsoleListen     string        `name:"console-listen" section:"Addresses and callers" env:"VIGIA_CONSOLE_LISTEN" default:"127.0.0.1:8081" placeholder:"ADDR" help:"Address of the operator's listener: metrics, health and the console. Keep it off the internet."`
	Roles             []string      `name:"roles" section:"Addresses and callers" env:"VIGIA_ROLES" default:"api,worker,console" placeholder:"ROLE" help:"What this process does: api, worker, console."`
	TLSCert           string        `name:"tls-cert" section:"Addresses and callers" env:"VIGIA_TLS_CERT" default:"" placeholder:"FILE" help:"TLS certificate (PEM) for both listeners; needs --tls-key. Read again when the file changes."`
	TLSKey            string        `name:"tls-key" section:"Addresses and callers" env:"VIGIA_TLS_KEY" default:"" placeholder:"FILE" help:"TLS private key (PEM)."`
	PublicURL         string        `name:"public-url" section:"Addresses and callers" env:"VIGIA_PUBLIC_URL" default:"" placeholder:"URL" help:"Address under which operators open the console, https://console.example.com: for one-time links, passkeys, HSTS and, without --page-url, links to people's pages. Passkeys and links of live partners need it unless the listener is on a loopback address."`
	PageURL           string        `name:"page-url" section:"Addresses and callers" env:"VIGIA_PAGE_URL" default:"" placeholder:"URL" help:"Address under which people open their pages (/p/ of the partner API's listener), https://minha.example.com: what the links of portal-session begin with. Empty means --public-url."`
	SecurityContact   string        `name:"security-contact" section:"Addresses and callers" env:"VIGIA_SECURITY_CONTACT" default:"" placeholder:"URI" help:"Where people report weaknesses of this installation, mailto:seguranca@example.com or an https address: served as /.well-known/security.txt beside the partner API. Empty means that there is no such file."`
	TrustedProxies    []string      `name:"trusted-proxies" section:"Addresses and callers" env:"VIGIA_TRUSTED_PROXIES" placeholder:"CIDR" help:"Address ranges of proxies whose X-Forwarded-For is believed (10.0.0.0/8); repeat or separate by commas. Of all others the address of the connection counts."`
	StrangerRate      int           `name:"stranger-rate" section:"Addresses and callers" env:"VIGIA_STRANGER_RATE" default:"600" placeholder:"N" help:"Requests a minute that one address may send without a valid key or session; 0 means no limit."`
	UploadLimit       int           `name:"upload-limit" section:"Addresses and callers" env:"VIGIA_UPLOAD_LIMIT" default:"4096" placeholder:"MIB" help:"Largest file that is taken through the console, in MiB; 0 means 4096."`
	LogAddresses      string        `name:"log-addresses" section:"Logs and metrics" env:"VIGIA_LOG_ADDRESSES" default:"full" enum:"full,network,none" help:"How much of a caller's address is logged: full, network (24 bits, 48 of IPv6) or none."`
	MetricsToken      string        `name:"metrics-token" section:"Logs and metrics" env:"VIGIA_METRICS_TOKEN" default:"" placeholder:"TOKEN" help:"What /metrics asks for as a bearer token; empty means that there are no metrics. Use the environment or VIGIA_METRICS_TOKEN_FILE."`
	LogLevel          string        `name:"log-level" section:"Logs and metrics" env:"VIGIA_LOG_LEVEL" default:"info" enum:"debug,info,warn,error" help:"Least severe level that is logged: debug, info, warn, error."`
	LogFormat         string        `name:"log-format" section:"Logs and metrics" env:"VIGIA_LOG_FORMAT" default:"auto" enum:"auto,json,text" help:"Log lines as json, as text, or auto: text on a terminal."`
	LogFile           string        `name:"log-file" section:"Logs and metrics" env:"VIGIA_LOG_FILE" default:"" placeholder:"FILE" help:"File that log lines are appended to; empty means standard error. SIGHUP opens it anew, for logrotate."`
	WebhookAllow      []string      `name:"webhook-allow" section:"Webhooks and vendors" env:"VIGIA_WEBHOOK_ALLOW" placeholder:"CIDR" help:"Address ranges that outgoing calls may reach although they are not public (10.1.0.0/16); repeat or separate by commas."`
	WebhookProxy      string        `name:"webhook-proxy" section:"Webhooks and vendors" env:"VIGIA_WEBHOOK_PROXY" default:"" placeholder:"URL" help:"Proxy that every outgoing call goes through; it has to refuse inner addresses too. The usual proxy variables are not looked at."`
	WebhookSlots      int           `name:"webhook-slots" section:"Webhooks and vendors" env:"VIGIA_WEBHOOK_SLOTS" default:"4" placeholder:"N" help:"Attempts that one webhook endpoint gets at one time from this process; a crash can repeat six times as many to it at most."`
	WebhookRate       int           `name:"webhook-rate" section:"Webhooks and vendors" env:"VIGIA_WEBHOOK_RATE" default:"4000" placeholder:"N" help:"Attempts a second that one webhook endpoint gets from this process; 0 means no limit."`
	EppSecrets        []string      `name:"epp-callback-secret" section:"Webhooks and vendors" env:"VIGIA_EPP_CALLBACK_SECRET" placeholder:"SECRET" help:"Secret with which the antivirus vendor signs its reports: whsec_ and the base64 of 24 to 64 random bytes; several, separated by commas, while one is changed. Empty means that only partners report."`
	EventRetention    time.Duration `name:"event-retention" section:"How long things are kept" env:"VIGIA_EVENT_RETENTION" default:"720h" placeholder:"TIME" help:"How long events are kept for delivery, reading and replay, delivered or not; at least 168h."`
	KeepAttempts      int           `name:"keep-attempts" section:"How long things are kept" env:"VIGIA_KEEP_ATTEMPTS" default:"14" placeholder:"DAYS" help:"Days that the log of webhook attempts is kept, with the beginning of each receiver's answer; 0 means as long as the event."`
	KeepSubscriptions int           `name:"keep-subscriptions" section:"How long things are kept" env:"VIGIA_KEEP_SUBSCRIPTIONS" default:"1825" placeholder:"DAYS" help:"Days that a subscription is kept after its end; 0 means for ever."`
	KeepCases         int           `name:"keep-cases" section:"How long things are kept" env:"VIGIA_KEEP_CASES" default:"730" placeholder:"DAYS" help:"Days that a support case is kept after it was closed; 0 means for ever."`
	KeepDevices       int           `name:"keep-devices" section:"How long things are kept" env:"VIGIA_KEEP_DEVICES" default:"730" placeholder:"DAYS" help:"Days that an endpoint-protection key is kept after the day up to which it was valid; 0 means for ever."`
	KeepScores        int           `name:"keep-scores" section:"How long things are kept" env:"VIGIA_KEEP_SCORES" default:"730" placeholder:"DAYS" help:"Days that the history of a person's risk score goes back; 0 means for ever."`
	KeepJobs          int           `name:"keep-jobs" section:"How long things are kept" env:"VIGIA_KEEP_JOBS" default:"90" placeholder:"DAYS" help:"Days that finished jobs are listed; 0 means for ever."`
	KeepAudit         int           `name:"keep-audit" section:"How long things are kept" env:"VIGIA_KEEP_AUDIT" default:"1825" placeholder:"DAYS" help:"Days that lines of the audit trail are kept, at least 365; 0 means for ever."`
	DrainTime         time.Duration `name:"drain-time" section:"Stopping and the database" env:"VIGIA_DRAIN_TIME" default:"0s" placeholder:"TIME" help:"How long a stopping server still takes requests while /readyz already says no, so that a balancer can turn away."`
	StopTime          time.Duration `name:"stop-time" section:"Stopping and the database" env:"VIGIA_STOP_TIME" default:"25s" placeholder:"TIME" help:"How long a stopping server waits for requests and work in flight."`
	MaxConnections    int           `name:"max-connections" section:"Stopping and the database" env:"VIGIA_MAX_CONNECTIONS" default:"16" placeholder:"N" help:"Most connections of this process to PostgreSQL, and as many to --database-read."`
	DatabaseTime      time.Duration `name:"database-time" section:"Stopping and the database" env:"VIGIA_DATABASE_TIME" default:"10s" placeholder:"TIME" help:"How long the database may take over a partner's request before that is answered 503; bulk requests have 30s, console pages two minutes."`
	DatabaseRead      string        `name:"database-read" section:"Stopping and the database" env:"VIGIA_DATABASE_READ" default:"" placeholder:"URL" help:"PostgreSQL standby that answers long lists, which may then lag behind by as much as it does; empty means --database. When it fails, --database is asked."`
}

// Problems is every fault of a configuration.
type Problems []string

// Error lists them, one a line.
func (p Problems) Error() string {
	return "the configuration has " + countNoun(len(p), "problem") + ":\n  - " + strings.Join(p, "\n  - ")
}

// And adds the problems that err lists, but for those of flags that p has a problem of already: a value that cannot be
// read is out of bounds too.
func (p Problems) And(err error) Problems {
	var more Problems
	errors.As(err, &more)
	for _, problem := range more {
		flag, _, _ := strings.Cut(problem, ":")
		p.addProblemIf(
			!slices.ContainsFunc(p, func(known string) bool { return strings.HasPrefix(known, flag+":") }),
			problem,
		)
	}
	return p
}

// countNoun writes a number with its noun.
func countNoun(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// CheckCommon validates the common part.
func (c Common) CheckCommon() error {
	return c.collectProblems().problemsAsError()
}

// CheckServe validates a server's whole configuration.
func (s Serve) CheckServe(c Common) error {
	p := append(Problems{}, c.collectProblems()...)
	for _, a := range []struct{ flag, value string }{{"--listen", s.Listen}, {"--console-listen", s.ConsoleListen}} {
		if _, _, err := net.SplitHostPort(a.value); err != nil {
			p = append(p, a.flag+": expected host:port, such as 127.0.0.1:8080 or :8080")
		}
	}
	p.addProblemIf(s.Listen == s.ConsoleListen && !strings.HasSuffix(s.Listen, ":0"),
		"--console-listen: must differ from --listen, the operator's pages never share the partners' address")
	p.addProblemIf(len(s.Roles) == 0, "--roles: name at least one of api, worker, console")
	for _, r := range s.Roles {
		p.addProblemIf(
			!slices.Contains([]string{"api", "worker", "console"}, r),
			"--roles: "+quoteValue(r)+" is none of api, worker, console",
		)
	}
	p.addProblemIf((s.TLSCert == "") != (s.TLSKey == ""), "--tls-cert and --tls-key: give both or neither")
	for _, f := range []struct{ flag, value string }{{"--tls-cert", s.TLSCert}, {"--tls-key", s.TLSKey}} {
		if f.value != "" {
			if _, err := os.Stat(f.value); err != nil {
				p = append(p, f.flag+": "+causeText(err))
			}
		}
	}
	if folder := filepath.Dir(s.LogFile); s.LogFile != "" && !isFolder(folder) {
		p = append(p, "--log-file: "+folder+" is no folder")
	}
	p = append(p, s.edgeProblems()...)
	p = append(p, s.alertProblems()...)
	p.addProblemIf(s.DrainTime < 0 || s.StopTime < 0, "--drain-time and --stop-time: must not be negative")
	p.addProblemIf(s.DatabaseTime < 0, "--database-time: must not be negative")
	p.addProblemIf(s.MaxConnections < 2 || s.MaxConnections > 1000, "--max-connections: 2 to 1000")
	p.addProblemIf(s.DatabaseRead != "" && (c.Database == "" || !isPostgres(s.DatabaseRead)),
		"--database-read: expected the postgres:// address of a standby of --database")
	return p.problemsAsError()
}

// collectProblems returns what is wrong with the common part.
func (c Common) collectProblems() Problems {
	var p Problems
	p.addProblemIf(c.Data == "", "--data: name a folder")
	p.addProblemIf(c.Database != "" && !isPostgres(c.Database),
		"--database: expected postgres://user:password@host:port/name, or nothing for SQLite in the data folder")
	p.addProblemIf(
		c.KMS != "" && !strings.HasPrefix(c.KMS, "aws-kms://arn:") && !strings.HasPrefix(c.KMS, "hcvault://"),
		"--kms: expected aws-kms://arn:aws:kms:REGION:ACCOUNT:key/ID or hcvault://HOST:PORT/MOUNT/keys/NAME",
	)
	p.addProblemIf(
		c.Corpora != "" && !strings.HasPrefix(c.Corpora, "s3://") && !strings.HasPrefix(c.Corpora, "file:///"),
		"--corpora: expected s3://BUCKET?region=REGION or file:///FOLDER",
	)
	return p
}

// isPostgres reports whether the address names a PostgreSQL database; everything else means SQLite.
func isPostgres(address string) bool {
	return strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://")
}

// addProblemIf adds a problem where something is wrong.
func (p *Problems) addProblemIf(wrong bool, text string) {
	if wrong {
		*p = append(*p, text)
	}
}

// problemsAsError returns nil when there are none.
func (p Problems) problemsAsError() error {
	if len(p) == 0 {
		return nil
	}
	return p
}

// quoteValue writes a value as errors show it.
func quoteValue(s string) string { return fmt.Sprintf("%q", s) }

// Has reports whether this process plays a role.
func (s Serve) Has(role string) bool { return slices.Contains(s.Roles, role) }

// leastRetention is longer than the 75 hours over which a delivery is tried, and than the five days after which a dead
// endpoint is disabled.
const leastRetention = 7 * 24 * time.Hour

// Bounds of how long things are kept, in days. Card rules ask for twelve months of audit trail.
const (
	leastAudit = 365
	mostDays   = 36500
)

// alertProblems checks the settings of webhooks, endpoint reports and retention, and returns all problems at once.
func (s Serve) alertProblems() Problems {
	var p Problems
	if err := s.OutgoingSettings().CheckOutgoing(); err != nil {
		errors.As(err, &p)
	}
	for _, text := range s.EppSecrets {
		base, has := strings.CutPrefix(text, "whsec_")
		if key, err := base64.StdEncoding.DecodeString(base); !has || err != nil || len(key) < 24 || len(key) > 64 {
			p = append(p, "--epp-callback-secret: expected whsec_ and the base64 of 24 to 64 bytes")
		}
	}
	p.addProblemIf(s.WebhookSlots < 0 || s.WebhookSlots > 256, "--webhook-slots: 0 (the default) to 256")
	p.addProblemIf(s.WebhookRate < 0 || s.WebhookRate > 100_000, "--webhook-rate: 0 (no limit) to 100000")
	for _, k := range []struct {
		flag string
		days int
	}{
		{"--keep-attempts", s.KeepAttempts},
		{"--keep-subscriptions", s.KeepSubscriptions},
		{"--keep-cases", s.KeepCases},
		{"--keep-devices", s.KeepDevices},
		{"--keep-scores", s.KeepScores},
		{"--keep-jobs", s.KeepJobs},
	} {
		p.addProblemIf(k.days < 0 || k.days > mostDays, fmt.Sprintf("%s: 0 (for ever) to %d days", k.flag, mostDays))
	}
	p.addProblemIf(s.KeepAudit != 0 && (s.KeepAudit < leastAudit || s.KeepAudit > mostDays),
		fmt.Sprintf("--keep-audit: 0 (for ever), or %d to %d days", leastAudit, mostDays))
	p.addProblemIf(s.EventRetention != 0 && s.EventRetention < leastRetention, "--event-retention: at least 168h")
	return p
}

// SlogLevel returns the log level as slog knows it.
func (s Serve) SlogLevel() slog.Level {
	var l slog.Level
	if err := l.UnmarshalText([]byte(s.LogLevel)); err != nil {
		return slog.LevelInfo
	}
	return l
}

// DatabaseAddress returns the PostgreSQL address, or the SQLite file in the data folder.
func (c Common) DatabaseAddress() string {
	return cmp.Or(c.Database, filepath.Join(c.Data, "vigia.db"))
}

func (c Common) KeyFilePath() string {
	return cmp.Or(c.KeyFile, filepath.Join(c.Data, "keys.json"))
}

// RootPlace returns where the root key is: the key of the KMS, or else the key file.
func (c Common) RootPlace() string { return cmp.Or(c.KMS, c.KeyFilePath()) }

// CorporaPath returns the folder of password and leak corpora.
func (c Common) CorporaPath() string { return filepath.Join(c.Data, "corpora") }

// isFolder reports whether there is a folder of this name.
func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// settingsFile is where the packages have the service's settings, as NAME=VALUE lines that systemd reads as well.
const settingsFile = "/etc/vigia/environment"

// LoadSettingsFile sets the VIGIA_ variables of the settings file that are not set yet, so that a command that is run
// as the service's user works on the service's data. A user who may not read the file has settings of their own.
// VIGIA_SETTINGS_FILE names another file.
func LoadSettingsFile() error {
	path := cmp.Or(os.Getenv("VIGIA_SETTINGS_FILE"), settingsFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
		return nil
	}
	if err != nil {
		return Problems{"VIGIA_SETTINGS_FILE: " + causeText(err)}
	}
	var p Problems
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		name, value, ok := strings.Cut(line, "=")
		switch {
		case line == "" || line[0] == '#' || ok && !strings.HasPrefix(name, "VIGIA_"):
		case !ok:
			p = append(p, fmt.Sprintf("%s: line %d is not NAME=VALUE", path, i+1))
		case os.Getenv(name) == "" && os.Getenv(name+"_FILE") == "":
			if err := os.Setenv(name, strings.Trim(value, `"'`)); err != nil {
				p = append(p, fmt.Sprintf("%s: line %d: %v", path, i+1, err))
			}
		}
	}
	return p.problemsAsError()
}

// SecretVariables may be given as NAME_FILE, the path of a file that holds the value.
var SecretVariables = []string{
	"VIGIA_DATABASE",
	"VIGIA_DATABASE_READ",
	"VIGIA_METRICS_TOKEN",
	"VIGIA_API_KEY",
	"VIGIA_EPP_CALLBACK_SECRET",
}

// LoadSecretFiles sets each secret variable from its _FILE variant. It refuses both at once: the administrator should
// not have to guess which one counts.
func LoadSecretFiles() error {
	var p Problems
	for _, name := range SecretVariables {
		path := os.Getenv(name + "_FILE")
		if path == "" {
			continue
		}
		if os.Getenv(name) != "" {
			p = append(p, name+" and "+name+"_FILE: give one of them")
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			p = append(p, name+"_FILE: "+causeText(err))
			continue
		}
		if err := os.Setenv(name, strings.TrimSpace(string(text))); err != nil {
			p = append(p, name+"_FILE: "+err.Error())
		}
	}
	return p.problemsAsError()
}

// causeText names the file that cannot be read by its whole path, and why.
func causeText(err error) string {
	var cause *os.PathError
	if !errors.As(err, &cause) {
		return err.Error()
	}
	path := cause.Path
	if whole, err := filepath.Abs(path); err == nil {
		path = whole
	}
	return path + " cannot be read: " + cause.Err.Error()
}

// Bounds of the settings at the edge of the service.
const (
	leastToken     = 16
	mostStrangers  = 1_000_000
	mostUploadMiB  = 1 << 20
	usualUploadMiB = 4096
)

// edgeProblems checks the settings at the network edge: proxies, public addresses, the metrics token, the rate limit of
// unauthenticated callers and the limit of uploads.
func (s Serve) edgeProblems() Problems {
	var p Problems
	if _, err := s.ParseProxies(); err != nil {
		p = append(p, err.Error())
	}
	if _, err := s.ParsePublicURL(); err != nil {
		p = append(p, err.Error())
	}
	if _, err := s.ParsePageURL(); err != nil && s.PageURL != "" {
		p = append(p, err.Error())
	}
	p.addProblemIf(
		s.SecurityContact != "" && !isContact(s.SecurityContact),
		"--security-contact: expected mailto:NAME@HOST or an https address",
	)
	p.addProblemIf(
		s.MetricsToken != "" && len(s.MetricsToken) < leastToken,
		fmt.Sprintf("--metrics-token: at least %d characters", leastToken),
	)
	p.addProblemIf(
		s.StrangerRate < 0 || s.StrangerRate > mostStrangers,
		fmt.Sprintf("--stranger-rate: 0 (no limit) to %d", mostStrangers),
	)
	p.addProblemIf(
		s.UploadLimit < 0 || s.UploadLimit > mostUploadMiB,
		fmt.Sprintf("--upload-limit: 0 (%d) to %d MiB", usualUploadMiB, mostUploadMiB),
	)
	return p
}

// isContact reports whether a text is one line that security.txt takes as a contact.
func isContact(text string) bool {
	u, err := url.Parse(text) // which refuses control characters
	if err != nil || strings.Contains(text, " ") {
		return false
	}
	return u.Scheme == "https" && u.Host != "" || u.Scheme == "mailto" && strings.Contains(u.Opaque, "@")
}

// ParseProxies parses --trusted-proxies.
func (s Serve) ParseProxies() ([]netip.Prefix, error) {
	return parseRanges("--trusted-proxies", s.TrustedProxies)
}

// parseRanges reads ranges of addresses that a flag names.
func parseRanges(flag string, texts []string) ([]netip.Prefix, error) {
	var list []netip.Prefix
	for _, text := range texts {
		p, err := netip.ParsePrefix(strings.TrimSpace(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %q is no address range such as 10.1.0.0/16", flag, text)
		}
		list = append(list, p.Masked())
	}
	return list, nil
}

// ParsePublicURL parses --public-url; the zero URL means that nothing was said.
func (s Serve) ParsePublicURL() (url.URL, error) { return parseOrigin("--public-url", s.PublicURL) }

// ParsePageURL parses --page-url, in the same way; without it --public-url counts.
func (s Serve) ParsePageURL() (url.URL, error) {
	if s.PageURL == "" {
		return s.ParsePublicURL()
	}
	return parseOrigin("--page-url", s.PageURL)
}

// parseOrigin reads an address without a path that a flag names.
func parseOrigin(flag, text string) (url.URL, error) {
	if text == "" {
		return url.URL{}, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" ||
		u.Scheme != "https" && u.Scheme != "http" {
		return url.URL{}, errors.New(flag + ": expected https://host or https://host:port, and nothing behind it")
	}
	return url.URL{Scheme: u.Scheme, Host: u.Host}, nil
}

// UploadBytes returns --upload-limit in bytes.
func (s Serve) UploadBytes() int64 {
	return int64(cmp.Or(s.UploadLimit, usualUploadMiB)) << 20
}

// Outgoing is where the service may call: what a server and the commands that check or call an address have in common.
type Outgoing struct {
	WebhookAllow []string `name:"webhook-allow" env:"VIGIA_WEBHOOK_ALLOW" placeholder:"CIDR" help:"Address ranges that outgoing calls may reach although they are not public; give the same as to the server."`
	WebhookProxy string   `name:"webhook-proxy" env:"VIGIA_WEBHOOK_PROXY" placeholder:"URL" help:"Proxy that every outgoing call goes through; give the same as to the server."`
}

// OutgoingSettings returns the server's settings of outgoing connections.
func (s Serve) OutgoingSettings() Outgoing {
	return Outgoing{WebhookAllow: s.WebhookAllow, WebhookProxy: s.WebhookProxy}
}

// CheckOutgoing validates it.
func (o Outgoing) CheckOutgoing() error {
	var p Problems
	if _, err := o.AllowedRanges(); err != nil {
		p = append(p, err.Error())
	}
	if _, err := o.ParseProxy(); err != nil {
		p = append(p, err.Error())
	}
	return p.problemsAsError()
}

// AllowedRanges parses --webhook-allow.
func (o Outgoing) AllowedRanges() ([]netip.Prefix, error) {
	return parseRanges("--webhook-allow", o.WebhookAllow)
}

// ParseProxy parses --webhook-proxy; nil means none. The text is not repeated in the error, as it may hold a password.
func (o Outgoing) ParseProxy() (*url.URL, error) {
	if o.WebhookProxy == "" {
		return nil, nil //nolint:nilnil // no proxy is the usual answer, and http.Transport spells it nil too
	}
	u, err := url.Parse(o.WebhookProxy)
	if err != nil || u.Hostname() == "" || !slices.Contains([]string{"http", "https", "socks5", "socks5h"}, u.Scheme) {
		return nil, fmt.Errorf("--webhook-proxy: expected http://host:port, https://host:port or socks5://host:port")
	}
	return u, nil
}
