package console

import (
	"strings"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/corpus/password"
	"github.com/vigiahq/vigia/internal/dump/intake"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/platform/job"
	"github.com/vigiahq/vigia/internal/platform/seal"
)

// TestJobRow: where a job stands, in words and parts of a hundred.
func TestJobRow(t *testing.T) {
	for name, c := range map[string]struct {
		job     job.Job
		text    string
		percent float64
	}{
		"queued": {job.Job{Kind: "other", State: job.Ready}, "Na fila", -1},
		"failed": {
			job.Job{Kind: "other", State: job.Failed, Error: "disk full"},
			"Falhou: o registro do servidor tem o motivo.", -1,
		},
		"cancelled":  {job.Job{Kind: "other", State: job.Cancelled}, "Cancelada", -1},
		"cancelling": {job.Job{Kind: "other", State: job.Running, CancelAsked: true, NextAt: noon}, "Cancelando…", -1},
		"stalled": {
			job.Job{Kind: "other", State: job.Running, NextAt: noon.Add(-job.Lease - time.Second)},
			"Sem sinal do processo que a fazia", -1,
		},
		"import": {
			job.Job{
				Kind: intake.KindImport, State: job.Running, NextAt: noon, CreatedAt: noon,
				Progress: []byte(`{"read":2000,"total":4000}`),
			},
			"2,0 kB de 4,0 kB lidos, 0 identificadores encontrados, 50,0 %", 50,
		},
		"import at work": {
			job.Job{
				Kind: intake.KindImport, State: job.Running, NextAt: noon,
				Progress: []byte(`{"Read":112000000,"Before":12000000,"Total":224000000,"Elapsed":10000000000,"Found":{"email":400,"cpf":52}}`),
			},
			"112,0 MB de 224,0 MB lidos, 452 identificadores encontrados, 50,0 %, 10,0 MB/s, faltam 11,0 s", 50,
		},
		"import told nothing yet": {
			job.Job{Kind: intake.KindImport, State: job.Running, NextAt: noon, Progress: []byte(`{}`)}, "", -1,
		},
		"import done": {
			job.Job{
				Kind: intake.KindImport, State: job.Done,
				Progress: []byte(`{"Read":112000000,"Total":112000000,"Found":{"email":452},"Distinct":451}`),
			},
			"112,0 MB lidos, 452 identificadores encontrados, 451 impressões no índice", 100,
		},
		"match": {
			job.Job{
				Kind: leak.KindMatch, State: job.Running, NextAt: noon, Progress: []byte(`{"probed":1500,"hits":2}`),
			},
			"1.500 dados conferidos, 2 encontrados", -1,
		},
		"verified passwords": {job.Job{Kind: password.KindVerify, State: job.Done}, "Todos os bytes conferem", -1},
		"rewritten": {
			job.Job{
				Kind: seal.KindRewrite, State: job.Running, NextAt: noon,
				Progress: []byte(`{"Column":1,"Columns":4,"Rewritten":1234}`),
			},
			"1.234 valores selados de novo", 25,
		},
		"unreadable": {
			job.Job{Kind: intake.KindImport, State: job.Running, NextAt: noon, Progress: []byte(`[`)}, "", -1,
		},
	} {
		row := newJobRow(c.job, noon)
		if row.Text != c.text || row.Percent != c.percent || row.Label == "" {
			t.Errorf(
				"%s: %q, %v %%, label %q; want %q, %v %%",
				name,
				row.Text,
				row.Percent,
				row.Label,
				c.text,
				c.percent,
			)
		}
	}
	merging := newJobRow(
		job.Job{
			Kind:     intake.KindImport,
			State:    job.Running,
			NextAt:   noon,
			Progress: []byte(`{"read":1,"merging":true}`),
		},
		noon,
	)
	if !strings.HasSuffix(merging.Text, "montando o índice") {
		t.Errorf("%+v", merging)
	}
}

// TestBusy: a page follows the job that is at work: not one that is over, that waits for its next try, or whose process
// is gone.
func TestBusy(t *testing.T) {
	c := &Console{Options: Options{Now: func() time.Time { return noon }}}
	rows := c.newJobRows([]job.Job{
		{ID: "done", State: job.Done},
		{ID: "waits", State: job.Ready, NextAt: noon.Add(time.Minute)},
		{ID: "gone", State: job.Running, NextAt: noon.Add(-job.Lease - time.Second)},
		{ID: "works", State: job.Running, NextAt: noon.Add(job.Lease)},
	})
	if got := (recentJobs{rows}).Busy(); got == nil || got.ID != "works" {
		t.Errorf("%+v", got)
	}
	if got := (recentJobs{rows[:3]}).Busy(); got != nil {
		t.Errorf("%+v", got)
	}
	due := c.newJobRows([]job.Job{{ID: "due", State: job.Ready, NextAt: noon.Add(-time.Second)}})
	if got := (recentJobs{due}).Busy(); got == nil {
		t.Error("a job that is due is about to begin")
	}
}
