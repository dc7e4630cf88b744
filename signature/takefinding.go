package signature

import (
	"bytes"

	"github.com/looprun/looprun/internal/ascii"
)

// takeFinding takes what a compiler or linter found.
func (x *extractor) takeFinding(r *builtRule, f front) {
	fd := &x.fields
	file := x.file
	if len(fd[capFile]) > 0 {
		file = x.place(fd[capFile])
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

// texts are a message's canonical form and its loose one.
func (x *extractor) texts(b []byte) (strict, loose string) {
	return x.s.recent.text(asMessage, b, x.masked)
}

// masked is the canonical form of a message: without noise, and without the order of
// what has none.
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

// lintCode says whether a warning is one by which a linter fails: it has a rule's
// code as linters write it, not a compiler's flag.
func lintCode(r *builtRule, fd *fields) bool {
	if r.id == "diag-table-warning" {
		return true
	}
	msg := fd[capMsg]
	if e := codeEnd(msg, 0); r.id == "diag-graphic" && e > 0 && ascii.At(msg, e) == '(' && bytes.Contains(msg[e:], []byte("): ")) {
		return true // plugin(rule-name): message
	}
	n := len(msg)
	if n < 5 || msg[n-1] != ']' && msg[n-1] != ')' {
		return false
	}
	i := bytes.LastIndexAny(msg, "[(")
	if i < 0 {
		return false
	}
	code := msg[i+1 : n-1]
	return len(code) >= 4 && letter(code[0]) && ascii.Digit(code[len(code)-1]) && codeEnd(code, 0) == len(code)
}

// table takes a row of a table of findings below a file name: "12  message".
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
