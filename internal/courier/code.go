package courier

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"

	"github.com/looprun/looprun/core"
)

// The steps that a code is for.
const (
	stepTap  = "tap"  // the option, as the message offers it
	stepSure = "sure" // the option, after the second question
	stepMore = "more" // the next options
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

// choice is an answer that fits on a button.
type choice struct {
	option, label string
	ends          bool
}

// choices returns what a button can answer to a question: none to one that wants words or
// several options.
func choices(q core.Question) []choice {
	switch {
	case q.Kind == core.KindConfirm:
		return []choice{{option: core.Yes, label: "Yes"}, {option: core.No, label: "No"}}
	case q.Kind == core.KindText || q.Multi:
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
