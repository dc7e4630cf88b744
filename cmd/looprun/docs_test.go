//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Every block of a page is what it looks like when the page is rendered. In the order of the
// page, and in one folder for each page:
//
//	sh          is run; it has to exit with 0; cd lasts
//	console     lines after "$ " are run, the others are what they print
//	terminal    the same with one command at a terminal
//	output      is what the command above prints, as the text above says: each line, in this
//	            order; … is anything
//
// A block of any language is a file to save where a reader can see its name: "Save this as
// `NAME`" stands above it, or its first line is a comment with the name. It is not executable
// before the page says chmod +x.
//
// What the check needs and a reader does not is in a comment above the fence:
//
//	<!-- exit 102 -->             the exit code, which the text of the section has to name too
//	<!-- keys up,enter exit 101 -->   what is pressed at a terminal
//	<!-- not run: WHY -->         a person runs it
//	<!-- a part -->               it is a part of a file, and nothing to save
//
// A page that says <!-- examples --> finds a copy of examples/ in its folder, as in a clone,
// and one that says <!-- module --> can build Go programs that import this module. Coding
// agents are stand-ins that take what the documentation of each says and no more; port 8080
// is a free one.

// block is one fenced block of a page.
type block struct {
	line    int    // of its fence
	info    string // after the fence
	text    string
	lead    string // the last paragraph above it
	note    string // the comment between that and the fence
	section string // all that a reader sees from its heading to the next
}

// blocksOf reads the fenced blocks of a page.
func blocksOf(page string) []block {
	var list []block
	fence, indent, lead, note, first, paragraph := "", "", "", "", 0, true
	section := &strings.Builder{}
	end := func() {
		for i := range list[first:] {
			list[first+i].section = section.String()
		}
		first, lead, note = len(list), "", ""
		section.Reset()
	}
	for i, line := range strings.SplitAfter(page, "\n") {
		mark := strings.TrimSpace(line)
		ticks := mark[:len(mark)-len(strings.TrimLeft(mark, "`"))]
		switch {
		case fence == "" && len(ticks) >= 3:
			fence, indent = ticks, line[:strings.Index(line, ticks)]
			list = append(list, block{line: i + 1, info: strings.TrimSpace(mark[len(ticks):]), lead: lead, note: note})
			lead, note = "", ""
		case fence != "" && mark == ticks && len(ticks) >= len(fence):
			fence = ""
		case fence != "":
			list[len(list)-1].text += strings.TrimPrefix(line, indent)
			section.WriteString(line)
		case strings.HasPrefix(mark, "<!--") && strings.HasSuffix(mark, "-->"):
			if note = strings.TrimSpace(mark[4 : len(mark)-3]); note == "examples" || note == "module" { // they are about the page
				note = ""
			}
		case strings.HasPrefix(mark, "#"):
			end()
		case mark == "":
			paragraph = true
		default:
			if paragraph {
				lead = ""
			}
			lead, note, paragraph = lead+mark+" ", "", false
			section.WriteString(line)
		}
	}
	end()
	return list
}

var (
	savedAs   = regexp.MustCompile("[Ss]ave [^`]*as `([^`]+)`")
	firstLine = regexp.MustCompile(`^(?:#|//) ([\w./-]*[./][\w./-]*\w)(?::.*)?\n`)
)

// name is the file that a reader is told to save the block as; empty: none.
func (b block) name() string {
	for _, m := range [][]string{savedAs.FindStringSubmatch(b.lead), firstLine.FindStringSubmatch(b.text)} {
		if m != nil {
			return m[1]
		}
	}
	return ""
}

// use is what is done with a block.
type use struct {
	what  string // run, console, terminal, file, output, not run, or empty: only shown
	file  string
	exit  int
	press []string
}

func (b block) use() (use, error) {
	name := b.name()
	why, notRun := strings.CutPrefix(b.note, "not run: ")
	switch {
	case strings.Contains(b.info, " "):
		return use{}, fmt.Errorf("no reader sees %q; put what the check needs in a comment above the fence", b.info)
	case notRun && why != "":
		return use{what: "not run"}, nil
	case b.note == "a part":
		return use{}, nil
	case name != "":
		return use{what: "file", file: name}, nil
	case b.info == "output" && !strings.Contains(b.lead, "print"):
		return use{}, errors.New("it looks like a command; write \"It prints:\" above it")
	case b.info == "output":
		return use{what: "output"}, nil
	case strings.HasPrefix(b.text, "#!") || slices.Contains([]string{"yaml", "go", "python", "ini"}, b.info):
		return use{}, errors.New("no name to save it as; write \"Save this as `NAME`:\" above it, or a first line that is a comment with the name")
	case b.info == "sh" || b.info == "console" || b.info == "terminal":
		return b.runs()
	case b.info == "" && command.MatchString(b.text):
		return use{}, errors.New("it shows a command; write sh or console behind the fence")
	}
	return use{}, nil
}

// runs reads what the comment says about a block that is run.
func (b block) runs() (use, error) {
	u := use{what: map[string]string{"sh": "run"}[b.info]}
	if u.what == "" {
		u.what = b.info
	}
	for words := strings.Fields(b.note); len(words) > 0; words = words[2:] {
		var err error
		switch {
		case words[0] == "exit" && len(words) > 1:
			u.exit, err = strconv.Atoi(words[1])
		case words[0] == "keys" && len(words) > 1 && b.info == "terminal":
			u.press = strings.Split(words[1], ",")
		default:
			err = fmt.Errorf("the comment %q is unknown", b.note)
		}
		if err != nil {
			return use{}, err
		}
	}
	if code := strconv.Itoa(u.exit); u.exit != 0 && !regexp.MustCompile(`\b`+code+`\b`).MatchString(b.section) {
		return use{}, fmt.Errorf("it exits with %s, and nothing around it says so", code)
	}
	return u, nil
}

var command = regexp.MustCompile(`(?m)^(\$ )?(looprun|make|go|git) `)

func TestDocs(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	var pages []string
	folders := []string{"docs", filepath.Join("docs", "recipes")}
	if testing.Short() {
		pages, folders = []string{filepath.Join(root, "docs", "guards.md")}, nil
	}
	for _, folder := range folders {
		found, err := filepath.Glob(filepath.Join(root, folder, "*.md"))
		if err != nil || len(found) == 0 {
			t.Fatalf("there are no pages in %s: %v", folder, err)
		}
		pages = append(pages, found...)
	}
	for _, file := range pages {
		name, err := filepath.Rel(root, file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.ToSlash(name), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			open(t, string(text)).run(t)
		})
	}
}

// unprinted is the first line of want that got does not have in its place; empty
// when all are there.
func unprinted(want, got string) string {
	lines := strings.Split(got, "\n")
	for w := range strings.SplitSeq(strings.TrimSpace(want), "\n") {
		parts := strings.Split(strings.TrimSpace(w), "…")
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		pattern := regexp.MustCompile(`^\s*` + strings.Join(parts, ".*") + `\s*$`)
		if len(strings.Trim(w, " …")) == 0 {
			continue
		}
		i := slices.IndexFunc(lines, pattern.MatchString)
		if i < 0 {
			return w
		}
		lines = lines[i+1:]
	}
	return ""
}

// Each block of each page is one that a reader can follow.
func TestDocsBlocks(t *testing.T) {
	t.Parallel()
	root := os.DirFS(filepath.Join("..", ".."))
	pages, err := pagesBelow(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		if page != "README.md" && !strings.HasPrefix(page, "docs/") || strings.HasPrefix(page, "docs/decisions/") {
			continue
		}
		for _, b := range blocksOf(readPage(t, root, page)) {
			if _, err := b.use(); err != nil {
				t.Errorf("%s:%d: %v", page, b.line, err)
			}
		}
	}
}

// The test of the pages finds what is wrong with one.
func TestDocsFindsMistakes(t *testing.T) {
	for _, c := range []struct{ page, problem string }{
		{"```sh\nlooprun version\n```", ""},
		{"<!-- exit 102 -->\n```sh\nexit 102\n```\nIt exits with 102.", ""},
		{"# 102\n<!-- exit 102 -->\n```sh\nfalse 1102\n```\n# 102", "nothing around it says so"},
		{"<!-- exit many -->\n```sh\nexit 1\n```", "invalid syntax"},
		{"<!-- exit -->\n```sh\nexit 1\n```", "unknown"},
		{"```\nlooprun -- make\n```", "it shows a command"},
		{"```\na drawing\n```", ""},
		{"<!-- not run: it needs a terminal -->\n```sh\nlooprun -- vi\n```", ""},
		{"<!-- not run: -->\n```sh\nlooprun -- vi\n```", "unknown"},
		{"<!-- not run: why -->\ntext\n```sh ran\nlooprun\n```", "no reader sees"},
		{"<!-- keys enter -->\n```sh\nlooprun\n```", "unknown"},
		{"<!-- keys up,enter exit 101 -->\n```terminal\n$ looprun -- vi\nexit 101\n```", ""},
		{"```python file=a.py\nprint(1)\n```", "no reader sees"},
		{"```python\nprint(1)\n```", "no name"},
		{"```python\n# a.py\nprint(1)\n```", ""},
		{"```yaml\n# looprun.yaml: for all\nkeep: off\n```", ""},
		{"<!-- a part -->\n```yaml\nkeep: off\n```", ""},
		{"```sh\n#!/bin/sh\n# a.sh\n```", "no name"},
		{"Save this as `a.sh`:\n\n```sh\n#!/bin/sh\n```", ""},
		{"Save this as `a.sh`:\n\nThen this.\n```sh\n#!/bin/sh\n```", "no name"},
		{"```json\n{}\n```", ""},
		{"```output\nlooprun: done\n```", "looks like a command"},
		{"It prints:\n\n```output\nlooprun: done\n```", ""},
	} {
		_, err := blocksOf(c.page)[0].use()
		if got := fmt.Sprint(err); (c.problem == "") != (err == nil) || !strings.Contains(got, c.problem) {
			t.Errorf("%q: %v, want %q", c.page, err, c.problem)
		}
	}
	for _, c := range []struct{ want, got, missing string }{
		{"a\nc\n", "a\nb\nc\n", ""},
		{"c\na\n", "a\nb\nc\n", "a"},
		{"a … c\n…\nd", "a b c\nd\n", ""},
		{"a", "ab\n", "a"},
	} {
		if got := unprinted(c.want, c.got); got != c.missing {
			t.Errorf("%q in %q: missing %q, want %q", c.want, c.got, got, c.missing)
		}
	}
}
