package rejection

import (
	"slices"
	"strings"
	"unicode"

	"github.com/looprun/looprun/internal/convert"
)

// prose is a text prepared for finding phrases: without invisible formatting characters, and
// with every run of white space replaced by one space.
type prose struct {
	runes  []rune
	folded []rune // the same without case
}

func read(text string) prose {
	var p prose
	for _, r := range strings.TrimSpace(text) {
		switch {
		case unicode.Is(unicode.Cf, r):
			continue
		case unicode.IsSpace(r):
			if n := len(p.runes); n > 0 && p.runes[n-1] == ' ' {
				continue
			}
			r = ' '
		}
		p.runes = append(p.runes, r)
		p.folded = append(p.folded, fold(r))
	}
	return p
}

// fold removes case. Letters that Unicode folds to one of a–z become that letter.
func fold(r rune) rune {
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	if 'A' <= least && least <= 'Z' {
		return least + 'a' - 'A'
	}
	return least
}

// word reports whether the character is part of a word.
func word(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r) || unicode.Is(unicode.Pc, r)
}

// find returns the position of the phrase, given in lower case, in the text as whole words,
// starting from a position; negative if it is not there.
func (p prose) find(phrase string, from int) int {
	want := []rune(phrase)
	for i := from; i+len(want) <= len(p.folded); i++ {
		end := i + len(want)
		if slices.Equal(p.folded[i:end], want) &&
			(i == 0 || !word(p.folded[i-1])) && (end == len(p.folded) || !word(p.folded[end])) {
			return i
		}
	}
	return -1
}

// phrasesIn returns the phrases that the text contains.
func phrasesIn(text string, phrases []string) []string {
	p := read(text)
	return convert.Where(phrases, func(phrase string) bool { return p.find(phrase, 0) >= 0 })
}

func holds(text, phrase string) bool { return read(text).find(phrase, 0) >= 0 }

// padding are words that add nothing to a phrase.
var padding = []string{"and", "or", "then", "first", "please", "just", "simply", "only", "we", "i", "you", "should", "must", "need", "to", "do", "that", "this", "it", "about", "instead", "really", "still", "at", "all", "have", "let", "take", "care", "of", "handle"}

// onlySays reports whether the text consists only of these phrases, punctuation and padding.
func onlySays(text string, phrases []string) bool {
	p := read(text)
	found := false
	for _, phrase := range append(phrases[:len(phrases):len(phrases)], padding...) {
		for i := p.find(phrase, 0); i >= 0; i = p.find(phrase, i) {
			for j := range []rune(phrase) {
				p.folded[i+j] = ' '
			}
			found = true
		}
	}
	if slices.ContainsFunc(p.folded, word) {
		return false
	}
	return found
}

// namesDependency reports whether an id follows the phrase “depends on” in the
// same sentence.
func namesDependency(text string) bool {
	const phrase = "depends on"
	p := read(text)
	for i := p.find(phrase, 0); i >= 0; {
		next := p.find(phrase, i+1)
		end := len(p.runes)
		if next >= 0 {
			end = next // what follows the next one is looked at then
		}
		for token := range strings.FieldsSeq(string(p.runes[i+len(phrase) : end])) {
			if isID(token) {
				return true
			}
			if strings.ContainsAny(token[len(token)-1:], ".;!?") {
				break
			}
		}
		i = next
	}
	return false
}

// isID reports whether a word looks like the id of a task rather than prose: TASK-12, #45,
// auth_service, v2, internal/auth, or anything in quotes.
func isID(token string) bool {
	token = strings.TrimLeft(token, "([{<:,")
	runes := []rune(token)
	if len(runes) > 1 && strings.ContainsRune("`\"'“‘«", runes[0]) && word(runes[1]) {
		return true
	}
	runes = []rune(strings.TrimRightFunc(token, func(r rune) bool { return !word(r) }))
	for i, r := range runes {
		switch {
		case unicode.IsNumber(r):
			return true
		case strings.ContainsRune("#@", r) && i+1 < len(runes):
			return true
		case strings.ContainsRune("-_/.:", r) && i > 0 && word(runes[i-1]) && i+1 < len(runes):
			return true
		}
	}
	return false
}
