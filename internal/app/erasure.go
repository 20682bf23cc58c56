package app

import (
	"context"
	"io"
	"path/filepath"
	"time"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/platform/config"
	"github.com/vigiahq/vigia/internal/platform/durable"
	"github.com/vigiahq/vigia/internal/subject"
)

// eraseTime bounds how long an erasure waits for readers to let go of deleted bytes.
const eraseTime = time.Minute

// ErasureLog returns where tombstones are kept outside the database: a restored backup older than an erasure is cleaned
// with it.
func ErasureLog(c config.Common) string { return filepath.Join(c.Data, "erasures.jsonl") }

// EraseSubject erases a person and notes the tombstones in the log of this machine's data folder.
func (a *App) EraseSubject(
	ctx context.Context, who operator.Actor, p subject.Person, reason string,
) (subject.Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, eraseTime)
	defer cancel()
	return a.Subjects.ErasePerson(ctx, who, p, reason, a.logErasures)
}

// logErasures notes tombstones in the log of this machine's data folder.
func (a *App) logErasures(stones []subject.Tombstone) error {
	return durable.AppendToFile(
		ErasureLog(a.Config), func(w io.Writer) error { return subject.WriteTombstones(w, stones) },
	)
}

// runDueErasures carries out the erasures that partners asked for a day ago.
func (a *App) runDueErasures(ctx context.Context) (int, error) {
	return a.Subjects.RunDueErasures(ctx, false, a.logErasures)
}

// runSandboxErasures carries out those of sandboxes at once, when a sandbox's clock was moved.
func (a *App) runSandboxErasures(ctx context.Context) (int, error) {
	return a.Subjects.RunDueErasures(ctx, true, a.logErasures)
}

// resumeErasures ends erasures that were left half way, by a process that was killed for instance.
func (a *App) resumeErasures(ctx context.Context) (int, error) {
	return a.Subjects.ResumeErasures(ctx, a.logErasures)
}
