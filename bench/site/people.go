package site

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/vigiahq/vigia/bench/load"
	"github.com/vigiahq/vigia/internal/container"
	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/identifier"
	"github.com/vigiahq/vigia/internal/scan"
	"github.com/vigiahq/vigia/internal/scan/scantest"
	"github.com/vigiahq/vigia/internal/seal"
	"github.com/vigiahq/vigia/internal/segment"
	"github.com/vigiahq/vigia/internal/sqldb"
	"github.com/vigiahq/vigia/internal/subscription"
)

// CPF is the n-th made-up CPF, with right check digits.
func CPF(n int) string {
	s := fmt.Sprintf("%09d", 100_000_000+n)
	for range 2 {
		sum := 0
		for i := range len(s) {
			sum += int(s[i]-'0') * (len(s) + 1 - i)
		}
		s += strconv.Itoa(sum * 10 % 11 % 10)
	}
	return s
}

// Item is a subscription of the n-th made-up person, as the body of a request has it.
func Item(n int) string {
	cpf := CPF(n)
	return `{"start_date":"2026-02-01","expiry_date":"","plan_id":"` + Plan + `","is_group_plan":false,"beneficiary":{"primary_card":"4111111111111111",` +
		`"user_card":"5555555555554444","name":"Pessoa de Exemplo da Silva","cpf":"` + cpf + `","birth_date":"1990-05-17","gender":"F","email":"pessoa` + cpf +
		`@exemplo.com.br","phone_number":"5511987654321","address":{"zipcode":"01001000","street":"Rua das Laranjeiras","number":"100",` +
		`"neighborhood":"Centro","city":"São Paulo","state":"SP"}}}`
}

// Items is a request's body with the subscriptions of some people.
func Items(from, to int, item func(n int) string) []byte {
	var list []string
	for n := from; n < to; n++ {
		list = append(list, item(n))
	}
	return []byte("[" + strings.Join(list, ",") + "]")
}

// Watched is a request's body with a value of the n-th person to watch.
func Watched(n int) []byte {
	return fmt.Appendf(nil, `{"value":"pessoa%d@exemplo.com.br","type":"email","userHash":"%064x"}`, n, n)
}

// Import imports the subscriptions of the first n people, the way an operator does.
func (s *Service) Import(ctx context.Context, n int) {
	in := Piped(func(w io.Writer) {
		for i := range n {
			load.Must(io.WriteString(w, Item(i)+"\n"))
		}
	})
	report := load.Must(s.Subscriptions.ImportFile(ctx, s.Partner, subscription.NewJSONLines(in), false,
		func(r subscription.Reject) error { return fmt.Errorf("refused: %+v", r) }, func(subscription.ImportReport) {}))
	if report.Created != n {
		load.Fail("imported %+v", report)
	}
}

// Piped reads what is written meanwhile.
func Piped(write func(w io.Writer)) io.Reader {
	r, w := io.Pipe()
	go func() {
		_ = w.CloseWithError(load.Try(func() {
			out := bufio.NewWriterSize(w, 1<<20)
			write(out)
			load.Check(out.Flush())
		}))
	}()
	return r
}

// FillSubscriptions makes the partner's list n long by loading copies of its first subscription, each sealed for its own
// place.
func (s *Service) FillSubscriptions(ctx context.Context, db *sqldb.DB, n int64) {
	id := s.Partner.ID.Number()
	var have int64
	var created int64
	var holder, body, cpf []byte
	load.Check(db.ReadPool().QueryRowContext(ctx, `SELECT holder, body, cpf, created_at, (SELECT last FROM subscription_counter WHERE partner_id = $1)
		FROM subscription WHERE partner_id = $1 AND seq = 1`, id).Scan(&holder, &body, &cpf, &created, &have))
	// A body is bound to the person, the plan and the time of its row: see subscriptionPlace of the store.
	place := func(cpf []byte, at int64) seal.Place {
		return s.Place("subscription", "body", fmt.Sprintf("%x %s %d", cpf, Plan, at))
	}
	plain := load.Must(s.Keys.Unseal(place(cpf, created), body))
	holder = append([]byte{}, holder...) // an empty one comes back as nil, which the column refuses
	columns := "partner_id seq plan_id cpf holder start_day expiry_day body created_at suspended_at ended_at"
	LoadRows(ctx, db, "subscription", columns, have+1, n, func(seq int64) ([]any, error) {
		index := fmt.Appendf(nil, "bench %010d", seq)
		sealed, err := s.Keys.Seal(place(index, 1), plain)
		// Indexes in ascending order, because random ones are slow to load and no page looks at them.
		return []any{id, seq, Plan, index, holder, int64(739648), int64(0), sealed, int64(1), int64(0), int64(0)}, err
	})
	s.CountSubscriptions(ctx, db)
}

// CountSubscriptions writes the counter, the blocks and the ends of the partner's list anew from its rows.
func (s *Service) CountSubscriptions(ctx context.Context, db *sqldb.DB) {
	run := func(statement string) { Exec(ctx, db, statement, s.Partner.ID.Number()) }
	run(`DELETE FROM subscription_block WHERE partner_id = $1`)
	run(`DELETE FROM subscription_expiry WHERE partner_id = $1`)
	run(`UPDATE subscription_counter SET last = (SELECT max(seq) FROM subscription WHERE partner_id = $1),
		active = (SELECT count(*) FROM subscription WHERE partner_id = $1 AND ended_at = 0) WHERE partner_id = $1`)
	count := func(table, column, where string, level, span int) {
		run(fmt.Sprintf(`INSERT INTO %s (partner_id, level, block%s, active) SELECT partner_id, %d, seq / %d%[2]s, count(*)
			FROM subscription WHERE partner_id = $1 AND ended_at = 0%[5]s GROUP BY partner_id, seq / %[4]d%[2]s`, table, column, level, span, where))
	}
	for level, span := 1, 128; level <= 3; level, span = level+1, span*128 {
		if count("subscription_block", "", "", level, span); level > 1 {
			count("subscription_expiry", ", expiry_day", " AND expiry_day > 0", level, span)
		}
	}
}

// FillValues loads n watched addresses, whose fingerprints are their numbers.
func (s *Service) FillValues(ctx context.Context, db *sqldb.DB, n int64, status cyber.Status) {
	at := Spread(n)
	columns := "id partner_id user_index kind value_index fingerprint look value status created_at"
	LoadRows(ctx, db, "asset", columns, 1, n, func(i int64) ([]any, error) {
		id, plain := ID("as_"), fmt.Appendf(nil, `{"value":%q,"userHash":"%064d"}`, Address(i), i)
		value, err := s.Keys.Seal(s.Place("asset", "value", id), plain)
		index := fmt.Appendf(nil, "%016d", i)
		return []any{id, s.Partner.ID.Number(), index, int64(1), index, i, int64(0), value, string(status), at(i)}, err
	})
}

// Address is the n-th made-up address.
func Address(n int64) string { return fmt.Sprintf("pessoa%07d@exemplo%02d.com.br", n, n%40) }

// Place is where a sealed value of the partner stands.
func (s *Service) Place(table, column, row string) seal.Place {
	return seal.Place{Table: table, Column: column, Partner: string(s.Partner.ID), Row: row}
}

// ID is a fresh one, behind all that were made before.
func ID(prefix string) string { return prefix + load.Must(uuid.NewV7()).String() }

// Spread puts the i-th of n things into the last thirty days.
func Spread(n int64) func(i int64) int64 {
	now := time.Now()
	return func(i int64) int64 {
		return now.Add(-time.Duration(n-i) * (30 * 24 * time.Hour / time.Duration(n))).UnixMicro()
	}
}

// LoadRows writes the rows from one number to another, in transactions that others would not mind.
func LoadRows(ctx context.Context, db *sqldb.DB, table, columns string, from, to int64, row func(int64) ([]any, error)) {
	const batch = 250_000
	for next := from; next <= to; next += batch {
		load.Check(db.InTransaction(ctx, func(tx *sqldb.Tx) error {
			return LoadInto(ctx, tx, table, columns, next, min(next+batch-1, to), row)
		}))
	}
}

// LoadInto writes them in a transaction.
func LoadInto(ctx context.Context, tx *sqldb.Tx, table, columns string, from, to int64, row func(int64) ([]any, error)) error {
	i := from - 1
	_, err := tx.InsertRows(ctx, table, strings.Fields(columns), func() ([]any, error) {
		if i++; i > to {
			return nil, nil
		}
		return row(i)
	})
	return err
}

// dumps are the kinds of dumps: identifiers everywhere, hardly any, and a megabyte of each in turn.
var dumps = map[string][]func(uint64, scantest.Truth) *scantest.Dump{
	"dense": {scantest.NewDense}, "sparse": {scantest.NewSparse}, "mixed": {scantest.NewDense, scantest.NewSparse},
}

// WriteDump makes a dump of a kind, or of a format of scantest that tells records, and counts what was written by kind of
// identifier.
func WriteDump(path, name string, size int) (counts [16]int) {
	var part func(i, most int) []byte // the i-th
	for _, format := range scantest.Formats {
		if format.Name == name {
			part = func(i, _ int) []byte { return format.Write(uint64(i)+1, 20_000).Text }
		}
	}
	var made []*scantest.Dump
	for _, kind := range dumps[name] {
		made = append(made, kind(1, func(kind identifier.Kind, _ []byte, meant bool) {
			if meant {
				counts[kind]++
			}
		}))
		part = func(i, most int) []byte { return made[i%len(made)].Append(nil, min(1<<20, most)) }
	}
	if part == nil {
		load.Fail("%q is no dump", name)
	}
	f := load.Must(os.Create(path))
	defer func() { load.Check(f.Close()) }()
	for i, done := 0, 0; done < size; i++ {
		done += load.Must(f.Write(part(i, size-done)))
	}
	return counts
}

// Scan reads a file with the scanner and counts what it finds by kind.
func Scan(path string) (found [16]int) {
	f := load.Must(os.Open(path))
	defer func() { load.Check(f.Close()) }()
	scanner := scan.NewScanner(func(kind identifier.Kind, _ []byte) { found[kind]++ })
	report := load.Must(container.WalkSource(context.Background(), path, f, container.Options{}, func(_ container.Entry, r io.Reader) error {
		_, err := scanner.Scan(context.Background(), r)
		return err
	}))
	if size := Size(path); report.Bytes != size {
		load.Fail("%d of %d bytes were scanned", report.Bytes, size)
	}
	return found
}

// Size of a file.
func Size(path string) int64 { return load.Must(os.Stat(path)).Size() }

// Segment writes the keys that fill adds into a segment, and opens it.
func Segment(ctx context.Context, path string, width segment.Width, fill func(add func(key uint64))) *segment.Reader {
	w := load.Must(segment.CreateSegment(path, segment.Options{Width: width}))
	fill(func(key uint64) { load.Check(w.AddKey(key)) })
	load.Must(w.Commit(ctx))
	return OpenSegment(path)
}

// OpenSegment opens a segment.
func OpenSegment(path string) *segment.Reader {
	r := load.Must(segment.Open(path))
	load.Defer(func() { load.Check(r.Close()) })
	return r
}

// Bits judges the size of a set of keys, of which so many bits a key are allowed at 100 million: at another number
// each key tells more or less.
func Bits(name string, r *segment.Reader, most float64) {
	const asked = 100_000_000
	keys, size := float64(r.Count()), float64(r.Size())
	bits, allowed := size*8/keys, most+math.Log2(asked/keys)
	load.Bar(bits <= allowed, "%s: %.0f keys in %.1f MB, %.2f bits a key; at most %.2f, which are %.1f at 100 million",
		name, keys, size/1e6, bits, allowed, most)
}
