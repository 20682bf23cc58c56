package password

import (
	"strconv"
	"strings"
	"time"
)

// Answer is what a look-up found, and where it looked.
type Answer struct {
	Exposure Exposure
	// Corpora names the corpora that were looked in: "sha1; entries=N; date=YYYY-MM-DD, ntlm; entries=N;
	// date=YYYY-MM-DD; sample". One text serves all look-ups until a corpus changes.
	Corpora string
}

// view is the part of a snapshot that one kind of partner may look in.
type view struct {
	corpora []*openCorpus
	missing error // why a corpus that belongs here could not be opened, when nothing serves in its place
	name    string
}

// Sample reports whether the corpus is the built-in list: enough to try the service, far too little to call a password
// unknown.
func (c Corpus) Sample() bool { return c.Source == SourceDefault }

// buildViews fills the views from the corpora.
func (s *snapshot) buildViews() {
	s.every.corpora = s.corpora
	for _, o := range s.corpora {
		if !o.entry.Sample() {
			s.imported.corpora = append(s.imported.corpora, o)
		}
	}
	s.every.name, s.imported.name = joinCorpusNames(s.every.corpora), joinCorpusNames(s.imported.corpora)
}

// joinCorpusNames writes a list of items with parameters, as structured header fields do.
func joinCorpusNames(corpora []*openCorpus) string {
	var b strings.Builder
	for i, o := range corpora {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(o.entry.Algorithm.String() + "; entries=" + strconv.FormatUint(o.entry.Entries, 10) + "; date=" +
			o.entry.Imported.UTC().Format(time.DateOnly))
		if o.entry.Sample() {
			b.WriteString("; sample")
		}
	}
	return b.String()
}

// checkKey asks all corpora of the view.
func (v *view) checkKey(key uint64) (Answer, error) {
	most, failure := NotKnown, v.missing
	for _, o := range v.corpora {
		exposure, err := o.checkKey(key)
		if err != nil {
			failure = err
			continue
		}
		most = max(most, exposure)
	}
	switch {
	case most != NotKnown:
		return Answer{most, v.name}, nil // found is found, whatever the other corpus would say
	case failure != nil:
		return Answer{}, ErrUnreadable.Because(failure)
	case len(v.corpora) == 0:
		return Answer{}, ErrNoCorpus
	}
	return Answer{NotKnown, v.name}, nil
}

// ListCorpora returns the corpora in force, for health checks and the operator.
func (c *Checker) ListCorpora() []Corpus {
	s := c.current.Load()
	list := make([]Corpus, 0, len(s.corpora))
	for _, o := range s.corpora {
		list = append(list, o.entry.Corpus)
	}
	return list
}
