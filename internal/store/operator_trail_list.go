package store

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
)

// clockDrift is by how much the clocks of replicas may differ: lines are numbered in the order of their commits, and
// nearly in that of their times.
const clockDrift = time.Minute

// ListLines returns lines of the trail, newest first unless the filter turns them round.
func (s Audit) ListLines(ctx context.Context, f operator.Filter) ([]operator.Entry, error) {
	var c conditions
	if f.Actor != "" {
		c.addCondition(`actor = `, f.Actor)
	}
	if f.Action != "" {
		c.addCondition(`action = `, f.Action)
	}
	if f.Subject != "" {
		c.addCondition(`subject = `, f.Subject)
	}
	if !f.From.IsZero() { // the time's index finds where the period lies, and numbers are walked from there
		c.addCondition(`at >= `, f.From)
		c.addCondition(`seq > coalesce((SELECT seq FROM audit WHERE at < `, f.From.Add(-clockDrift))
		c.text += ` ORDER BY at DESC, seq DESC LIMIT 1), 0)`
	}
	if !f.To.IsZero() {
		c.addCondition(`at < `, f.To)
		c.addCondition(`seq < coalesce((SELECT seq FROM audit WHERE at >= `, f.To.Add(clockDrift))
		c.text += ` ORDER BY at, seq LIMIT 1), ` + strconv.Itoa(math.MaxInt64) + `)`
	}
	order := ` ORDER BY seq DESC`
	switch {
	case f.OldestFirst:
		order = ` ORDER BY seq`
		c.addCondition(`seq > `, f.Before)
	case f.Before > 0:
		c.addCondition(`seq < `, f.Before)
	}
	order += c.addLimit(f.Limit)
	if f.Partner != "" {
		people, err := s.partnerOperators(ctx, f.Partner)
		if err != nil || len(people) == 0 {
			return nil, err
		}
		c.text = ` AND seq IN (` + lineNumbersOf(people, c.text+order, &c.args) + `)`
	}
	return collectRows(
		ctx,
		s.readQuerier(),
		s.scanEntry,
		`SELECT `+auditColumns+` FROM audit WHERE true`+c.text+order,
		c.args...,
	)
}

// partnerOperators returns a partner's own people.
func (s Audit) partnerOperators(ctx context.Context, id partner.ID) ([]operator.ID, error) {
	return collectValues[operator.ID](
		ctx,
		s.readQuerier(),
		`SELECT id FROM operator WHERE works_for = $1 ORDER BY id`,
		id,
	)
}

// peopleParts is into how many parts people are put when there are very many: no engine takes hundreds in one
// statement.
const peopleParts = 50

// lineNumbersOf returns the numbers of the first lines that people wrote or that are about them, each found by an
// index: asked for together, all of the trail would be walked for the few of a small partner's.
func lineNumbersOf(people []operator.ID, rest string, args *[]any) string {
	var each []string
	for part := range slices.Chunk(people, max(1, len(people)/peopleParts)) {
		marks := appendMarks(args, part)
		for _, column := range []string{"actor", "subject"} {
			each = append(
				each,
				`SELECT seq FROM (SELECT seq FROM audit WHERE `+column+` IN (`+marks+`)`+rest+`) AS lines`,
			)
		}
	}
	return strings.Join(each, ` UNION `)
}
