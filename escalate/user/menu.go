package user

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/termsafe"
)

// Menu is a question as a person sees it. All of its text is safe to show.
type Menu struct {
	Header  string
	Text    string   // one or more lines
	Details []string // single lines; an empty one is between two parts
	// Sentence means that the text is the main message and comes before the details.
	Sentence bool
	// Items are the items to choose from. A question for text has one item that takes it; if
	// there is nothing else to choose, the person types at once.
	Items []Item
	// Cursor is the item that is marked at first; if -1, none is marked and Enter alone
	// answers nothing. It is the default of a question from the command, or an item that
	// decides nothing.
	Cursor int
	// Open reports whether an assistant advised against it.
	Open bool
	// Multi means that items with a Box can be ticked. Choosing one of them chooses all ticked
	// items, of which there must be at least one.
	Multi bool
	// Default is the text that Enter alone submits; empty if there is none.
	Default string

	say func(key string, label ...string) string
}

// Item is one line of the menu.
type Item struct {
	ID          string
	Label       string
	Description string
	// Key is the lower-case letter that chooses the item, and Number the number that does;
	// empty and 0 if it has none.
	Key    string
	Number int
	// Ends reports that the answer ends the run, and GoesOn that it continues the run.
	Ends, GoesOn bool
	// Says asks for words for the marked item, or else for the first that continues the run.
	Says bool
	// Pauses keeps the question for later.
	Pauses bool
	// Review shows the history and asks again.
	Review bool
	// Types asks for a text, which is then the answer or accompanies the option. Asks does so
	// too, and an empty text takes the option without words.
	Types, Asks bool
	// Shell means that the option opens a shell.
	Shell bool
	// Cancels declines to answer.
	Cancels bool
	// Box reports that the item can be ticked, and Ticked that it is ticked at first.
	Box, Ticked bool
}

// Choice is a person's choice in a [Menu].
type Choice struct {
	// Item is the index of the item, from 0.
	Item int
	// Ticked are the indexes of the ticked items of a menu with Multi, in order, and Text is
	// the typed text; they count if Item uses them.
	Ticked []int
	Text   string
	// Own means that the text stands alone, without the option's own guidance.
	Own bool
}

// Limits on the size of a single item on the screen.
const (
	maxLabel       = 120
	maxDescription = 400
)

// typesOnly reports whether the only choices are to type a text and to keep the question.
func (m *Menu) typesOnly() bool {
	return len(m.Items) > 0 && m.Items[0].Types && !slices.ContainsFunc(m.Items[1:], func(i Item) bool { return !i.Pauses })
}

// check returns an error if a choice is invalid.
func (m *Menu) check(c Choice) error {
	switch {
	case c.Item < 0 || c.Item >= len(m.Items):
		return fmt.Errorf("the prompt chose item %d of %d", c.Item+1, len(m.Items))
	case m.Items[c.Item].Says, c.Text != "" && !m.Items[c.Item].Types && !m.Items[c.Item].takesWords() && !m.Items[c.Item].Cancels:
		return fmt.Errorf("the prompt chose item %d, which is not an answer", c.Item+1)
	case len(c.Text) > maxText:
		return fmt.Errorf("the prompt gave a text of %d bytes", len(c.Text))
	case m.Items[c.Item].Types && (strings.TrimSpace(termsafe.Text(c.Text)) == ""):
		return fmt.Errorf("the prompt gave a text of %d bytes", len(c.Text))
	case !m.Items[c.Item].Box:
		return nil
	case len(c.Ticked) == 0:
		return errors.New("the prompt chose none of the items that can be ticked")
	}
	for i, n := range c.Ticked {
		if n < 0 || n >= len(m.Items) || !m.Items[n].Box || i > 0 && n <= c.Ticked[i-1] {
			return fmt.Errorf("the prompt ticked %v", c.Ticked)
		}
	}
	return nil
}

// answer converts a checked choice to an answer.
func (m *Menu) answer(c Choice) core.Answer {
	a := core.Answer{Responder: core.RespondedByUser, Person: true, Reason: "chosen at the terminal"}
	switch item := m.Items[c.Item]; {
	case item.Cancels:
		a.Cancelled, a.Reason = true, "cancelled at the terminal"
	case item.Types && item.ID != "": // an option that is answered in words
		a.Option, a.Guidance, a.Reason = item.ID, strings.TrimSpace(termsafe.Text(c.Text)), "typed at the terminal"
	case item.Types:
		text := strings.TrimSpace(termsafe.Text(c.Text))
		a.Text, a.Reason = &text, "typed at the terminal"
	case item.Box:
		a.Options = convert.Each(c.Ticked, func(n int) string { return m.Items[n].ID })
	default:
		a.Option = item.ID
		switch words := strings.TrimSpace(termsafe.Text(c.Text)); {
		case words != "" && item.GoesOn:
			a.Guidance, a.OwnWords, a.Reason = words, c.Own, "typed at the terminal"
		case words != "":
			a.Reason = words
		}
	}
	return a
}

// assign gives the items their numbers and letters. An item without a requested letter gets
// the first free letter of its label.
func (m *Menu) assign() {
	taken := core.TakenKeys
	for i := range m.Items {
		if item := &m.Items[i]; item.Key != "" && item.ID != "" && !m.fixed(*item) && strings.Contains(taken, item.Key) {
			item.Key = ""
		} else {
			taken += item.Key
		}
	}
	n := 0
	for i := range m.Items {
		item := &m.Items[i]
		if item.ID == "" && !item.Cancels || item.Review || item.Key == "y" && m.fixed(*item) || item.Key == "n" && m.fixed(*item) {
			continue
		}
		n++
		item.Number = n
		for _, r := range strings.ToLower(item.Label) {
			if item.Key == "" && r >= 'a' && r <= 'z' && !strings.ContainsRune(taken, r) {
				item.Key = string(r)
				taken += item.Key
			}
		}
	}
}

// fixed reports whether the item has a fixed letter: yes, no, the pause, the review.
func (m *Menu) fixed(item Item) bool {
	return item.Review || item.Key == "y" && item.ID == core.Yes || item.Key == "n" && item.ID == core.No || item.Key == pauseKey && item.ID == string(core.ActionPause)
}

// item returns the item that the character chooses; -1 if there is none.
func (m *Menu) item(c byte) int {
	switch c {
	case '?':
		c = reviewKey[0]
	case editKey:
		c = wordsKey[0]
	}
	c |= 0x20 & (c >> 1) // a letter in lower case, a digit as it is
	return slices.IndexFunc(m.Items, func(i Item) bool {
		return i.Key == string(rune(c)) || i.Number > 0 && i.Number < 10 && int(c-'0') == i.Number
	})
}

// takesWords reports whether words can accompany the item: what to do if it continues the run,
// or else why.
func (i Item) takesWords() bool { return i.ID != "" && !i.Review && !i.Box }

// typed reports whether choosing the item opens a field.
func (i Item) typed() bool { return i.Types || i.Asks || i.Says }

// spoken returns the item that words are for: the marked one, or else the first that continues
// the run; -1 if there is none. Words never end a run unless an item that does so is marked.
func (m *Menu) spoken(cursor int) int {
	if cursor >= 0 && m.Items[cursor].takesWords() {
		return cursor
	}
	return slices.IndexFunc(m.Items, func(i Item) bool { return i.GoesOn })
}

// report describes the choice, for the line that stays on the screen.
func (m *Menu) report(c Choice) string {
	switch item := m.Items[c.Item]; {
	case item.Cancels:
		return m.say("answer_none")
	case item.Types:
		return termsafe.Cut(c.Text, maxDescription)
	case item.Box:
		return strings.Join(convert.Each(c.Ticked, func(n int) string { return m.Items[n].Label }), ", ")
	case c.Own:
		return "“" + termsafe.Cut(termsafe.Line(c.Text), maxDescription) + "”"
	case c.Text != "":
		return fmt.Sprintf("%s: “%s”", item.Label, termsafe.Short(c.Text, maxDescription))
	default:
		return item.Label
	}
}

// distinguish adds the id to labels that are identical.
func (m *Menu) distinguish() {
	count := map[string]int{}
	for _, item := range m.Items {
		count[item.Label]++
	}
	for i, item := range m.Items {
		if count[item.Label] > 1 && item.ID != "" {
			m.Items[i].Label += " (" + termsafe.Line(item.ID) + ")"
		}
	}
}

// String returns the item on one line.
func (i Item) String() string {
	if i.Description == "" {
		return i.Label
	}
	return i.Label + "  – " + i.Description
}
