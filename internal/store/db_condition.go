package store

import (
	"context"
	"strconv"
	"time"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
)

// conditions gathers the parts of a WHERE and their arguments.
type conditions struct {
	text string
	args []any
}

// addCondition appends a condition whose text ends where the mark of its argument goes.
func (c *conditions) addCondition(text string, arg any) {
	c.args = append(c.args, arg)
	c.text += ` AND ` + text + `$` + strconv.Itoa(len(c.args))
}

// addFilter appends a condition unless its value is the zero one, which leaves the filter open.
func addFilter[T comparable](c *conditions, text string, value T) {
	var open T
	if value != open {
		c.addCondition(text, value)
	}
}

// livePartner is the condition that a column holds a partner that is no sandbox: what is made up there belongs in no
// figure of the service and in no list of all partners.
func livePartner(column string) string {
	return column + ` IN (SELECT live.id FROM partner live WHERE live.mode = '` + string(partner.Live) + `')`
}

// addLiveOnly appends that a column holds a live partner, when that is asked for.
func (c *conditions) addLiveOnly(column string, wanted bool) {
	if wanted {
		c.text += ` AND ` + livePartner(column)
	}
}

// addPerson appends that a column holds one of a person's indexes, unless the filter names no person.
func (c core) addPerson(
	ctx context.Context, to *conditions, column string, id partner.ID, hash partner.UserHash,
) error {
	if hash == "" {
		return nil
	}
	u, err := c.findUser(ctx, c.readQuerier(), id, hash)
	to.addEither(column, u.write, u.other)
	return err
}

// addOrder appends where a list goes on, and returns its order by two columns, a time and an id.
func (c *conditions) addOrder(at, id string, m cyber.Mark, oldestFirst bool) string {
	past, way := ` < `, ` DESC`
	if oldestFirst {
		past, way = ` > `, ``
	}
	if m.ID != "" {
		c.args = append(c.args, m.At, m.ID)
		n := len(c.args)
		c.text += ` AND (` + at + `, ` + id + `)` + past + `($` + strconv.Itoa(n-1) + `, $` + strconv.Itoa(n) + `)`
	}
	return ` ORDER BY ` + at + way + `, ` + id + way
}

// addPeriod appends bounds of a time; a zero one does not bound.
func (c *conditions) addPeriod(column string, from, to time.Time) {
	if !from.IsZero() {
		c.addCondition(column+` >= `, from)
	}
	if !to.IsZero() {
		c.addCondition(column+` < `, to)
	}
}

// addEither appends that a column holds one of two values.
func (c *conditions) addEither(column string, one, other []byte) {
	c.args = append(c.args, one, other)
	n := len(c.args)
	c.text += ` AND ` + column + ` IN ($` + strconv.Itoa(n-1) + `, $` + strconv.Itoa(n) + `)`
}

// addPastCondition appends that columns lie past values, all of them together.
func (c *conditions) addPastCondition(columns, way string, values ...any) {
	marks := ""
	for _, v := range values {
		c.args = append(c.args, v)
		marks += `, $` + strconv.Itoa(len(c.args))
	}
	c.text += ` AND (` + columns + `) ` + way + ` (` + marks[2:] + `)`
}

// addLimit appends how many rows are wanted.
func (c *conditions) addLimit(n int) string {
	c.args = append(c.args, max(n, 1))
	return ` LIMIT $` + strconv.Itoa(len(c.args))
}

// retracted is a resolution as it stands in a statement: a constant of ours.
const retracted = `'` + string(cyber.ResolvedRetracted) + `'`
