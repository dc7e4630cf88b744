package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Sentences of licences, as they are laid out in the wild.
const (
	mit    = "Copyright (c) 2020 X\n\nPermission is hereby granted, free of charge, to any person\nobtaining a copy … The above copyright notice and this\npermission notice shall be included in all copies"
	bsd2   = "Redistribution and use in source and binary forms, with or without modification, are permitted"
	bsd3   = bsd2 + " … Neither the name of X nor the names of its contributors"
	apache = "                                 Apache License\n                           Version 2.0, January 2004\n"
	gpl    = "GNU GENERAL PUBLIC LICENSE Version 3"
	epl    = "Eclipse Public License - v 2.0"
)

func TestLicence(t *testing.T) {
	for name, c := range map[string]struct {
		files   map[string]string
		want    string // empty: an error
		allowed bool
	}{
		"MIT":                  {map[string]string{"LICENSE": mit}, "MIT", true},
		"by another name":      {map[string]string{"COPYING": mit, "main.go": gpl}, "MIT", true},
		"in a text file":       {map[string]string{"licence.txt": mit}, "MIT", true},
		"BSD with two clauses": {map[string]string{"LICENSE.md": bsd2}, "BSD-2-Clause", true},
		"BSD with three":       {map[string]string{"LICENSE": bsd3}, "BSD-3-Clause", true},
		"two in one file":      {map[string]string{"LICENSE": mit + apache}, "Apache-2.0 AND MIT", true},
		"two files":            {map[string]string{"LICENSE-MIT": mit, "LICENSE-APACHE": apache}, "Apache-2.0 AND MIT", true},
		"GPL":                  {map[string]string{"LICENSE": gpl}, "GPL", false},
		"MIT and GPL":          {map[string]string{"LICENSE": mit, "LICENSE.GPL": gpl}, "GPL AND MIT", false},
		"EPL alone":            {map[string]string{"LICENSE": epl}, "EPL-2.0", false},
		"EPL or EDL":           {map[string]string{"LICENSE": epl, "edl-v10": bsd3}, "BSD-3-Clause OR EPL-2.0", true},
		"EPL or something":     {map[string]string{"LICENSE": epl, "edl-v10": gpl}, "EPL-2.0", false},
		"half of MIT":          {map[string]string{"LICENSE": mit[:80]}, "", false},
		"unknown":              {map[string]string{"LICENSE": "All rights reserved."}, "", false},
		"a second, unknown":    {map[string]string{"LICENSE": mit, "COPYING": "x"}, "", false},
		"none":                 {map[string]string{"README.md": mit}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range c.files {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var got string
			err := attempt(func() { got = module{folders: []string{dir}}.licence() })
			if got != c.want || (err == nil) != (c.want != "") {
				t.Errorf("%q, %v; want %q", got, err, c.want)
			}
			if isAllowed(got) != c.allowed {
				t.Errorf("%q: allowed is %v", got, !c.allowed)
			}
		})
	}
}

// TestReadTheTestItself has what the Go tool put into this very program.
func TestReadTheTestItself(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := inspect("", self)
	if !strings.HasPrefix(p.GoVersion, "go1.") || p.Main.Path != "github.com/looprun/looprun" {
		t.Errorf("%+v", p)
	}
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("no program"), 0o600); err != nil {
		t.Fatal(err)
	}
	if attempt(func() { inspect("", text) }) == nil {
		t.Error("a text has build information")
	}
}

// TestTexts has to find what must be passed on, and nothing else.
func TestTexts(t *testing.T) {
	dir := t.TempDir()
	m := module{folders: []string{dir}}
	if attempt(func() { m.notices() }) == nil {
		t.Error("a module without a licence has texts")
	}
	for _, name := range []string{"LICENSE", "NOTICE", "edl-v10", "README.md", "main.go"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	for _, file := range m.notices() {
		names = append(names, filepath.Base(file))
	}
	if got := strings.Join(names, " "); got != "LICENSE NOTICE edl-v10" {
		t.Errorf("got %s", got)
	}
	if err := os.Remove(filepath.Join(dir, "LICENSE")); err != nil {
		t.Fatal(err)
	}
	if attempt(func() { m.notices() }) == nil {
		t.Error("a notice is no licence")
	}
}

// A package that is linked can have a licence of its own, which goes along too.
func TestNoticesOfPackages(t *testing.T) {
	root := t.TempDir()
	m := module{path: "example.test/a", version: "v1.0.0"}
	for dir, text := range map[string]string{".": mit, "linked": bsd3, "linked/below": "package below", "not": gpl} {
		dir = filepath.Join(root, dir)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "LICENSE"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(filepath.Join(root, "linked", "below", "LICENSE"), filepath.Join(root, "linked", "below", "below.go")); err != nil {
		t.Fatal(err)
	}
	m.add(root, filepath.Join(root, "linked", "below"))
	if got := m.licence(); got != "BSD-3-Clause AND MIT" {
		t.Errorf("%q", got)
	}
	if text := string(notices([]program{{modules: []module{m}}, {modules: []module{m}}})); !strings.Contains(text, "==== example.test/a/linked/LICENSE v1.0.0 ====\n\n"+bsd3) {
		t.Error(text)
	}
}

// A module without a licence has that of another one only where the other one has the same code.
func TestALentLicence(t *testing.T) {
	const path, version = "github.com/nexus-rpc/nexus-proto-annotations", "v0.1.0"
	lender := licensed(t, mit)
	list := func(version string) []module {
		return []module{{path: path, version: version, folders: []string{t.TempDir()}}, {path: "go.temporal.io/api", folders: []string{lender}}}
	}
	if err := attempt(func() { borrow(list(version)) }); err == nil {
		t.Error("the lender does not have the file")
	}
	file := filepath.Join(lender, "nexusannotations", "v1", "options.pb.go")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	modules := list(version)
	borrow(modules)
	if got := modules[0].licence(); got != "MIT" {
		t.Error(got)
	}
	text := string(notices([]program{{modules: modules}}))
	if strings.Count(text, "Copyright (c) 2020 X") != 2 || !strings.Contains(text, path+"/LICENSE v0.1.0 ====\n\nIt has none of its own; go.temporal.io/api contains") {
		t.Error(text)
	}
	another := list("v0.2.0")
	borrow(another)
	if err := attempt(func() { another[0].licence() }); err == nil {
		t.Error("nobody has read another version")
	}
}
