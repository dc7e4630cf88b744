package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// allowed are the licences, by their SPDX names, that a module may have. All of
// them let the program be passed on under its own licence, if theirs goes along.
var allowed = []string{"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT"}

// isAllowed reports whether a licence is on the list: of “A AND B” both have to
// be, of “A OR B” one.
func isAllowed(expression string) bool {
	return slices.ContainsFunc(strings.Split(expression, " OR "), func(choice string) bool {
		return !slices.ContainsFunc(strings.Split(choice, " AND "), func(name string) bool { return !slices.Contains(allowed, name) })
	})
}

// marks are sentences that only one licence has. A text has a licence when it
// has all of its sentences.
var marks = []struct {
	name      string
	sentences []string
}{
	{"MIT", []string{"permission is hereby granted, free of charge, to any person obtaining", "the above copyright notice and this permission notice shall be included"}},
	{"Apache-2.0", []string{"licensed under the apache license, version 2.0"}},
	{"Apache-2.0", []string{"apache license version 2.0, january 2004"}},
	{"BSD-3-Clause", []string{"redistribution and use in source and binary forms", "neither the name of"}},
	{"BSD-2-Clause", []string{"redistribution and use in source and binary forms"}},
	{"ISC", []string{"permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted, provided that"}},
	{"MPL-2.0", []string{"mozilla public license version 2.0"}},
	{"EPL-2.0", []string{"eclipse public license - v 2.0"}},
	{"LGPL", []string{"gnu lesser general public license"}},
	{"AGPL", []string{"gnu affero general public license"}},
	{"GPL", []string{"gnu general public license"}},
}

// notice is a file that has to go along with a module.
type notice struct {
	file string
	text []byte
}

// Files that hold a licence, and those that go along with one: the other notices are what
// Apache-2.0, section 4(d), wants to be passed on.
var (
	licenceName = regexp.MustCompile(`(?i)^((LICENSE|LICENCE|COPYING|UNLICENSE)(\.txt|\.md)*|(LICENSE|LICENCE)-.*|LICENSE\..*)$`)
	noticeName  = regexp.MustCompile(`^((?i:NOTICE.*)|edl-v10|PATENTS)$`)
)

func (n notice) isLicence() bool { return licenceName.MatchString(filepath.Base(n.file)) }

// notices reads what has to go along with a module. It is an error when there is
// no licence.
func (m module) notices() ([]notice, error) {
	var found []notice
	for _, dir := range m.folders {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			n := notice{file: filepath.Join(dir, e.Name())}
			if e.IsDir() || !n.isLicence() && !noticeName.MatchString(e.Name()) {
				continue
			}
			if n.text, err = os.ReadFile(n.file); err != nil {
				return nil, err
			}
			found = append(found, n)
		}
	}
	if !slices.ContainsFunc(found, notice.isLicence) {
		return nil, fmt.Errorf("there is no licence in %v; ask its authors, or do without it", m.folders)
	}
	return found, nil
}

// licence says under which licence a module is, as an SPDX expression. A text
// that is not known for certain is an error: somebody has to read it.
func (m module) licence() (string, error) {
	found, err := m.notices()
	if err != nil {
		return "", err
	}
	var names []string
	dual := false // the Eclipse Foundation's pair of licences, of which the user takes one
	for _, n := range found {
		of := classify(string(n.text))
		switch {
		case filepath.Base(n.file) == "edl-v10":
			dual = slices.Equal(of, []string{"BSD-3-Clause"})
		case n.isLicence() && len(of) == 0:
			return "", fmt.Errorf("%s is not a licence that is known here; read it, and add what tells it from others", n.file)
		case n.isLicence():
			names = append(names, of...)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if dual && slices.Contains(names, "EPL-2.0") {
		return "BSD-3-Clause OR EPL-2.0", nil
	}
	return strings.Join(names, " AND "), nil
}

// classify names the licences that a text has. The longer of two BSD licences
// contains the shorter.
func classify(text string) []string {
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	var found []string
	for _, m := range marks {
		has := !slices.Contains(found, m.name)
		for _, s := range m.sentences {
			has = has && strings.Contains(text, s)
		}
		if has && !(m.name == "BSD-2-Clause" && slices.Contains(found, "BSD-3-Clause")) {
			found = append(found, m.name)
		}
	}
	return found
}

// licencesPage lists the licence of everything that is linked into a program; it
// is an error when one is not on the list of allowed ones, or not known. The Go
// version is left out: it is another on each machine, and its licence is not.
func (p program) licencesPage() (string, error) {
	var b strings.Builder
	b.WriteString("# Licences\n\nWhat is linked into the looprun that is released. Made by `make licences`.\n\n| module | version | licence |\n|---|---|---|\n")
	var errs []error
	for _, m := range append([]module{p.std}, p.modules...) {
		licence, err := m.licence()
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("%s: %w", m.path, err))
		case !isAllowed(licence):
			errs = append(errs, fmt.Errorf("%s is under %s, which is not on the list of allowed licences; do without it", m.path, licence))
		}
		name, version := m.path, m.version
		if name == "std" {
			name, version = "Go's standard library", "of the build"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", name, version, licence)
	}
	return b.String(), errors.Join(errs...)
}
