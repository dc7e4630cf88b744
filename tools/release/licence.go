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

// allowed lists the licences, by their SPDX names, that a module may have. All of them allow
// distributing the program under its own licence, if theirs is included.
var allowed = []string{"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSD-3-Clause OR EPL-2.0", "ISC", "MIT"}

// isAllowed reports whether all licences that an expression joins with AND are allowed.
func isAllowed(expression string) bool {
	return !slices.ContainsFunc(strings.Split(expression, " AND "), func(name string) bool { return !slices.Contains(allowed, name) })
}

// marks lists sentences that occur in only one licence, by its SPDX name.
var marks = []struct {
	name string
	text *regexp.Regexp
}{
	{"MIT", regexp.MustCompile("permission is hereby granted, free of charge, to any person obtaining.*the above copyright notice and this permission notice shall be included")},
	{"Apache-2.0", regexp.MustCompile("licensed under the apache license, version 2.0|apache license version 2.0, january 2004")},
	{"BSD-3-Clause", regexp.MustCompile("redistribution and use in source and binary forms.*neither the name of")},
	{"BSD-2-Clause", regexp.MustCompile("redistribution and use in source and binary forms")},
	{"ISC", regexp.MustCompile("permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted, provided that")},
	{"MPL-2.0", regexp.MustCompile("mozilla public license version 2.0")},
	{"EPL-2.0", regexp.MustCompile("eclipse public license - v 2.0")},
	{"LGPL", regexp.MustCompile("gnu lesser general public license")},
	{"AGPL", regexp.MustCompile("gnu affero general public license")},
	{"GPL", regexp.MustCompile("gnu general public license")},
}

// Files that contain a licence, and those that accompany one: the other notices, which
// Apache-2.0, section 4(d), requires to be passed on.
var (
	licenceName = regexp.MustCompile(`(?i)^((LICENSE|LICENCE|COPYING|UNLICENSE)(\.txt|\.md)*|(LICENSE|LICENCE)-.*|LICENSE\..*)$`)
	noticeName  = regexp.MustCompile(`^((?i:NOTICE.*)|edl-v10|PATENTS)$`)
)

// lent lists modules without a licence of their own, by path and version, with the module whose
// licence is theirs, since it contains the same code of the same authors in that file.
var lent = map[string]struct{ module, file string }{
	// Both are generated from the same nexusannotations/v1/options.proto, of Temporal.
	"github.com/nexus-rpc/nexus-proto-annotations v0.1.0": {"go.temporal.io/api", "nexusannotations/v1/options.pb.go"},
}

// borrow gives modules without a licence the one that is lent to them.
func borrow(modules []module) {
	for i, m := range modules {
		from := lent[m.path+" "+m.version]
		at := slices.IndexFunc(modules, func(of module) bool { return of.path == from.module })
		if at < 0 {
			continue
		}
		must(os.Stat(filepath.Join(modules[at].folders[0], from.file)))
		modules[i].folders, modules[i].lender = modules[at].folders[:1], from.module
	}
}

func isLicence(file string) bool { return licenceName.MatchString(filepath.Base(file)) }

// notices returns the files to distribute with a module, including its licence.
func (m module) notices() (files []string) {
	for _, dir := range m.folders {
		for _, e := range must(os.ReadDir(dir)) {
			if name := e.Name(); !e.IsDir() && (isLicence(name) || noticeName.MatchString(name)) {
				files = append(files, filepath.Join(dir, name))
			}
		}
	}
	if !slices.ContainsFunc(files, isLicence) {
		fail("%s: there is no licence in %v; ask its authors, or do without it", m.path, m.folders)
	}
	return files
}

// licence returns a module's licence as an SPDX expression. A text that is not recognised for
// certain is an error: somebody has to read it.
func (m module) licence() string {
	var names []string
	dual := false // the Eclipse Foundation's pair of licences, of which the user takes one
	for _, file := range m.notices() {
		of := classify(string(load(file)))
		switch {
		case filepath.Base(file) == "edl-v10":
			dual = slices.Equal(of, []string{"BSD-3-Clause"})
		case isLicence(file) && len(of) == 0:
			fail("%s: %s is not a licence that is known here; read it, and add what tells it from others", m.path, file)
		case isLicence(file):
			names = append(names, of...)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if dual && slices.Contains(names, "EPL-2.0") {
		return "BSD-3-Clause OR EPL-2.0"
	}
	return strings.Join(names, " AND ")
}

// classify returns the licences in a text. The longer of two BSD licences contains the
// shorter.
func classify(text string) (found []string) {
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	for _, m := range marks {
		if m.text.MatchString(text) && !(m.name == "BSD-2-Clause" && slices.Contains(found, "BSD-3-Clause")) {
			found = append(found, m.name)
		}
	}
	return found
}

// licencesPage lists the licence of everything that is linked into a program; it is an error
// if one is not allowed or not recognised. It leaves out the Go version, which differs from
// machine to machine while its licence does not.
func (p program) licencesPage() string {
	var b strings.Builder
	b.WriteString("# Licences\n\nThe modules that a released looprun contains. Made by `make licences`.\n\n| module | version | licence |\n|---|---|---|\n")
	var errs []error
	for _, m := range p.modules {
		errs = append(errs, attempt(func() {
			licence := m.licence()
			if !isAllowed(licence) {
				fail("%s is under %s, which is not on the list of allowed licences; do without it", m.path, licence)
			}
			name, version := m.path, m.version
			if name == "std" {
				name, version = "Go's standard library", "of the build"
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", name, version, licence)
		}))
	}
	check(errors.Join(errs...))
	return b.String()
}
