package courier

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/ask"
)

// The steps that a code is for.
const (
	stepTap  = "tap"  // the option, as the message offers it
	stepSure = "sure" // the option, after the second question
	stepMore = "more" // the next options
	// What is meant stands in the reply.
	stepReply = "reply"
)

// secret is the key of the codes. It exists only in the courier's memory.
type secret [32]byte

// code returns the code that stands for one step with one option of one question, sent by one
// sender: a service's address and who there may answer.
func (s *secret) code(run, question, option, step, sender string) string {
	mac := hmac.New(sha256.New, s[:])
	for _, part := range []string{run, question, option, step, sender} {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		mac.Write(size[:])
		mac.Write([]byte(part))
	}
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:16])
}

// choice is an answer that can be a button, or a number.
type choice struct {
	option, label string
	ends          bool
}

// choices returns the answers to a question that need no words.
func choices(q core.Question) []choice {
	switch {
	case q.Kind == core.KindConfirm:
		return []choice{{option: core.Yes, label: "Yes"}, {option: core.No, label: "No"}}
	case q.Kind == core.KindText:
		return nil
	}
	var list []choice
	for _, o := range q.Options {
		if !o.Shell && o.Action != core.ActionReview && !q.WantsWords(o) {
			list = append(list, choice{o.ID, o.Label, o.Action.Ends()})
		}
	}
	return list
}

// numbered returns the body of a message with the choices as a numbered list, and how to reply.
func numbered(body string, q core.Question, list []choice) string {
	var how []string
	var lines strings.Builder
	for i, of := range list {
		body = strings.Replace(body, "\n"+of.option+": "+of.label, "", 1)
		fmt.Fprintf(&lines, "\n%d. %s", i+1, of.label)
		if of.ends {
			lines.WriteString(" (ends the run)")
		}
	}
	switch {
	case len(list) > 0 && q.Multi:
		how = append(how, "numbers")
	case len(list) > 0:
		how = append(how, "a number")
	}
	switch _, goesOn := q.GoesOn(); {
	case goesOn:
		how = append(how, "words for the next iteration")
	case q.AllowText || q.Kind == core.KindText:
		how = append(how, "your answer in words")
	}
	return body + "\nReply with " + strings.Join(how, ", or ") + lines.String()
}

// reply reads a reply: the answer, and the step that it means. asked is the option that is asked
// about once more; empty: none is. Numbers, labels or ids are a choice; yes after one means that
// the person is sure, and no goes back. Without a step the reply is unclear: what can be meant as
// a choice is no words, and neither is anything while an option is asked about once more.
func reply(q core.Question, asked, words string) (a ask.ShortAnswer, of choice, step string) {
	text := strings.TrimFunc(words, func(c rune) bool { return unicode.IsSpace(c) || unicode.Is(unicode.Cf, c) })
	list, r := choices(q), reader{rest: text}
	var ids []string
	var numbered, labelled, wrong bool
read:
	for first := true; r.rest != ""; first = false {
		digits := r.rest[:len(r.rest)-len(strings.TrimLeft(r.rest, "0123456789"))]
		n, _ := strconv.Atoi(digits)
		i := n - 1
		switch {
		case digits == "":
			if i = r.takeAny(list); i < 0 {
				break read
			}
		case n > 0 && n <= len(list) && r.take(digits):
			numbered = numbered || first
			labelled = r.take(list[i].label) || labelled
		case !first && r.take(digits):
			wrong = true
			continue
		default:
			break read
		}
		r.take("ends the run")
		of = list[i]
		ids = append(ids, of.option)
	}
	yes := len(ids) > 0 && r.take(core.Yes)
	no := !yes && (len(ids) > 0 || asked != "") && r.take(core.No)
	whole := r.rest == ""
	clear := whole && !r.odd && !wrong
	a.Question = q.ID
	switch {
	case clear && no && asked != "" && (len(ids) == 0 || len(ids) == 1 && of.option == asked):
		return ask.ShortAnswer{}, choice{}, stepMore
	case clear && !no && q.Multi && len(ids) > 0:
		a.Options, of = ids, choice{}
	case clear && !no && len(ids) == 1 && yes && of.option == asked:
		a.Option = of.option
		return a, of, stepSure
	case clear && !no && len(ids) == 1:
		a.Option = of.option
	case asked != "", whole && len(ids) > 0, numbered && (labelled || yes || no), ambiguous(text, list):
		return ask.ShortAnswer{}, choice{}, ""
	default:
		a.Text, of = &text, choice{}
	}
	return a, of, stepTap
}

// ambiguous reports whether a line of the words could be meant as a choice.
func ambiguous(words string, list []choice) bool {
	for line := range strings.Lines(words) {
		r := reader{rest: strings.TrimSpace(line)}
		if r.takeAny(list) >= 0 && r.rest == "" || len(tokens(line)) <= 2 && numbers(line, list) {
			return true
		}
	}
	return false
}

// numbers reports whether the words have the number of a choice.
func numbers(words string, list []choice) bool {
	return slices.ContainsFunc(tokens(words), func(token string) bool {
		n, _ := strconv.Atoi(token)
		return n > 0 && n <= len(list)
	})
}

func tokens(words string) []string {
	return strings.FieldsFunc(words, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsNumber(c) })
}

// replyWith reads a reply and what follows it in an e-mail: more words, or a signature. After the
// number of an option that continues it goes along as guidance.
func replyWith(q core.Question, asked, words, more string) (a ask.ShortAnswer, of choice, step string) {
	a, of, step = reply(q, asked, words)
	_, goesOn := q.GoesOn()
	switch {
	case more == "":
	case a.Text != nil && !ambiguous(more, choices(q)):
		*a.Text += "\n\n" + more
	case a.Text != nil || numbers(more, choices(q)):
		return ask.ShortAnswer{}, choice{}, ""
	case goesOn && step == stepTap && !of.ends:
		a.Guidance = more
	}
	return a, of, step
}

// reader reads a reply word by word.
type reader struct {
	rest string
	odd  bool // it has passed a character that says more than nothing, as ? does
}

// begins reports whether the rest begins with that word or those words, whatever their case.
func (r *reader) begins(words string) bool {
	if words == "" || len(r.rest) < len(words) || !strings.EqualFold(r.rest[:len(words)], words) {
		return false
	}
	next, _ := utf8.DecodeRuneInString(r.rest[len(words):])
	return !unicode.IsLetter(next) && !unicode.IsNumber(next)
}

// take passes words and the marks after them, if the rest begins with them.
func (r *reader) take(words string) bool {
	if !r.begins(words) {
		return false
	}
	r.rest = strings.TrimLeftFunc(r.rest[len(words):], func(c rune) bool {
		mark := unicode.IsPunct(c) || unicode.IsSymbol(c)
		r.odd = r.odd || mark && !strings.ContainsRune(".,;:!()'\"“”", c)
		return mark || unicode.IsSpace(c) || unicode.IsMark(c) // a reaction is 1\ufe0f\u20e3
	})
	return true
}

// takeAny passes the longest label or id of the list, and returns its index; -1: there is none.
func (r *reader) takeAny(list []choice) int {
	found, longest := -1, ""
	for i, of := range list {
		for _, word := range []string{of.label, of.option} {
			if len(word) > len(longest) && r.begins(word) {
				found, longest = i, word
			}
		}
	}
	r.take(longest)
	return found
}
