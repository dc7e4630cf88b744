package signature

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/looprun/looprun/internal/ascii"
)

// apply adds the facts of a line that a rule matched.
func (x *extractor) apply(r *builtRule, f front, b []byte) bool {
	fd := &x.fields
	announced := x.message > 0 && !x.naming && !f.log
	if r.fact != factFrame && r.fact != factNoise && r.fact != factDetail && r.fact != factWhere {
		x.message, x.naming = 0, false
	}
	switch r.fact {
	case factPass:
		x.close()
		return false
	case factNoise:
		return false
	case factCount:
		x.counts.read(f.body)
	case factCheck, factSuite:
		x.check(r, f)
	case factDiag, factWarn:
		x.takeFinding(r, f)
	case factError:
		if r.id == "error-phrase" && f.bar && x.open != nil && x.open.kind == factWarn {
			return true // the text of a warning, in its box
		}
		x.error(r.id, string(fd[capKind]), x.errorText(r, f.body), f)
	case factNext:
		x.heading(r, f)
	case factWhere:
		if r.id == "where-check" && x.open != nil && x.open.kind == factCheck {
			return true
		}
		x.where(fd[capFile])
	case factFrame:
		x.stackFrame(f.body)
	case factFileHead:
		x.file = x.place(fd[capFile])
	case factDetail:
		if x.detail <= 0 {
			return false
		}
		x.add(fact{kind: factDetail, rule: r.id}, f.body)
	case factStep:
		name := split(fd[capName], false).body
		if nf := x.add(fact{kind: factStep, rule: r.id}, name); nf != nil {
			x.within = nf.text
		}
	case factWeak:
		if announced {
			x.error("message", "", f.body, f)
			return true
		}
		x.add(fact{kind: factWeak, rule: r.id}, f.body)
	}
	return true
}

// errorText returns the text of an error; for a row of a table, whose numbers keep changing,
// only part of it.
func (x *extractor) errorText(r *builtRule, body []byte) []byte {
	fd := &x.fields
	switch r.id {
	case "resource-state":
		return slices.Concat(fd[capTool], []byte(" "), fd[capStatus])
	case "event":
		return slices.Concat(fd[capWord], []byte(": "), x.s.sc.named(x.s.sc.text(nil, fd[capMsg], false), false))
	}
	return body
}

// error adds an error message.
func (x *extractor) error(rule, kind string, msg []byte, f front) {
	k := factError
	if f.log && rule != "status-failed" { // a step's own end, whose time a builder puts first
		k = factLog
	}
	file := ""
	if x.frame != "" && !f.log {
		file, x.frame = x.frame, ""
	}
	nf := x.addAt(fact{kind: k, rule: rule, name: kind}, msg, file)
	if k == factLog {
		return
	}
	if x.within != "" {
		x.keep(fact{kind: factStep, rule: "step", text: "failed: " + x.within, loose: "failed: " + x.within}, 0)
	}
	if file == "" {
		x.open, x.openFor = nf, 10
	}
	x.detail, x.explain = 8, 6
	x.message = 0
}

// add adds a fact with the masked text of b.
func (x *extractor) add(f fact, b []byte) *fact { return x.addAt(f, b, "") }

// addAt is add for a fact about a file.
func (x *extractor) addAt(f fact, b []byte, file string) *fact {
	f.text, f.loose = x.texts(b)
	f.said = b
	if file != "" {
		f.file = file
		f.text += " @" + file
		f.loose += " @" + file
	}
	return x.keep(f, 0)
}

func (x *extractor) keep(f fact, place uint64) *fact {
	if f.text == "" {
		return nil
	}
	f.suite = x.suite
	if x.s.why != nil {
		f.raw = cmp.Or(f.raw, clip(f.said))
		x.s.why.fact(f)
	}
	return x.s.facts.add(f, place)
}

// check adds a failing check.
func (x *extractor) check(r *builtRule, f front) {
	fd := &x.fields
	name := checkName(fd[capName])
	switch {
	case len(name) == 0:
		name = fd[capFile]
	case r.id == "check-word-msg": // the same name may stand in two files
		name = []byte(x.place(fd[capFile]) + "::" + string(name))
	}
	switch {
	case len(name) == 0 && r.id == "tap-fail":
		name = []byte("unnamed")
	case len(name) == 0:
		x.close()
		x.message, x.naming = 4, true
		return
	case split(unmarked(name), false).log, len(bytes.Trim(unmarked(name), "()[]/ 0123456789")) == 0 && (len(name) > 4 || r.id == "check-verdict"):
		return // a log line or a count glued to progress marks
	case r.id == "check-verdict" && f.log && f.level != 'e' && f.level != 0:
		return
	case r.id == "check-verdict" && f.indent > 0 && value(fd[capBad]) && bytes.HasPrefix(f.body, slices.Concat(fd[capName], []byte(": "))):
		x.leave(f) // one of several values that are listed: "  Active: failed"
		return
	}
	symbol := r.id == "check-symbol"
	if symbol && bytes.HasPrefix(f.body, []byte("●")) && (sentence(fd[capName]) || call(fd[capName])) {
		return // so some agents begin what they say and do
	}
	if symbol && (x.finding > 0 || sentence(fd[capName])) {
		x.error(r.id, "", name, f)
		return
	}
	x.close()
	k := r.fact
	if r.id == "tap-fail" {
		test, group := x.tap.failing(f.indent, string(name))
		if group {
			k = factSuite
		}
		if test != string(name) {
			defer x.add(fact{kind: factDetail, rule: "assertion"}, name)
			name = []byte(test)
		}
	}
	if k == factCheck && sourceFile(name) || k == factSuite && r.id == "check-word-suite" && sourceFile(name) {
		k, name = factSuite, []byte(x.place(name))
	}
	text, loose := x.names(name)
	nf := x.keep(fact{kind: k, text: text, loose: loose, name: text, rule: r.id, said: f.body}, 0)
	x.detail = 12
	if symbol {
		x.open, x.openFor = nf, 4 // a place right below makes it a finding
	}
	x.ending(r, text)
}

// names returns the canonical form of a check's name and its loose form.
func (x *extractor) names(b []byte) (strict, loose string) {
	return canonical(squeeze(x.s.sc.name(nil, b, false))), canonical(squeeze(x.s.sc.name(nil, b, true)))
}

// ending records how a failing check ended, if its line says so.
func (x *extractor) ending(r *builtRule, name string) {
	fd := &x.fields
	msg, how := fd[capMsg], fd[capStatus]
	if e := kindEnd(msg, 0); e > 0 {
		x.add(fact{kind: factError, rule: r.id, name: string(msg[:e])}, msg[:e])
		return
	}
	if len(how) == 0 && (bytes.Contains(msg, []byte("signal")) || bytes.Contains(msg, []byte("SIG")) || bytes.Contains(msg, []byte("killed"))) {
		how = msg
	}
	if len(how) > 0 && !bytes.EqualFold(how, []byte("failed")) {
		x.add(fact{kind: factDetail, rule: r.id}, []byte(name+": "+string(how)))
	}
}

// unmarked returns a text without a reporter's leading progress marks: "• • ✘ ".
func unmarked(b []byte) []byte {
	for {
		r, n := utf8.DecodeRune(b)
		if !strings.ContainsRune("•·●✓✔✗✘✕×✖⨯.", r) || ascii.At(b, n) != ' ' {
			return b
		}
		b = trim(b[n:])
	}
}

// value reports whether a word is written as a value is, not as a verdict: failed, Down.
func value(w []byte) bool { return len(w) > 1 && w[1]-'a' < 26 }

// call reports whether a text is a name with something in brackets: Bash(make test).
func call(b []byte) bool {
	n := runOf(b, 0, wordMask)
	return n > 0 && ascii.At(b, n) == '(' && b[len(b)-1] == ')'
}

// prose reports whether a line explains an error, that is, it is neither source text nor a row
// of a table.
func prose(b []byte) bool {
	return sentence(b) || letter(b[0]) && bytes.Count(b, []byte(" ")) > 1 && !bytes.ContainsAny(b, "{}[]=;\"") && !bytes.Contains(b, []byte("  "))
}

// sentence reports whether the text after a symbol is prose rather than a name.
func sentence(b []byte) bool {
	b = trim(b)
	return len(b) > 0 && (b[len(b)-1] == '.' || b[len(b)-1] == ':' || b[len(b)-1] == '?') && bytes.IndexByte(b, ' ') > 0
}

// takeFinding adds a finding of a compiler or linter.
func (x *extractor) takeFinding(r *builtRule, f front) {
	fd := &x.fields
	if bytes.HasSuffix(fd[capKind], []byte("Warning")) {
		return // Python's, of its own code
	}
	file := x.file
	if len(fd[capFile]) > 0 {
		file = x.place(fd[capFile])
	}
	if len(fd[capMsg]) == 0 && len(fd[capCode]) == 0 && len(fd[capKind]) == 0 && len(fd[capSev]) == 0 && x.aboveFor > 0 {
		fd[capMsg] = x.above
	}
	msg, looseMsg := x.texts(fd[capMsg])
	code := string(fd[capCode])
	if k := fd[capKind]; len(k) > 0 {
		code = string(k)
	}
	text := joined(file, code, msg)
	loose := joined(file, code, looseMsg)
	k := r.fact
	if k == factWarn && lintCode(r, fd) {
		k = factDiag
	} else if r.id == "diag-note" {
		return
	}
	if f.log && f.level != 'e' && f.level != 0 {
		k = factLog
	}
	nf := x.keep(fact{kind: k, text: text, loose: loose, name: code, file: file, rule: r.id, said: f.body}, placed(file, fd[capPos], fd[capCol]))
	x.detail, x.finding = 8, 5
	if len(msg) == 0 || badEnd(fd[capMsg], 0) >= len(fd[capMsg])-1 {
		x.message = 4
	}
	if file == "" {
		x.open, x.openFor = nf, 8
	}
	x.row = nil
	if r.id == "diag-table" || r.id == "diag-table-warning" {
		x.row = nf
	}
	*fd = fields{}
}

// texts returns a message's canonical form and its loose form.
func (x *extractor) texts(b []byte) (strict, loose string) {
	return x.masked(b, false), x.masked(b, true)
}

// masked returns the canonical form of a message: without noise, and with unordered parts
// sorted.
func (x *extractor) masked(b []byte, loose bool) string {
	braces := bytes.IndexByte(b, '{') >= 0
	if braces {
		b = ordered(bytes.Clone(b))
	}
	text := squeeze(x.s.sc.text(nil, b, loose))
	if braces {
		text = ordered(text)
	}
	return canonical(text)
}

// lintCode reports whether a linter fails because of a warning: it has a rule's code as
// linters write it, not a compiler's flag.
func lintCode(r *builtRule, fd *fields) bool {
	if r.id == "diag-table-warning" {
		return true
	}
	msg := fd[capMsg]
	if e := codeEnd(msg, 0); r.id == "diag-graphic" && e > 0 && ascii.At(msg, e) == '(' && bytes.Contains(msg[e:], []byte("): ")) {
		return true // plugin(rule-name): message
	}
	text := string(msg)
	// A plain word in parentheses is a remark: (optional), (deprecated).
	return bracketCode(text) && (text[len(text)-1] == ']' || strings.ContainsAny(text[strings.LastIndexByte(text, '('):], "0123456789-/_"))
}

// table handles a row of a table of findings below a file name: "12  message".
func (x *extractor) table(f front) bool {
	n := ascii.Digits(f.body, 0)
	if n == 0 || n > 6 || f.indent == 0 || !bytes.HasPrefix(f.body[n:], []byte("  ")) || len(trim(f.body[n:])) < 4 {
		return false
	}
	x.fields = fields{}
	x.fields[capPos], x.fields[capMsg] = f.body[:n], trim(f.body[n:])
	x.takeFinding(&builtRule{id: "diag-table", fact: factDiag}, f)
	return true
}

// heading handles a line that announces a message.
func (x *extractor) heading(r *builtRule, f front) {
	fd := &x.fields
	file := ""
	if len(fd[capFile]) > 0 {
		file = x.place(fd[capFile])
	}
	if bytes.HasPrefix(f.body, []byte("thread '")) {
		x.addAt(fact{kind: factError, rule: r.id, name: "panic"}, []byte("panic"), file)
	} else {
		nf := x.addAt(fact{kind: factError, rule: r.id, name: string(fd[capKind])}, f.body, file)
		if file == "" {
			x.open, x.openFor = nf, 10
		}
	}
	x.message, x.detail = 4, 8
	*fd = fields{}
}

// where sets the place of the preceding error or finding.
func (x *extractor) where(file []byte) {
	if x.open == nil {
		return
	}
	p := x.place(file)
	f := x.open
	x.open, x.openFor = nil, 0
	if f.kind == factCheck || f.kind == factError && f.rule == "error-code" {
		f.kind = factDiag
	}
	x.bars, x.finding = 12, 4
	f.file = p
	f.places = append(f.places[:0:0], placed(p, x.fields[capPos], x.fields[capCol]))
	x.s.facts.rename(f, joined(p, f.text), joined(p, f.loose))
}

// stackFrame records a frame. The first frame of the user's own code after an error, or the
// last before it, is where the error is.
func (x *extractor) stackFrame(b []byte) {
	x.traced = bytes.HasPrefix(b, []byte("File ")) && !bytes.Contains(b, []byte(", characters "))
	x.source = x.traced || bytes.Contains(b, []byte(": in "))
	if len(x.fields[capFile]) == 0 || !ownFrame(b) {
		return
	}
	file := x.place(x.fields[capFile])
	if x.open != nil && !x.source && x.open.kind == factError {
		f := x.open
		x.open, x.openFor = nil, 0
		f.file = file
		x.s.facts.rename(f, f.text+" @"+file, f.loose+" @"+file)
		return
	}
	x.frame, x.frameFor = file, 5
}
