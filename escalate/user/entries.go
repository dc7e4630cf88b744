package user

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/termsafe"
)

// menu returns the menu for a question. It returns [core.ErrNoAnswer] for a question that a
// menu cannot present, and an error if one choice could be mistaken for another. The state may
// be nil.
func (o Options) menu(q core.Question, s *core.State) (Menu, error) {
	q = q.ForPerson()
	m := Menu{say: o.say, Header: o.header(q, s), Text: strings.TrimSpace(termsafe.Text(q.Text)), Cursor: -1}
	m.Sentence, m.Open = q.Guard != "", q.Open
	if len(q.Path) > 0 {
		m.Details = append(m.Details, o.say("through", termsafe.Line(strings.Join(q.Path, " › "))))
	}
	for _, d := range q.Details {
		m.Details = append(m.Details, strings.Split(strings.TrimRight(termsafe.Text(d), "\n"), "\n")...)
	}
	for i, o := range q.Options {
		if slices.ContainsFunc(q.Options[:i], func(p core.Option) bool { return p.ID == o.ID }) {
			return Menu{}, fmt.Errorf("question %s has two options with the id %q", q.ID, o.ID)
		}
	}
	var err error
	switch {
	case q.Kind == core.KindText:
		m.forText(q)
	case q.Kind == core.KindConfirm:
		err = m.forConfirm(q)
	case len(q.Options) == 0:
		err = fmt.Errorf("question %s has no options to choose from: %w", q.ID, core.ErrNoAnswer)
	case q.From == core.FromCommand && q.Guard == "": // else it is of a guard, here or in a run inside
		m.forSelect(q)
	default:
		m.forTrip(q)
	}
	if q.From != "" || q.Guard != "" { // looprun init has nothing to keep
		m.allowPause()
	}
	m.distinguish()
	m.assign()
	return m, err
}

const reviewKey, pauseKey, wordsKey, editKey = "r", "p", "w", 'e'

// allowPause lets the person keep the question for later, if no option does that.
func (m *Menu) allowPause() {
	for i, item := range m.Items {
		if item.ID == string(core.ActionPause) {
			m.Items[i].Key = pauseKey
			return
		}
	}
	m.Items = append(m.Items, Item{Label: m.say("pause_label"), Description: m.say("pause_description"), Key: pauseKey, Pauses: true})
}

// header names who asks, if that is not looprun itself.
func (o Options) header(q core.Question, s *core.State) string {
	own := termsafe.Line(q.Header)
	if q.From != core.FromCommand || q.Guard != "" {
		return own
	}
	if own == "Question" { // which is what one without a heading has
		own = ""
	}
	return o.texts().Text("command_asks", map[string]any{"Iteration": iteration(s), "Label": own})
}

// iteration returns the number of the running iteration, or of the last one; 0 if there is
// none.
func iteration(s *core.State) int {
	switch {
	case s == nil:
		return 0
	case s.Running:
		return s.Open
	}
	return s.Iterations
}

func (m *Menu) review() Item {
	return Item{Label: m.say("review_label"), Description: m.say("review_description"), Key: reviewKey, Review: true}
}

// forTrip offers words if an option continues the run, and a review. Nothing is marked,
// because every option either ends or continues the run.
func (m *Menu) forTrip(q core.Question) {
	review := m.review()
	goesOn := false
	for _, o := range q.Options {
		item := newItem(o)
		item.Types, item.Asks = q.WantsWords(o), q.AsksWords(o)
		if item.Review {
			review = item
			review.Key = reviewKey
			continue
		}
		goesOn = goesOn || item.GoesOn
		m.Items = append(m.Items, item)
	}
	if goesOn {
		m.Items = append(m.Items, Item{Label: m.say("words_label"), Description: m.say("words_description"), Key: wordsKey, Says: true})
	}
	m.Items = append(m.Items, review)
}

// forSelect builds the menu for a select question of the command. The cursor is on the first
// default; without a default nothing is marked. If several options can be ticked, choosing
// without a tick decides nothing either, and the cursor is on the first option.
func (m *Menu) forSelect(q core.Question) {
	m.Multi = q.Multi
	start := -1
	for i, o := range q.Options {
		item := newItem(o)
		item.Box = q.Multi && !item.Review
		item.Types = !item.Box && q.WantsWords(o)
		if o.ID == q.Default || q.Multi && slices.Contains(strings.Split(q.Default, "\n"), o.ID) {
			item.Ticked = item.Box
			if start < 0 {
				start = i
			}
		}
		m.Items = append(m.Items, item)
	}
	if start < 0 && q.Multi { // to choose there without a tick decides nothing
		start = slices.IndexFunc(m.Items, func(item Item) bool { return item.Box })
	}
	m.Cursor = start
	if q.AllowText {
		m.Items = append(m.Items, Item{Label: m.say("in_words_label"), Key: wordsKey, Types: true})
	}
	m.Items = append(m.Items, m.review())
	m.allowCancel(q)
}

// forConfirm offers yes and no; nothing is marked.
func (m *Menu) forConfirm(q core.Question) error {
	for _, id := range []string{core.Yes, core.No} {
		o, ok := q.Option(id)
		switch {
		case !ok && len(q.Options) > 0, len(q.Options) > 2:
			return fmt.Errorf("question %s is for yes or no, and its options are %s", q.ID, strings.Join(q.OptionIDs(), ", "))
		case !ok:
			o = core.Option{ID: id, Label: m.say(id + "_label")}
		}
		item := newItem(o)
		item.Key = id[:1]
		m.Items = append(m.Items, item)
	}
	m.Items = append(m.Items, Item{Label: m.say("reason_label"), Description: m.say("reason_description"), Key: wordsKey, Says: true}, m.review())
	m.allowCancel(q)
	return nil
}

// forText has no list to choose from, unless the question may be declined. A default is
// ignored if it could not be shown and typed unchanged.
func (m *Menu) forText(q core.Question) {
	m.Items = []Item{{Label: m.say("type_label"), Key: wordsKey, Types: true}}
	if d := q.Default; len(d) <= maxText && d == strings.TrimSpace(termsafe.Text(d)) && !strings.ContainsAny(d, "\n\t") {
		m.Default = d
	}
	m.allowCancel(q)
}

func (m *Menu) allowCancel(q core.Question) {
	if q.AllowCancel {
		m.Items = append(m.Items, Item{Label: m.say("cancel_label"), Cancels: true})
	}
}

func newItem(o core.Option) Item {
	return Item{
		ID:          o.ID,
		Label:       cmp.Or(termsafe.Short(o.Label, maxLabel), termsafe.Line(o.ID)),
		Description: termsafe.Short(o.Description, maxDescription),
		Key:         strings.ToLower(termsafe.Line(o.Key)),
		Review:      o.Action == core.ActionReview,
		Ends:        o.Action.Ends(),
		GoesOn:      o.Action.Continues(),
		Shell:       o.Shell,
	}
}
