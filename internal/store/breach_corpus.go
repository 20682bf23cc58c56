package store

import (
	"context"

	"github.com/vigiahq/vigia/internal/corpus/password"
	"github.com/vigiahq/vigia/internal/platform/sqldb"
)

var _ password.Announcements = Upkeep{}

// sharedColumns are those of an announced corpus of breached passwords.
const sharedColumns = `algorithm, digest, wide_digest, entries, widely, bytes, source, imported_at, mac`

// sharedGrant covers an announcement: a false one would have every replica answer from another corpus.
func sharedGrant(s password.Shared) *grant {
	return new(grant).
		addTexts(s.Algorithm.String(), s.Digest, s.WideDigest, s.Source).
		addNumbers(int64(s.Entries), int64(s.Widely), s.Bytes, toMicros(s.Imported))
}

func (c core) scanShared(row scanner, r *checked[password.Shared]) error {
	s := &r.value
	err := row.Scan(
		scanFunc(func(name []byte) (err error) {
			s.Algorithm, err = password.ParseAlgorithm(string(name))
			return err
		}),
		&s.Digest,
		&s.WideDigest,
		&s.Entries,
		&s.Widely,
		&s.Bytes,
		&s.Source,
		&s.Imported,
		c.checksMAC(&r.forged, "password_corpus", func() *grant { return sharedGrant(*s) }),
	)
	r.row = "password_corpus " + s.Algorithm.String()
	return err
}

// ListSharedCorpora returns the corpora of breached passwords that are in the bucket.
func (s Upkeep) ListSharedCorpora(ctx context.Context) ([]password.Shared, error) {
	return collectGenuine(
		ctx,
		s.readQuerier(),
		s.scanShared,
		`SELECT `+sharedColumns+` FROM password_corpus ORDER BY algorithm`,
	)
}

// AnnounceCorpus makes a corpus in the bucket known, unless a newer one of its algorithm is. It returns the one that it
// replaced.
func (s Upkeep) AnnounceCorpus(
	ctx context.Context,
	c password.Shared,
) (replaced password.Shared, announced bool, err error) {
	err = s.runInTransaction(ctx, func(tx *sqldb.Tx) error {
		before, err := readRow(
			ctx,
			tx,
			s.scanShared,
			nil,
			`SELECT `+sharedColumns+` FROM password_corpus WHERE algorithm = $1`,
			c.Algorithm.String(),
		)
		if err != nil {
			return err
		}
		replaced = before.value
		changed, err := tx.RunCounting(
			ctx,
			sqldb.Statements{sqldb.NewStatement(`INSERT INTO password_corpus (`+sharedColumns+`)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
			ON CONFLICT (algorithm) DO UPDATE SET digest = excluded.digest, wide_digest = excluded.wide_digest,
				entries = excluded.entries, widely = excluded.widely, bytes = excluded.bytes, source = excluded.source,
				imported_at = excluded.imported_at, mac = excluded.mac
			WHERE password_corpus.imported_at < excluded.imported_at`,
				c.Algorithm.String(),
				c.Digest,
				c.WideDigest,
				int64(c.Entries),
				int64(c.Widely),
				c.Bytes,
				c.Source,
				c.Imported,
				s.grantMAC("password_corpus", sharedGrant(c)),
			)},
		)
		if err != nil {
			return err
		}
		announced = changed[0] > 0
		return nil
	})
	return replaced, announced, err
}
