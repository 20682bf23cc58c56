package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/corpus/password"
	"github.com/vigiahq/vigia/internal/dump/feed"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/platform/job"
	"github.com/vigiahq/vigia/internal/platform/seal"
	"github.com/vigiahq/vigia/internal/platform/telemetry"
)

// Jobs shows and cancels work that outlives a request.
type Jobs interface {
	ListJobs(ctx context.Context, kind string, limit int) ([]job.Job, error)
	ListJobsAbout(ctx context.Context, subject string, kinds []string, limit int) ([]job.Job, error)
	GetJob(ctx context.Context, id job.ID) (job.Job, error)
	CancelJob(ctx context.Context, id job.ID) error
}

var jobKinds = map[string]string{
	intake.KindImport:     "Importação de vazamento",
	leak.KindMatch:        "Busca nos dados monitorados",
	leak.KindWithdraw:     "Retirada de ocorrências",
	leak.KindRestate:      "Recálculo de situações",
	leak.KindSites:        "Conferência de sites",
	leak.KindVerify:       "Conferência do índice",
	feed.KindRun:          "Leitura de fonte",
	intake.KindRenew:      "Renovação de vazamento",
	password.KindImport:   "Importação de senhas vazadas",
	password.KindDownload: "Download de senhas vazadas",
	KindExport:            "Exportação de lista",
	KindBulk:              "Ação em muitas linhas",
	password.KindVerify:   "Conferência das senhas vazadas",
	seal.KindRewrite:      "Troca de chaves de cifra",
}

// jobsPage is work in the background, and how fast this process answered partners.
type jobsPage struct {
	Jobs    []jobRow
	Latency []telemetry.Latency
}

func showJobs(c *Console, r *request) (answer, error) {
	jobs, err := c.latestJobs(r.Context(), perPage, "")
	return newView("jobs", "Tarefas", jobsPage{Jobs: jobs, Latency: c.Latency()}, err)
}

// cancelJob asks a job to stop and returns to the page that the button was on.
func cancelJob(c *Console, r *request) (answer, error) {
	id := job.ID(r.PathValue("id"))
	next := redirect{localPath(r.trimmedField("back")), "job.cancelled"}
	return c.changeAndRedirect(r, "job.cancel", next, func(ctx context.Context, in *Rules) (string, string, error) {
		j, err := in.Jobs.GetJob(ctx, id)
		if err != nil {
			return "", "", err
		}
		return string(id), j.Kind + " " + j.Subject, in.Jobs.CancelJob(ctx, id)
	})
}

const (
	streamEvery = 400 * time.Millisecond
	// streamFor ends a stream; the browser opens the next one by itself.
	streamFor = 5 * time.Minute
)

// followJob streams where a job stands until it is over.
func followJob(c *Console, r *request) (answer, error) {
	id := job.ID(r.PathValue("id"))
	if _, err := c.Rules.Jobs.GetJob(r.Context(), id); err != nil {
		return nil, err
	}
	return stream(func(ctx context.Context, w http.ResponseWriter) error {
		control := http.NewResponseController(w)
		w.Header().Set("content-type", "text/event-stream")
		ctx, cancel := context.WithTimeout(ctx, streamFor)
		defer cancel()
		last := ""
		for {
			j, err := c.Rules.Jobs.GetJob(ctx, id)
			if err != nil {
				if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
					return nil // the stream's time is over
				}
				return err
			}
			row := newJobRow(j, c.Now())
			text, err := json.Marshal(map[string]any{"percent": row.Percent, "text": row.Text, "done": row.Over()})
			if err != nil {
				return err
			}
			if line := string(text); line != last {
				last = line
				deadline := time.Now().Add(10 * time.Second) //nolint:forbidigo // of a connection
				_ = control.SetWriteDeadline(deadline)       // a server without deadlines refuses
				if _, err := fmt.Fprintf(w, "data: %s\n\n", strings.ReplaceAll(line, "\n", " ")); err != nil {
					return nil // the reader has gone
				}
				if err := control.Flush(); err != nil {
					return nil // the reader has gone
				}
			}
			if row.Over() || c.Stopping() {
				return nil
			}
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(streamEvery):
			}
		}
	}), nil
}
