package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/operator"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/seal"
	"github.com/vigiahq/vigia/internal/subscription"
)

// checkBatch is how many rows a check reads at once.
const checkBatch = 500

// brokenTrail takes the audit trail's own account of what is wrong out of an error.
func brokenTrail(err error) (string, bool) {
	if !errors.Is(err, operator.ErrTrailBroken) {
		return "", false
	}
	return err.Error(), true
}

// checkSeals opens every sealed value where it stands.
func (s Upkeep) checkSeals(ctx context.Context, found func(Problem), seen func(int64)) error {
	if _, err := s.keys.ReloadFile(); err != nil {
		return fmt.Errorf("check seals: %w", err)
	}
	var looked int64
	for _, c := range sealedColumns {
		var after []any
		most := checkBatch
		if slices.Contains(largeParts, c.table) {
			most = partsAtOnce
		}
		for {
			rows, err := s.sealedRows(ctx, c, after, most)
			if err != nil {
				return fmt.Errorf("check seals of %s: %w", c.table, err)
			}
			for _, row := range rows {
				if what := s.sealProblem(c, row); what != "" {
					found(Problem{"seals", c.table + "." + c.column + " " + showRowKey(row.key), what})
				}
			}
			looked += int64(len(rows))
			seen(looked)
			if len(rows) < most {
				break
			}
			after = rows[len(rows)-1].key
		}
	}
	return nil
}

// sealedRows reads sealed values in the order of their keys, from behind a key.
func (s Upkeep) sealedRows(ctx context.Context, c sealedColumn, after []any, limit int) ([]oldRow, error) {
	keys, args, behind := strings.Join(c.key, ", "), []any{int64(limit)}, ""
	if after != nil {
		marks := make([]string, len(after))
		for i, v := range after {
			args = append(args, v)
			marks[i] = "$" + strconv.Itoa(len(args))
		}
		behind = ` AND (` + keys + `) > (` + strings.Join(marks, ", ") + `)`
	}
	return collectRows(ctx, s.readQuerier(), func(row scanner) (oldRow, error) {
		r := oldRow{key: make([]any, len(c.key))}
		dest := make([]any, len(c.key), len(c.key)+1)
		for i := range r.key {
			dest[i] = &r.key[i]
		}
		return r, row.Scan(append(dest, &r.sealed)...)
	}, `SELECT `+keys+`, `+c.column+` FROM `+c.table+` WHERE `+c.column+` IS NOT NULL`+behind+` ORDER BY `+keys+` LIMIT $1`, args...)
}

// sealProblem returns why a sealed value cannot be opened, in words for the operator; empty when it opens.
func (s Upkeep) sealProblem(c sealedColumn, row oldRow) string {
	if _, err := s.keys.Unseal(c.place(row.key), row.sealed); err == nil {
		return ""
	}
	id, ok := seal.SealedWith(row.sealed)
	if !ok {
		return "is no sealed value"
	}
	for _, known := range s.keys.IDs() {
		if known == id {
			return "does not open: altered, or moved here from elsewhere"
		}
	}
	return fmt.Sprintf("is sealed under key %08x, which the key file does not hold", id)
}

// showRowKey shows a primary key; keyed indexes and digests in hexadecimal.
func showRowKey(key []any) string {
	parts := make([]string, len(key))
	for i, v := range key {
		if b, ok := v.([]byte); ok {
			parts[i] = hex.EncodeToString(b)
		} else {
			parts[i] = keyText(v)
		}
	}
	return strings.Join(parts, "/")
}

// checkIndexes compares keyed indexes with the values behind them. What does not open is the business of checkSeals.
func (s Upkeep) checkIndexes(ctx context.Context, found func(Problem), seen func(int64)) error {
	partners, err := s.partnersArea().ListPartners(ctx)
	if err != nil {
		return err
	}
	modes := map[partner.ID]partner.Mode{}
	var looked int64
	walk := func(page func(mark *checkMark) (int, error)) error {
		for mark := (checkMark{}); ; {
			n, err := page(&mark)
			if err != nil {
				return fmt.Errorf("check indexes: %w", err)
			}
			looked += int64(n)
			if seen(looked); n < checkBatch {
				return nil
			}
		}
	}
	for _, p := range partners {
		modes[p.ID] = p.Mode
		if err := walk(func(mark *checkMark) (int, error) { return s.checkSubscriptionIndexes(ctx, p.ID, mark, found) }); err != nil {
			return err
		}
	}
	return walk(func(mark *checkMark) (int, error) { return s.checkAssetIndexes(ctx, modes, mark, found) })
}

// checkMark is how far a check has come in a table.
type checkMark struct {
	seq     int64
	partner partner.ID
	id      string
}

// checkSubscriptionIndexes checks one page of a partner's subscriptions and advances after. It returns how many rows it
// read. Bodies that cannot be unsealed are left to the check of seals.
func (s Upkeep) checkSubscriptionIndexes(ctx context.Context, id partner.ID, after *checkMark, found func(Problem)) (int, error) {
	type row struct {
		subscription.Subscription
		cpf, holder, body []byte
	}
	rows, err := collectRows(ctx, s.readQuerier(), func(sc scanner) (row, error) {
		var r row
		var created int64
		err := sc.Scan(&r.Seq, &r.Plan, &r.cpf, &r.holder, &r.body, &created)
		r.CreatedAt = fromMicros(created)
		return r, err
	}, `SELECT seq, plan_id, cpf, holder, body, created_at FROM subscription WHERE partner_id = $1 AND seq > $2 ORDER BY seq LIMIT $3`, partnerNumber(id), after.seq, int64(checkBatch))
	for _, r := range rows {
		after.seq = r.Seq
		where := fmt.Sprintf("subscription %s/%d", id, r.Seq)
		switch err := s.subscriptions().unsealBody(id, r.cpf, r.body, &r.Subscription); {
		case errors.Is(err, errBody):
			found(Problem{"indexes", where, "its body has an unknown layout"})
		case err != nil:
		case !bytes.Equal(r.holder, s.subscriptions().holderIndex(id, r.Holder)):
			found(Problem{"indexes", where, "its index is not that of its holder"})
		}
	}
	return len(rows), err
}

// checkAssetIndexes checks that the index and the fingerprint of one page of watched values follow from the sealed
// value, and advances after. Values that cannot be unsealed are left to the check of seals.
func (s Upkeep) checkAssetIndexes(ctx context.Context, modes map[partner.ID]partner.Mode, after *checkMark, found func(Problem)) (int, error) {
	type row struct {
		cyber.Asset
		index, value []byte
		fingerprint  sql.NullInt64
	}
	rows, err := collectRows(ctx, s.readQuerier(), func(sc scanner) (row, error) {
		var r row
		return r, sc.Scan(&r.ID, scanPartnerID(&r.Partner), &r.Kind, &r.index, &r.fingerprint, &r.value)
	}, `SELECT id, partner_id, kind, value_index, fingerprint, value FROM asset
		WHERE (partner_id, id) > ($1, $2) ORDER BY partner_id, id LIMIT $3`, partnerNumber(after.partner), after.id, int64(checkBatch))
	for _, r := range rows {
		after.partner, after.id = r.Partner, string(r.ID)
		check := identifier.Required
		if modes[r.Partner].Has(partner.AnyCheckDigits) {
			check = identifier.Waived
		}
		if s.monitoring().openAssetValue(&r.Asset, r.value) != nil {
			continue
		}
		normal, err := identifier.ParseValue(r.Kind, r.Value, check)
		switch {
		case err != nil:
			found(Problem{"indexes", "asset " + string(r.ID), "its value is not valid any more"})
		case !bytes.Equal(r.index, s.monitoring().valueIndex(r.Partner, r.Kind, normal)):
			found(Problem{"indexes", "asset " + string(r.ID), "its index is not that of its value"})
		case r.fingerprint.Valid && s.unveilFingerprint(r.Partner, r.fingerprint.Int64) != s.keys.Fingerprint(byte(r.Kind), identifier.MatchForm(r.Kind, normal)):
			found(Problem{"indexes", "asset " + string(r.ID), "its fingerprint is not that of its value: leaks are not found"})
		case !r.fingerprint.Valid && !modes[r.Partner].Has(partner.MagicValues):
			found(Problem{"indexes", "asset " + string(r.ID), "it has no fingerprint: leaks are not found"})
		}
	}
	return len(rows), err
}

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
		rows, err := collectRows(ctx, s.readQuerier(), func(sc scanner) (row, error) {
			var r row
			var exposes string
			var classes sql.NullInt64
			b := &r.finding.Breach
			err := sc.Scan(scanPartnerID(&r.partner), &r.id, &r.status, &r.open, &r.finding.ID, &b.Name, &r.finding.Resolution, &b.Kind, &exposes, &b.Fabricated, &b.SpamList,
				&classes, &r.waiting, &r.finding.Quiet)
			b.Exposes = parseExposes(exposes)
			*b = b.ForTrace(cyber.Trace{Told: classes.Valid, Classes: cyber.Classes(classes.Int64)})
			return r, err
		}, `SELECT a.partner_id, a.id, a.status, a.open_breaches, coalesce(f.id, ''), coalesce(f.breach, ''), coalesce(f.resolution, ''), coalesce(b.kind, ''), coalesce(b.exposes, ''),
				coalesce(b.fabricated, FALSE), coalesce(b.spam_list, FALSE), f.classes, coalesce(f.breach IN (`+restating+`), FALSE), coalesce(f.quiet, FALSE)
			FROM (SELECT partner_id, id, status, open_breaches FROM asset WHERE (partner_id, id) > ($1, $2) ORDER BY partner_id, id LIMIT $3) a
			LEFT JOIN finding f ON f.partner_id = a.partner_id AND f.asset_id = a.id
			LEFT JOIN breach b ON b.name = f.breach ORDER BY a.partner_id, a.id, f.found_at, f.id`,
			partnerNumber(after.partner), after.id, int64(checkBatch))
		if err != nil {
			return fmt.Errorf("check statuses: %w", err)
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
				found(Problem{"statuses", "asset " + first.id, fmt.Sprintf("is %s; from its findings it is %s", first.status, want)})
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
