package app

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // the corpus of breached passwords is listed under it
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/vigiahq/vigia/internal/corpus/password"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/feed"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/notify/alert"
	"github.com/vigiahq/vigia/internal/notify/webhook"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/job"
	"github.com/vigiahq/vigia/internal/platform/telemetry"
	"github.com/vigiahq/vigia/internal/store"
	"github.com/vigiahq/vigia/internal/subject"
	"github.com/vigiahq/vigia/internal/web/api"
	"github.com/vigiahq/vigia/internal/web/console"
)

// isExposedPassword looks an operator's new password up in our own corpora. It happens so rarely that they are opened
// for it.
func (a *App) isExposedPassword(text string) (bool, error) {
	if err := a.Passwords.EnsureDefault(context.Background()); err != nil && !errors.Is(err, password.ErrBusy) {
		return false, err
	}
	checker, err := password.NewChecker(a.Passwords, slog.New(slog.DiscardHandler))
	if err != nil {
		return false, err
	}
	defer checker.Close()
	sum := sha1.Sum([]byte(text)) //nolint:gosec // as above
	found, err := checker.CheckPrefix(hex.EncodeToString(sum[:])[:password.PrefixDigits], true)
	return found.Exposure != password.NotKnown, err
}

// consoleHandler returns the handler of the console. ctx and group own the imports that a page starts.
func (s *Server) consoleHandler(ctx context.Context, group *errgroup.Group) (http.Handler, error) {
	a := s.app
	public, err := s.cfg.ParsePublicURL()
	if err != nil {
		return nil, err
	}
	var pages url.URL
	if s.cfg.PageURL != "" { // without it pages are under the console's address, which has no reference
		if pages, err = s.cfg.ParsePageURL(); err != nil {
			return nil, err
		}
	} else if at, ok := s.APIAddr.(*net.TCPAddr); ok && at.IP.IsLoopback() { // for a console on this machine
		pages = url.URL{Scheme: "http", Host: at.String()}
	}
	work := s.newConsoleWork(ctx, group)
	if err := work.sweepUploads(); err != nil {
		return nil, err
	}
	parts := &consoleParts{
		app:      a,
		work:     work,
		outgoing: s.outgoing,
		feeds:    *a.Feeds(s.outgoing.Downloads),
		persons:  s.personRules(),
	}
	return console.NewConsole(console.Options{
		Rules: parts.consoleRules(a.Rules, a.Store.Areas),
		InTx:  parts.runInTransaction,
		Begin: parts.work.beginDetached,
		Log:   s.log, Now: a.now, Stopping: s.stopping.Load, SecondFactorOptional: s.secondFactorOptional,
		Callers: s.callers, Strangers: s.strangers, Public: public, API: pages, UploadLimit: s.cfg.UploadBytes(),
		Latency: func() []telemetry.Latency {
			list, err := s.metrics.Latencies()
			if err != nil {
				s.log.Error("latencies cannot be read", "cause", err.Error())
			}
			return list
		},
	})
}

// consoleParts are what the console's rules reach beside the store.
type consoleParts struct {
	app      *App
	work     *consoleWork
	outgoing Outgoing
	feeds    feed.Feeds
	persons  *cyber.Persons
}

// consoleRules returns the console's rules, over the database or over one transaction of it.
func (p *consoleParts) consoleRules(r Rules, in store.Areas) console.Rules {
	a, feeds := p.app, p.feeds
	feeds.Store, feeds.Breaches, feeds.Jobs = in.Feeds, in.Breaches, in.Jobs
	return console.Rules{
		Operators:         r.Operators,
		Audit:             r.Audit,
		Partners:          r.Partners,
		Services:          r.Services,
		Figures:           in.Overview,
		Meter:             r.Meter,
		Plans:             r.Plans,
		Subscriptions:     r.Subscriptions,
		FindSubscriptions: in.Overview,
		ProblemText:       api.ItemError,
		Monitoring:        r.Monitoring,
		FirstLooks:        r.FirstLooks,
		Persons:           p.persons.WithStore(in.Advice),
		Review:            in.Overview,
		Breaches:          &consoleImports{leak.NewBreaches(in.Breaches, a.now), p.work},
		Feeds:             consoleFeeds{&feeds},
		Passwords: &consolePasswords{
			a.Passwords,
			a,
			p.work,
			p.outgoing.Downloads,
		},
		Cases:     r.Cases,
		Endpoints: r.Endpoints,
		Content:   r.Content,
		Messages:  r.Messages,
		Subjects: consoleSubjects{
			a.Subjects,
			r.Erasures,
			a,
		},
		Search: subject.NewSearch(in.Subjects, in.Partners),
		Cover:  r.Cover,
		Keys:   consoleKeys{a},
		Webhooks: &consoleWebhooks{
			r.Webhooks,
			p.outgoing,
		},
		Events:  in.Overview,
		History: r.History,
		Jobs:    in.Jobs,
		Saved:   in.Operators,
	}
}

// runInTransaction runs fn with rules whose changes are committed together.
func (p *consoleParts) runInTransaction(ctx context.Context, fn func(in *console.Rules) error) error {
	return p.app.Store.InTransaction(ctx, func(tx store.Tx) error {
		in := p.consoleRules(p.app.rulesWithin(tx), tx.Areas)
		return fn(&in)
	})
}

const (
	figuresEvery = time.Minute
	// headEvery is how often the head of the audit trail is logged: the log then shows later that nothing was cut off.
	headEvery = time.Hour
)

// startConsoleChores keeps the console's counts up, forgets sessions that are over and logs the head of the audit
// trail.
func (s *Server) startConsoleChores(ctx context.Context, group *errgroup.Group) {
	repeatWork(ctx, group, figuresEvery, func() {
		s.reportChore(ctx, "counts for the console", s.app.Store.Overview.CountFigures(ctx, figuresEvery/2))
		_, err := s.app.Operators.SweepSessions(ctx)
		s.reportChore(ctx, "sweep of sessions", err)
		s.reportChore(ctx, "sweep of exports", s.app.Store.Operators.SweepExports(ctx, s.app.now()))
	})
	repeatWork(ctx, group, headEvery, func() {
		head, err := s.app.Store.Audit.TrailHead(ctx)
		if errors.Is(err, operator.ErrTrailBroken) {
			s.reportChore(ctx, "the head of the audit trail is not as it was written", err)
		} else {
			s.reportChore(ctx, "the head of the audit trail cannot be read", err)
		}
		if err == nil && head.Seq > 0 {
			s.log.Info("audit head", "line", head.Seq, "head", fmt.Sprintf("%d:%x", head.Seq, head.MAC))
		}
	})
}

// RelaxSecondFactor lets operators in without an authenticator app: for the demo, before Run.
func (s *Server) RelaxSecondFactor() { s.secondFactorOptional = true }

// consoleImports begins imports from the console.
type consoleImports struct {
	*leak.Breaches
	*consoleWork
}

// Import begins to import files.
func (i *consoleImports) Import(ctx context.Context, b cyber.Breach, noPairs bool, from console.Input) error {
	inputs, remove, err := i.listInputs(ctx, from)
	if err != nil {
		return err
	}
	return i.beginImport(ctx, intake.Spec{Breach: b, Inputs: inputs, NoPairs: noPairs}, remove)
}

// listInputs returns the inputs of an import; remove takes an upload away again, and was called if there are none.
func (i *consoleImports) listInputs(ctx context.Context, from console.Input) ([]intake.Input, func(), error) {
	paths, remove, err := i.pathsOf(from)
	if err != nil {
		return nil, nil, err
	}
	inputs, err := intake.ListInputs(ctx, http.DefaultClient, paths)
	if err != nil {
		remove()
	}
	return inputs, remove, err
}

// onlyPaths returns the paths without URLs: the console must not make the server fetch addresses; the command line may.
func onlyPaths(paths []string) []string {
	kept := make([]string, 0, len(paths))
	for _, p := range paths {
		if filepath.IsAbs(p) {
			kept = append(kept, p)
		}
	}
	return kept
}

// Renew begins to renew a breach by files.
func (i *consoleImports) Renew(
	ctx context.Context,
	way intake.Way,
	breach string,
	noPairs bool,
	from console.Input,
) error {
	inputs, remove, err := i.listInputs(ctx, from)
	if err != nil {
		return err
	}
	return i.beginRenewal(
		ctx,
		way,
		intake.Spec{Breach: cyber.Breach{Name: breach}, Inputs: inputs, NoPairs: noPairs},
		remove,
	)
}

// beginRenewal does with a renewal what beginImport does with an import. Its match is a job that a worker takes.
func (i *consoleImports) beginRenewal(ctx context.Context, way intake.Way, spec intake.Spec, after func()) error {
	if err := i.app.Leaks.Importer.Renewable(ctx, spec); err != nil {
		after()
		return err
	}
	return i.behindAJob(ctx, intake.KindRenew, spec, after, func() error {
		_, err := i.app.Leaks.Foreground.RenewBreach(i.ctx, way, spec)
		return err
	})
}

// Explain tells what a published breach says of one value, and what was known of it before.
func (i *consoleImports) Explain(
	ctx context.Context,
	name string,
	kind identifier.Kind,
	value string,
) (leak.Explanation, error) {
	fingerprint, err := i.app.Leaks.Importer.FingerprintOf(kind, value)
	if err != nil {
		return leak.Explanation{}, err
	}
	return i.app.Leaks.Library.ExplainFingerprint(ctx, name, fingerprint)
}

// Verify begins to read a breach's segment from the first byte to the last.
func (i *consoleImports) Verify(ctx context.Context, name string) error {
	r, err := i.FindBreach(ctx, name)
	if err == nil && r.State != leak.Published {
		err = leak.ErrBreachNotFound.With("name", fault.NoSegment)
	}
	if err != nil {
		return err
	}
	return i.beginWork(
		ctx,
		leak.KindVerify,
		name,
		intake.ErrBusy.With("name", fault.BeingVerified),
		func(ctx context.Context, _ func(any)) (any, error) {
			keys, err := i.app.Leaks.Library.VerifyBreach(ctx, name)
			return leak.Verified{Keys: keys}, err
		},
		func() {},
	)
}

// beginImport refuses what can be refused at once and leaves the rest to a goroutine of the server. The import takes
// its job itself, so that the command line can go on with it.
func (i *consoleImports) beginImport(ctx context.Context, spec intake.Spec, after func()) error {
	if r, err := i.FindBreach(ctx, spec.Breach.Name); err == nil && r.State != leak.Importing {
		after()
		return leak.ErrBreachExists.With("name", fault.Taken)
	} else if err != nil && !errors.Is(err, leak.ErrBreachNotFound) {
		after()
		return err
	}
	return i.behindAJob(ctx, intake.KindImport, spec, after, func() error {
		_, err := i.app.Leaks.Foreground.ImportBreach(i.ctx, spec)
		return err
	})
}

// Retract takes a breach back. A worker withdraws its findings.
func (i *consoleImports) Retract(ctx context.Context, name string) (leak.Record, error) {
	return i.app.Leaks.Foreground.DiscardBreach(ctx, name)
}

// consoleSubjects erases people and keeps the tombstones in this machine's log.
type consoleSubjects struct {
	*subject.Rights
	*subject.Erasures
	app *App
}

// Erase erases a person, also when the browser does not wait for it: half an erasure would be worse than a lost answer.
func (s consoleSubjects) Erase(
	ctx context.Context,
	who operator.Actor,
	p subject.Person,
	reason string,
) (subject.Outcome, error) {
	return s.app.EraseSubject(context.WithoutCancel(ctx), who, p, reason)
}

// consoleKeys are the keys that seal personal data.
type consoleKeys struct{ app *App }

// State names the key that seals, all that open, and the root that opens them.
func (k consoleKeys) State() (primary uint32, all []uint32, root string) {
	return k.app.Keys.PrimaryID(), k.app.Keys.ListKeyIDs(), k.app.Keys.Root().Place()
}

// Count counts what the newest key has sealed and what older ones have; it reads every sealed value.
func (k consoleKeys) Count(ctx context.Context) (current, old int64, err error) {
	return k.app.Store.Upkeep.SealedUnder(ctx)
}

// Rotate makes a new key and has workers rewrite what older ones sealed.
func (k consoleKeys) Rotate(ctx context.Context) error { return k.app.Store.Upkeep.RotateKeys(ctx) }

// consoleFeeds lists feeds beside the rules that change them.
type consoleFeeds struct{ *feed.Feeds }

func (f consoleFeeds) All(ctx context.Context) ([]feed.Feed, error) { return f.Store.ListFeeds(ctx) }

// consoleWebhooks joins the rules of endpoints to what may be called from here.
type consoleWebhooks struct {
	*alert.Endpoints
	outgoing Outgoing
}

// Create makes an endpoint whose address the guard allows.
func (w *consoleWebhooks) Create(
	ctx context.Context,
	id partner.ID,
	url string,
	types []string,
) (alert.Endpoint, error) {
	return w.Endpoints.CreateEndpoint(ctx, id, url, types, w.outgoing.Guard)
}

// Test sends a sample of a type once through the guard.
func (w *consoleWebhooks) Test(
	ctx context.Context,
	id partner.ID,
	endpoint alert.EndpointID,
	t alert.Type,
) (webhook.Outcome, alert.EventID, error) {
	return w.Endpoints.SendTestEvent(ctx, id, endpoint, t, w.outgoing.Webhooks)
}

// behindAJob leaves work to a goroutine of the server. The job is there before the page that shows it.
func (i *consoleImports) behindAJob(
	ctx context.Context,
	kind string,
	spec intake.Spec,
	after func(),
	work func() error,
) error {
	_, err := i.app.Store.Jobs.EnqueueJob(ctx, kind, spec.Breach.Name, map[string]int{"inputs": len(spec.Inputs)})
	if err != nil {
		after()
		if errors.Is(err, job.ErrExists) {
			return intake.ErrBusy.With("name", fault.BeingImported)
		}
		return err
	}
	i.group.Go(func() error {
		defer after()
		if err := work(); err != nil && i.ctx.Err() == nil {
			i.log.Error(
				"a job of the console failed",
				"kind", kind,
				"breach", spec.Breach.Name,
				"cause", err.Error(),
			) // the job's row tells the operator
		}
		return nil
	})
	return nil
}

// consoleWork is long work that a page begins. It runs in this process, as a job that any console shows and cancels.
type consoleWork struct {
	app   *App
	log   *slog.Logger
	ctx   context.Context //nolint:containedctx // the server's own, which outlives the request that begins the work
	group *errgroup.Group
	// worker holds the leases. It is another name in every process, so that only what a dead process left can be taken
	// up.
	worker string
}

// newConsoleWork returns the runner of jobs that are started in the console and run in this process.
func (s *Server) newConsoleWork(ctx context.Context, group *errgroup.Group) *consoleWork {
	return &consoleWork{app: s.app, log: s.log, ctx: ctx, group: group, worker: "c_" + rand.Text()}
}

// errStopped fails a job whose process stops. No other process has its files, so an operator has to start it again.
var errStopped = fault.New(fault.Unavailable, "job.stopped")

// work does something long. It tells how far it is and returns what is kept of the result.
type work func(ctx context.Context, tell func(progress any)) (result any, err error)

// beginWork takes a job and leaves the work to a goroutine of the server; after is called when it is over, or at once
// when the same work is already under way, which is busy.
func (w *consoleWork) beginWork(ctx context.Context, kind, subject string, busy error, do work, after func()) error {
	hold, err := w.app.Jobs.BeginJob(ctx, w.worker, kind, subject, struct{}{})
	if errors.Is(err, job.ErrExists) {
		err = busy
	}
	if err != nil {
		after()
		return err
	}
	w.group.Go(func() error {
		defer after()
		// The lease outlives the server's context by the moment that it takes to write down how the job ended.
		err := hold.RunStep(
			context.WithoutCancel(w.ctx),
			func(ctx context.Context, run *job.Run) error { return w.runWorkStep(ctx, run, do) },
		)
		if err != nil && w.ctx.Err() == nil && !errors.Is(err, job.ErrCancelled) {
			w.log.Error(
				"work of the console failed",
				"kind", kind,
				"subject", subject,
				"cause", err.Error(),
			) // the job's row tells the operator
		}
		return nil
	})
	return nil
}

// beginDetached begins what a page alone knows how to do.
func (w *consoleWork) beginDetached(
	ctx context.Context,
	kind, subject string,
	busy error,
	do func(context.Context, func(any)) (any, error),
) error {
	return w.beginWork(ctx, kind, subject, busy, do, func() {})
}

// runWorkStep runs the work until it is over, cancelled, or the server stops.
func (w *consoleWork) runWorkStep(ctx context.Context, run *job.Run, do work) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer context.AfterFunc(w.ctx, func() { stop(errStopped) })()
	result, err := do(ctx, func(progress any) { run.TellProgress(ctx, progress) })
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause
	}
	if err != nil {
		return err
	}
	return run.Save(context.WithoutCancel(ctx), result)
}

// uploadFolder returns the folder that holds an upload during its import. It is in the data folder, which only the
// service can read.
func (w *consoleWork) uploadFolder() string {
	return filepath.Join(w.app.Config.CorporaPath(), "upload")
}

// sweepUploads removes what a killed process left.
func (w *consoleWork) sweepUploads() error {
	if err := os.RemoveAll(w.uploadFolder()); err != nil {
		return fmt.Errorf("uploads: %w", err)
	}
	return nil
}

// pathsOf returns the files of an import; remove takes an upload away again.
func (w *consoleWork) pathsOf(from console.Input) (paths []string, remove func(), err error) {
	if from.File == nil {
		return onlyPaths(from.Paths), func() {}, nil
	}
	path, remove, err := w.keepUpload(from.Name, from.File)
	return []string{path}, remove, err
}

// keepUpload writes an upload to a folder of its own; remove takes it away again.
func (w *consoleWork) keepUpload(name string, file io.Reader) (path string, remove func(), err error) {
	folder := filepath.Join(w.uploadFolder(), rand.Text())
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", nil, fmt.Errorf("keep upload: %w", err)
	}
	remove = func() {
		if err := os.RemoveAll(folder); err != nil {
			w.log.Error("an upload cannot be removed", "cause", err.Error())
		}
	}
	path = filepath.Join(folder, "upload"+filepath.Ext(filepath.Base(name)))
	if err := writeUpload(path, file); err != nil {
		remove()
		return "", nil, err
	}
	return path, remove, nil
}

// writeUpload keeps what a page was sent; the console bounds how much that can be.
func writeUpload(path string, file io.Reader) error {
	out, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("keep upload: %w", err)
	}
	_, err = io.Copy(out, file)
	if err = errors.Join(err, out.Close()); err != nil {
		return intake.ErrInput.With("file", fault.ArrivedInPart).Because(err)
	}
	return nil
}

// consolePasswords changes the corpora of this machine from the console.
type consolePasswords struct {
	*password.Library
	app *App
	*consoleWork
	client *http.Client
}

// Import begins to replace a corpus by files.
func (p *consolePasswords) Import(ctx context.Context, a password.Algorithm, source string, from console.Input) error {
	paths, remove, err := p.pathsOf(from)
	if err != nil {
		return err
	}
	inputs, err := password.ListInputs(paths...)
	if err == nil && len(inputs) == 0 {
		err = password.ErrInput.With("paths", fault.ServerPaths)
	}
	if err != nil {
		remove()
		return err
	}
	return p.importFrom(
		ctx,
		a,
		cmp.Or(source, strings.Join(from.Paths, ", "), filepath.Base(from.Name)),
		inputs,
		remove,
	)
}

// importFrom starts a job that imports a password corpus; after is called when the inputs are no longer needed.
func (p *consolePasswords) importFrom(
	ctx context.Context,
	a password.Algorithm,
	source string,
	inputs []password.Input,
	after func(),
) error {
	return p.beginFill(
		ctx,
		password.KindImport,
		a,
		after,
		func(ctx context.Context, tell func(password.Progress)) error {
			_, err := p.app.ImportPasswords(
				ctx,
				password.Import{Algorithm: a, Inputs: inputs, Source: source, Progress: tell},
			)
			return err
		},
	)
}

// beginFill starts a job that fills a corpus and keeps how far it came.
func (p *consolePasswords) beginFill(ctx context.Context, kind string, a password.Algorithm, after func(),
	fill func(context.Context, func(password.Progress)) error,
) error {
	return p.beginWork(ctx, kind, a.String(), password.ErrBusy, func(ctx context.Context, tell func(any)) (any, error) {
		var at password.Progress
		err := fill(ctx, func(now password.Progress) {
			at = now
			tell(now)
		})
		return at, err
	}, after)
}

// Download begins to fetch a corpus from the public range service; another address is for the command line.
func (p *consolePasswords) Download(ctx context.Context, a password.Algorithm) error {
	return p.beginFill(
		ctx,
		password.KindDownload,
		a,
		func() {},
		func(ctx context.Context, tell func(password.Progress)) error {
			_, err := p.app.DownloadPasswords(ctx, password.Download{Algorithm: a, Client: p.client, Progress: tell})
			return err
		},
	)
}

// Verify begins to read every byte of the corpora.
func (p *consolePasswords) Verify(ctx context.Context) error {
	return p.beginWork(
		ctx,
		password.KindVerify,
		"",
		password.ErrBusy,
		func(ctx context.Context, _ func(any)) (any, error) {
			return struct{}{}, p.Library.VerifyFiles(ctx)
		},
		func() {},
	)
}
