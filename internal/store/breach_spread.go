package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/vigiahq/vigia/internal/fault"
	"github.com/vigiahq/vigia/internal/intake"
	"github.com/vigiahq/vigia/internal/job"
	"github.com/vigiahq/vigia/internal/leak"
	"github.com/vigiahq/vigia/internal/seal"
	"github.com/vigiahq/vigia/internal/sqldb"
)

// The parts of a spread import are jobs whose subject is the breach's name, a slash and a number; no name has a slash
// in it. Their beginnings are compared, because what comes after what is another question in each collation.
const partsOf = `kind = 'breach.part' AND substr(subject, 1, $2) = $1`

// partsPrefix returns the arguments of partsOf: how the subjects of a breach's parts begin, and the length of that.
func partsPrefix(breach string) (prefix string, length int64) {
	return breach + "/", int64(len(breach) + 1)
}

// AddSpreadImport stores a breach, the job that watches over its import, and the parts. One with the same parts goes
// on: what is done stays.
func (s Breaches) AddSpreadImport(ctx context.Context, r leak.Record, args any, parts []any, addresses []string) error {
	return s.runInTx(ctx, func(tx *sqldb.Tx) error {
		err := s.insertBreach(ctx, tx, r)
		fresh := err == nil
		if err != nil && !errors.Is(err, leak.ErrBreachExists) {
			return err
		}
		if err := lockBreach(ctx, tx, r.Name); err != nil {
			return err
		}
		if !fresh {
			kept, err := s.breachByName(ctx, tx, r.Name)
			if err == nil {
				err = kept.CheckCanContinue()
			}
			if err != nil {
				return err
			}
		}
		if _, err := s.jobsArea().insertJob(ctx, tx, intake.KindSpread, r.Name, args); err != nil {
			return err
		}
		if fresh {
			if err := s.insertAddresses(ctx, tx, r.Name, addresses); err != nil {
				return err
			}
			for i, p := range parts {
				if _, err := s.jobsArea().insertJob(ctx, tx, intake.KindPart, intake.PartSubject(r.Name, i+1), p); err != nil {
					return err
				}
			}
			return nil
		}
		return s.retrySameParts(ctx, tx, r.Name, parts)
	})
}

// sourcePlace binds the sealed addresses of an import to its breach: signed links may be secrets.
func sourcePlace(breach string) seal.Place {
	return seal.Place{Table: "import_source", Column: "addresses", Row: breach}
}

// insertAddresses stores, sealed, the addresses that the parts of an import are downloaded from. Without any it stores
// nothing.
func (s Breaches) insertAddresses(ctx context.Context, tx *sqldb.Tx, breach string, addresses []string) error {
	if len(addresses) == 0 {
		return nil
	}
	text, err := json.Marshal(addresses)
	if err != nil {
		return fmt.Errorf("add spread: %w", err)
	}
	sealed, err := s.keys.Seal(sourcePlace(breach), text)
	if err != nil {
		return err
	}
	return execStatement(ctx, tx, "add spread", `INSERT INTO import_source (breach, addresses) VALUES ($1, $2)`, breach, sealed)
}

// SpreadAddresses returns the addresses with secrets of a breach's import; none when it has none.
func (s Breaches) SpreadAddresses(ctx context.Context, breach string) (addresses []string, err error) {
	var sealed []byte
	err = s.readQuerier().QueryRowContext(ctx, `SELECT addresses FROM import_source WHERE breach = $1`, breach).Scan(&sealed)
	if errors.Is(err, sql.ErrNoRows) {
		return []string{}, nil
	}
	if err != nil {
		return nil, classifyError(err)
	}
	text, err := s.keys.Unseal(sourcePlace(breach), sealed)
	if err != nil {
		return nil, fmt.Errorf("read addresses: %w", err)
	}
	return addresses, json.Unmarshal(text, &addresses)
}

// retrySameParts lets the parts of an import that failed or was cancelled be tried anew.
func (s Breaches) retrySameParts(ctx context.Context, tx *sqldb.Tx, name string, parts []any) error {
	prefix, length := partsPrefix(name)
	kept, err := collectRows(ctx, tx, scanJobRow, `SELECT `+jobColumns+` FROM job WHERE `+partsOf+` ORDER BY subject`, prefix, length)
	if err != nil {
		return err
	}
	if len(kept) == 0 {
		return intake.ErrBusy.With("name", fault.BegunAlone)
	}
	same := len(kept) == len(parts)
	for i := 0; same && i < len(parts); i++ {
		text, err := json.Marshal(parts[i])
		if err != nil {
			return fmt.Errorf("add spread: %w", err)
		}
		same = string(text) == string(kept[i].Args)
	}
	if !same {
		return intake.ErrInput.With("inputs", fault.OtherInputs)
	}
	return execStatement(ctx, tx, "add spread", `UPDATE job SET state = 'ready', lease = '', error = '', attempts = 0, cancel = $4, next_at = $3, finished_at = 0
		WHERE `+partsOf+` AND state <> 'done'`, prefix, length, toMicros(s.now()), false)
}

// ListParts returns the parts of a breach's import in order, without their arguments, which may name a great many files.
func (s Breaches) ListParts(ctx context.Context, breach string) ([]job.Job, error) {
	prefix, length := partsPrefix(breach)
	return collectRows(ctx, s.readQuerier(), scanJobRow, `SELECT id, kind, subject, state, '{}', progress, error, attempts, next_at, cancel, created_at,
		finished_at FROM job WHERE `+partsOf+` ORDER BY subject`, prefix, length)
}

// StopParts asks the parts of an import to stop: waiting ones at once, running ones when they look.
func (s Breaches) StopParts(ctx context.Context, breach string) error {
	err := s.changeParts(ctx, breach, `UPDATE job SET state = 'cancelled', finished_at = $4 WHERE state = 'ready'`, ` AND state = 'ready'`, toMicros(s.now()))
	if err == nil {
		err = s.changeParts(ctx, breach, `UPDATE job SET cancel = $4 WHERE state = 'running'`, ` AND state = 'running' AND cancel <> $4`, true)
	}
	return wrapError("stop parts", err)
}

// DropParts removes the parts of an import. A worker that is at one finds its lease lost.
func (s Breaches) DropParts(ctx context.Context, breach string) error {
	err := s.changeParts(ctx, breach, `DELETE FROM job WHERE TRUE`, ``)
	if err == nil {
		err = s.runInTx(ctx, func(tx *sqldb.Tx) error {
			_, err := tx.ExecContext(ctx, `DELETE FROM import_source WHERE breach = $1`, breach)
			return err
		})
	}
	return wrapError("drop parts", err)
}

// changeParts changes parts of an import in transactions of a few: a large dump has thousands, and each may name hundreds of
// files. which tells those that are not yet as they should be.
func (s Breaches) changeParts(ctx context.Context, breach, change, which string, args ...any) error {
	prefix, length := partsPrefix(breach)
	_, err := s.runInBatches(ctx, func(tx *sqldb.Tx, limit int64) (int64, error) {
		return rowsAffected(tx.ExecContext(ctx, change+` AND id IN (SELECT id FROM job WHERE `+partsOf+which+` LIMIT $3)`,
			append([]any{prefix, length, limit}, args...)...))
	})
	return err
}
