package user

import (
	"fmt"
	"slices"
	"strings"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/internal/termsafe"
)

// Menu is a question as a person sees it. All its text is safe to show.
type Menu struct {
	Header  string
	Text    string
	Details []string // single lines
	Items   []Item
	// Cursor is the item that is marked at first: the one that cancels, or
	// else the review.
	Cursor int
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
}

// Limits on what a single item may take of the screen.
const (
	maxLabel       = 120
	maxDescription = 400
)

// newMenu makes the menu for a question. A person is offered a review on every
// question; where it does not list one, it stands before what cancels. A
// question that a menu cannot put is [looprun.ErrNoAnswer]; one of which a
// choice could be mistaken for another is an error.
func newMenu(q looprun.Question) (Menu, error) {
	if q.Kind == looprun.KindText || len(q.Options) == 0 {
		return Menu{}, fmt.Errorf("question %s has no options to choose from: %w", q.ID, looprun.ErrNoAnswer)
	}
	m := Menu{Header: termsafe.Line(q.Header), Text: termsafe.Line(q.Text)}
	for _, d := range q.Details {
		m.Details = append(m.Details, strings.Split(strings.TrimRight(termsafe.Text(d), "\n"), "\n")...)
	}
	cancels, reviews := -1, -1
	for i, o := range q.Options {
		if slices.ContainsFunc(q.Options[:i], func(p looprun.Option) bool { return p.ID == o.ID }) {
			return Menu{}, fmt.Errorf("question %s has two options with the id %q", q.ID, o.ID)
		}
		item := newItem(o)
		if item.Review {
			reviews = i
		}
		if o.Action == looprun.ActionCancel {
			cancels = i
		}
		m.Items = append(m.Items, item)
	}
	if reviews < 0 {
		reviews = len(m.Items)
		if cancels == reviews-1 {
			reviews, cancels = cancels, cancels+1
		}
		m.Items = slices.Insert(m.Items, reviews, Item{
			Label: "Review …", Description: "Show iterations, errors and signatures, then ask again", Review: true,
		})
	}
	m.Cursor = reviews
	if cancels >= 0 {
		m.Cursor = cancels
	}
	m.distinguish()
	return m, nil
}

func newItem(o looprun.Option) Item {
	item := Item{
		ID:          o.ID,
		Label:       shorten(termsafe.Line(o.Label), maxLabel),
		Description: shorten(termsafe.Line(o.Description), maxDescription),
		Review:      o.Action == looprun.ActionReview,
	}
	if item.Label == "" {
		item.Label = termsafe.Line(o.ID)
	}
	return item
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

// shorten cuts a text to n characters, the last of which is then an ellipsis.
func shorten(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
