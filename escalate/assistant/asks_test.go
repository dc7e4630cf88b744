package assistant

import (
	"testing"

	"github.com/looprun/looprun/core"
)

// What the command asks may allow more than a reply can say: the reply is then
// one of the options, and nothing else.
func TestWhatTheCommandAllowsBesideOptions(t *testing.T) {
	q := asked(core.KindSelect)
	q.From, q.AllowText, q.AllowCancel, q.To, q.Default = core.FromCommand, true, true, "assistant", "blue"
	for reply, good := range map[string]bool{
		`{"reason": "r", "answer": "blue"}`:              true,
		`{"reason": "r", "answer": "cancel"}`:            true, // an option of that name
		`{"reason": "r", "answer": "turquoise"}`:         false,
		`{"reason": "r", "answer": ["blue"]}`:            false,
		`{"reason": "r", "answer": null}`:                false,
		`{"reason": "r", "cancelled": true}`:             false,
		`{"reason": "r", "answer": "blue", "text": "x"}`: false,
	} {
		f := newFake(t, "say "+reply)
		f.OnlyFrom = []Source{FromAsk}
		a, err := New(f.Options).Respond(t.Context(), q, stuck())
		if (err == nil) != good || a.Cancelled || a.Text != nil || a.Options != nil || (a.Option != "") != good {
			t.Errorf("%s: %+v %v", reply, a, err)
		}
		if err := q.Accepts(a); (err == nil) != good {
			t.Errorf("%s: the loop says %v", reply, err)
		}
	}
}

// Who asks is what From says: a question that names a guard too is no trip.
func TestWhoAsks(t *testing.T) {
	q := asked(core.KindConfirm)
	q.From, q.Guard = core.FromCommand, core.MaxIterations
	for from, want := range map[Source]int{FromAsk: 1, FromGuards: 0} {
		f := newFake(t, `say {"reason": "r", "answer": true}`)
		f.OnlyFrom = []Source{from}
		if a, err := New(f.Options).Respond(t.Context(), q, stuck()); f.runs(t) != want {
			t.Errorf("%s: %+v %v after %d runs", from, a, err, f.runs(t))
		}
	}
}
