package signature

import (
	"bytes"

	"github.com/looprun/looprun/internal/ascii"
)

// unitAt looks for a unit of time or size at e, where a number ends, allowing one space
// between. It returns the end of the unit and span, amount or plain.
func unitAt(b []byte, e int) (int, kind) {
	i := e
	if ascii.At(b, i) == ' ' {
		i++
	}
	if classOf[ascii.At(b, i)]&isUnit == 0 {
		return e, plain
	}
	u := i
	for u < len(b) && (letter(b[u]) || b[u] >= 0x80) {
		u++
	}
	glued := i == e
	kd := span
	end := u
	switch string(b[i:u]) {
	case "ns", "us", "µs", "μs", "ms", "s", "sec", "secs", "second", "seconds", "msec", "usec", "min", "mins",
		"minute", "minutes", "hour", "hours", "hr", "hrs", "millis", "milliseconds", "microseconds", "nanoseconds", "days":
		end = moreTime(b, u)
	case "m", "h", "d":
		if !glued || e >= 6 && digitCount(b[e-6:e]) == 6 { // 3825135d is a commit
			return e, plain
		}
		end = moreTime(b, u)
	case "B", "KB", "MB", "GB", "TB", "kB", "KiB", "MiB", "GiB", "bytes", "byte", "Bytes", "KBytes", "MBytes", "kb", "mb", "gb":
		kd = amount
	case "K", "M", "G", "k":
		if !glued || ascii.At(b, u) == '-' {
			return e, plain
		}
		kd = amount
	default:
		return e, plain
	}
	if word(ascii.At(b, end)) {
		return e, plain
	}
	return end, kd
}

// moreTime extends a duration that ends at u over any further parts: 1m30s, 1 min 5 s.
func moreTime(b []byte, u int) int {
	for {
		i := u
		if ascii.At(b, i) == ' ' {
			i++
		}
		n := numberEnd(b, i)
		if n == i {
			return u
		}
		j := n
		for j < len(b) && (letter(b[j]) || b[j] >= 0x80) {
			j++
		}
		switch string(b[n:j]) {
		case "ns", "us", "µs", "μs", "ms", "s", "m", "h":
			u = j
		default:
			return u
		}
	}
}

// numberKind classifies a number with that many digits at b[k:e] that has no unit of time or
// size: number (it stays) or masked. The first rule that fits decides.
func numberKind(b []byte, k, e, digits int) kind {
	prev, next := byte(0), ascii.At(b, e)
	if k > 0 {
		prev = b[k-1]
	}
	if position(b, k, e, prev, next) {
		return masked
	}
	switch keyBefore(b, k) {
	case keyNoise:
		return masked
	case keyKeep:
		if digits <= 5 {
			return number
		}
	case keyValue:
		if digits <= 7 {
			return number
		}
	}
	if prev == '[' && next == ']' && digits >= 3 || prev == '=' && next == '=' {
		return masked
	}
	if prev == '.' && k > 1 && word(b[k-2]) { // goes on a dotted word: v0.4
		if digits <= 4 {
			return number
		}
		return masked
	}
	if next == ' ' && letter(ascii.At(b, e+1)) {
		var low [24]byte
		switch string(ascii.Lowered(&low, b[e+1:runOf(b, e+1, isAlpha)])) {
		case "goroutines", "goroutine", "threads", "connections", "sockets", "processes", "handles", "descriptors", "allocations", "allocs", "fds":
			return masked // a process's resources: their number differs from run to run
		case "of", "rows", "row", "tests", "test", "files", "file", "items", "item", "records", "record", "lines", "errors", "error",
			"warnings", "failures", "failed", "failing", "passed", "passing", "checks", "steps", "tasks", "batches", "modules",
			"packages", "problems", "issues", "users", "times", "attempts", "retries", "assertions", "examples", "specs",
			"cases", "targets", "objects", "migrations", "entries", "documents", "pages", "jobs", "queries", "commits", "total":
			if digits <= 7 {
				return number // what was done
			}
		}
	}
	if digits <= 3 || next == '%' || digits <= 7 && fractionOf(b, k, e) {
		return number
	}
	return masked
}

// position reports whether a number is a line or column: file.c:12, 12:5, f.ts(6,52), "12 |"
// at the start of a line, @@ -3,7 +3,7 @@.
func position(b []byte, k, e int, prev, next byte) bool {
	switch prev {
	case ':':
		i := k - 2
		if i < 0 {
			return false
		}
		if ascii.Digit(b[i]) || b[i] == ')' || next == ':' {
			return true
		}
		for i >= 0 && classOf[b[i]]&isBreak == 0 && b[i] != '=' {
			if b[i] == '.' || b[i] == '/' || b[i] == '\\' {
				return true
			}
			i--
		}
	case '(':
		for i := k - 2; i >= 0 && (word(b[i]) || b[i] == '-' || b[i] == '.'); i-- {
			if b[i] == '.' && (next == ',' || next == ')') {
				return true
			}
		}
	case ' ':
		if k > 1 && b[k-2] == '@' { // spec/a.lua @ 12
			return true
		}
		if next == ':' && k > 2 && b[k-2] == ':' { // a.sh: 12: cd: …
			return script(b[bytes.LastIndexByte(b[:k-2], ' ')+1 : k-2])
		}
	case ',', '-', '+':
		if len(b) > 2 && b[0] == '@' && b[1] == '@' {
			return true
		}
		if prev == ',' && next == ')' {
			for i := k - 2; i > 0; i-- {
				if b[i] == '(' {
					return position(b, i+1, k-1, '(', ',')
				}
				if !ascii.Digit(b[i]) {
					break
				}
			}
		}
	}
	if next == ' ' && ascii.At(b, e+1) == '|' || next == '|' {
		return k == 0 || (k <= 2 && b[0] == '>')
	}
	return false
}

// script reports whether a text is the name of a source file, or of a program in the directory.
// Its extension has only letters, so that no id is one.
func script(b []byte) bool {
	return bytes.HasPrefix(b, []byte("./")) || sourceFile(b) && runOf(b, bytes.LastIndexByte(b, '.')+1, isAlpha) == len(b)
}

type keyClass byte

const (
	keyNone  keyClass = iota
	keyNoise          // what follows names a process, a place or a run
	keyKeep           // what follows is a result
	keyValue          // what follows is a value that a check compares
)

// keyBefore classifies the word in front of a number: "pid 123", "port=80", "exit 2", "thread-7".
func keyBefore(b []byte, k int) keyClass {
	i := k
	if p := bytes.TrimSuffix(b[:k], []byte("-")); len(p) < k && (bytes.HasSuffix(p, []byte("hread")) || bytes.HasSuffix(p, []byte("pool"))) { // pool-1-thread-91
		return keyNoise
	}
	for n := 0; i > 0 && n < 5; n++ {
		if c := b[i-1]; c != ' ' && c != '=' && c != ':' && c != '#' && c != '(' && c != '[' && c != '"' && c != '<' {
			break
		}
		i--
	}
	if i == k {
		return keyNone
	}
	e := i
	for i > 0 && letter(b[i-1]) {
		i--
	}
	if n := e - i; n < 2 || n > 9 { // no word below is so long
		return keyNone
	}
	var low [24]byte
	switch string(ascii.Lowered(&low, b[i:e])) {
	case "pid", "ppid", "tid", "port", "ports", "thread", "process", "goroutine", "line", "lines", "column", "col", "ln",
		"id", "uid", "gid", "seed", "seeded", "fd", "addr", "offset", "elapsed", "took", "worker", "pool", "session", "req", "request",
		"uptime", "timestamp", "time", "ts", "rss", "heap":
		return keyNoise
	case "expected", "actual", "received", "got", "want", "wanted", "be", "equal", "was", "left", "right":
		return keyValue
	case "exit", "code", "status", "errno", "signal", "returned", "http":
		return keyKeep
	}
	return keyNone
}

// fractionOf reports whether a number is one side of 120/4500 or of "120 of 4500".
func fractionOf(b []byte, k, e int) bool {
	return ascii.At(b, e) == '/' && ascii.Digit(ascii.At(b, e+1)) ||
		ascii.At(b, k-1) == '/' && ascii.Digit(ascii.At(b, k-2)) ||
		k > 4 && string(b[k-4:k]) == " of " && ascii.Digit(b[k-5])
}

// withoutValues removes values from a text: numbers, anything in quotes or brackets, and words
// that may be random.
func withoutValues(text string) string {
	b, out := []byte(text), make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		end := -1
		switch c := text[i]; {
		case c == '"' || c == '\'' || c == '`':
			if i == 0 || !word(text[i-1]) {
				end = quoteEnd(text, i)
			}
		case c == '<' || c == '[' || c == '{':
			end = bracketEnd(text, i)
		case word(c) && (i == 0 || !word(text[i-1])):
			end = drawnEnd(b, i)
		}
		if end < 0 && ascii.Digit(text[i]) {
			end = ascii.Digits(b, i) - 1
		}
		if end < 0 {
			out = append(out, text[i])
			continue
		}
		out = append(out, "<v>"...)
		i = end
	}
	return string(out)
}

// drawnEnd returns where the word at i ends if it may be random, or -1.
func drawnEnd(b []byte, i int) int {
	e := runOf(b, i, wordMask)
	if o := oddityOf(b[i:e]); o.random(true) || !o.letters && o.length > 4 && o.bits >= -2 {
		return e - 1
	}
	return -1
}

// quoteEnd returns where the quote at i ends, or -1.
func quoteEnd(text string, i int) int {
	for e := i + 1; e < len(text); e++ {
		if text[e] == text[i] && text[e-1] != '\\' && (e+1 == len(text) || !word(text[e+1])) {
			return e
		}
	}
	return -1
}

// bracketEnd returns where the bracket at i is closed, or -1; words in capitals, as in
// [ERR_ASSERTION], are not values.
func bracketEnd(text string, i int) int {
	depth, value := 0, false
	for e := i; e < len(text); e++ {
		switch c := text[e]; c {
		case '<', '[', '{':
			depth++
		case '>', ']', '}':
			if depth--; depth > 0 {
				continue
			}
			if value || text[i] != '[' || e == i+1 {
				return e
			}
			return -1
		default:
			value = value || c != '_' && c-'A' >= 26
		}
	}
	return -1
}
