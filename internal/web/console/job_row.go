package console

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/vigiahq/vigia/internal/corpus/password"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/platform/job"
	"github.com/vigiahq/vigia/internal/platform/seal"
)

// jobRow is a job as a page shows it.
type jobRow struct {
	job.Job
	// Label is its kind in words, Text where it stands, Percent how far it is; -1 when that is not known.
	Label, Text string
	Percent     float64
	// now is when the page is made.
	now time.Time
}

// isStalled reports whether the job runs but its process has not renewed the lease in time.
func (j jobRow) isStalled() bool {
	return j.State == job.Running && j.NextAt.Before(j.now.Add(-job.Lease))
}

// Over reports whether nothing more will happen to it.
func (j jobRow) Over() bool { return j.State != job.Ready && j.State != job.Running }

// newJobRow returns a job as a row of a table. Each kind of job keeps its progress in its own form, read here into a
// text.
func newJobRow(j job.Job, now time.Time) jobRow {
	row := jobRow{Job: j, Label: cmp.Or(jobKinds[j.Kind], j.Kind), Percent: -1, now: now}
	switch j.Kind {
	case intake.KindImport, intake.KindRenew:
		row.importText()
	case leak.KindMatch:
		var p leak.MatchProgress
		if json.Unmarshal(j.Progress, &p) == nil {
			row.Text = countWithWord(p.Probed, "dado conferido", "dados conferidos") +
				", " + countWithWord(p.Hits, "encontrado", "encontrados")
		}
	case leak.KindVerify:
		var p leak.Verified
		if json.Unmarshal(j.Progress, &p) == nil && j.State == job.Done {
			row.Text = "Todos os bytes conferem: " + countWithWord(int64(p.Keys), "impressão", "impressões")
		}
	case password.KindVerify:
		if j.State == job.Done {
			row.Text = "Todos os bytes conferem"
		}
	case password.KindImport, password.KindDownload:
		row.passwordText()
	case seal.KindRewrite:
		row.rewriteText()
	case KindExport, KindBulk:
		var p listWork
		if json.Unmarshal(j.Progress, &p) == nil {
			row.Text = countWithWord(p.Lines, "linha", "linhas")
		}
		if p.Refused > 0 {
			row.Text += ", " + countWithWord(p.Refused, "já estava assim", "já estavam assim")
		}
	}
	switch {
	case j.State == job.Ready && row.Text == "":
		row.Text = "Na fila"
	case j.State == job.Failed:
		row.Text = "Falhou: " + failureText(j.Error)
	case j.State == job.Cancelled:
		row.Text = "Cancelada"
	case row.isStalled():
		row.Text = "Sem sinal do processo que a fazia"
	case j.CancelAsked && !row.Over():
		row.Text = "Cancelando…"
	}
	return row
}

// importing returns the progress of an import; false for a job of another kind, and before the first progress.
func (row *jobRow) importing() (p intake.Progress, told bool) {
	switch row.Kind {
	case intake.KindImport, intake.KindRenew:
		err := json.Unmarshal(row.Progress, &p)
		return p, err == nil && (p.Read > 0 || p.Total > 0)
	}
	return p, false
}

// importText sets the text and the percentage of an import: bytes read, values found and the pace.
func (row *jobRow) importText() {
	p, told := row.importing()
	if !told {
		return
	}
	var found int64
	for _, n := range p.Found {
		found += n
	}
	pace := p.CurrentPace()
	row.Text = formatByteSize(p.Read)
	if pace.Percent >= 0 && row.State != job.Done {
		row.Text += " de " + formatByteSize(p.Total)
	}
	row.Text += " lidos, " + countWithWord(found, "identificador encontrado", "identificadores encontrados")
	if p.Distinct > 0 {
		row.Text += ", " + countWithWord(p.Distinct, "impressão no índice", "impressões no índice")
	}
	switch row.Percent = pace.Percent; {
	case row.State == job.Done:
		row.Percent = 100
	case p.Merging:
		row.Text += ", montando o índice"
	default:
		row.Text += describePace(pace)
	}
}

// describePace tells how fast bytes are read and when that will be over.
func describePace(p job.Pace) (text string) {
	if p.Percent >= 0 {
		text = ", " + formatDecimal(p.Percent) + " %"
	}
	if p.PerSecond > 0 {
		text += ", " + formatByteSize(int64(p.PerSecond)) + "/s"
	}
	if p.Left > 0 {
		text += ", " + formatTimeLeft(p.Left)
	}
	return text
}

// passwordText tells of bytes for an import, of ranges for a download.
func (row *jobRow) passwordText() {
	var p password.Progress
	if json.Unmarshal(row.Progress, &p) != nil || p.Bytes == 0 {
		return
	}
	row.Text = formatByteSize(p.Bytes) + " lidos, " + countWithWord(int64(p.Hashes), "senha", "senhas")
	if row.State != job.Running {
		return
	}
	elapsed := row.now.Sub(row.CreatedAt)
	pace := job.EstimatePace(p.Done, 0, p.Total, elapsed)
	row.Percent = pace.Percent
	pace.PerSecond = job.EstimatePace(p.Bytes, 0, 0, elapsed).PerSecond // a download counts ranges
	row.Text += describePace(pace)
}

// rewriteText sets the text and the percentage of a job that seals values again under a new key.
func (row *jobRow) rewriteText() {
	var p struct{ Column, Columns, Rewritten int64 }
	if json.Unmarshal(row.Progress, &p) != nil || p.Columns == 0 {
		return
	}
	row.Text = countWithWord(p.Rewritten, "valor selado de novo", "valores selados de novo")
	row.Percent = float64(p.Column) * 100 / float64(p.Columns)
}

// newJobRows returns jobs as a page shows them.
func (c *Console) newJobRows(list []job.Job) []jobRow {
	rows := make([]jobRow, len(list))
	for i, j := range list {
		rows[i] = newJobRow(j, c.Now())
	}
	return rows
}

// recentJobs are the latest jobs around what a page shows, newest first.
type recentJobs struct{ Jobs []jobRow }

// Busy returns the job that is running; nil when none is.
func (p recentJobs) Busy() *jobRow {
	for i := range p.Jobs {
		if j := &p.Jobs[i]; !j.Over() && !j.isStalled() && (j.State == job.Running || j.NextAt.Before(j.now)) {
			return j
		}
	}
	return nil
}

// latestJobs returns the newest jobs of some kinds, newest first.
func (c *Console) latestJobs(ctx context.Context, most int, kinds ...string) ([]jobRow, error) {
	var rows []jobRow
	for _, kind := range kinds {
		list, err := c.Rules.Jobs.ListJobs(ctx, kind, most)
		if err != nil {
			return nil, err
		}
		rows = append(rows, c.newJobRows(list)...)
	}
	slices.SortStableFunc(rows, func(a, b jobRow) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return rows[:min(len(rows), most)], nil
}
