package report

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/plural"
)

// How much of an output file is read at its head and at its tail, in bytes.
const (
	readHead = 32 << 10
	readTail = 96 << 10
)

// shown is the part of an output that fits on a page.
type shown struct {
	Head, Tail [][]span
	// Left describes what is missing between them; it is "" if nothing is.
	Left string
	// Problem is why there is no output.
	Problem string
	size    int
}

// Lines reports whether there is anything to show.
func (s *shown) Lines() bool { return len(s.Head)+len(s.Tail) > 0 }

// outputs reads a run's output files.
type outputs struct {
	root *os.Root
	open bool // transcripts are shown as text
}

func openOutputs(dir string) (*outputs, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("the run's directory cannot be read: %w", err)
	}
	return &outputs{root: root}, nil
}

func (o *outputs) Close() error { return o.root.Close() }

// size returns the size of the file, or 0 if there is none.
func (o *outputs) size(name string) int64 {
	info, err := o.root.Lstat(filepath.FromSlash(name))
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return info.Size()
}

// show reads an output and fits it into budget bytes of HTML: the end matters more than the
// beginning.
func (o *outputs) show(name string, budget int) *shown {
	head, tail, left, err := o.read(name)
	if err != nil {
		return &shown{Problem: problem(name, err)}
	}
	s := &shown{Head: o.lines(head)}
	if left > 0 {
		s.Tail = o.lines(tail)
		s.Left = fmt.Sprintf("%s are left out here; more is in %s", plural.Bytes(left), name)
	}
	s.size = sizeOf(s.Head) + sizeOf(s.Tail)
	if s.size > budget {
		s.fit(name, budget)
	}
	return s
}

// problem describes why an output cannot be shown, without revealing the reader's paths.
func problem(name string, err error) string {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	return line(fmt.Sprintf("%s cannot be read: %v", name, err), maxProse)
}

// read returns the head and the tail of a file, and how many bytes lie between them. If none
// do, everything is in the head.
func (o *outputs) read(name string) (head, tail []byte, left int64, err error) {
	f, size, err := o.file(name)
	if err != nil {
		return nil, nil, 0, err
	}
	defer f.Close()
	if size <= readHead+readTail {
		head, err = io.ReadAll(io.LimitReader(f, readHead+readTail))
		return head, nil, 0, err
	}
	head, tail = make([]byte, readHead), make([]byte, readTail)
	if _, err := io.ReadFull(f, head); err != nil {
		return nil, nil, 0, err
	}
	if _, err := f.ReadAt(tail, size-readTail); err != nil && err != io.EOF {
		return nil, nil, 0, err
	}
	// A partial line could show half an escape sequence.
	if i := strings.LastIndexByte(string(head), '\n'); i >= 0 {
		head = head[:i+1]
	}
	if i := strings.IndexByte(string(tail), '\n'); i >= 0 {
		tail = tail[i+1:]
	}
	return head, tail, size - int64(len(head)+len(tail)), nil
}

// file opens a file, and returns its size.
func (o *outputs) file(name string) (*os.File, int64, error) {
	name = filepath.FromSlash(name)
	info, err := o.root.Lstat(name)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() { // a pipe would wait for ever
		return nil, 0, errors.New("it is not a regular file")
	}
	f, err := o.root.Open(name)
	return f, info.Size(), err
}

func (o *outputs) lines(b []byte) [][]span {
	var a ansi
	if o.open {
		var text bytes.Buffer
		t := console.NewTranscript(&text, nil)
		_, _ = t.Write(b)
		t.Flush()
		b = text.Bytes()
	}
	a.write(string(b))
	return a.end()
}

// fit omits the middle: a quarter of the budget is for the head.
func (s *shown) fit(name string, budget int) {
	all := append(s.Head, s.Tail...)
	first, used := 0, 0
	for first < len(all) && used+lineSize(all[first]) <= budget/4 {
		used += lineSize(all[first])
		first++
	}
	last := len(all)
	for last > first && used+lineSize(all[last-1]) <= budget {
		last--
		used += lineSize(all[last])
	}
	more := ""
	if s.Left != "" {
		more = " and more"
	}
	s.Left = fmt.Sprintf("%d lines%s are left out here; more is in %s", last-first, more, name)
	s.Head, s.Tail, s.size = all[:first], all[last:], used
}

func sizeOf(lines [][]span) int {
	n := 0
	for _, l := range lines {
		n += lineSize(l)
	}
	return n
}

// lineSize returns how many bytes of HTML a line takes.
func lineSize(l []span) int {
	n := 1
	for _, s := range l {
		n += escapedSize(s.Text)
		if s.Class != "" {
			n += len(`<span class=""></span>`) + len(s.Class)
		}
	}
	return n
}

// escapedSize returns the length of a text after html/template has escaped it.
func escapedSize(s string) int {
	n := len(s)
	for i := range len(s) {
		switch s[i] {
		case '&', '"', '\'', '+':
			n += len("&#34;") - 1
		case '<', '>':
			n += len("&lt;") - 1
		}
	}
	return n
}
