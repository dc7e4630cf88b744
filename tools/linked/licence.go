package linked

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// allowed are the licences, by their SPDX names, that a module may have. All of
// them let the program be passed on under its own licence, if theirs goes along.
var allowed = []string{"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT"}

// Allowed reports whether a licence, as [Licence] returns it, is on the list: of
// “A AND B” both have to be, of “A OR B” one.
func Allowed(expression string) bool {
	for choice := range strings.SplitSeq(expression, " OR ") {
		all := true
		for name := range strings.SplitSeq(choice, " AND ") {
			all = all && slices.Contains(allowed, name)
		}
		if all {
			return true
		}
	}
	return false
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

// Licence says under which licence the module in the folder is, as an SPDX
// expression. A text that is not known for certain is an error: somebody has to
// read it.
func Licence(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() || !isLicence(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return "", err
		}
		found := classify(string(text))
		if len(found) == 0 {
			return "", fmt.Errorf("%s is not a licence that is known here; read it, and add what tells it from others", filepath.Join(dir, e.Name()))
		}
		names = append(names, found...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	switch {
	case len(names) == 0:
		return "", fmt.Errorf("there is no licence in %s; ask its authors, or do without it", dir)
	case dual(dir, names):
		return "BSD-3-Clause OR EPL-2.0", nil
	}
	return strings.Join(names, " AND "), nil
}

// Text is one file that has to go along with a module.
type Text struct {
	Name string // such as LICENSE
	Text []byte
}

// Texts reads the licences of the module in the folder, and the notices that
// Apache-2.0, section 4(d), wants to be passed on. It is an error when there is
// no licence.
func Texts(dir string) ([]Text, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var texts []Text
	licensed := false
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() || !isLicence(name) && !strings.HasPrefix(strings.ToUpper(name), "NOTICE") && name != "edl-v10" && name != "PATENTS" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		texts = append(texts, Text{name, text})
		licensed = licensed || isLicence(name)
	}
	if !licensed {
		return nil, fmt.Errorf("there is no licence in %s; ask its authors, or do without it", dir)
	}
	return texts, nil
}

// isLicence reports whether a file of that name holds a licence.
func isLicence(name string) bool {
	base := strings.ToUpper(strings.TrimSuffix(strings.TrimSuffix(name, ".txt"), ".md"))
	return base == "LICENSE" || base == "LICENCE" || base == "COPYING" || base == "UNLICENSE" ||
		strings.HasPrefix(base, "LICENSE-") || strings.HasPrefix(base, "LICENSE.") || strings.HasPrefix(base, "LICENCE-")
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

// dual reports whether the module is under the Eclipse Foundation's pair of
// licences, of which the user takes one. The second text is a file of its own.
func dual(dir string, names []string) bool {
	text, err := os.ReadFile(filepath.Join(dir, "edl-v10"))
	return err == nil && slices.Contains(names, "EPL-2.0") && slices.Equal(classify(string(text)), []string{"BSD-3-Clause"})
}
