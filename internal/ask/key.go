package ask

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
)

// Key returns a key that is the same for equal questions, which are asked once: those of the
// same kind with the same header, question and labels, in any order. Texts are compared in
// NFC, without surrounding blank space. The key has 64 hex digits.
func Key(q Question) string {
	q = q.withDefaults()
	labels := make([]string, len(q.Options))
	for i, o := range q.Options {
		labels[i] = normal(o.Label)
	}
	slices.Sort(labels)
	data, _ := json.Marshal([]any{q.Kind, normal(q.Header), normal(q.Question), labels}) // texts always encode
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Transfer converts an answer to one question into the answer to an equal one of another
// requester, whose options can have other ids, and checks it against that question. If it
// fails, the other question has to be asked separately.
func Transfer(from, to Question, a Answer) (Answer, error) {
	if Key(from) != Key(to) {
		return Answer{}, fmt.Errorf("the questions %s and %s are not equal", excerpt(from.ID), excerpt(to.ID))
	}
	if err := CheckAnswer(from, a); err != nil {
		return Answer{}, err
	}
	a = Normalize(a)
	a.ID = to.ID
	ids := a.Selected.IDs()
	for i, id := range ids {
		chosen, _ := from.Option(id)
		for _, o := range to.choices() {
			if normal(o.Label) == normal(chosen.Label) {
				ids[i] = o.ID
			}
		}
	}
	a.Selected.ids = ids
	if n := len(ids); n == 1 && a.Selected.list != to.MultiSelect {
		a.Selected.list = to.MultiSelect
	}
	return a, CheckAnswer(to, a)
}
