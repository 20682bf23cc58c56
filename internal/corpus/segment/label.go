package segment

import "sync"

// LabelID stands for a label: in the Labels of a writer, or by its place in the table of a Reader. NoLabel is that of
// the empty label in every Labels.
type LabelID uint32

// NoLabel is the empty label: nothing is told of the key but that it is there.
const NoLabel LabelID = 0

// LabelRules say what labels mean, as far as a writer has to know.
type LabelRules struct {
	// Unite returns the label of a key that was given two different ones. It must not matter which comes first, nor
	// which two of three are united first.
	Unite func(a, b []byte) []byte
	// Coarsen returns a label that says less. It is asked of every label when there are more than MaxLabels, again and
	// again until there are few enough; what does not get fewer by that becomes the empty label. Without it labels that
	// do not fit become the empty label at once.
	Coarsen func(label []byte) []byte
}

// Labels gives ids to labels, for one or many writers. It is safe for many goroutines.
type Labels struct {
	rules LabelRules
	limit int

	mu    sync.RWMutex
	ids   map[string]LabelID
	texts []string
	// now is what each id has become by coarsening; nil until there was any.
	now    []LabelID
	coarse int // how often everything was coarsened
	united map[[2]LabelID]LabelID
}

// NewLabels has the empty label and no other.
func NewLabels(rules LabelRules) *Labels {
	return &Labels{
		rules:  rules,
		limit:  MaxLabels,
		ids:    map[string]LabelID{"": NoLabel},
		texts:  []string{""},
		united: map[[2]LabelID]LabelID{},
	}
}

// LabelID returns the id of a label, the same for the same bytes.
func (l *Labels) LabelID(label []byte) LabelID {
	l.mu.RLock()
	id, ok := l.ids[string(label)]
	l.mu.RUnlock()
	if ok {
		return id
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.addLabel(label)
}

// addLabel returns the id of a label, which is coarsened as often as all others were. l.mu is held.
func (l *Labels) addLabel(label []byte) LabelID {
	for range l.coarse {
		label = l.coarserLabel(label)
	}
	for {
		if id, ok := l.ids[string(label)]; ok {
			return l.currentID(id)
		}
		if len(l.ids) < l.limit {
			id := LabelID(len(l.texts))
			l.ids[string(label)], l.texts = id, append(l.texts, string(label))
			if l.now != nil {
				l.now = append(l.now, id)
			}
			return id
		}
		l.coarsenAll()
		label = l.coarserLabel(label)
	}
}

// mostCoarse is how often labels are coarsened before what is left of them is dropped.
const mostCoarse = 8

// coarserLabel returns a label that says less.
func (l *Labels) coarserLabel(label []byte) []byte {
	if l.rules.Coarsen == nil || l.coarse > mostCoarse {
		return nil
	}
	return l.rules.Coarsen(label)
}

// coarsenAll makes all labels say less. Ids that were given out stay, and mean the coarser label from now on.
func (l *Labels) coarsenAll() {
	l.coarse++
	if l.now == nil {
		for id := range l.texts {
			l.now = append(l.now, LabelID(id))
		}
	}
	before := l.ids
	l.ids = map[string]LabelID{"": NoLabel}
	clear(l.united)
	for id := range l.texts { // in the order they came, so that chance has no part in it
		old := l.texts[id]
		if before[old] != LabelID(id) || id == 0 {
			continue // a text that stands for nothing any more
		}
		text := string(l.coarserLabel([]byte(old)))
		to, ok := l.ids[text]
		if !ok {
			to = LabelID(id) // its text changes
			l.ids[text], l.texts[id] = to, text
		}
		l.now[id] = to
	}
}

// currentID follows what an id has become. l.mu is held.
func (l *Labels) currentID(id LabelID) LabelID {
	if l.now == nil {
		return id
	}
	for l.now[id] != id {
		id = l.now[id]
	}
	return id
}

// uniteLabels returns the unite of records with these labels.
func (l *Labels) uniteLabels(a, b uint64) uint64 {
	pair := [2]LabelID{LabelID(min(a, b)), LabelID(max(a, b))}
	l.mu.RLock()
	id, ok := l.united[pair]
	l.mu.RUnlock()
	if ok {
		return uint64(id)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	x, y := l.currentID(pair[0]), l.currentID(pair[1])
	if id = x; x != y {
		id = l.addLabel(l.rules.Unite([]byte(l.texts[x]), []byte(l.texts[y])))
	}
	if len(l.united) < l.limit {
		l.united[pair] = id
	}
	return uint64(id)
}

// currentText returns the label that an id stands for by now.
func (l *Labels) currentText(id LabelID) string {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.texts[l.currentID(id)]
}
