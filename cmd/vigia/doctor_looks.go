package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/config"
	"github.com/vigiahq/vigia/internal/password"
	"github.com/vigiahq/vigia/internal/reader"
	"github.com/vigiahq/vigia/internal/seal"
	"github.com/vigiahq/vigia/internal/sqldb"
	"github.com/vigiahq/vigia/internal/store"
)

func (p *checkup) configuration() {
	var problems config.Problems
	if err := p.serve.Check(p.common); errors.As(err, &problems) {
		for _, text := range problems {
			p.problem("configuration", text, "vigia serve --help, or docs/configuration.md")
		}
		return
	}
	p.ok("configuration", "flags and variables make sense")
}

// folder looks at the data folder and at what others may do with it.
func (p *checkup) folder() {
	const area = "data folder"
	info, err := os.Stat(p.common.Data)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		p.warn(area, p.common.Data+" does not exist yet", "the first start makes it; if you expected data there, check --data and the folder you are in")
		return
	case err != nil:
		p.problem(area, reason(err), "let the service's user read it")
		return
	case !info.IsDir():
		p.problem(area, p.common.Data+" is not a folder", "name another one with --data")
		return
	}
	if err := app.RefuseRestoring(p.common.Data); err != nil {
		p.problem(area, reason(err), "run the same vigia restore again")
	}
	if runtime.GOOS == "windows" {
		p.warn(area, "Windows has no modes: Vigia cannot see who may read "+p.common.Data, "let its access list name the service's user and nobody else")
	} else if open := info.Mode().Perm() & 0o077; open != 0 {
		p.warn(area, fmt.Sprintf("others can look into %s (mode %04o)", p.common.Data, info.Mode().Perm()), "chmod 700 "+p.common.Data)
		return
	}
	probe, err := os.CreateTemp(p.common.Data, ".doctor-*")
	if err != nil {
		p.problem(area, "nothing can be written into "+p.common.Data+": "+reason(err), "let the service's user write there, or run doctor as that user")
		return
	}
	_ = probe.Close()
	_ = os.Remove(probe.Name())
	p.ok(area, "%s, private and writable", p.common.Data)
}

// Less room than this and the next large import, or the database's log, may fill the disk.
const (
	scarce    = 5 << 30
	tooLittle = 500 << 20
)

func (p *checkup) disk() {
	path := p.common.Data
	for {
		if _, err := os.Stat(path); err == nil || filepath.Dir(path) == path {
			break
		}
		path = filepath.Dir(path)
	}
	free, err := app.FreeSpace(path)
	text := fmt.Sprintf("%.1f GB free", float64(free)/1e9)
	switch {
	case err != nil:
		p.warn("disk", "free space cannot be told: "+reason(err), "")
	case free < tooLittle:
		p.problem("disk", text, "make room: a full disk stops every write")
	case free < scarce:
		p.warn("disk", text, "enough to serve, not to import a large dump")
	default:
		p.ok("disk", "%s", text)
	}
}

// reader starts a process that reads dumps, and says what it was able to give up here.
func (p *checkup) reader(ctx context.Context) {
	const area = "reader of dumps"
	started, err := reader.Start(ctx, reader.Job{Workers: 1}, nil)
	if err != nil {
		p.problem(area, reason(err), "let the service's user start processes: no dump can be imported")
		return
	}
	defer func() { _ = started.Close() }() // it has nothing to do
	c := started.Confinement
	var lacks []string
	for name, has := range map[string]bool{
		"Landlock": c.Landlock > 0, "no_new_privs": c.NoNewPrivileges, "a limit of no open files": c.NoFiles, "a limit of its memory by the system": c.DataLimit,
		"a look at its memory and processor time": c.Watched,
	} {
		if !has {
			lacks = append(lacks, name)
		}
	}
	slices.Sort(lacks)
	if len(lacks) > 0 {
		p.warn(area, "this system lacks: "+strings.Join(lacks, ", "), "import dumps of strangers on Linux 5.13 or later; what is left of the limits holds")
		return
	}
	p.ok(area, "confined by Landlock %d, no_new_privs, no open files, %d MiB of memory, time", c.Landlock, reader.Memory>>20)
}

// keyFile returns the opened keys, or nil.
func (p *checkup) keyFile() *seal.Keys {
	const area = "key file"
	path := p.common.KeyFilePath()
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		p.warn(area, path+" does not exist yet", "the first start makes it, but only for a new database; for an old one restore it from its copy")
		return nil
	}
	app.UseKMS()
	keys, err := seal.Open(path)
	if err != nil {
		p.problem(area, reason(err), "restore the file from its copy, or mend its owner and mode: chmod 600 "+path)
		return nil
	}
	p.ok(area, "%s, %d keys, new values under key %d", path, len(keys.IDs()), keys.PrimaryID())
	if app.KeysBesideData(p.common, keys) {
		p.warn(area, "is in the data folder: whoever copies the folder, or the disk, can read everything", "move it and name it with --key-file, or wrap it with --kms")
	}
	return keys
}

// database looks without changing: it opens only what is there, and migrates nothing.
func (p *checkup) database(ctx context.Context, keys *seal.Keys) {
	const area = "database"
	address := p.common.DatabaseAddress()
	if p.common.Database == "" {
		if _, err := os.Stat(address); errors.Is(err, fs.ErrNotExist) {
			p.warn(area, address+" does not exist yet", "the first start makes it")
			return
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	db, err := sqldb.Open(ctx, address, sqldb.Options{MaxConns: 2, Insecure: p.common.DatabaseInsecure})
	if errors.Is(err, sqldb.ErrSharedSession) {
		p.problem(area, reason(err), "PgBouncer: pool_mode = session, or give --database the address of PostgreSQL itself")
		return
	}
	if err != nil {
		p.problem(area, reason(err), "is the server up, the address right, may this machine connect, does the user exist? For PostgreSQL try psql with the same address")
		return
	}
	defer func() { _ = db.Close() }()
	list, err := store.MigrationList()
	if err != nil {
		p.problem(area, reason(err), "")
		return
	}
	pending, err := db.Pending(ctx, list)
	switch {
	case err != nil:
		p.problem(area, reason(err), "a database newer than this program needs the newer program")
		return
	case pending == len(list):
		p.warn(area, fmt.Sprintf("%s answers and is empty", db.Engine()), "the first start makes the tables; the user must be allowed to")
		return
	case pending > 0:
		p.warn(area, fmt.Sprintf("%s answers; %d migrations are to come", db.Engine(), pending), "the next start, or vigia migrate, applies them; take a backup first")
		return
	}
	p.ok(area, "%s answers, its settings keep what it confirms, its tables are up to date", db.Engine())
	if pooled, err := db.ProveSession(ctx); err == nil && pooled {
		p.ok(area, "a connection pooler is in between, and gives each connection a session of its own")
	}
	if sqldb.Unverified(address) {
		p.warn(area, "its certificate is not checked (--database-insecure)", "anybody on the way could answer in its place: add sslmode=verify-full to the address")
	}
	p.pair(ctx, db, keys)
}

// pair tells whether keys and database belong together.
func (p *checkup) pair(ctx context.Context, db *sqldb.DB, keys *seal.Keys) {
	const area = "key file"
	bound, err := store.Bound(ctx, db)
	if err != nil || !bound {
		return
	}
	if keys == nil {
		p.problem(area, "the database has sealed data and its key file is missing or unreadable", "restore the key file that was made with this database; without it the personal data is lost")
		return
	}
	if err := store.New(db, keys, time.Now).CheckKeys(ctx); err != nil {
		p.problem(area, reason(err), "restore the pair that belongs together")
		return
	}
	p.ok(area, "belongs to this database")
}

func (p *checkup) corpora() {
	const area = "corpora"
	if _, err := os.Stat(filepath.Join(p.common.CorporaPath(), "password")); errors.Is(err, fs.ErrNotExist) {
		p.warn(area, "no password corpus yet", "the first start brings a small sample for sandbox partners; live partners need a real one: vigia passwords download")
		return
	}
	lib, err := password.OpenLibrary(p.common.CorporaPath(), time.Now)
	if err != nil {
		p.problem(area, reason(err), "let the service's user read "+p.common.CorporaPath())
		return
	}
	list, err := lib.Status()
	if err != nil {
		p.problem(area, reason(err), "import the corpus again: vigia passwords import --help")
		return
	}
	p.passwordCorpora(list)
}

// passwordCorpora tells a corpus from the built-in sample, which is nothing to a live partner.
func (p *checkup) passwordCorpora(list []password.Corpus) {
	const area, mend = "corpora", "vigia passwords download, or vigia passwords import"
	samples := 0
	for _, c := range list {
		if c.Sample() {
			samples++
			p.ok(area, "passwords: %s, built-in sample of %d entries", c.Algorithm, c.Entries)
			continue
		}
		p.ok(area, "passwords: %s, corpus of %d entries from %s, of %s", c.Algorithm, c.Entries, c.Source, c.Imported.UTC().Format(time.DateOnly))
	}
	switch {
	case samples == len(list):
		p.warn(area, "there is no password corpus but the built-in sample: password checks of live partners are answered 503", mend)
	case samples > 0 || len(list) < len(password.Algorithms):
		p.warn(area, "live partners' password checks know one algorithm only", mend+", for the other one too")
	}
}

// addresses tells whether the listeners' addresses are free, and who sits there if not.
func (p *checkup) addresses(ctx context.Context) {
	const area = "addresses"
	list := []struct{ flag, value string }{{"--listen", p.serve.Listen}, {"--console-listen", p.serve.ConsoleListen}}
	for _, a := range list {
		ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", a.value)
		if err == nil {
			_ = ln.Close()
			p.ok(area, "%s %s is free", a.flag, a.value)
			continue
		}
		switch {
		case errors.Is(err, syscall.EADDRINUSE) && vigiaAnswers(ctx, a.value):
			p.ok(area, "%s %s: a Vigia answers there", a.flag, a.value)
		case errors.Is(err, syscall.EADDRINUSE):
			p.problem(area, a.flag+" "+a.value+" is taken by another program", "stop it, or choose another address; who: ss -ltnp")
		case errors.Is(err, syscall.EACCES):
			p.problem(area, a.flag+" "+a.value+": ports below 1024 need a right of their own", "choose a port above 1023, put a proxy in front, or grant CAP_NET_BIND_SERVICE")
		default:
			p.problem(area, a.flag+" "+a.value+": "+reason(err), "is the address one of this machine's?")
		}
	}
	if host, _, err := net.SplitHostPort(p.serve.ConsoleListen); err == nil && (host == "" || host == "0.0.0.0" || host == "::") {
		p.warn(area, "the operator's listener takes connections from everywhere", "keep it on a private address, or behind a firewall: it shows metrics and the console")
	}
	if host, _, err := net.SplitHostPort(p.serve.Listen); err == nil && p.serve.TLSCert == "" && !loopback(host) {
		p.warn(area, "the partner API is offered without TLS", "give --tls-cert and --tls-key, or make sure that a proxy in front speaks TLS")
	}
	for listen, told := range map[string]string{p.serve.ConsoleListen: p.serve.PublicURL, p.serve.Listen: p.serve.PublicURL + p.serve.PageURL} {
		if host, _, err := net.SplitHostPort(listen); err == nil && !loopback(host) && told == "" {
			p.warn(area, listen+" has no public address", "give --public-url: without it there are no passkeys, and no links to people's pages for live partners")
		}
	}
}

func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// vigiaAnswers asks the address's health page, which only we answer in this way.
func vigiaAnswers(ctx context.Context, address string) bool {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/healthz", nil)
	if err != nil {
		return false
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	_ = res.Body.Close()
	return res.StatusCode == http.StatusOK
}

// clock compares with the only two clocks that are at hand: when this program was made, and when the database was
// written.
func (p *checkup) clock() {
	const area = "clock"
	if made, ok := builtAt(); ok && p.now.Before(made.Add(-time.Hour)) {
		p.problem(area, fmt.Sprintf("it says %s, before this program was made", stamp(p.now)), "set the clock: signatures, keys and expiry dates depend on it")
		return
	}
	if info, err := os.Stat(filepath.Join(p.common.Data, "vigia.db")); err == nil && info.ModTime().After(p.now.Add(2*time.Minute)) {
		p.problem(area, fmt.Sprintf("it says %s, but the database was written at %s", stamp(p.now), stamp(info.ModTime())), "set the clock, or find out what set it back")
		return
	}
	p.ok(area, "%s", stamp(p.now))
}

// webhooks looks at the ranges that were opened for outgoing calls.
func (p *checkup) webhooks() {
	const area = "webhooks"
	ranges, err := p.serve.Outgoing().Ranges()
	if err != nil {
		return // said under configuration
	}
	if len(ranges) == 0 {
		p.ok(area, "public addresses only")
		return
	}
	metadata := netip.MustParseAddr("169.254.169.254")
	for _, r := range ranges {
		switch {
		case r.Contains(metadata):
			p.problem(area, r.String()+" opens the cloud's metadata service, which hands out credentials", "name the receivers' own networks")
		case r.Bits() == 0 || r.Addr().Is4() && r.Bits() < 8 || r.Addr().Is6() && r.Bits() < 16:
			p.warn(area, r.String()+" opens almost everything", "name the receivers' own networks")
		case r.Addr().IsLoopback():
			p.warn(area, r.String()+" lets partners' addresses reach services of this machine", "for tests only")
		default:
			p.ok(area, "%s may be reached", r)
		}
	}
}

// reason is an error's text on one line.
func reason(err error) string {
	return strings.Join(strings.Fields(err.Error()), " ")
}
