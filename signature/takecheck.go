package signature

import (
	"bytes"

	"github.com/looprun/looprun/internal/ascii"
)

// check takes a failing check.
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
	case split(name, false).log, len(bytes.Trim(name, "()[]/ 0123456789")) == 0 && (len(name) > 4 || r.id == "check-verdict"):
		return // a log line or a count glued to a progress mark
	case r.id == "check-verdict" && f.log && f.level != 'e' && f.level != 0:
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

// names are the canonical form of a check's name and its loose one.
func (x *extractor) names(b []byte) (strict, loose string) {
	return x.s.recent.text(asName, b, func(b []byte, loose bool) string {
		return canonical(squeeze(x.s.sc.name(nil, b, loose)))
	})
}

// ending notes how a failing check ended, where its line says so.
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

// call says whether a text is a name with something in brackets: Bash(make test).
func call(b []byte) bool {
	n := runOf(b, 0, wordMask)
	return n > 0 && ascii.At(b, n) == '(' && b[len(b)-1] == ')'
}

// prose says whether a line explains an error: it is no source and no row of a table.
func prose(b []byte) bool {
	return sentence(b) || letter(b[0]) && bytes.Count(b, []byte(" ")) > 1 && !bytes.ContainsAny(b, "{}[]=;\"") && !bytes.Contains(b, []byte("  "))
}

// sentence says whether what stands behind a symbol is prose, no name.
func sentence(b []byte) bool {
	b = trim(b)
	return len(b) > 0 && (b[len(b)-1] == '.' || b[len(b)-1] == ':' || b[len(b)-1] == '?') && bytes.IndexByte(b, ' ') > 0
}
