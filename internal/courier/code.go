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

// reply reads the answer in a reply: numbers of the list, the id of an option, or words. yes
// after a number means that the person is sure.
func reply(q core.Question, words string) (a ask.ShortAnswer, of choice, sure bool) {
	list, text := choices(q), strings.TrimSpace(words)
	a.Question = q.ID
	fields := strings.FieldsFunc(text, func(r rune) bool { // a reaction is 1\ufe0f\u20e3
		return unicode.IsSpace(r) || strings.ContainsRune(",.;:)\ufe0f\u20e3", r)
	})
	if len(fields) == 2 && strings.EqualFold(fields[1], core.Yes) {
		fields, sure = fields[:1], true
	}
	var ids []string
	for _, field := range fields {
		i := slices.IndexFunc(list, func(of choice) bool { return strings.EqualFold(of.option, field) })
		if n, err := strconv.Atoi(field); err == nil {
			i = n - 1
		}
		if i < 0 || i >= len(list) {
			a.Text = &text
			return a, choice{}, false
		}
		of = list[i]
		ids = append(ids, of.option)
	}
	switch {
	case q.Multi && len(ids) > 0:
		a.Options, of = ids, choice{}
	case len(ids) == 1:
		a.Option = of.option
	default:
		a.Text, of = &text, choice{}
	}
	return a, of, sure
}
