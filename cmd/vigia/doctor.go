package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
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

	"golang.org/x/term"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/corpus/library"
	"github.com/vigiahq/vigia/internal/corpus/password"
	"github.com/vigiahq/vigia/internal/dump/reader"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
	"github.com/vigiahq/vigia/internal/store"
)

// doctorCmd is 'vigia doctor'. It takes the flags of serve, because it checks the installation that they would start.
type doctorCmd struct {
	config.Serve
}

func (doctorCmd) Help() string {
	return "Looks at a set-up without changing anything, and explains what is wrong and what to do about it: " +
		"configuration, data folder, disk,\n" +
		"root key and keys, database and pooler, corpora, addresses, public URLs, balancer, certificates, clock and " +
		"webhook ranges. Give it the same flags and variables as the server. It ends with\n" +
		"code 1 when something would keep the service from working; warnings do not. For what is inside the " +
		"database: vigia check.\n\n" +
		"Examples:\n  vigia doctor --data /var/lib/vigia --listen :8080\n  vigia doctor --json | jq '.findings[] | " +
		"select(.state != \"ok\")'"
}

// diagnosis is what one look found. Remedy is empty where nothing is to be done.
type diagnosis struct {
	Area   string `json:"area"`
	State  string `json:"state"`
	Found  string `json:"found"`
	Remedy string `json:"remedy,omitempty"`
}

const (
	stateOK      = "ok"
	stateWarning = "warning"
	stateProblem = "problem"
)

// checkup is the set-up under examination. Every look adds to list and none stops the others.
type checkup struct {
	common config.Common
	serve  config.Serve
	now    time.Time
	list   []diagnosis
}

// reportOK notes that something is in order.
func (p *checkup) reportOK(area, format string, args ...any) {
	p.list = append(p.list, diagnosis{area, stateOK, fmt.Sprintf(format, args...), ""})
}

// reportWarning notes what should be looked at.
func (p *checkup) reportWarning(area, found, remedy string) {
	p.list = append(p.list, diagnosis{area, stateWarning, found, remedy})
}

// reportProblem notes what has to be mended.
func (p *checkup) reportProblem(area, found, remedy string) {
	p.list = append(p.list, diagnosis{area, stateProblem, found, remedy})
}

// errSick makes the command end with code 1; what is wrong has been said by then.
var errSick = errors.New("the set-up has problems that keep the service from working")

func (d *doctorCmd) Run(ctx context.Context, c *config.Common, o *output) error {
	p := &checkup{common: *c, serve: d.Serve, now: time.Now()}
	p.configuration()
	p.checkFolder()
	p.checkDisk()
	p.checkUser()
	p.checkReader(ctx)
	p.database(ctx, p.checkRoot())
	p.checkBucket(ctx)
	p.checkCorpora()
	p.addresses(ctx)
	p.checkServing()
	p.checkPublic(ctx)
	p.checkClock()
	p.webhooks()
	problems := 0
	for _, g := range p.list {
		if g.State == stateProblem {
			problems++
		}
	}
	err := o.printValue(
		map[string]any{"findings": p.list, "healthy": problems == 0},
		func(w io.Writer) { o.diagnoses(w, p.list) },
	)
	if problems > 0 {
		err = errors.Join(err, errSick)
	}
	return err
}

// diagnoses writes the results for people: a mark, in colour on a terminal, then what was found and what to do.
func (o *output) diagnoses(w io.Writer, list []diagnosis) {
	marks := map[string]string{stateOK: "ok      ", stateWarning: "warning ", stateProblem: "PROBLEM "}
	if o.usesColours() {
		marks = map[string]string{
			stateOK:      "\x1b[32mok      \x1b[0m",
			stateWarning: "\x1b[33mwarning \x1b[0m",
			stateProblem: "\x1b[31mPROBLEM \x1b[0m",
		}
	}
	for _, g := range list {
		_, _ = fmt.Fprintf(w, "%s %-14s %s\n", marks[g.State], g.Area, g.Found)
		if g.Remedy != "" {
			_, _ = fmt.Fprintf(w, "%24s-> %s\n", "", g.Remedy)
		}
	}
}

// usesColours reports whether results are written to a terminal whose user did not opt out of colours (no-color.org).
func (o *output) usesColours() bool {
	f, ok := o.w.(*os.File)
	return ok && os.Getenv("NO_COLOR") == "" && term.IsTerminal(int(f.Fd()))
}

// configuration reports every problem of flags and variables that would keep 'vigia serve' from starting.
func (p *checkup) configuration() {
	var problems config.Problems
	if err := p.serve.CheckServe(p.common); errors.As(err, &problems) {
		for _, text := range problems {
			p.reportProblem("configuration", text, "vigia serve --help, or docs/configuration.md")
		}
		return
	}
	p.reportOK("configuration", "flags and variables make sense")
}

// checkFolder looks at the data folder and at what others may do with it.
func (p *checkup) checkFolder() {
	const area = "data folder"
	info, err := os.Stat(p.common.Data)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		p.reportWarning(
			area,
			p.common.Data+" does not exist yet",
			"the first start makes it; if you expected data there, check --data and the folder you are in",
		)
		return
	case err != nil:
		p.reportProblem(area, oneLineReason(err), "let the service's user read it")
		return
	case !info.IsDir():
		p.reportProblem(area, p.common.Data+" is not a folder", "name another one with --data")
		return
	}
	if err := app.RefuseRestoring(p.common.Data); err != nil {
		p.reportProblem(area, oneLineReason(err), "run the same vigia restore again")
	}
	if runtime.GOOS == "windows" {
		p.reportWarning(
			area,
			"Windows has no modes: Vigia cannot see who may read "+p.common.Data,
			"let its access list name the service's user and nobody else",
		)
	} else if open := info.Mode().Perm() & 0o077; open != 0 {
		p.reportWarning(
			area,
			fmt.Sprintf("others can look into %s (mode %04o)", p.common.Data, info.Mode().Perm()),
			"chmod 700 "+p.common.Data,
		)
		return
	}
	probe, err := os.CreateTemp(p.common.Data, ".doctor-*")
	if err != nil {
		p.reportProblem(
			area,
			"nothing can be written into "+p.common.Data+": "+oneLineReason(err),
			"let the service's user write there, or run doctor as that user",
		)
		return
	}
	_ = probe.Close()
	_ = os.Remove(probe.Name())
	p.reportOK(area, "%s, private and writable", p.common.Data)
}

// Less room than this and the next large import, or the database's log, may fill the disk.
const (
	scarce    = 5 << 30
	tooLittle = 500 << 20
)

// checkDisk looks at the space that is left.
func (p *checkup) checkDisk() {
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
		p.reportWarning("disk", "free space cannot be told: "+oneLineReason(err), "")
	case free < tooLittle:
		p.reportProblem("disk", text, "make room: a full disk stops every write")
	case free < scarce:
		p.reportWarning("disk", text, "enough to serve, not to import a large dump")
	default:
		p.reportOK("disk", "%s", text)
	}
}

// checkReader starts a process that reads dumps, and says what it was able to give up here.
func (p *checkup) checkReader(ctx context.Context) {
	const area = "reader of dumps"
	started, err := reader.StartProcess(ctx, reader.Job{Workers: 1, Unconfined: true}, nil)
	if err != nil {
		p.reportProblem(area, oneLineReason(err), "let the service's user start processes: no dump can be imported")
		return
	}
	defer func() { _ = started.Close() }() // it has nothing to do
	c := started.Confinement
	if !c.IsConfined() && !p.common.ReaderUnconfined {
		p.reportProblem(area, "this system has neither Landlock nor seccomp: no dump is read",
			"import on Linux 5.13 or later, or give --reader-unconfined to read dumps that may take over this machine")
		return
	}
	var lacks []string
	for name, has := range map[string]bool{
		"Landlock":                 c.Landlock > 0,
		"seccomp":                  c.Seccomp,
		"no_new_privs":             c.NoNewPrivileges,
		"a limit of no open files": c.NoFiles,

		"a limit of its memory by the system":     c.DataLimit,
		"a look at its memory and processor time": c.Watched,
	} {
		if !has {
			lacks = append(lacks, name)
		}
	}
	slices.Sort(lacks)
	if len(lacks) > 0 {
		p.reportWarning(
			area,
			"this system lacks: "+strings.Join(lacks, ", "),
			"import dumps of strangers on Linux 5.13 or later; what is left of the limits holds",
		)
		return
	}
	p.reportOK(area, "confined by Landlock %d, seccomp, no_new_privs, no open files, %d MiB of memory, time",
		c.Landlock, reader.Memory>>20)
}

// checkUser warns of a server that would run as root: whoever takes it over has the machine.
func (p *checkup) checkUser() {
	const area = "user"
	if app.IsRoot() {
		p.reportWarning(
			area,
			"this is root",
			"run server and commands as a user of their own: sudo -u vigia vigia doctor",
		)
		return
	}
	p.reportOK(area, "not root")
}

// checkRoot returns the root key, or nil.
func (p *checkup) checkRoot() *seal.Root {
	const area = "root key"
	place := p.common.RootPlace()
	app.UseKMS()
	root, err := seal.OpenRoot(place)
	if errors.Is(err, seal.ErrNoKeyFile) {
		p.reportWarning(
			area,
			place+" does not exist yet",
			"the first start makes it, but only for a new database; for an old one restore it from its copy",
		)
		return nil
	}
	if err != nil {
		p.reportProblem(
			area,
			oneLineReason(err),
			"restore the file from its copy, or mend its owner and mode: chmod 600 "+place,
		)
		return nil
	}
	p.reportOK(area, "%s, root %s", place, root.ID())
	if app.KeysBesideData(p.common) {
		p.reportWarning(
			area,
			"is in the data folder: whoever copies the folder, or the disk, can read everything",
			"move it and name it with --key-file, or use a KMS: vigia keys root --new",
		)
	}
	return root
}

// database looks without changing: it opens only what is there, and migrates nothing.
func (p *checkup) database(ctx context.Context, root *seal.Root) {
	const area = "database"
	address := p.common.DatabaseAddress()
	// Opening a missing SQLite file would create it.
	if p.common.Database == "" {
		if _, err := os.Stat(address); errors.Is(err, fs.ErrNotExist) {
			p.reportWarning(area, address+" does not exist yet", "the first start makes it")
			return
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	db, err := sqldb.OpenDatabase(ctx, address, sqldb.Options{MaxConns: 2, Insecure: p.common.DatabaseInsecure})
	if errors.Is(err, sqldb.ErrSharedSession) {
		p.reportProblem(
			area,
			oneLineReason(err),
			"PgBouncer: pool_mode = session, or give --database the address of PostgreSQL itself",
		)
		return
	}
	if errors.Is(err, sqldb.ErrNoConnection) {
		p.reportProblem(
			area,
			sqldb.ErrNoConnection.Error(),
			"docs/operations.md has the figures: PostgreSQL and several replicas, Poolers",
		)
		return
	}
	if err != nil {
		p.reportProblem(
			area,
			oneLineReason(err),
			"is the server up, the address right, may this machine connect, does the user exist? For PostgreSQL try "+
				"psql with the same address",
		)
		return
	}
	defer func() { _ = db.Close() }()
	list, err := store.MigrationList()
	if err != nil {
		p.reportProblem(area, oneLineReason(err), "")
		return
	}
	pending, err := db.CountPending(ctx, list)
	switch {
	case err != nil:
		p.reportProblem(area, oneLineReason(err), "a database newer than this program needs the newer program")
		return
	case pending == len(list):
		p.reportWarning(
			area,
			fmt.Sprintf("%s answers and is empty", db.EngineName()),
			"the first start makes the tables; the user must be allowed to",
		)
		return
	case pending > 0:
		p.reportWarning(
			area,
			fmt.Sprintf("%s answers; %d migrations are to come", db.EngineName(), pending),
			"the next start, or vigia migrate, applies them; take a backup first",
		)
		return
	}
	p.reportOK(area, "%s answers, its settings keep what it confirms, its tables are up to date", db.EngineName())
	if pooled, err := db.ProveSession(ctx); err == nil && pooled {
		p.reportOK(area, "a connection pooler is in between, and gives each connection a session of its own")
	}
	if sqldb.Unverified(address) {
		p.reportWarning(
			area,
			"its certificate is not checked (--database-insecure)",
			"anybody on the way could answer in its place: add sslmode=verify-full to the address",
		)
	}
	p.compareClocks(ctx, db)
	p.checkKeys(ctx, db, root)
}

// skewWorthTelling is from when on clocks count as different.
const skewWorthTelling = 2 * time.Second

// compareClocks reports by how much this machine differs from what the service goes by: the clock of PostgreSQL's
// machine, or, on the embedded database, the time since the server was started.
func (p *checkup) compareClocks(ctx context.Context, db *sqldb.DB) {
	const area = "clock"
	if db.EngineName() == sqldb.SQLite {
		skew, err := store.NewStore(db, nil, time.Now, leak.Judge{}).Upkeep.ClockSkew(ctx)
		switch {
		case err != nil:
			p.reportWarning(area, oneLineReason(err), "")
		case skew.Abs() >= skewWorthTelling:
			p.reportWarning(
				area,
				fmt.Sprintf(
					"it was set while the server ran: it is %s the time that the server goes by",
					aheadOrBehind(skew),
				),
				"set it right, by NTP; if it is right now, restart the server",
			)
		}
		return
	}
	before := time.Now()
	server, err := db.ServerTime(ctx)
	if err != nil {
		p.reportWarning(area, oneLineReason(err), "")
		return
	}
	skew := before.Add(time.Since(before) / 2).Sub(server)
	if skew.Abs() >= skewWorthTelling {
		p.reportWarning(
			area,
			fmt.Sprintf("it is %s the database's, which the service goes by", aheadOrBehind(skew)),
			"keep both by NTP",
		)
		return
	}
	p.reportOK(area, "agrees with the database's, which the service goes by")
}

// aheadOrBehind says a difference of clocks.
func aheadOrBehind(skew time.Duration) string {
	if skew < 0 {
		return (-skew).Round(time.Second).String() + " behind"
	}
	return skew.Round(time.Second).String() + " ahead of"
}

// checkKeys reports whether the root opens the keys of the database, and those what is in it.
func (p *checkup) checkKeys(ctx context.Context, db *sqldb.DB, root *seal.Root) {
	const area = "keys"
	exists, err := store.HasRing(ctx, db)
	if err != nil || !exists {
		return
	}
	if root == nil {
		p.reportProblem(
			area,
			"the database has sealed data and its root key is missing or unreadable",
			"restore the key file that this database was begun with; without it the personal data is lost",
		)
		return
	}
	keys, err := store.OpenKeys(ctx, db, root, time.Now())
	if err != nil {
		p.reportProblem(area, oneLineReason(err), "give the root that belongs to this database")
		return
	}
	st := store.NewStore(db, keys, time.Now, leak.Judge{})
	lacking, err := st.Upkeep.FindUnopenable(ctx)
	switch {
	case err != nil:
		p.reportWarning(area, oneLineReason(err), "")
	case len(lacking) > 0:
		p.reportProblem(
			area,
			"nobody can open "+strings.Join(lacking, "; "),
			"restore a backup that has these keys; vigia check counts all such values",
		)
	default:
		p.reportOK(area, "epoch %d, %d keys, new values under key %d; a sample of all sealed values has its keys",
			keys.Epoch(), len(keys.ListKeyIDs()), keys.PrimaryID())
	}
	p.checkRootCopies(ctx, st, root)
	if db.EngineName() == sqldb.PostgreSQL {
		p.checkReplicas(ctx, st)
	}
}

// checkRootCopies says when a root exists once only, as far as anybody has shown, and when there is more than one.
func (p *checkup) checkRootCopies(ctx context.Context, st *store.Store, root *seal.Root) {
	const area = "root key"
	ring, err := st.Upkeep.ReadRing(ctx)
	if err != nil {
		p.reportWarning(area, oneLineReason(err), "")
		return
	}
	if own, _ := ring.FindRoot(root.ID()); own.CopiedAt == 0 {
		p.reportWarning(
			area,
			"the first start made "+root.Place()+" and nobody has shown a copy of it: with this disk all personal "+
				"data would be lost",
			"copy it apart from the database and its backups, then run: vigia keys root --copy FILE, on the copy",
		)
	}
	if len(ring.Roots) > 1 {
		p.reportWarning(
			area,
			fmt.Sprintf("%d roots open the keys: %s", len(ring.Roots), strings.Join(ring.RootIDs(), ", ")),
			"start every server with the new one, then run: vigia keys root --drop-old",
		)
	}
}

// checkReplicas compares the password corpora that the replicas answer from.
func (p *checkup) checkReplicas(ctx context.Context, st *store.Store) {
	const area = "replicas"
	all, err := st.Upkeep.ListReplicas(ctx, app.ReplicaGone)
	if err != nil {
		p.reportWarning(area, oneLineReason(err), "")
		return
	}
	remedy := "run vigia passwords import on each of them, or give all replicas one bucket with --corpora"
	if p.common.Corpora != "" {
		remedy = "can they reach the bucket of --corpora, and is their disk full? Their logs say why"
	}
	differ := false
	for _, algorithm := range password.Algorithms {
		places := map[string][]string{} // by digest
		for _, r := range all {
			digest := r.Passwords[algorithm.String()]
			places[digest] = append(places[digest], r.Place)
		}
		if len(places) < 2 {
			continue
		}
		differ = true
		if lacking := places[""]; len(lacking) > 0 {
			p.reportWarning(
				area,
				fmt.Sprintf("passwords %s: others have a corpus that these lack, and answer 503 to live partners: %s",
					algorithm, strings.Join(lacking, ", ")),
				remedy,
			)
			continue
		}
		p.reportWarning(
			area,
			fmt.Sprintf("passwords %s: replicas answer from %d different corpora", algorithm, len(places)),
			remedy,
		)
	}
	if !differ && len(all) > 0 {
		p.reportOK(area, "%d serve partners, from the same password corpora", len(all))
	}
}

// bucketTime is how long the bucket may take to answer.
const bucketTime = 10 * time.Second

// checkBucket reports whether the bucket of --corpora is there and can be listed.
func (p *checkup) checkBucket(ctx context.Context) {
	const area = "bucket"
	if p.common.Corpora == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, bucketTime)
	defer cancel()
	if err := library.CheckBucket(ctx, p.common.Corpora); err != nil {
		p.reportProblem(
			area,
			oneLineReason(err),
			"every import writes into it: check its address, its credentials, and that this machine reaches it",
		)
		return
	}
	p.reportOK(area, "the bucket of --corpora can be listed")
}

// checkCorpora looks at the corpora of passwords.
func (p *checkup) checkCorpora() {
	const area = "corpora"
	if _, err := os.Stat(filepath.Join(p.common.CorporaPath(), "password")); errors.Is(err, fs.ErrNotExist) {
		p.reportWarning(
			area,
			"no password corpus yet",
			"the first start brings a small sample for sandbox partners; live partners need a real one: vigia "+
				"passwords download",
		)
		return
	}
	lib, err := password.OpenLibrary(p.common.CorporaPath(), time.Now)
	if err != nil {
		p.reportProblem(area, oneLineReason(err), "let the service's user read "+p.common.CorporaPath())
		return
	}
	list, err := lib.ReadStatus()
	if err != nil {
		p.reportProblem(area, oneLineReason(err), "import the corpus again: vigia passwords import --help")
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
			p.reportOK(area, "passwords: %s, built-in sample of %d entries", c.Algorithm, c.Entries)
			continue
		}
		p.reportOK(
			area,
			"passwords: %s, corpus of %d entries from %s, of %s",
			c.Algorithm,
			c.Entries,
			c.Source,
			c.Imported.UTC().Format(time.DateOnly),
		)
	}
	switch {
	case samples == len(list):
		p.reportWarning(
			area,
			"there is no password corpus but the built-in sample: password checks of live partners are answered 503",
			mend,
		)
	case samples > 0 || len(list) < len(password.Algorithms):
		p.reportWarning(area, "live partners' password checks know one algorithm only", mend+", for the other one too")
	}
}

// checkServing names the servers that run on the data folder, of which there should be one.
func (p *checkup) checkServing() {
	const area = "servers"
	list, err := app.ListServing(p.common.Data)
	if err != nil {
		p.reportWarning(area, oneLineReason(err), "")
		return
	}
	for _, s := range list {
		text := fmt.Sprintf("number %d on this data folder: process %d, %s and %s, since %s",
			s.Number, s.PID, s.Listen, s.ConsoleListen, formatTime(s.Since))
		if len(list) == 1 {
			p.reportOK(area, "%s", text)
		} else {
			p.reportWarning(area, text, "run one server on an embedded database; for several use PostgreSQL")
		}
	}
}

// addresses reports whether the listeners' addresses are free, and who sits there if not.
func (p *checkup) addresses(ctx context.Context) {
	const area = "addresses"
	list := []struct{ flag, value string }{{"--listen", p.serve.Listen}, {"--console-listen", p.serve.ConsoleListen}}
	for _, a := range list {
		ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", a.value)
		if err == nil {
			_ = ln.Close()
			p.reportOK(area, "%s %s is free", a.flag, a.value)
			continue
		}
		switch {
		case errors.Is(err, syscall.EADDRINUSE) && vigiaAnswers(ctx, a.value):
			p.reportOK(area, "%s %s: a Vigia answers there", a.flag, a.value)
		case errors.Is(err, syscall.EADDRINUSE):
			p.reportProblem(
				area,
				a.flag+" "+a.value+" is taken by another program",
				"stop it, or choose another address; who: ss -ltnp",
			)
		case errors.Is(err, syscall.EACCES):
			p.reportProblem(
				area,
				a.flag+" "+a.value+": ports below 1024 need a right of their own",
				"choose a port above 1023, put a proxy in front, or grant CAP_NET_BIND_SERVICE",
			)
		default:
			p.reportProblem(area, a.flag+" "+a.value+": "+oneLineReason(err), "is the address one of this machine's?")
		}
	}
	if host, _, err := net.SplitHostPort(p.serve.ConsoleListen); err == nil &&
		(host == "" || host == "0.0.0.0" || host == "::") {
		p.reportWarning(
			area,
			"the operator's listener takes connections from everywhere",
			"keep it on a private address, or behind a firewall: it shows metrics and the console",
		)
	}
	if host, _, err := net.SplitHostPort(p.serve.Listen); err == nil && p.serve.TLSCert == "" && !loopback(host) {
		p.reportWarning(
			area,
			"the partner API is offered without TLS",
			"give --tls-cert and --tls-key, or make sure that a proxy in front speaks TLS",
		)
	}
	for listen, told := range map[string]string{
		p.serve.ConsoleListen: p.serve.PublicURL,
		p.serve.Listen:        p.serve.PublicURL + p.serve.PageURL,
	} {
		if host, _, err := net.SplitHostPort(listen); err == nil && !loopback(host) && told == "" {
			p.reportWarning(
				area,
				listen+" has no public address",
				"give --public-url: without it there are no passkeys, and no links to people's pages for live partners",
			)
		}
	}
}

// loopback reports whether the host is this machine; other names are not resolved.
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
	status, _, err := getHealth(ctx, "http://"+net.JoinHostPort(host, port))
	return err == nil && status == http.StatusOK
}

// getHealth asks for the health page below an address. The state of TLS is nil where the address is without it.
func getHealth(ctx context.Context, base string) (status int, state *tls.ConnectionState, err error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/healthz", nil)
	if err != nil {
		return 0, nil, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	return res.StatusCode, res.TLS, res.Body.Close()
}

// leastValidity is how long a certificate should still hold.
const leastValidity = 14 * 24 * time.Hour

// checkPublic opens the addresses that browsers are told, and looks at the certificates: those of files, and those that
// a balancer shows. A public address before a listener that is not public means a balancer, which has to be trusted for
// its callers to be told apart.
func (p *checkup) checkPublic(ctx context.Context) {
	const area = "public addresses"
	for _, u := range []struct{ flag, url string }{
		{"--public-url", p.serve.PublicURL},
		{"--page-url", p.serve.PageURL},
	} {
		if u.url == "" {
			continue
		}
		status, state, err := getHealth(ctx, strings.TrimSuffix(u.url, "/"))
		switch {
		case err != nil:
			p.reportWarning(
				area,
				u.flag+": "+oneLineReason(err),
				"is the service up, does the name lead here, does the balancer pass requests on, is the certificate "+
					"right?",
			)
			continue
		case status != http.StatusOK:
			p.reportWarning(
				area,
				fmt.Sprintf("%s: /healthz is answered %d there", u.flag, status),
				"does the balancer pass requests to the right listener?",
			)
		default:
			p.reportOK(area, "%s %s answers", u.flag, u.url)
		}
		if state != nil {
			p.checkValidity(u.flag, state.PeerCertificates[0])
		}
		if len(p.serve.TrustedProxies) == 0 && !strings.HasPrefix(u.url, "http://"+p.serve.Listen) &&
			!strings.HasPrefix(u.url, "http://"+p.serve.ConsoleListen) &&
			p.serve.TLSCert == "" {
			p.reportWarning(
				"balancer",
				u.flag+" leads through a balancer, and none is trusted: all callers share one address and its budget",
				"name the addresses that the service sees of it in --trusted-proxies",
			)
		}
	}
	if p.serve.TLSCert != "" {
		pair, err := tls.LoadX509KeyPair(p.serve.TLSCert, p.serve.TLSKey)
		if err != nil {
			p.reportProblem(
				"TLS",
				oneLineReason(err),
				"--tls-cert and --tls-key have to be a certificate and its key, in PEM",
			)
			return
		}
		p.checkValidity("--tls-cert", pair.Leaf)
	}
}

// checkValidity warns of a certificate that is about to end.
func (p *checkup) checkValidity(flag string, c *x509.Certificate) {
	if left := c.NotAfter.Sub(p.now); left < leastValidity {
		p.reportWarning(
			"TLS",
			fmt.Sprintf("the certificate of %s ends at %s", flag, formatTime(c.NotAfter)),
			"renew it; files are read again when they change",
		)
		return
	}
	p.reportOK("TLS", "the certificate of %s holds until %s", flag, formatTime(c.NotAfter))
}

// checkClock compares with the only two clocks that are at hand: when this program was made, and when the database was
// written.
func (p *checkup) checkClock() {
	const area = "clock"
	if made, ok := buildTime(); ok && p.now.Before(made.Add(-time.Hour)) {
		p.reportProblem(
			area,
			fmt.Sprintf("it says %s, before this program was made", formatTime(p.now)),
			"set the clock: signatures, keys and expiry dates depend on it",
		)
		return
	}
	if info, err := os.Stat(filepath.Join(p.common.Data, "vigia.db")); err == nil &&
		info.ModTime().After(p.now.Add(2*time.Minute)) {
		p.reportProblem(
			area,
			fmt.Sprintf(
				"it says %s, but the database was written at %s",
				formatTime(p.now),
				formatTime(info.ModTime()),
			),
			"set the clock, or find out what set it back",
		)
		return
	}
	p.reportOK(area, "%s", formatTime(p.now))
}

// webhooks looks at the ranges that were opened for outgoing calls.
func (p *checkup) webhooks() {
	const area = "webhooks"
	ranges, err := p.serve.OutgoingSettings().AllowedRanges()
	if err != nil {
		return // said under configuration
	}
	if len(ranges) == 0 {
		p.reportOK(area, "public addresses only")
		return
	}
	metadata := netip.MustParseAddr("169.254.169.254")
	for _, r := range ranges {
		switch {
		case r.Contains(metadata):
			p.reportProblem(
				area,
				r.String()+" opens the cloud's metadata service, which hands out credentials",
				"name the receivers' own networks",
			)
		case r.Bits() == 0 || r.Addr().Is4() && r.Bits() < 8 || r.Addr().Is6() && r.Bits() < 16:
			p.reportWarning(area, r.String()+" opens almost everything", "name the receivers' own networks")
		case r.Addr().IsLoopback():
			p.reportWarning(
				area,
				r.String()+" lets partners' addresses reach services of this machine",
				"for tests only",
			)
		default:
			p.reportOK(area, "%s may be reached", r)
		}
	}
}

// oneLineReason returns an error's text on one line.
func oneLineReason(err error) string {
	return strings.Join(strings.Fields(err.Error()), " ")
}
