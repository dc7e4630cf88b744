package workspace

import "strings"

// change is one file that differs from the last commit.
type change struct {
	path               string
	mode               string // in the work tree; modeFound: git does not say
	oldMode, oldObject string // in the commit; modeAbsent: it is new
}

// parseChange parses a record of `git status --porcelain=v2 -z`, which was told to look for no
// renames. A record that is not about a
// file, such as a header, gives a change without a path.
func parseChange(text string) (change, error) {
	fail := func() (change, error) { return change{}, unexpected("status", text) }
	if text == "" {
		return fail()
	}
	var c change
	switch text[0] {
	case '#', '!':
		return change{}, nil
	case '?': // ? path
		path, ok := strings.CutPrefix(text, "? ")
		if !ok || path == "" {
			return fail()
		}
		c = change{path: path, mode: modeFound, oldMode: modeAbsent}
		if strings.HasSuffix(path, "/") {
			c.mode = modeRepository
		}
		return c, nil
	case '1': // 1 XY sub mH mI mW hH hI path
		if f := strings.SplitN(text, " ", 9); len(f) == 9 {
			c = change{path: f[8], mode: f[5], oldMode: f[3], oldObject: f[6]}
		}
	case 'u': // u XY sub m1 m2 m3 mW h1 h2 h3 path: the second stage is ours
		if f := strings.SplitN(text, " ", 11); len(f) == 11 {
			c = change{path: f[10], mode: f[6], oldMode: f[4], oldObject: f[8]}
		}
	}
	if c.path == "" || len(c.mode) != 6 {
		return fail()
	}
	return c, nil
}
