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

// view is the part of a snapshot that counts for somebody.
type view struct {
	corpora []*openCorpus
	missing error // why a corpus that belongs here could not be opened, when nothing serves in its place
	name    string
}

// Sample tells whether the corpus is the built-in list: enough to try the service, far too little to call a password
// unknown.
func (c Corpus) Sample() bool { return c.Source == SourceDefault }

func (e entry) sample() bool { return e.Source == SourceDefault }

// lack notes that the corpus e cannot be opened; before, if any, serves in its place.
func (s *snapshot) lack(e entry, before *openCorpus, err error) {
	if before == nil {
		s.every.missing = err
	}
	if !e.sample() && (before == nil || before.entry.sample()) {
		s.imported.missing = err
	}
}

// look fills the views from the corpora.
func (s *snapshot) look() {
	s.every.corpora = s.corpora
	for _, o := range s.corpora {
		if !o.entry.sample() {
			s.imported.corpora = append(s.imported.corpora, o)
		}
	}
	s.every.name, s.imported.name = nameOf(s.every.corpora), nameOf(s.imported.corpora)
}

func (s *snapshot) view(sample bool) *view {
	if sample {
		return &s.every
	}
	return &s.imported
}

// nameOf writes a list of items with parameters, as structured header fields do.
func nameOf(corpora []*openCorpus) string {
	var b strings.Builder
	for i, o := range corpora {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(o.algorithm.String() + "; entries=" + strconv.FormatUint(o.entry.Entries, 10) + "; date=" + o.entry.Imported.UTC().Format(time.DateOnly))
		if o.entry.sample() {
			b.WriteString("; sample")
		}
	}
	return b.String()
}

func (v *view) check(key uint64) (Answer, error) {
	most, failure := NotKnown, v.missing
	for _, o := range v.corpora {
		exposure, err := o.check(key)
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

// Corpora lists what is in force, for whoever asks whether the service is fit.
func (c *Checker) Corpora() []Corpus {
	s := c.current.Load()
	list := make([]Corpus, 0, len(s.corpora))
	for _, o := range s.corpora {
		list = append(list, o.entry.corpus(o.algorithm))
	}
	return list
}
