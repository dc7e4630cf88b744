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

// Every command that a page shows is run, in the order of the page and in one
// folder for each page. What a fenced block is for stands in its first line:
//
//	sh run                      run it; it has to exit with 0
//	sh run exit=102             run it; it has to exit with 102
//	sh file=NAME                write it to a file that can be executed (any language)
//	output                      what the command above prints: each line, in this order; … is anything
//	console run exit=102        lines after "$ " are run, the others are what they print; cd lasts
//	terminal run press=up,enter the same with one command at a terminal, where these keys are pressed
//	sh not run: WHY             a person runs it
//
// A block without any of these may not hold a command. A page that says
// <!-- examples --> finds a copy of examples/ in its folder, as in a clone, and
// one that says <!-- module --> can build Go programs that import this module.
// Coding agents are found as stand-ins that take what the documentation of each
// says and no more; port 8080 is a free one.

// block is one fenced block of a page.
type block struct {
	line int    // of its fence
	info string // what stands behind the fence
	text string
}

// blocksOf reads the fenced blocks of a page.
func blocksOf(page string) []block {
	var list []block
	fence := ""
	for i, line := range strings.SplitAfter(page, "\n") {
		mark := strings.TrimSpace(line)
		ticks := mark[:len(mark)-len(strings.TrimLeft(mark, "`"))]
		switch {
		case fence == "" && len(ticks) >= 3:
			fence = ticks
			list = append(list, block{line: i + 1, info: strings.TrimSpace(mark[len(ticks):])})
		case fence != "" && mark == ticks && len(ticks) >= len(fence):
			fence = ""
		case fence != "":
			list[len(list)-1].text += line
		}
	}
	return list
}

// use is what is done with a block.
type use struct {
	what  string // run, console, terminal, file, output, not run, or empty: only shown
	file  string
	exit  int
	press []string
}

func (b block) use() (use, error) {
	language, rest, _ := strings.Cut(b.info, " ")
	switch {
	case b.info == "output":
		return use{what: "output"}, nil
	case strings.HasPrefix(rest, "file="):
		return use{what: "file", file: strings.TrimPrefix(rest, "file=")}, nil
	case strings.HasPrefix(rest, "not run: ") && len(rest) > len("not run: "):
		return use{what: "not run"}, nil
	case rest == "run" || strings.HasPrefix(rest, "run "):
		return runs(language, strings.Fields(rest)[1:])
	case rest != "":
		return use{}, fmt.Errorf("%q is unknown", rest)
	case language == "sh" || language == "console" || language == "terminal" || language == "" && command.MatchString(b.text):
		return use{}, errors.New("it shows a command; write sh run, or sh not run: WHY")
	}
	return use{}, nil
}

// runs reads what stands behind run.
func runs(language string, options []string) (use, error) {
	u := use{what: "run"}
	if language == "console" || language == "terminal" {
		u.what = language
	}
	for _, o := range options {
		key, value, _ := strings.Cut(o, "=")
		var err error
		switch {
		case key == "exit":
			u.exit, err = strconv.Atoi(value)
		case key == "press" && language == "terminal":
			u.press = strings.Split(value, ",")
		default:
			err = fmt.Errorf("%q is unknown", o)
		}
		if err != nil {
			return use{}, err
		}
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
		pages, folders = []string{filepath.Join(root, "docs", "quickstart-shell.md")}, nil
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

// The test of the pages finds what is wrong with one.
func TestDocsFindsMistakes(t *testing.T) {
	for _, c := range []struct{ info, text, problem string }{
		{"sh run", "looprun version\n", ""},
		{"sh run exit=102", "exit 102\n", ""},
		{"sh run exit=many", "exit 1\n", "invalid syntax"},
		{"sh", "ls\n", "it shows a command"},
		{"", "looprun -- make\n", "it shows a command"},
		{"", "a drawing\n", ""},
		{"sh not run: it needs a terminal", "looprun -- vi\n", ""},
		{"sh not run: ", "looprun -- vi\n", "unknown"},
		{"sh ran", "looprun\n", "unknown"},
		{"sh run press=enter", "looprun\n", "unknown"},
		{"terminal run press=up,enter exit=101", "$ looprun -- vi\n", ""},
		{"console", "$ ls\n", "it shows a command"},
		{"python file=a.py", "print(1)\n", ""},
		{"json", "{}\n", ""},
	} {
		_, err := block{info: c.info, text: c.text}.use()
		if got := fmt.Sprint(err); (c.problem == "") != (err == nil) || !strings.Contains(got, c.problem) {
			t.Errorf("%q: %v, want %q", c.info, err, c.problem)
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
