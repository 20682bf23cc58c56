package person

import (
	"cmp"
	"fmt"
	"maps"
	"strings"

	"github.com/vigiahq/vigia/internal/cyber"
	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// said is a sentence in the three languages, in the order of partner.ListLanguages.
type said [3]string

var langNames = map[partner.Language]string{
	partner.Portuguese: "Português",
	partner.Spanish:    "Español",
	partner.English:    "English",
}

// sentenceIn returns a sentence in a language; each {} in it is filled with the next value.
func sentenceIn(lang partner.Language, key string, values ...any) string {
	text := words[key][0]
	for i, l := range partner.ListLanguages() {
		if l == lang {
			text = words[key][i]
		}
	}
	for _, v := range values {
		text = strings.Replace(text, "{}", fmt.Sprint(v), 1)
	}
	return text
}

// doneSentence returns the message of success for a key; empty for a key that is unknown, which a forged link may
// carry.
func doneSentence(lang partner.Language, done string) string { return sentenceIn(lang, "done."+done) }

// sentenceOf returns what a person is told of a fault: what they can do, and nothing of how the service is built.
func sentenceOf(lang partner.Language, err error) string {
	if text := sentenceIn(lang, "fault."+fault.CodeOf(err)); text != "" {
		return text
	}
	return sentenceIn(lang, "problem."+fault.KindOf(err).String())
}

// mendView is something to mend, and the language that it is said in.
type mendView struct {
	Text     string
	Language partner.Language
}

// languageOf returns the language of a text of the catalogue, which is Portuguese unless it was translated.
func languageOf(translated partner.Language) partner.Language {
	return cmp.Or(translated, partner.Portuguese)
}

// recommendation returns the sentence for something to mend. What an answer would mend is said by the catalogue. The
// breach goes in last: its title is an operator's text and may hold anything.
func recommendation(lang partner.Language, r cyber.Recommendation) mendView {
	switch r.Mends {
	case cyber.MendAnswer:
		return mendView{Text: r.Text, Language: languageOf(r.Language)}
	case cyber.MendWatch:
		return mendView{Text: sentenceIn(lang, "watch."+r.Kind.String()), Language: lang}
	default:
		text := strings.ReplaceAll(sentenceIn(lang, "mend."+string(r.Mends)), "{valor}", r.Value())
		return mendView{Text: strings.ReplaceAll(text, "{vazamento}", r.Breach), Language: lang}
	}
}

// words are all sentences, by key.
var words = func() map[string]said {
	all := map[string]said{}
	for _, part := range []map[string]said{frameWords, leakWords, stepWords, protectionWords, problemWords} {
		maps.Copy(all, part)
	}
	return all
}()
