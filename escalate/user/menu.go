package user

import (
	"errors"
	"fmt"
	"strings"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/internal/termsafe"
)

// Menu is a question as a person sees it. All its text is safe to show.
type Menu struct {
	Header  string
	Text    string   // one or more lines
	Details []string // single lines
	// Items can be chosen. A question for text has one that takes it, and a
	// person who has nothing else to choose types at once.
	Items []Item
	// Cursor is the item that is marked at first. No item that lets a run go on
	// is, unless it is the default of a question that the command asks.
	Cursor int
	// Multi says that the items with a Box can be ticked, and that choosing one
	// of them chooses all that are ticked, at least one.
	Multi bool
	// Default is the text that Enter alone gives; empty: none.
	Default string
	// Reviewed says that the history is among the details.
	Reviewed bool
}

// Item is one line of the menu.
type Item struct {
	ID          string
	Label       string
	Description string
	// Review shows the history and asks again.
	Review bool
	// Types asks for a text, which is then the answer, or what goes with the
	// option.
	Types bool
	// Cancels declines to answer.
	Cancels bool
	// Box says that the item can be ticked, and Ticked that it is at first.
	Box, Ticked bool
}

// Choice is what a person has chosen of a [Menu].
type Choice struct {
	// Item is the number of the item, from 0.
	Item int
	// Ticked are the numbers of the ticked items of a menu with Multi, in their
	// order, and Text is what was typed; they count where Item says so.
	Ticked []int
	Text   string
}

// Limits on what a single item may take of the screen.
const (
	maxLabel       = 120
	maxDescription = 400
)

// typesOnly reports whether there is nothing to choose, only a text to type.
func (m *Menu) typesOnly() bool { return len(m.Items) == 1 && m.Items[0].Types }

// check says what is wrong with a choice.
func (m *Menu) check(c Choice) error {
	switch {
	case c.Item < 0 || c.Item >= len(m.Items):
		return fmt.Errorf("the prompt chose item %d of %d", c.Item+1, len(m.Items))
	case m.Items[c.Item].Types && (strings.TrimSpace(termsafe.Text(c.Text)) == "" || len(c.Text) > maxText):
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

// answer is the choice, which was checked, as an answer.
func (m *Menu) answer(c Choice) looprun.Answer {
	a := looprun.Answer{Responder: looprun.RespondedByUser, Person: true, Reason: "chosen at the terminal"}
	switch item := m.Items[c.Item]; {
	case item.Cancels:
		a.Cancelled, a.Reason = true, "cancelled at the terminal"
	case item.Types && item.ID != "": // an option that is answered in words
		a.Option, a.Guidance, a.Reason = item.ID, strings.TrimSpace(termsafe.Text(c.Text)), "typed at the terminal"
	case item.Types:
		text := strings.TrimSpace(termsafe.Text(c.Text))
		a.Text, a.Reason = &text, "typed at the terminal"
	case item.Box:
		for _, n := range c.Ticked {
			a.Options = append(a.Options, m.Items[n].ID)
		}
	default:
		a.Option = item.ID
	}
	return a
}

// report says what was chosen, for the line that stays on the screen.
func (m *Menu) report(c Choice) string {
	switch item := m.Items[c.Item]; {
	case item.Cancels:
		return "none, as it was cancelled."
	case item.Types:
		return termsafe.Cut(c.Text, maxDescription)
	case item.Box:
		var all []string
		for _, n := range c.Ticked {
			all = append(all, fmt.Sprintf("%s (%s)", m.Items[n].Label, m.Items[n].ID))
		}
		return strings.Join(all, ", ")
	default:
		return fmt.Sprintf("%s (%s)", item.Label, item.ID)
	}
}

// distinguish adds the id to labels that read the same.
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

// String is the item on one line.
func (i Item) String() string {
	if i.Description == "" {
		return i.Label
	}
	return i.Label + "  – " + i.Description
}
