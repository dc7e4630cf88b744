//go:build unix

package main

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// pageLink leads to a file of the repository, or to a heading of one.
type pageLink struct {
	line   int
	target string
}

// inlineLink is [text](target), also as a picture. Links to other sites are not
// looked up: a test that needs the network is none.
var inlineLink = regexp.MustCompile(`\]\(([^()\s]+)\)`)

// unfenced are the lines of a page; those of fenced blocks are empty.
func unfenced(text string) []string {
	lines := strings.Split(text, "\n")
	fence := ""
	for i, line := range lines {
		mark := strings.TrimSpace(line)
		ticks := mark[:len(mark)-len(strings.TrimLeft(mark, "`"))]
		switch {
		case fence == "" && len(ticks) >= 3:
			fence, lines[i] = ticks, ""
		case fence != "":
			if mark == ticks && len(ticks) >= len(fence) {
				fence = ""
			}
			lines[i] = ""
		}
	}
	return lines
}

var inlineCode = regexp.MustCompile("`[^`]*`")

func linksOf(text string) []pageLink {
	var list []pageLink
	for i, line := range unfenced(text) {
		for _, m := range inlineLink.FindAllStringSubmatch(inlineCode.ReplaceAllString(line, ""), -1) {
			if !strings.Contains(m[1], "://") && !strings.HasPrefix(m[1], "mailto:") {
				list = append(list, pageLink{i + 1, m[1]})
			}
		}
	}
	return list
}

// anchorsOf are the anchors of a page's headings, as GitHub and GitLab make
// them: small letters, spaces as dashes, and of the signs only - and _. A heading
// that comes again gets a number.
func anchorsOf(text string) []string {
	var list []string
	seen := map[string]int{}
	for _, line := range unfenced(text) {
		hashes := len(line) - len(strings.TrimLeft(line, "#"))
		if hashes == 0 || hashes > 6 || !strings.HasPrefix(line[hashes:], " ") {
			continue
		}
		anchor := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(line[hashes:]))
		if n := seen[anchor]; n > 0 {
			list = append(list, anchor+"-"+strconv.Itoa(n))
		} else {
			list = append(list, anchor)
		}
		seen[anchor]++
	}
	return list
}

// broken are the links of the pages that lead nowhere, each with what is wrong.
func broken(root fs.FS, pages []string) ([]string, error) {
	var list []string
	for _, page := range pages {
		text, err := fs.ReadFile(root, page)
		if err != nil {
			return nil, err
		}
		for _, l := range linksOf(string(text)) {
			file, anchor, _ := strings.Cut(l.target, "#")
			target := page
			if file != "" {
				target = path.Join(path.Dir(page), file)
			}
			problem := ""
			if _, err := fs.Stat(root, target); err != nil {
				problem = "there is no such file"
			} else if anchor != "" {
				there, err := fs.ReadFile(root, target)
				if err != nil || !slices.Contains(anchorsOf(string(there)), anchor) {
					problem = "there is no such heading"
				}
			}
			if problem != "" {
				list = append(list, page+":"+strconv.Itoa(l.line)+": "+l.target+": "+problem)
			}
		}
	}
	return list, nil
}

// pagesBelow are all pages of the repository.
func pagesBelow(root fs.FS) ([]string, error) {
	var pages []string
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (name == "bin" || name != "." && strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
			return fs.SkipDir
		}
		if strings.HasSuffix(name, ".md") {
			pages = append(pages, name)
		}
		return nil
	})
	return pages, err
}

// Every relative link and every anchor of every page leads somewhere, and every
// page of docs/ can be reached from its index.
func TestDocsLinks(t *testing.T) {
	t.Parallel()
	root := os.DirFS("../..")
	pages, err := pagesBelow(root)
	if err != nil || len(pages) < 30 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	list, err := broken(root, pages)
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range list {
		t.Error(problem)
	}
	index, err := fs.ReadFile(root, "docs/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		name, ok := strings.CutPrefix(page, "docs/")
		if !ok || name == "README.md" || strings.HasPrefix(name, "decisions/") {
			continue
		}
		if !slices.ContainsFunc(linksOf(string(index)), func(l pageLink) bool { return l.target == name }) {
			t.Errorf("docs/README.md does not name docs/%s", name)
		}
	}
}

func TestDocsLinksFindsMistakes(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"one.md": "# One\n[two](sub/two.md) [part](sub/two.md#max_runtime) [self](#one) [site](https://example.com/x)\n" +
			"`[code](none.md)`\n```\n[shown](none.md)\n# no heading\n```\n",
		"sub/two.md": "# Two\n## max_runtime\n## `--wait`, and more\n## Same\n## Same\n[up](../one.md#one) [again](#same-1) [flags](#--wait-and-more)\n",
		"bad.md":     "[a](none.md)\n[b](one.md#two) [c](#none) ![d](none.png) [e](one.md#no-heading-2)\n",
	} {
		if err := os.MkdirAll(path.Dir(path.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	root := os.DirFS(dir)
	if list, err := broken(root, []string{"one.md", "sub/two.md"}); err != nil || len(list) != 0 {
		t.Errorf("%q, %v; want none", list, err)
	}
	want := []string{
		"bad.md:1: none.md: there is no such file", "bad.md:2: one.md#two: there is no such heading",
		"bad.md:2: #none: there is no such heading", "bad.md:2: none.png: there is no such file",
		"bad.md:2: one.md#no-heading-2: there is no such heading",
	}
	if list, err := broken(root, []string{"bad.md"}); err != nil || !slices.Equal(list, want) {
		t.Errorf("%q, %v; want %q", list, err, want)
	}
}
