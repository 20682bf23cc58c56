package intake

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/vigiahq/vigia/internal/corpus/library"
	"github.com/vigiahq/vigia/internal/corpus/segment"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/dump/scan/stated"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/platform/fault"
	"github.com/vigiahq/vigia/internal/platform/job"
)

// A spread import is cut into parts that the workers of all replicas scan at once. Each part is a job of its own
// (KindPart), which leaves a sorted segment in the files; one more job (KindSpread) watches over them, tells how far
// they are, and when all are done merges them and publishes as any import does. Inputs and files must be within reach
// of every worker.
//
// A part is whole inputs: what one file holds is searched by one worker.

// source is how any process finds an input. One of Path, URL and Bucket with Key is set. In the row of a part an
// address with a secret is cut short, and Sealed is its number, from 1, among those that the store keeps sealed.
type source struct {
	Path   string `json:"path,omitempty"`
	URL    string `json:"url,omitempty"`
	Sealed int    `json:"sealed,omitempty"`
	Bucket string `json:"bucket,omitempty"`
	Key    string `json:"key,omitempty"`
	// Volumes are the paths or keys of the volumes after the first, a line each.
	Volumes string `json:"volumes,omitempty"`
}

// partInput is one input of a part.
type partInput struct {
	source
	Mark  string `json:"mark"`
	Bytes int64  `json:"bytes"`
}

// partArgs is what a part has to scan.
type partArgs struct {
	Inputs  []partInput `json:"inputs"`
	NoPairs bool        `json:"no_pairs,omitempty"`
	// Mapping is that of the import, as it was written.
	Mapping string `json:"mapping,omitempty"`
	// Passwords is how many of what the store keeps sealed, from the end, are passwords. Ratio and Limit are as in
	// container.Limits.
	Passwords int   `json:"passwords,omitempty"`
	Ratio     int64 `json:"ratio,omitempty"`
	Limit     int64 `json:"limit,omitempty"`
}

// spreadArgs is the whole of a spread import.
type spreadArgs struct {
	Parts int   `json:"parts"`
	Bytes int64 `json:"bytes"` // of all inputs; -1 when one is not known
	// Force publishes what is doubtful; Refused are inputs that are not read, by reason.
	Force   bool             `json:"force,omitempty"`
	Refused map[string]int64 `json:"refused,omitempty"`
}

const (
	// DefaultPart is the size of a part: some seconds of work, so that little is lost with a killed worker, and the
	// other workers are not idle for long during the last part.
	DefaultPart = 256 << 20
	// partFiles bounds the row of a part in a folder of tiny files.
	partFiles = 500
	// partAttempts is after how many tries a part, and the import with it, has failed. A worker that is stopped costs
	// one too.
	partAttempts = 8
)

// SpreadStore keeps the parts of spread imports, each a job.
type SpreadStore interface {
	// AddSpreadImport keeps a breach that is being imported, the job that watches over its parts, and the parts. One whose
	// parts are the same goes on: what was done stays, the rest is to be tried anew. ErrInput when the parts are
	// others, job.ErrExists when it is under way. Secrets, which are addresses and passwords, are kept sealed, for as
	// long as the parts.
	AddSpreadImport(ctx context.Context, r leak.Record, args any, parts []any, secrets []string) error
	// SpreadAddresses returns the secrets of a breach's import.
	SpreadAddresses(ctx context.Context, breach string) ([]string, error)
	// ListParts returns the parts of a breach in order, without their arguments.
	ListParts(ctx context.Context, breach string) ([]job.Job, error)
	// StopParts asks parts to stop that are not done; DropParts removes all of them.
	StopParts(ctx context.Context, breach string) error
	DropParts(ctx context.Context, breach string) error
}

// Jobs tells how work stands.
type Jobs interface {
	NewestJobOf(ctx context.Context, kind, subject string) (job.Job, error)
	GetJob(ctx context.Context, id job.ID) (job.Job, error)
}

// SpreadImport puts an import in the queue, for the workers of all replicas. The same call goes on with one that failed or
// was cancelled.
func (im *Importer) SpreadImport(ctx context.Context, spec Spec, partBytes int64) error {
	b := spec.Breach
	b.AddedAt = im.Now()
	if err := leak.CheckNewBreach(&b, im.Now()); err != nil {
		return err
	}
	if partBytes <= 0 {
		partBytes = DefaultPart
	}
	plan, err := cutIntoParts(spec, partBytes)
	if err != nil {
		return err
	}
	secrets := append(hideAddresses(plan), spec.Passwords...)
	args, parts := spreadArgs{Parts: len(plan), Force: spec.Force, Refused: map[string]int64{}}, make([]any, len(plan))
	for i, p := range plan {
		p.NoPairs, p.Passwords, p.Ratio, p.Limit = spec.NoPairs, len(spec.Passwords), im.Limits.Ratio, im.Limits.Bytes
		if spec.Mapping != nil {
			p.Mapping = spec.Mapping.Text()
		}
		parts[i] = p
	}
	for _, in := range spec.Inputs {
		if in.refused != "" {
			args.Refused[in.refused]++
			continue
		}
		if in.Size < 0 {
			args.Bytes = -1
			break
		}
		args.Bytes += in.Size
	}
	err = im.Store.AddSpreadImport(ctx, leak.Record{Breach: b, State: leak.Importing}, args, parts, secrets)
	if errors.Is(err, job.ErrExists) {
		return nil // it is under way
	}
	return err
}

// cutIntoParts makes parts of inputs: small files together, large ones by themselves.
func cutIntoParts(spec Spec, partBytes int64) ([]partArgs, error) {
	var parts []partArgs
	var small partArgs
	var held int64
	flush := func() {
		if len(small.Inputs) > 0 {
			parts, small, held = append(parts, small), partArgs{}, 0
		}
	}
	for _, in := range spec.Inputs {
		if in.refused != "" {
			continue
		}
		if in.source == (source{}) {
			return nil, ErrInput.With("inputs", fault.FileUnreadableByOthers, in.Name)
		}
		whole := partInput{source: in.source, Mark: in.Mark, Bytes: in.Size}
		if in.Size < 0 || held+in.Size > partBytes || len(small.Inputs) == partFiles {
			flush()
		}
		small.Inputs = append(small.Inputs, whole)
		if held += max(0, in.Size); in.Size < 0 {
			flush()
		}
	}
	flush()
	if len(parts) == 0 {
		return nil, ErrInput.With("inputs", fault.NoFile)
	}
	return parts, nil
}

// hideAddresses takes the secrets out of the parts and returns the addresses that had one.
func hideAddresses(parts []partArgs) (addresses []string) {
	for _, p := range parts {
		for i := range p.Inputs {
			if in := &p.Inputs[i]; in.URL != "" && secretAddress(in.URL) {
				addresses = append(addresses, in.URL)
				in.URL, in.Sealed = strings.TrimSuffix(ShownAddress(in.URL), "/"), len(addresses)
			}
		}
	}
	return addresses
}

// Spreader does the work of spread imports in a worker.
type Spreader struct {
	Importer *Importer
	// Client fetches inputs that are addresses.
	Client *http.Client
	// Every is how often a watch looks at its parts; 0 means a second, and longer where there are many.
	Every   time.Duration
	merging sync.Mutex
}

// pauseFor is longer where there is more to look at.
func (s *Spreader) pauseFor(parts int) time.Duration {
	return cmp.Or(s.Every, max(time.Second, time.Duration(parts)*time.Millisecond))
}

// findInputs finds what a part has to scan. A file that changed since the import was asked for cannot be scanned any more.
func (s *Spreader) findInputs(ctx context.Context, args partArgs, addresses []string) ([]Input, error) {
	var inputs []Input
	for _, p := range args.Inputs {
		if p.Sealed > len(addresses) {
			return nil, ErrInput.With("inputs", fault.AddressGone, p.URL)
		}
		if p.Sealed > 0 {
			p.URL = addresses[p.Sealed-1]
		}
		in, err := s.openInput(ctx, p)
		if err != nil {
			return nil, err
		}
		if in.Mark != p.Mark {
			return nil, ErrInput.With("inputs", fault.FileChangedSince, in.Name)
		}
		inputs = append(inputs, in)
	}
	return inputs, nil
}

// openInput opens what a source names, with all its volumes.
func (s *Spreader) openInput(ctx context.Context, p partInput) (Input, error) {
	first, err := s.openOneInput(ctx, p)
	if err != nil || p.Volumes == "" {
		return first, err
	}
	volumes := []Input{first}
	for _, name := range strings.Split(p.Volumes, "\n") {
		next := p
		if next.Path != "" {
			next.Path = name
		} else {
			next.Key = name
		}
		in, err := s.openOneInput(ctx, next)
		if err != nil {
			return Input{}, err
		}
		volumes = append(volumes, in)
	}
	return setInput(volumes), nil
}

// describePart tells a person what the part scans.
func (a partArgs) describePart() string {
	if len(a.Inputs) == 0 {
		return "nothing"
	}
	first := a.Inputs[0]
	text := first.Path
	if first.URL != "" {
		text = strings.TrimSuffix(ShownAddress(first.URL), "/")
	} else if first.Bucket != "" {
		text = ShownAddress(first.Bucket) + first.Key
	}
	if len(a.Inputs) > 1 {
		return fmt.Sprintf("%s and %d more", text, len(a.Inputs)-1)
	}
	return text
}

// PartSubject names the job of a part.
func PartSubject(breach string, number int) string { return fmt.Sprintf("%s/%06d", breach, number) }

// RunImportPart runs jobs of KindPart: it scans a part into a segment and puts that into the shared store. A part that is
// scanned again gives the same file, so nothing is duplicated.
func (s *Spreader) RunImportPart(ctx context.Context, run *job.Run) error {
	breach, number, _ := strings.Cut(run.Subject, "/")
	if err := s.checkWanted(ctx, breach); err != nil {
		return err
	}
	var args partArgs
	if err := json.Unmarshal(run.Args, &args); err != nil {
		return ErrInput.With("part", fault.Unreadable).Because(err)
	}
	if run.Attempts > partAttempts {
		return ErrInput.With(args.describePart(), fault.GivenUpStopped, partAttempts)
	}
	err := s.scanPart(ctx, run, breach, number, args)
	// ErrBusy: a worker of this machine that lost the lease has not noticed yet.
	isOthers := ctx.Err() != nil || errors.Is(err, job.ErrLost) || errors.Is(err, job.ErrCancelled) ||
		errors.Is(err, ErrBusy)
	if err != nil && !isOthers && run.Attempts == partAttempts && fault.KindOf(err) != fault.Invalid {
		return ErrInput.With(args.describePart(), fault.GivenUpBecause, partAttempts, err)
	}
	return err
}

// checkWanted refuses parts of an import that is not under way any more.
func (s *Spreader) checkWanted(ctx context.Context, breach string) error {
	j, err := s.Importer.Jobs.NewestJobOf(ctx, KindSpread, breach)
	if err != nil && !errors.Is(err, job.ErrNotFound) {
		return err
	}
	if err != nil || j.State != job.Ready && j.State != job.Running {
		return job.ErrCancelled
	}
	return nil
}

// scanPart scans the inputs of a part to a segment.
func (s *Spreader) scanPart(ctx context.Context, run *job.Run, breach, number string, args partArgs) error {
	limited := *s.Importer
	im := &limited
	im.Limits.Ratio, im.Limits.Bytes = cmp.Or(args.Ratio, im.Limits.Ratio), cmp.Or(args.Limit, im.Limits.Bytes)
	secrets, err := im.Store.SpreadAddresses(ctx, breach)
	if err != nil {
		return err
	}
	inputs, err := s.findInputs(ctx, args, secrets)
	if err != nil {
		return err
	}
	if len(secrets) < args.Passwords {
		return ErrInput.With("password", fault.PasswordsGone)
	}
	im.sweepSpread(breach + "-" + number)
	w, err := openWork(im.spreadDir(breach+"-"+number), inputs, im.Tables, args.NoPairs)
	if err != nil {
		return err
	}
	spec := Spec{Breach: cyber.Breach{Name: breach}, Inputs: inputs, Passwords: secrets[len(secrets)-args.Passwords:]}
	if args.Mapping != "" {
		if spec.Mapping, err = stated.ParseMapping([]byte(args.Mapping)); err != nil {
			return errors.Join(ErrInput.With("mapping", fault.Unreadable).Because(err), w.releaseFolder())
		}
	}
	err = im.scanPart(ctx, run, w, spec, number)
	if err != nil && ctx.Err() != nil {
		return errors.Join(err, w.releaseFolder()) // the next worker on this machine resumes from what was kept
	}
	return errors.Join(err, w.removeFolder())
}

// scanPart scans one part, puts its files in the shared store and keeps their names in the job's progress, from where
// the merge takes them. If the job was lost meanwhile and the import is over, it removes the files again.
func (im *Importer) scanPart(ctx context.Context, run *job.Run, w *work, spec Spec, number string) error {
	var last time.Time
	var before leak.Publication // a file that an earlier try put there keeps its name in the row
	if err := json.Unmarshal(run.Progress, &before); err != nil {
		return fmt.Errorf("read progress: %w", err)
	}
	spec.Progress = func(p Progress) {
		if now := im.Now(); now.Sub(last) > 2*time.Second {
			last, before.Tally = now, leak.Tally{Bytes: p.Read, Found: p.Found}
			_ = run.Save(ctx, before) // the next one will do
		}
	}
	if err := newImportRun(im, w, spec).buildSegment(ctx); err != nil {
		return err
	}
	stem := spec.Breach.Name + ".part-" + number
	state, err := w.publication(stem, stem+"-pairs", ".seg")
	if err != nil {
		return err
	}
	// The name comes first: a file that no row names would stay for ever.
	if err := run.Save(ctx, state); err != nil {
		return err
	}
	if err := w.putFiles(ctx, state, im.Files.PutShared); err != nil {
		return err
	}
	if err := run.Save(ctx, state); errors.Is(err, job.ErrLost) {
		if _, err := im.Jobs.GetJob(
			ctx,
			run.ID,
		); errors.Is(
			err,
			job.ErrNotFound,
		) { // the import is over: no other worker removes the files
			return errors.Join(job.ErrLost, im.removeFiles(ctx, state))
		}
		return job.ErrLost
	} else {
		return err
	}
}

// openOneInput opens one file that a source names.
func (s *Spreader) openOneInput(ctx context.Context, p partInput) (Input, error) {
	switch {
	case p.URL != "":
		return AddressInput(s.Client, p.URL), nil
	case p.Bucket != "":
		found, err := openAndList(ctx, s.Client, p.Bucket, p.Key)
		if err != nil {
			return Input{}, fmt.Errorf("%s%s: %w", ShownAddress(p.Bucket), p.Key, err)
		}
		for _, e := range found {
			if e.Key == p.Key {
				return bucketInput(s.Client, p.Bucket, e), nil
			}
		}
		return Input{}, fmt.Errorf("%s%s: %w", ShownAddress(p.Bucket), p.Key, fs.ErrNotExist)
	}
	info, err := os.Stat(p.Path)
	if err != nil {
		return Input{}, err // names the file
	}
	return fileInput(p.Path, info), nil
}

// WatchParts runs jobs of KindSpread: it waits for the parts, reports their progress, and when all are done merges and
// publishes them. A part that failed for good fails the import; cancelling the import stops the parts.
func (s *Spreader) WatchParts(ctx context.Context, run *job.Run) error {
	im, name := s.Importer, run.Subject
	var args spreadArgs
	if err := json.Unmarshal(run.Args, &args); err != nil {
		return ErrInput.With("import", fault.Unreadable).Because(err)
	}
	for {
		r, err := im.Store.BreachByName(ctx, name)
		if err != nil {
			return err
		}
		if r.State == leak.Published { // a worker died between publishing and cleaning up
			return im.DropParts(ctx, name)
		}
		parts, err := im.Store.ListParts(ctx, name)
		if err != nil {
			return err
		}
		sum, err := sumParts(parts)
		if r.State == leak.Retracted { // the withdrawal takes away what the parts left
			err = errors.Join(err, job.ErrCancelled)
		}
		if err != nil {
			return s.stopParts(ctx, name, err)
		}
		if err := run.Save(ctx, sum.progress(args)); err != nil {
			return s.stopParts(ctx, name, err)
		}
		if sum.done == len(parts) {
			return s.mergeAllParts(ctx, run, name, args, sum)
		}
		if err := job.PauseStep(ctx, s.pauseFor(len(parts))); err != nil {
			return s.stopParts(ctx, name, context.Cause(ctx))
		}
	}
}

// stopParts asks the parts to stop when the import is over; a worker that only stops or lost the lease leaves them to the
// next.
func (s *Spreader) stopParts(ctx context.Context, name string, err error) error {
	if errors.Is(err, job.ErrCancelled) || errors.Is(err, ErrInput) {
		return errors.Join(err, s.Importer.Store.StopParts(context.WithoutCancel(ctx), name))
	}
	return err
}

// spreadSum is what all parts have done.
type spreadSum struct {
	tally         leak.Tally
	done, running int
	trouble       string
	files         []leak.Publication
}

// sumParts sums up; a part that failed is an ErrInput that says which.
func sumParts(parts []job.Job) (spreadSum, error) {
	sum := spreadSum{tally: leak.Tally{Found: map[string]int64{}}}
	for i, j := range parts {
		if j.State == job.Failed {
			return sum, ErrInput.With("", fault.PartFailed, i+1, len(parts), fault.Recall(j.Error))
		}
		var p leak.Publication
		if err := json.Unmarshal(j.Progress, &p); err != nil {
			return sum, fmt.Errorf("read progress: %w", err)
		}
		switch j.State {
		case job.Done:
			sum.done++
			sum.files = append(sum.files, p)
		case job.Running:
			sum.running++
		case job.Ready, job.Failed, job.Cancelled:
		}
		if j.State != job.Done && j.Error != "" {
			sum.trouble = fmt.Sprintf("part %d: %s", i+1, j.Error)
		}
		sum.tally.AddTally(p.Tally)
	}
	return sum, nil
}

// progress returns the sum over all parts as the progress of one import.
func (s spreadSum) progress(args spreadArgs) Progress {
	return Progress{
		Read: s.tally.Bytes, Total: max(0, args.Bytes), Scanned: s.tally.Scanned, Found: s.tally.Found,
		Parts: args.Parts, PartsDone: s.done, PartsRunning: s.running, Trouble: s.trouble,
	}
}

// mergeAllParts puts the final segment together out of the parts, publishes it and takes the parts away. Every step can be
// repeated.
func (s *Spreader) mergeAllParts(ctx context.Context, run *job.Run, name string, args spreadArgs, sum spreadSum) error {
	for reason, n := range args.Refused {
		sum.tally.Unread, sum.tally.Problems = sum.tally.Unread+n, sum.tally.Problems+n
		sum.tally.CountReason(reason, n)
	}
	if doubt := sum.tally.DoubtReason(); doubt != nil && !args.Force {
		err := errors.Join(s.Importer.DropParts(ctx, name), s.Importer.Store.DropImport(ctx, name))
		return errors.Join(err, ErrInput.With("inputs", fault.DoubtfulImport, doubt.Said()))
	}
	s.merging.Lock() // sorting takes memory, and a worker may watch several imports
	defer s.merging.Unlock()
	im := s.Importer
	p := sum.progress(args)
	p.Merging = true
	if err := run.Save(ctx, p); err != nil {
		return s.stopParts(ctx, name, err)
	}
	im.sweepSpread(name)
	dir := im.spreadDir(name)
	lock, err := lockFolder(dir)
	if err != nil {
		return err
	}
	w := newWorkFolder(dir, lock, im.Tables)
	w.last.Tally = sum.tally
	if err = s.mergeParts(ctx, w, sum.files); err == nil {
		err = im.publishBreach(ctx, w, name)
	}
	if errors.Is(err, leak.ErrRetracted) {
		err = job.ErrCancelled
	}
	if err := errors.Join(err, w.removeFolder()); err != nil {
		return s.stopParts(ctx, name, err)
	}
	_ = run.Save(ctx, p.Ended(w.last.Tally)) // it is published, whether its last figures are kept or not
	return im.DropParts(ctx, name)
}

// mergeParts merges the segments of all parts, and their pairs, into one in the folder w. All parts stay open until the
// merge is done.
func (s *Spreader) mergeParts(ctx context.Context, w *work, files []leak.Publication) error {
	out, err := w.beginPart(s.Importer.sortMemory())
	if err != nil {
		return err
	}
	defer out.abortAll()
	for _, p := range files {
		r, err := s.openPart(ctx, p.File, p.Digest)
		if err := w.mergeKeys(out, r, err); err != nil {
			return fmt.Errorf("merge parts: %s: %w", p.File, err)
		}
		if p.Pairs == "" {
			continue
		}
		pairs, err := s.openPart(ctx, p.Pairs, p.PairsDigest)
		if err := w.mergePairs(out, pairs, err); err != nil {
			return fmt.Errorf("merge parts: %s: %w", p.Pairs, err)
		}
	}
	return w.keepFinal(ctx, out, w.last.Tally)
}

// openPart opens a file of a part and checks its digest. A file that is missing from a store that is not shared was
// written on another machine, and the error says so.
func (s *Spreader) openPart(ctx context.Context, file, digest string) (*segment.Reader, error) {
	r, err := s.Importer.Files.Open(ctx, file, digest)
	if errors.Is(err, library.ErrMissing) && !s.Importer.Files.IsShared() {
		err = ErrInput.With("parts", fault.NotInThisFolder, file)
	}
	return r, err
}

// removeFiles takes the files of a publication away everywhere.
func (im *Importer) removeFiles(ctx context.Context, p leak.Publication) error {
	for _, name := range []string{p.File, p.Pairs} {
		if name == "" {
			continue
		}
		if err := im.Files.RemoveFile(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// DropParts takes away all that the parts of a breach left: their files, then the rows that name them.
func (im *Importer) DropParts(ctx context.Context, name string) error {
	parts, err := im.Store.ListParts(ctx, name)
	if err != nil || len(parts) == 0 {
		return err
	}
	for _, j := range parts {
		var p leak.Publication
		if err := json.Unmarshal(j.Progress, &p); err != nil {
			return fmt.Errorf("read progress: %w", err)
		}
		if err := im.removeFiles(ctx, p); err != nil {
			return err
		}
	}
	return im.Store.DropParts(ctx, name)
}

// spreadFolder holds the work of parts and merges; no breach is called like this.
const spreadFolder = ".spread"

// spreadDir returns the folder on this machine for a part or a merge of a spread import.
func (im *Importer) spreadDir(name string) string { return filepath.Join(im.Dir, spreadFolder, name) }

// sweepSpread removes the folders that killed processes left on this machine, except the one that the caller resumes.
// A folder in use is locked and stays.
func (im *Importer) sweepSpread(except string) {
	folders, err := os.ReadDir(filepath.Join(im.Dir, spreadFolder))
	if err != nil {
		return // there is none yet
	}
	for _, f := range folders {
		if f.Name() != except {
			_ = discardFolder(im.spreadDir(f.Name())) // the next part tries again
		}
	}
}
