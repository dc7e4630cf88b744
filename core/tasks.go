package core

import (
	"slices"
	"strings"
)

// TaskChanges is how the open tasks of a list changed in an iteration.
type TaskChanges struct {
	Opened []string `json:"opened,omitempty"`
	Closed []string `json:"closed,omitempty"`
}

// after returns the open tasks after the changes.
func (c *TaskChanges) after(open []string) []string {
	if c == nil {
		return open
	}
	left := slices.DeleteFunc(slices.Clone(open), func(t string) bool { return slices.Contains(c.Closed, t) })
	return append(left, c.Opened...)
}

// replaced drops the rejected task from the list: other tasks take its place, so it may be
// deleted.
func (s *State) replaced() {
	if s.Rejected == nil {
		return
	}
	name := strings.ToLower(strings.TrimSpace(s.Rejected.Rejection.Task))
	if name == "" {
		return
	}
	s.Tasks = slices.DeleteFunc(slices.Clone(s.Tasks), func(t string) bool {
		t = strings.ToLower(t)
		return strings.Contains(t, name) || strings.HasPrefix(name, t)
	})
}
