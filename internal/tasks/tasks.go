// Package tasks reads a list of tasks in a file: the checkboxes of a Markdown page, or a JSON
// list whose entries have a done flag. The file is data that others write; nothing in it is
// executed, and it is read up to a limit.
package tasks

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/inputfile"
	"github.com/looprun/looprun/internal/lazy"
	"github.com/looprun/looprun/internal/redact"
	"github.com/looprun/looprun/internal/strictjson"
	"github.com/looprun/looprun/internal/termsafe"
)

// Limits of a file.
const (
	maxBytes = 1 << 20
	maxTasks = 1000
	maxText  = 300 // of one task, in characters
)

// Task is a task of a list.
type Task struct {
	Text string // one line, safe to show
	Done bool
}

// List holds the tasks of a file, in order.
type List []Task

// ErrNone means that a file has no task.
var ErrNone = errors.New("it has no task: neither a checkbox (- [ ] …) nor a JSON list with a flag done")

// Open returns the tasks that are not done.
func (l List) Open() List { return convert.Where(l, func(t Task) bool { return !t.Done }) }

// page is a file: its tasks, and all words in it outside of code blocks.
type page struct {
	list  List
	words string
}

// read reads a file. A file without tasks is an error: it would mean nothing that all of them
// are done.
func read(name string) (page, error) {
	f, err := inputfile.OpenRegular(name)
	if err != nil {
		if at, ok := errors.AsType[*fs.PathError](err); ok {
			err = at.Err // the name is said once
		}
		return page{}, fmt.Errorf("%s: %w", name, err)
	}
	defer f.Close()
	b, err := inputfile.ReadLimited(f, maxBytes)
	var p page
	if err == nil {
		p, err = parse(b)
	}
	if err != nil {
		return page{}, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

// Open reads a file and returns its open tasks in the form that a run stores.
func Open(name string) ([]string, error) {
	p, err := read(name)
	if err != nil {
		return nil, err
	}
	if changes := p.changes(nil); changes != nil {
		return changes.Opened, nil
	}
	return nil, nil
}

// changes compares the file with the previous open tasks. A deleted task does not count as
// closed.
func (p page) changes(before []string) *core.TaskChanges {
	var c core.TaskChanges
	done := page{}
	for _, t := range p.list {
		switch {
		case t.Done:
			done.words += wordsOf(t.Text) // not joined: no task reaches into the next
		case p.has(t.Text) && !slices.Contains(before, t.Text) && !slices.Contains(c.Opened, t.Text):
			c.Opened = append(c.Opened, t.Text)
		}
	}
	c.Closed = convert.Where(before, func(t string) bool { return !slices.Contains(p.list, Task{Text: t}) && done.has(t) })
	if len(c.Opened)+len(c.Closed) == 0 {
		return nil
	}
	return &c
}

// gone returns the tasks whose words are no longer in the file.
func (p page) gone(before []string) []string {
	return slices.DeleteFunc(slices.Clone(before), p.has)
}

// has reports whether the words of a task are in the file. A task from the journal may be cut
// at its end, and contains no secrets.
func (p page) has(task string) bool {
	if utf8.RuneCountInString(task) >= maxText {
		if i := strings.LastIndexByte(task, ' '); i > 0 {
			task = task[:i]
		}
	}
	for part := range strings.SplitSeq(task, redact.Mask) {
		if words := wordsOf(part); words != "  " && !strings.Contains(p.words, words) {
			return false
		}
	}
	return true
}

// wordsOf returns a text in lower case with one blank around each word. Other characters than
// letters and digits count only in a text that has no letters or digits.
func wordsOf(text string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.In(r, unicode.L, unicode.M, unicode.N) })
	if len(words) == 0 {
		words = strings.Fields(text)
	}
	return " " + strings.Join(words, " ") + " "
}

// File returns the path of a file as a process in the folder would find it.
func File(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

// Next returns the first open task of a file, with the progress of the list, for a prompt. It
// is empty if there is no file, or no open task in it.
func Next(dir, name string) string {
	p, _ := read(File(dir, name))
	list, open := p.list, p.list.Open()
	if len(open) == 0 {
		return ""
	}
	return fmt.Sprintf("%s (%d of %d in %s are done)", open[0].Text, len(list)-len(open), len(list), name)
}

// parse parses the text of a file.
func parse(b []byte) (page, error) {
	text := strings.TrimPrefix(string(b), "\ufeff")
	p, err := markdown(text)
	if s := strings.TrimSpace(text); strings.HasPrefix(s, "[{") || strings.HasPrefix(s, "{") || json.Valid([]byte(s)) {
		p, err = fromJSON(s)
	}
	switch {
	case err != nil:
		return page{}, err
	case len(p.list) == 0:
		return page{}, ErrNone
	case len(p.list) > maxTasks:
		return page{}, fmt.Errorf("it has %d tasks, which is more than %d", len(p.list), maxTasks)
	}
	return p, nil
}

// box matches a task: done with an x; open with nothing, or with any other mark that is not a
// word, since people use many for what they have begun. [1] and [a] are references, and a
// bracket or a colon directly after the box makes it a link. Before the box is the marker of
// an item; a box without a marker, with more than one blank, or without a text is considered a
// task too.
var box = lazy.Regexp(`^[ \t>]*(?:(?:[-*+•]|\(?\d{1,9}[.)])[ \t]*(?:\*\*|__)?\[([ \t]*[xX]?[ \t]*|[^\]\pL\pN])\]|\[([ \t]+|[xX])\])(?:\*\*|__)?($|[^(\[:].*$)`)

// boxOf returns the parts of a line that is a task, or nil. []string and [~]x are words.
func boxOf(line string) []string {
	m := box().FindStringSubmatch(line)
	if m != nil && m[2] == "" && m[3] != "" && strings.Trim(m[1], "xX \t") == m[1] && !strings.ContainsAny(m[3][:1], " \t") {
		return nil
	}
	return m
}

// markdown returns the checkboxes of a page, except those in code blocks. A block without an
// end is an error: it would hide open tasks. A block within a list item or a quotation ends
// with that, so a box further to the left is not part of its code.
func markdown(text string) (p page, err error) {
	if err := plain(text); err != nil {
		return page{}, err
	}
	var words wordList
	fence, column := "", 0
	for line := range strings.FieldsFuncSeq(text, endsLine) {
		line = strings.Map(visible, line)
		m := boxOf(line)
		if m != nil && columns(line[:len(line)-len(strings.TrimLeft(line, " \t>"))]) < column {
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
			p.list = append(p.list, Task{Text: cmp.Or(shown(m[3]), fmt.Sprintf("task %d", len(p.list)+1)), Done: mark == "x"})
			words.add(m[3])
		default:
			words.add(line)
		}
	}
	p.words = words.text()
	if fence != "" {
		return page{}, fmt.Errorf("a block of code in it does not end; write %s after it", termsafe.Cut(fence, 10))
	}
	return p, nil
}

// endsLine reports whether a character ends a line, in any editor.
func endsLine(r rune) bool { return strings.ContainsRune("\n\r\v\f\u0085\u2028\u2029", r) }

// plain returns an error for control characters: an editor hides them, and a box after one may
// not look like a box.
func plain(text string) error {
	for i, r := range text {
		if unicode.IsControl(r) && r != '\t' && !endsLine(r) {
			return fmt.Errorf("line %d of it has the control character %U; remove it, and save the file as UTF-8", strings.Count(text[:i], "\n")+1, r)
		}
	}
	return nil
}

// visible drops invisible characters, and turns every blank into the same one.
func visible(r rune) rune {
	switch {
	case unicode.In(r, unicode.Cf):
		return -1
	case unicode.Is(unicode.Zs, r):
		return ' '
	}
	return r
}

// wordList collects the words of a file.
type wordList struct{ b strings.Builder }

func (w *wordList) add(text string) {
	w.b.WriteString(strings.TrimPrefix(wordsOf(shownWhole(text)), " "))
}

func (w *wordList) text() string { return " " + w.b.String() }

// columns returns the column at which a text at the beginning of a line ends.
func columns(text string) (n int) {
	for _, c := range text {
		if n++; c == '\t' {
			n += (4 - n%4) % 4
		}
	}
	return n
}

// container matches the beginning of a line of a quotation, or of the first line of an item.
var container = lazy.Regexp(`^(?:[ \t>]|(?:[-*+]|\d{1,9}[.)])[ \t])*`)

// fenceOf returns the run of characters with which a line begins or ends a code block, the
// text after it, and the text before it; the run is empty if the line does neither.
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

// The names of a JSON entry's flag and text.
var (
	flags = []string{"done", "passes", "completed", "complete"}
	names = []string{"title", "task", "name", "text", "description", "id"}
)

// fromJSON parses a list of objects, or the only such list in an object.
func fromJSON(text string) (p page, err error) {
	var doc any
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		return page{}, fmt.Errorf("it is not JSON: %w", err)
	}
	if twice := strictjson.Repeated([]byte(text)); twice != "" {
		return page{}, fmt.Errorf("%s is in it twice; leave one of them out", shown(twice))
	}
	var words wordList
	words.addAll(doc)
	p.words = words.text()
	if entries, ok := doc.([]any); ok {
		p.list, err = fromEntries(entries)
		return p, err
	}
	lists := listsIn("", doc)
	switch len(lists) {
	case 0:
		return page{}, ErrNone
	case 1:
		if p.list, err = fromEntries(lists[0].entries); err != nil {
			err = fmt.Errorf("%s: %w", shown(lists[0].name), err)
		}
		return p, err
	}
	return page{}, errors.New("it has several lists of tasks; keep one of them in a file")
}

// addAll adds every text in a JSON value.
func (w *wordList) addAll(value any) {
	switch v := value.(type) {
	case string:
		w.add(v)
	case []any:
		for _, e := range v {
			w.addAll(e)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			w.addAll(v[name])
		}
	}
}

type namedList struct {
	name    string
	entries []any
}

// listsIn returns the lists in an object, and in the objects in it, that have an entry with a
// flag: other lists, of tags or of files, are not task lists.
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

// flagged reports whether an entry has a flag, whatever its value.
func flagged(entry any) bool {
	o, _ := entry.(map[string]any)
	return slices.ContainsFunc(flags, func(flag string) bool { _, has := o[flag]; return has })
}

// fromEntries returns the tasks of a list. A task with tasks of its own is not done before
// they are.
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
			if text, _ := o[name].(string); strings.TrimSpace(text) != "" {
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

func shown(text string) string { return termsafe.Cut(shownWhole(text), maxText) }

func shownWhole(text string) string { return strings.TrimSpace(termsafe.Line(text)) }
