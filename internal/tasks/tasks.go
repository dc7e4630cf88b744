// Package tasks reads a list of tasks that stands in a file: the checkboxes of a
// Markdown page, or a JSON list whose entries have a flag that says done. The file is
// data that others write; nothing in it is interpreted, and it is read up to a bound.
package tasks

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
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
// word, since people have many for what they have begun. [1] and [a] are references, and
// what a bracket or a colon follows at once is a link. Before it stands what begins an item; a
// box without that, or with more blanks than one, or without a text, was meant as one too.
var box = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[ \t>]*(?:(?:[-*+•]|\(?\d{1,9}[.)])[ \t]*(?:\*\*|__)?\[([ \t]*[xX]?[ \t]*|[^\]\pL\pN])\]|\[([ \t]+|[xX])\])(?:\*\*|__)?($|[^(\[:].*$)`)
})

// boxOf are the parts of a line that is a task; nil: it is none. []string and [~]x are words.
func boxOf(line string) []string {
	m := box().FindStringSubmatch(line)
	if m != nil && m[2] == "" && m[3] != "" && strings.Trim(m[1], "xX \t") == m[1] && !strings.ContainsAny(m[3][:1], " \t") {
		return nil
	}
	return m
}

// markdown are the checkboxes of a page, but those in its blocks of code. A block without
// an end is an error: it would hide what is open. One within an item of a list or a quotation
// ends with that too, so that a box which stands further to the left is none of its code.
func markdown(text string) (list List, err error) {
	fence, column := "", 0
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		m := boxOf(line)
		if m != nil && fence != "" && columns(line[:len(line)-len(strings.TrimLeft(line, " \t>"))]) < column {
			fence = ""
		}
		run, rest, in := fenceOf(line)
		switch {
		case fence != "":
			if strings.HasPrefix(run, fence) && strings.TrimSpace(rest) == "" && strings.Trim(in, " \t>") == "" {
				fence = ""
			}
		case run != "":
			fence, column = run, columns(in)
		case m != nil:
			mark := strings.ToLower(strings.TrimSpace(m[1] + m[2]))
			list = append(list, Task{Text: cmp.Or(shown(m[3]), fmt.Sprintf("task %d", len(list)+1)), Done: mark == "x"})
		}
	}
	if fence != "" {
		return nil, fmt.Errorf("a block of code in it does not end; write %s behind it", termsafe.Cut(fence, 10))
	}
	return list, nil
}

// columns is how far a text reaches that begins a line.
func columns(text string) (n int) {
	for _, c := range text {
		if n++; c == '\t' {
			n += (4 - n%4) % 4
		}
	}
	return n
}

// container is what begins the lines of quotations, and the first ones of items.
var container = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:[ \t>]|(?:[-*+]|\d{1,9}[.)])[ \t])*`)
})

// fenceOf is the run of characters with which a line begins or ends a block of code, what
// follows it, and what stands before it; without a run it does neither.
func fenceOf(line string) (run, rest, in string) {
	in = container().FindString(line)
	line = line[len(in):]
	if !strings.HasPrefix(line, "```") && !strings.HasPrefix(line, "~~~") {
		return "", "", ""
	}
	rest = strings.TrimLeft(line, line[:1])
	if line[0] == '`' && strings.Contains(rest, "`") {
		return "", "", "" // code within a line
	}
	return line[:len(line)-len(rest)], rest, in
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
	if entries, ok := doc.([]any); ok {
		return fromEntries(entries)
	}
	lists := listsIn("", doc)
	switch len(lists) {
	case 0:
		return nil, ErrNone
	case 1:
		list, err := fromEntries(lists[0].entries)
		if err != nil {
			err = fmt.Errorf("%s: %w", shown(lists[0].name), err)
		}
		return list, err
	}
	return nil, errors.New("it has several lists of tasks; keep one of them in a file")
}

type namedList struct {
	name    string
	entries []any
}

// listsIn are the lists in an object, and in those in it, of which an entry has a flag:
// others, of tags or of files, are none of tasks.
func listsIn(name string, value any) (lists []namedList) {
	switch v := value.(type) {
	case []any:
		if slices.ContainsFunc(v, flagged) {
			lists = append(lists, namedList{name, v})
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			lists = append(lists, listsIn(name, v[name])...)
		}
	}
	return lists
}

// flagged reports whether an entry has a flag, whatever it says.
func flagged(entry any) bool {
	o, _ := entry.(map[string]any)
	return slices.ContainsFunc(flags, func(flag string) bool { _, has := o[flag]; return has })
}

// fromEntries are the tasks of a list. One that has tasks of its own is not done before they are.
func fromEntries(entries []any) (list List, err error) {
	for i, e := range entries {
		o, _ := e.(map[string]any)
		t := Task{Text: fmt.Sprintf("task %d", i+1), Done: true}
		found := false
		for _, flag := range flags {
			if done, ok := o[flag].(bool); ok {
				t.Done, found = done && t.Done, true
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
		for _, of := range listsIn("", e) {
			below, err := fromEntries(of.entries)
			if err != nil {
				return nil, fmt.Errorf("%s of entry %d: %w", shown(of.name), i+1, err)
			}
			t.Done = t.Done && len(below.Open()) == 0
		}
		list = append(list, t)
	}
	return list, nil
}

func shown(text string) string {
	return termsafe.Cut(strings.TrimSpace(termsafe.Line(text)), maxText)
}
