//go:build unix

package provenance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// stranger's numbers: nobody, and a group of nobody's.
const (
	nobody    = 65534
	strangers = 54321
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// mustChown is for root alone.
func mustChown(t *testing.T, name string, uid, gid int) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	must(t, os.Lchown(name, uid, gid))
}

func place(t *testing.T) (dir, file string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "in")
	must(t, os.Mkdir(dir, 0o700))
	file = filepath.Join(dir, "file")
	must(t, os.WriteFile(file, nil, 0o600))
	return dir, file
}

// Each way in which somebody else could have put the file there is named.
func TestDoubt(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(t *testing.T, dir, file string)
		says  string // empty: there is no doubt
	}{
		"mine":       {func(*testing.T, string, string) {}, ""},
		"readable":   {func(t *testing.T, dir, file string) { must(t, os.Chmod(dir, 0o755)); must(t, os.Chmod(file, 0o644)) }, ""},
		"not there":  {func(t *testing.T, _, file string) { must(t, os.Remove(file)) }, "cannot be looked at"},
		"everyone's": {func(t *testing.T, dir, _ string) { must(t, os.Chmod(dir, 0o757)) }, "others can write to its directory (-rwxr-xrwx)"},
		"sticky":     {func(t *testing.T, dir, _ string) { must(t, os.Chmod(dir, 0o777|os.ModeSticky)) }, "others can write to its directory"},
		"a group's": {func(t *testing.T, dir, _ string) {
			mustChown(t, dir, -1, strangers)
			must(t, os.Chmod(dir, 0o770))
		}, "others can write to its directory"},
		"a group's that only reads": {func(t *testing.T, dir, _ string) {
			mustChown(t, dir, -1, strangers)
			must(t, os.Chmod(dir, 0o750))
		}, ""},
		"another user's":           {func(t *testing.T, _, file string) { mustChown(t, file, nobody, -1) }, "it belongs to another user (uid 65534)"},
		"in another user's folder": {func(t *testing.T, dir, _ string) { mustChown(t, dir, nobody, -1) }, "its directory belongs to another user (uid 65534)"},
		"a link of another user's": {func(t *testing.T, dir, file string) {
			must(t, os.Rename(file, file+"2"))
			must(t, os.Symlink(file+"2", file))
			mustChown(t, file, nobody, -1)
		}, "it belongs to another user"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, file := place(t)
			c.spoil(t, dir, file)
			if got := Doubt(file); (c.says == "") != (got == "") || !strings.Contains(got, c.says) {
				t.Errorf("got %q, want %q", got, c.says)
			}
		})
	}
}

// Planted is what another user put where everyone can put something.
func TestPlanted(t *testing.T) {
	dir, file := place(t)
	want := func(what string, planted bool) {
		t.Helper()
		if Planted(file) != planted {
			t.Errorf("%s: planted is not %v", what, planted)
		}
	}
	want("mine", false)
	must(t, os.Chmod(dir, 0o777|os.ModeSticky))
	want("mine, where everyone can write", false)
	mustChown(t, file, nobody, -1)
	want("another's, where everyone can write", true)
	must(t, os.Chmod(dir, 0o755))
	want("another's, where I alone can write", false)
	must(t, os.Remove(file))
	want("not there", false)
}

// A group is private only where nothing known speaks against it.
func TestPrivateGroup(t *testing.T) {
	const users = "root:x:0:0:root:/root:/bin/sh\nme:x:1000:1000::/home/me:/bin/sh\nyou:x:1001:1001:::\n"
	const groups = "root:x:0:\nme:x:1000:\nyou:x:1001:you\nstaff:x:50:me\n"
	for name, c := range map[string]struct {
		users, groups string
		uid, gid      uint64
		want          bool
	}{
		"one's own":                         {users, groups, 1000, 1000, true},
		"one's own, which lists oneself":    {users, groups, 1001, 1001, true},
		"root's":                            {users, groups, 0, 0, true},
		"another's own":                     {users, groups, 1000, 1001, false},
		"not the primary one":               {users, groups, 1000, 50, false},
		"not the primary one, and empty":    {users, "staff:x:50:\n", 1000, 50, false},
		"short lines":                       {"+\n" + users, "+\n" + groups, 1000, 1000, true},
		"another has it as primary group":   {users + "he:x:1002:1000:::\n", groups, 1000, 1000, false},
		"another is in it":                  {users, strings.Replace(groups, "me:x:1000:", "me:x:1000:he", 1), 1000, 1000, false},
		"another is in it beside oneself":   {users, strings.Replace(groups, "me:x:1000:", "me:x:1000:me,he", 1), 1000, 1000, false},
		"another is in it on a second line": {users, groups + "more:x:1000:he\n", 1000, 1000, false},
		"unknown user":                      {users, groups, 1234, 1234, false},
		"unknown group":                     {users, "root:x:0:\n", 1000, 1000, false},
		"empty files":                       {"", "", 1000, 1000, false},
		"not a number":                      {"me:x:1000:none:::\n", groups, 1000, none, false},
		"a line without an end":             {users + strings.Repeat("x", 1<<17), groups, 1000, 1000, false},
		"a group's line without an end":     {users, groups + strings.Repeat("x", 1<<17), 1000, 1000, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			d := database{filepath.Join(dir, "users"), filepath.Join(dir, "groups")}
			must(t, os.WriteFile(d.users, []byte(c.users), 0o600))
			must(t, os.WriteFile(d.groups, []byte(c.groups), 0o600))
			if got := d.private(c.uid, c.gid); got != c.want {
				t.Errorf("private is %v", got)
			}
			for _, gone := range []string{d.users, d.groups} {
				must(t, os.Rename(gone, gone+"2"))
				if d.private(c.uid, c.gid) {
					t.Errorf("private without %s", gone)
				}
				must(t, os.Rename(gone+"2", gone))
			}
		})
	}
}
