// Package tasks reads a list of tasks that stands in a file: the checkboxes of a
// Markdown page, or a JSON list whose entries have a flag that says done. The file is
// data that others write; nothing in it is interpreted, and it is read up to a bound.
package tasks

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/looprun/looprun/internal/inputfile"
	"github.com/looprun/looprun/internal/termsafe"
)

// Bounds of a file.
const (
	maxBytes = 1 << 20
	maxTasks = 1000
	maxText  = 300 // of one task, in characters
)

// Task is one of a list.
type Task struct {
	Text string // one line, safe to show
	Done bool
}

// List is what a file holds, in its order.
type List []Task

// ErrNone says that a file has no task.
var ErrNone = errors.New("it has no task: neither a checkbox (- [ ] …) nor a JSON list with a flag done")

// Open are the tasks that are not done.
func (l List) Open() (open List) {
	for _, t := range l {
		if !t.Done {
			open = append(open, t)
		}
	}
	return open
}

// Read reads a file. One without a task is an error: that all of none are done says
// nothing.
func Read(name string) (List, error) {
	f, err := inputfile.OpenRegular(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	switch {
	case err != nil:
		return nil, err
	case len(b) > maxBytes:
		return nil, fmt.Errorf("%s is longer than the %d bytes that are read", name, maxBytes)
	}
	list, err := Parse(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return list, nil
}

// File is a file as a process in the folder would find it.
func File(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

// Next is the first open task of a file, and how far the list is, for a prompt; empty:
// there is no file, or nothing is open in it.
func Next(dir, name string) string {
	if name == "" {
		return ""
	}
	list, err := Read(File(dir, name))
	open := list.Open()
	if err != nil || len(open) == 0 {
		return ""
	}
	return fmt.Sprintf("%s (%d of %d in %s are done)", open[0].Text, len(list)-len(open), len(list), name)
}

// Parse reads the text of a file.
func Parse(b []byte) (List, error) {
	text := strings.TrimPrefix(string(b), "\ufeff")
	list, err := markdown(text)
	if s := strings.TrimSpace(text); strings.HasPrefix(s, "[{") || strings.HasPrefix(s, "{") || json.Valid([]byte(s)) {
		list, err = fromJSON(s)
	}
	switch {
	case err != nil:
		return nil, err
	case len(list) == 0:
		return nil, ErrNone
	case len(list) > maxTasks:
		return nil, fmt.Errorf("it has %d tasks, which is more than %d", len(list), maxTasks)
	}
	return list, nil
}

// box is a task: done with an x, open with nothing and with every other mark that is no
// word, since people have many for what they have begun. [1] and [a] are references.
var box = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[([xX]|[^\]\pL\pN]?)\][ \t]+(\S.*)$`)
})

// markdown are the checkboxes of a page, but those in its blocks of code. A block without
// an end is an error: it would hide what is open.
func markdown(text string) (list List, err error) {
	fence := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		run, rest := fenceOf(line)
		switch {
		case fence != "":
			if strings.HasPrefix(run, fence) && strings.TrimSpace(rest) == "" {
				fence = ""
			}
		case run != "":
			fence = run
		default:
			if m := box().FindStringSubmatch(line); m != nil {
				list = append(list, Task{Text: shown(m[2]), Done: m[1] == "x" || m[1] == "X"})
			}
		}
	}
	if fence != "" {
		return nil, fmt.Errorf("a block of code in it does not end; write %s behind it", termsafe.Cut(fence, 10))
	}
	return list, nil
}

// fenceOf is the run of characters with which a line begins or ends a block of code, and
// what follows it; empty: it does neither.
func fenceOf(line string) (run, rest string) {
	line = strings.TrimLeft(line, " \t")
	if !strings.HasPrefix(line, "```") && !strings.HasPrefix(line, "~~~") {
		return "", ""
	}
	rest = strings.TrimLeft(line, line[:1])
	if line[0] == '`' && strings.Contains(rest, "`") {
		return "", "" // code within a line
	}
	return line[:len(line)-len(rest)], rest
}

// What a JSON entry calls its flag and its text.
var (
	flags = []string{"done", "passes", "completed", "complete"}
	names = []string{"title", "task", "name", "text", "description", "id"}
)

// fromJSON is a list of objects, or the one such list that an object has.
func fromJSON(text string) (List, error) {
	var doc any
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	if whole, ok := doc.(map[string]any); ok {
		var lists []List
		for _, member := range whole {
			if entries, ok := member.([]any); ok {
				if list, err := fromEntries(entries); err == nil && len(list) > 0 {
					lists = append(lists, list)
				}
			}
		}
		if len(lists) > 1 {
			return nil, errors.New("it has several lists of tasks; keep one of them in a file")
		}
		if len(lists) == 1 {
			return lists[0], nil
		}
		return nil, ErrNone
	}
	entries, ok := doc.([]any)
	if !ok {
		return nil, ErrNone
	}
	return fromEntries(entries)
}

func fromEntries(entries []any) (list List, err error) {
	for i, e := range entries {
		o, _ := e.(map[string]any)
		t := Task{Text: fmt.Sprintf("task %d", i+1)}
		found := false
		for _, flag := range flags {
			if done, ok := o[flag].(bool); ok {
				t.Done, found = done && (t.Done || !found), true
			}
		}
		if !found {
			return nil, fmt.Errorf("entry %d has no flag that says done; give it one of %s", i+1, strings.Join(flags, ", "))
		}
		for _, name := range names {
			if text, ok := o[name].(string); ok && strings.TrimSpace(text) != "" {
				t.Text = shown(text)
				break
			}
		}
		list = append(list, t)
	}
	return list, nil
}

func shown(text string) string {
	return termsafe.Cut(strings.TrimSpace(termsafe.Line(text)), maxText)
}
