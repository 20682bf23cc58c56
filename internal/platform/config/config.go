// Package config is everything an operator can set, in one struct that is read once and validated whole.
//
// The struct tags are the manual: --help and docs/configuration.md are made from them. Every field has a usable
// default, and Problems lists all that is wrong at once, so that an operator mends a set-up in one go.
package config

import (
	"cmp"
	"log/slog"
	"net"
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

// Has reports whether this process plays a role.
func (s Serve) Has(role string) bool { return slices.Contains(s.Roles, role) }

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
