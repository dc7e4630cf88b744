// Command api records what the packages of the library export, one line for each object, field
// and method, and compares it with the previous record, so that no name, type or JSON key
// changes by accident.
//
//	go run ./tools/api            compare with docs/api
//	go run ./tools/api -write     write docs/api
//
// Any difference fails. A removed line breaks its users. A new line breaks nobody, except for
// a method of an interface that others implement, but it must be kept from the next release
// on, so it must be intended too.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	write := flag.Bool("write", false, "write the files instead of comparing with them")
	dir := flag.String("dir", "docs/api", "the `folder` they are in")
	flag.Parse()
	if err := run(*dir, *write, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "api:", err)
		os.Exit(1)
	}
}

func run(dir string, write bool, out io.Writer) error {
	now, err := exported(".")
	if err != nil {
		return err
	}
	if write {
		return save(dir, now)
	}
	before, err := load(dir)
	if err != nil {
		return err
	}
	return compare(before, now, out)
}

// errChanged means that the comparison found differences.
var errChanged = errors.New("the exported API is not that of docs/api; if every line of this is meant, run make api, and say in CHANGELOG.md what a user has to do")

// compare prints removed and added lines, those that break users first.
func compare(before, now map[string][]string, out io.Writer) error {
	var gone, added []string
	for _, file := range slices.Sorted(maps.Keys(before)) {
		gone = append(gone, in(file, without(before[file], now[file]))...)
	}
	for _, file := range slices.Sorted(maps.Keys(now)) {
		added = append(added, in(file, without(now[file], before[file]))...)
	}
	if len(gone)+len(added) == 0 {
		return nil
	}
	list := func(title, mark string, lines []string) {
		if len(lines) == 0 {
			return
		}
		fmt.Fprintln(out, title)
		for _, l := range lines {
			fmt.Fprintln(out, mark, l)
		}
	}
	list("gone or changed, which breaks programs that use it:", "-", gone)
	list("new, and to be kept from now on:", "+", added)
	return errChanged
}

// in prefixes each line with its package.
func in(file string, lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = strings.TrimSuffix(file, ".txt") + ": " + l
	}
	return out
}

// without returns the lines that are not in others.
func without(lines, others []string) []string {
	there := map[string]bool{}
	for _, l := range others {
		there[l] = true
	}
	var out []string
	for _, l := range lines {
		if !there[l] {
			out = append(out, l)
		}
	}
	return out
}

// load reads the files of the folder, by name. It skips empty lines and those that begin with
// #.
func load(dir string) (map[string][]string, error) {
	files, err := listed(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	all := map[string][]string{}
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		var lines []string
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimRight(line, "\r\n"); line != "" && line[0] != '#' {
				lines = append(lines, line)
			}
		}
		all[filepath.ToSlash(name)] = lines
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no files to compare with; make api writes them", dir)
	}
	return all, nil
}

func listed(dir string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(name) == ".txt" {
			name, err = filepath.Rel(dir, name)
			files = append(files, name)
		}
		return err
	})
	return files, err
}

// save writes a file for each package, and removes those of packages that are gone.
func save(dir string, all map[string][]string) error {
	for name, lines := range all {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		text := "# Written by make api.\n" + strings.Join(lines, "\n") + "\n"
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return err
		}
	}
	files, err := listed(dir)
	if err != nil {
		return err
	}
	for _, name := range files {
		if _, there := all[filepath.ToSlash(name)]; there {
			continue
		}
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}
