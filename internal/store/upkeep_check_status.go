package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/partner"
)

// restating are the breaches whose statuses a job is about to bring in line.
const restating = `SELECT subject FROM job
	WHERE kind IN ('` + leak.KindRestate + `', '` + leak.KindWithdraw + `') AND state IN ('ready', 'running')`

// checkStatuses computes the status and the open breaches of every watched value from its findings, value and findings
// read at one moment. Values whose status a job is about to bring in line are left to it.
func (s Upkeep) checkStatuses(ctx context.Context, found func(Problem), seen func(int64)) error {
	type row struct {
		partner partner.ID
		id      string
		status  cyber.Status
		open    string
		waiting bool
		finding cyber.Finding
	}
	var looked int64
	for after := (checkMark{}); ; {
		rows, err := collectRows(ctx, s.readQuerier(), func(sc scanner, r *row) error {
			var classes sql.NullInt64
			var status, resolution string // as they are: an unknown one is to be told of, not refused
			b := &r.finding.Breach
			err := sc.Scan(
				&r.partner,
				&r.id,
				&status,
				&r.open,
				&r.finding.ID,
				&b.Name,
				&resolution,
				&b.Kind,
				splitsTexts(&b.Exposes),
				&b.Fabricated,
				&b.SpamList,
				&classes,
				&r.waiting,
				&r.finding.Quiet,
			)
			r.status, r.finding.Resolution = cyber.Status(status), cyber.Resolution(resolution)
			*b = b.ForTrace(cyber.Trace{Told: classes.Valid, Classes: cyber.Classes(classes.Int64)})
			return err
		}, `SELECT a.partner_id, a.id, a.status, a.open_breaches, coalesce(f.id, ''), coalesce(f.breach, ''),
			coalesce(f.resolution, ''), coalesce(b.kind, ''), coalesce(b.exposes, ''),
				coalesce(b.fabricated, FALSE), coalesce(b.spam_list, FALSE), f.classes,
				coalesce(f.breach IN (`+restating+`), FALSE), coalesce(f.quiet, FALSE)
			FROM (SELECT partner_id, id, status, open_breaches FROM asset WHERE (partner_id, id) > ($1, $2)
			ORDER BY partner_id, id LIMIT $3) a
			LEFT JOIN finding f ON f.partner_id = a.partner_id AND f.asset_id = a.id
			LEFT JOIN breach b ON b.name = f.breach ORDER BY a.partner_id, a.id, f.found_at, f.id`,
			after.partner,
			after.id,
			checkBatch,
		)
		if err != nil {
			return err
		}
		n := 0
		for len(rows) > 0 {
			first, waiting := rows[0], false
			var findings []cyber.Finding
			for len(rows) > 0 && rows[0].id == first.id && rows[0].partner == first.partner {
				if waiting = waiting || rows[0].waiting; rows[0].finding.ID != "" {
					findings = append(findings, rows[0].finding)
				}
				rows = rows[1:]
			}
			if want := cyber.ComputeStatus(findings); want != first.status && !waiting {
				found(
					Problem{
						"statuses",
						"asset " + first.id,
						fmt.Sprintf("is %s; from its findings it is %s", first.status, want),
					},
				)
			}
			if sortedWords(cyber.JoinBreachNames(findings)) != sortedWords(first.open) {
				found(Problem{"statuses", "asset " + first.id, "its list of open breaches is not that of its findings"})
			}
			n, after.partner, after.id = n+1, first.partner, first.id
		}
		looked += int64(n)
		seen(looked)
		if n < checkBatch {
			return nil
		}
	}
}

// sortedWords returns the words in a fixed order, so that two lists of names can be compared as sets.
func sortedWords(text string) string {
	words := strings.Fields(text)
	slices.Sort(words)
	return strings.Join(words, " ")
}
