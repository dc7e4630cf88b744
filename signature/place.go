package signature

import (
	"bytes"

	"github.com/looprun/looprun/internal/ascii"
)

// path handles a '/' at k. Absolute paths lose their directories: below the checkout the rest
// stays, below a temporary directory only a plain file name stays, elsewhere the last element
// stays.
func (sc *scanner) path(b []byte, from, k int) (s, e int, kd kind) {
	url := k > 2 && b[k-1] == '/' && b[k-2] == '/' && b[k-3] == ':'             // file:///srv/x
	behind := k > 0 && b[k-1] == ':' && (k == from+1 || k > 1 && b[k-2] == '>') // /tmp/x.o:/srv/main.c
	if k > from && !url && !behind && classOf[b[k-1]]&isPathByte != 0 || k+1 == len(b) || classOf[b[k+1]]&wordMask == 0 && b[k+1] != '.' && b[k+1] != '~' {
		return k, k + 1, plain
	}
	if sc.dir != "" && bytes.HasPrefix(b[k:], []byte(sc.dir)) {
		switch n := k + len(sc.dir); {
		case ascii.At(b, n) == '/':
			return k, n + 1, rootDir
		case n == len(b) || classOf[b[n]]&isPathByte == 0 || b[n] == ':':
			return k, n, rootDir
		}
	}
	e, last, depth := k+1, k, 1
	for e < len(b) && classOf[b[e]]&isBreak == 0 && b[e] != ':' {
		if b[e] == '/' {
			last = e
			depth++
		}
		e++
	}
	for e > k+1 && b[e-1] == '.' {
		e--
	}
	if n := tempRoot(b[k:e]); n > 0 {
		return k, tempName(b, k+n, last, e), tempDir
	}
	if depth == 1 {
		return k, k + 1, plain
	}
	if last+1 >= e { // ends in a slash: the element before it is the last
		for last--; last > k && b[last] != '/'; last-- {
		}
	}
	return k, last + 1, rootDir
}

// tempRoot returns the length of the temporary directory at the start of a path, or 0.
func tempRoot(p []byte) int {
	for _, root := range [...]string{"/tmp/", "/var/tmp/", "/var/folders/", "/private/tmp/", "/private/var/folders/", "/dev/shm/", "/run/user/", "/proc/"} {
		if len(p) >= len(root) && string(p[:len(root)]) == root {
			return len(root)
		}
	}
	return 0
}

// tempName returns where the masked part of a temporary path ends: the last element stays if
// it is in a directory of its own, has an extension and no digit.
func tempName(b []byte, below, last, e int) int {
	if last < below {
		return e
	}
	dot := 0
	for i := last + 1; i < e; i++ {
		if ascii.Digit(b[i]) {
			return e
		}
		if b[i] == '.' {
			dot = i
		}
	}
	if dot > last+1 && e-dot > 1 && e-dot <= 6 {
		return last + 1
	}
	return e
}

// windowsPath handles a '\\' at k: C:\dir\file loses its directories.
func windowsPath(b []byte, from, k int) (s, e int, kd kind) {
	if k-2 < from || b[k-1] != ':' || !letter(b[k-2]) || (k-3 >= from && word(b[k-3])) {
		return k, k + 1, plain
	}
	e, last := k+1, k
	for e < len(b) && classOf[b[e]]&isBreak == 0 && b[e] != ':' {
		if b[e] == '\\' || b[e] == '/' {
			last = e
		}
		e++
	}
	if p := bytes.ToLower(b[k:e]); bytes.Contains(p, []byte(`\temp\`)) || bytes.Contains(p, []byte(`\tmp\`)) {
		return k - 2, e, tempDir
	}
	return k - 2, last + 1, rootDir
}
