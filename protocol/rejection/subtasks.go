package rejection

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/looprun/looprun/internal/termsafe"
)

// Subtasks returns the alternative tasks, trimmed, each after those that it depends on;
// otherwise the given order is kept. A dependency is the title of another task, ignoring case
// and white space. If one is unknown or ambiguous, or tasks depend on each other in a circle,
// all tasks are returned in the given order with an error that explains why. The error is a
// warning, because the protocol has no rule that refuses such tasks.
func (r Rejection) Subtasks() ([]Task, error) {
	tasks := r.Normalize().Alternatives
	needs, err := links(tasks)
	if err != nil {
		return tasks, err
	}
	sorted := make([]Task, 0, len(tasks))
	placed := make([]bool, len(tasks))
	for len(sorted) < len(tasks) {
		next := slices.IndexFunc(needs, func(n need) bool {
			return !placed[n.task] && !slices.ContainsFunc(n.on, func(d int) bool { return !placed[d] })
		})
		if next < 0 {
			return tasks, circle(tasks, placed)
		}
		placed[next] = true
		sorted = append(sorted, tasks[next])
	}
	return sorted, nil
}

// need is a task and the tasks that must come before it, by index.
type need struct {
	task int
	on   []int
}

// links resolves the tasks that dependencies name.
func links(tasks []Task) ([]need, error) {
	positions := map[string][]int{}
	for i, t := range tasks {
		positions[sameText(t.Title)] = append(positions[sameText(t.Title)], i)
	}
	needs := make([]need, len(tasks))
	var problems []error
	for i, t := range tasks {
		needs[i].task = i
		for _, name := range t.Dependencies {
			switch found := positions[sameText(name)]; {
			case blank(name) || len(found) == 0:
				problems = append(problems, fmt.Errorf("the task “%s” depends on “%s”, which is none of the alternative tasks; the order they were given in is kept", termsafe.Short(t.Title, shown), termsafe.Short(name, shown)))
			case len(found) > 1:
				problems = append(problems, fmt.Errorf("the task “%s” depends on “%s”, which %d tasks are called; the order they were given in is kept", termsafe.Short(t.Title, shown), termsafe.Short(name, shown), len(found)))
			default:
				needs[i].on = append(needs[i].on, found[0])
			}
		}
	}
	return needs, errors.Join(problems...)
}

func circle(tasks []Task, placed []bool) error {
	var names []string
	for i, t := range tasks {
		if !placed[i] {
			names = append(names, "“"+termsafe.Short(t.Title, shown)+"”")
		}
	}
	return fmt.Errorf("these tasks depend on each other in a circle or on one that does: %s; the order they were given in is kept", strings.Join(names, ", "))
}
