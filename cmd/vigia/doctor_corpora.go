package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/vigiahq/vigia/internal/app"
	"github.com/vigiahq/vigia/internal/corpus/library"
	"github.com/vigiahq/vigia/internal/corpus/password"
	"github.com/vigiahq/vigia/internal/store"
)

// bucketTime is how long the bucket may take to answer.
const bucketTime = 10 * time.Second

// checkBucket reports whether the bucket of --corpora is there and can be listed.
func (p *checkup) checkBucket(ctx context.Context) {
	const area = "bucket"
	if p.common.Corpora == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, bucketTime)
	defer cancel()
	if err := library.CheckBucket(ctx, p.common.Corpora); err != nil {
		p.reportProblem(
			area,
			oneLineReason(err),
			"every import writes into it: check its address, its credentials, and that this machine reaches it",
		)
		return
	}
	p.reportOK(area, "the bucket of --corpora can be listed")
}

// checkCorpora looks at the corpora of passwords.
func (p *checkup) checkCorpora() {
	const area = "corpora"
	if _, err := os.Stat(filepath.Join(p.common.CorporaPath(), "password")); errors.Is(err, fs.ErrNotExist) {
		p.reportWarning(
			area,
			"no password corpus yet",
			"the first start brings a small sample for sandbox partners; live partners need a real one: vigia "+
				"passwords download",
		)
		return
	}
	lib, err := password.OpenLibrary(p.common.CorporaPath(), time.Now)
	if err != nil {
		p.reportProblem(area, oneLineReason(err), "let the service's user read "+p.common.CorporaPath())
		return
	}
	list, err := lib.ReadStatus()
	if err != nil {
		p.reportProblem(area, oneLineReason(err), "import the corpus again: vigia passwords import --help")
		return
	}
	p.passwordCorpora(list)
}

// passwordCorpora tells a corpus from the built-in sample, which is nothing to a live partner.
func (p *checkup) passwordCorpora(list []password.Corpus) {
	const area, mend = "corpora", "vigia passwords download, or vigia passwords import"
	samples := 0
	for _, c := range list {
		if c.Sample() {
			samples++
			p.reportOK(area, "passwords: %s, built-in sample of %d entries", c.Algorithm, c.Entries)
			continue
		}
		p.reportOK(
			area,
			"passwords: %s, corpus of %d entries from %s, of %s",
			c.Algorithm,
			c.Entries,
			c.Source,
			c.Imported.UTC().Format(time.DateOnly),
		)
	}
	switch {
	case samples == len(list):
		p.reportWarning(
			area,
			"there is no password corpus but the built-in sample: password checks of live partners are answered 503",
			mend,
		)
	case samples > 0 || len(list) < len(password.Algorithms):
		p.reportWarning(area, "live partners' password checks know one algorithm only", mend+", for the other one too")
	}
}

// checkReplicas compares the password corpora that the replicas answer from.
func (p *checkup) checkReplicas(ctx context.Context, st *store.Store) {
	const area = "replicas"
	all, err := st.Upkeep.ListReplicas(ctx, app.ReplicaGone)
	if err != nil {
		p.reportWarning(area, oneLineReason(err), "")
		return
	}
	remedy := "run vigia passwords import on each of them, or give all replicas one bucket with --corpora"
	if p.common.Corpora != "" {
		remedy = "can they reach the bucket of --corpora, and is their disk full? Their logs say why"
	}
	differ := false
	for _, algorithm := range password.Algorithms {
		places := map[string][]string{} // by digest
		for _, r := range all {
			digest := r.Passwords[algorithm.String()]
			places[digest] = append(places[digest], r.Place)
		}
		if len(places) < 2 {
			continue
		}
		differ = true
		if lacking := places[""]; len(lacking) > 0 {
			p.reportWarning(
				area,
				fmt.Sprintf("passwords %s: others have a corpus that these lack, and answer 503 to live partners: %s",
					algorithm, strings.Join(lacking, ", ")),
				remedy,
			)
			continue
		}
		p.reportWarning(
			area,
			fmt.Sprintf("passwords %s: replicas answer from %d different corpora", algorithm, len(places)),
			remedy,
		)
	}
	if !differ && len(all) > 0 {
		p.reportOK(area, "%d serve partners, from the same password corpora", len(all))
	}
}
