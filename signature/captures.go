package signature

import (
	"bytes"

	"github.com/looprun/looprun/internal/ascii"
)

// captureEnd holds, for captures with a shape of their own, the function that finds their end:
// it returns where a match at i ends, or i for none.
var captureEnd = [capEnd]func(b []byte, i int) int{
	capPos: ascii.Digits, capCol: ascii.Digits, capN: numberEnd, capSev: severityEnd, capWarn: warningEnd, capInfo: listed(infoWords), capCode: codeEnd, capRule: ruleEnd,
	capKind: kindEnd, capWord: wordEnd, capTool: toolEnd, capKey: listed(keyWords), capBad: badEnd, capStatus: listed(statusWords), capGood: listed(goodWords), capCount: countEnd,
}

var severityEnd, warningEnd, badEnd = listed(severityWords), listed(warningWords), listed(badWords)

// listed returns a function that matches the words of a list.
func listed(words []string) func(b []byte, i int) int {
	return func(b []byte, i int) int { return oneOf(b, i, words) }
}

func numberEnd(b []byte, i int) int {
	e := ascii.Digits(b, i)
	for e > i && (ascii.At(b, e) == ',' || ascii.At(b, e) == '.') && ascii.Digit(ascii.At(b, e+1)) {
		e = ascii.Digits(b, e+1)
	}
	return e
}

// oneOf returns the end of the longest listed word at i that is not followed by a letter.
// Words are lower case; the text may be in any case.
func oneOf(b []byte, i int, words []string) int {
	best := i
	for _, w := range words {
		e := i + len(w)
		if e > len(b) || e <= best || letter(ascii.At(b, e)) || ascii.At(b, e) == '-' {
			continue
		}
		k := 0
		for k < len(w) && lower(b[i+k]) == w[k] {
			k++
		}
		if k == len(w) {
			best = e
		}
	}
	return best
}

// codeEnd matches the code of a finding: E501, TS2322, no-undef, SA4006, GHC-88464,
// gosec/G101. It has a digit or a dash, or is a lower-case word.
func codeEnd(b []byte, i int) int {
	if !letter(ascii.At(b, i)) && ascii.At(b, i) != '@' {
		return i
	}
	e := i
	for e < len(b) && (word(b[e]) || b[e] == '-' || b[e] == '/' || b[e] == '.' || b[e] == '@' || b[e] == ':' && e+1 < len(b) && word(b[e+1])) {
		e++
	}
	for e > i && !word(b[e-1]) {
		e--
	}
	if e-i < 2 {
		return i
	}
	return e
}

// ruleEnd matches a rule's code in its strictest form: one to six capitals and two to six
// digits.
func ruleEnd(b []byte, i int) int {
	e := i
	for e < len(b) && b[e]-'A' < 26 {
		e++
	}
	if e == i || e > i+6 {
		return i
	}
	if ascii.At(b, e) == '-' {
		e++
	}
	n := ascii.Digits(b, e)
	if n < e+2 || n > e+6 || word(ascii.At(b, n)) {
		return i
	}
	return n
}

// kindEnd matches the name of a kind of error: a possibly qualified identifier that ends in
// Error, Exception and the like.
func kindEnd(b []byte, i int) int {
	if c := ascii.At(b, i); !letter(c) && c != '_' {
		return i
	}
	e := i
	for e < len(b) && (word(b[e]) || b[e] == '.' || b[e] == '$' || b[e] == '\\' || b[e] == ':' && ascii.At(b, e+1) == ':' && word(ascii.At(b, e+2)) || b[e] == ':' && e > i && b[e-1] == ':') {
		e++
	}
	for e > i && b[e-1] == '.' {
		e--
	}
	w := b[i:e]
	for _, suffix := range kindSuffixes {
		if len(w) > len(suffix)+1 && bytes.HasSuffix(w, []byte(suffix)) {
			return e
		}
	}
	if n := bytes.LastIndexByte(w, '.'); n >= 0 {
		w = w[n+1:]
	}
	if n := bytes.LastIndexByte(w, ':'); n >= 0 {
		w = w[n+1:]
	}
	if s := string(w); s == "Errno" || s == "StopIteration" || s == "Exception" || s == "ENOENT" || s == "EACCES" {
		return e
	}
	if len(w) < e-i && (bytes.Contains(b[i:e], []byte("::Errno::")) || bytes.HasPrefix(b[i:e], []byte("Errno::"))) {
		return e
	}
	return i
}

func wordEnd(b []byte, i int) int {
	for i < len(b) && (word(b[i]) || b[i] == '-') {
		i++
	}
	return i
}

// toolEnd matches the name of a program, perhaps with its pid or exit code.
func toolEnd(b []byte, i int) int {
	if c := ascii.At(b, i); !word(c) && c != '.' && c != '/' && c != '@' && c != '-' {
		return i
	}
	e := i
	for e < len(b) && (word(b[e]) || b[e] == '-' || b[e] == '.' || b[e] == '/' || b[e] == '+' || b[e] == '@') {
		e++
	}
	if ascii.At(b, e) == '[' {
		if n := ascii.Digits(b, e+1); ascii.At(b, n) == ']' {
			e = n + 1
		}
	}
	return e
}

// countEnd matches "3 failed": a number and a word that counts checks.
func countEnd(b []byte, i int) int {
	n := ascii.Digits(b, i)
	if n == i || ascii.At(b, n) != ' ' {
		return i
	}
	e := runOf(b, n+1, isAlpha)
	if countWord(b[n+1:e]) == countOther {
		return i
	}
	return e
}

func fileByte(c byte) bool {
	switch c {
	case ' ', '\t', '"', '\'', '`', '<', '>', '|', ',', ';', '=', '{', '}', '*', '?':
		return false
	}
	return c >= 0x21
}

// fileName reports whether a text looks like the name of a file or module.
func fileName(b []byte) bool {
	if len(b) == 0 || len(b) > 300 {
		return false
	}
	letters := false
	for i, c := range b {
		if !fileByte(c) {
			return false
		}
		if c == ':' && !(i == 1 && letter(b[0])) && !bytes.HasPrefix(b, []byte("node:")) && !bytes.HasPrefix(b, []byte("file:")) {
			return false
		}
		letters = letters || letter(c) || c >= 0x80
	}
	return letters && b[0] != '(' && b[0] != '[' && b[0] != '-'
}

// sourceFile reports whether a text is a file name with an extension: any extension if there
// is a directory, otherwise one of source code, so that Auth.Login does not count.
func sourceFile(b []byte) bool {
	if !fileName(b) || bytes.IndexByte(b, '(') >= 0 {
		return false
	}
	dot := bytes.LastIndexByte(b, '.')
	if dot <= 0 || dot+1 >= len(b) || len(b)-dot > 8 || !letter(b[dot+1]) || bytes.IndexByte(b[dot:], '/') >= 0 {
		return false
	}
	if bytes.IndexByte(b, '/') >= 0 {
		return true
	}
	switch string(b[dot+1:]) {
	case "c", "h", "cc", "cpp", "cxx", "hpp", "m", "mm", "go", "rs", "py", "pyi", "rb", "js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "vue", "svelte", "java", "kt", "kts",
		"scala", "cs", "fs", "vb", "swift", "php", "pl", "pm", "t", "lua", "ex", "exs", "erl", "hs", "ml", "mli", "nim", "zig", "dart", "r", "R", "jl", "sh", "bash", "bats", "tcl", "test",
		"feature", "md", "css", "scss", "less", "html", "json", "yaml", "yml", "toml", "xml", "sql", "tf", "proto", "txt", "cfg", "ini", "gradle", "clj", "cr", "sol":
		return true
	}
	return false
}

// Word lists of the captures, in lower case if the text may be in any case.
var (
	severityWords = []string{
		"error", "fatal error", "fatal", "err", "critical", "catastrophic error", "syntax error",
		"internal compiler error", "failure",
	}
	warningWords = []string{
		"warning", "warn", "style", "convention", "refactor", "performance", "portability",
	}
	infoWords = []string{
		"note", "info", "information", "hint", "help", "remark", "message", "debug",
	}
	keyWords = append(valueWords,
		"symbol", "location", "required", "reason", "cause", "expecting", "message", "error", "operator", "code",
		"name", "have", "expression", "evaluated", "stdout", "stderr", "actually", "failuretype", "which is", "to equal", "to be",
	)
	// valueWords announce a value on the lines below them.
	valueWords = []string{"expected", "actual", "received", "got", "want", "wanted", "found", "left", "right", "value", "provided"}
	badWords   = []string{
		"failed", "fail", "bad", "ko", "nok", "not ok", "broken", "wrong", "mismatch", "unhealthy", "unreachable",
		"degraded", "crashed", "not ready", "incorrect", "down",
	}
	goodWords = []string{
		"ok", "okay", "good", "passed", "pass", "success", "succeeded", "successful", "healthy", "up", "ready",
		"fine", "done", "valid", "reachable", "up to date", "unchanged", "correct",
	}
	statusWords = []string{
		"failed", "segfault", "timeout", "not run", "illegal", "subprocess aborted", "subprocess killed",
		"bad_command", "numerical", "other_fault", "interrupt", "disabled", "sigsegv", "sigabrt", "error",
		"crashloopbackoff", "imagepullbackoff", "errimagepull", "invalidimagename", "errimageneverpull", "runcontainererror", "createcontainererror",
		"createcontainerconfigerror", "containercreating", "podinitializing", "containerstatusunknown", "oomkilled", "evicted", "pending", "unschedulable", "unknown", "init:error",
		"init:crashloopbackoff", "init:imagepullbackoff", "init:errimagepull", "deadlineexceeded", "starterror", "unhealthy", "exited", "restarting",
	}
	kindSuffixes = []string{
		"Error", "Exception", "Failure", "Panic", "Fault", "Interrupt", "Exit", "Warning", "Failed", "Timeout",
		"NotFound", "Violation",
	}
)
