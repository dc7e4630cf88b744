//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Every command that a page shows is run, in the order of the page and in one
// folder for each page. What a fenced block is for stands in its first line:
//
//	sh run            run it; it has to exit with 0
//	sh run exit=102   run it; it has to exit with 102
//	sh file=NAME      write it to a file that can be executed (any language)
//	output            what the command above prints: each line, in this order; … is anything
//	sh not run: WHY   a person runs it
//
// A block without any of these may not hold a command.

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
	what string // run, file, output, not run, or empty: only shown
	file string
	exit int
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
	case rest == "run":
		return use{what: "run"}, nil
	case strings.HasPrefix(rest, "run exit="):
		code, err := strconv.Atoi(strings.TrimPrefix(rest, "run exit="))
		return use{what: "run", exit: code}, err
	case rest != "":
		return use{}, fmt.Errorf("%q is unknown", rest)
	case language == "sh" || language == "" && command.MatchString(b.text):
		return use{}, errors.New("it shows a command; write sh run, or sh not run: WHY")
	}
	return use{}, nil
}

var command = regexp.MustCompile(`(?m)^(\$ )?(looprun|make|go|git) `)

func TestDocs(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("there are no pages: %v", err)
	}
	for _, page := range append(pages, filepath.Join("..", "..", "README.md")) {
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			runPage(t, string(text))
		})
	}
}

// runPage does what the blocks of a page say.
func runPage(t *testing.T, page string) {
	file, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var printed string
	for _, b := range blocksOf(page) {
		u, err := b.use()
		if err != nil {
			t.Errorf("line %d: the block %q: %v", b.line, b.info, err)
			continue
		}
		switch u.what {
		case "file":
			name := filepath.Join(dir, u.file)
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(b.text), 0o755); err != nil {
				t.Fatal(err)
			}
		case "run":
			if strings.Contains(b.text, ".py") && !hasPython() {
				t.Logf("line %d is left out: python3 is not installed", b.line)
				continue
			}
			var code int
			printed, code = shell(t, dir, filepath.Dir(file), b.text)
			if code != u.exit {
				t.Errorf("line %d: exit code %d, want %d:\n%s\n%s", b.line, code, u.exit, b.text, printed)
			}
		case "output":
			if missing := unprinted(b.text, printed); missing != "" {
				t.Errorf("line %d: %q was not printed (there):\n%s", b.line, missing, printed)
			}
		}
	}
}

func hasPython() bool {
	_, err := exec.LookPath("python3")
	return err == nil
}

// shell runs a block as a person does who has no terminal: in a session of its
// own, so that nobody who runs the tests is asked.
func shell(t *testing.T, dir, bin, text string) (string, int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, "sh", "-c", text)
	c.Dir = dir
	c.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "LOOPRUN") || strings.HasPrefix(v, "CI=") || strings.HasPrefix(v, "PYTHONUNBUFFERED=")
	})
	c.Env = append(c.Env, "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"), "HOME="+dir, "GOCACHE="+goCache())
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = 5 * time.Second
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%v:\n%s\n%s", err, text, out)
	}
	return string(out), c.ProcessState.ExitCode()
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
