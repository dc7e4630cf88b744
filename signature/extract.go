package signature

import (
	"bytes"

	"github.com/cespare/xxhash/v2"
)

// extractor finds the facts in the lines of one stream. It remembers a little of
// the lines before: a message may follow its heading, a place its message, and a
// stack trace may stand before or after its error.
type extractor struct {
	s  *Signer
	id int

	fields fields
	pairs  pairs

	file    string // the file that findings without one are in
	message int    // so many more lines may be the message that a heading announced
	naming  bool   // that message is the name of a failing check
	open    *fact  // the error or finding that still lacks its place
	openFor int    // for so many lines more
	frame   string // the last frame of the user's own code
	frameAt int    // so many lines back
	detail  int    // values may follow for so many lines more
	finding int    // a finding stands so few lines above
	bars    int    // prose in a margin may follow for so many lines more
	within  string // the step that runs
	source  bool   // the next line quotes the source of a frame

	found findings
	json  jsonReader
	xml   xmlReader
}

func (x *extractor) init(s *Signer, id int) {
	*x = extractor{s: s, id: id}
	x.found.x = x
	x.json.done = x.found.jsonObject
	x.json.value = func(_ *jsonReader, key, v string) {
		if key == "failureMessages" {
			x.found.lines(v)
		}
	}
	x.xml.fi = &x.found
}

func (x *extractor) reset() {
	j, m := x.json, x.xml
	x.init(x.s, x.id)
	x.json.stack, x.json.tok = j.stack[:0], j.tok[:0]
	x.xml.open, x.xml.tag = m.open[:0], m.tag[:0]
}

// busy says whether the next line may mean something because of those before it.
func (x *extractor) busy() bool {
	return x.json.active() || x.xml.active() || x.source || x.bars > 0 || x.finding > 0 || x.message > 0 || x.openFor > 0 || x.frame != "" || x.detail > 0
}

// blank notes an empty line.
func (x *extractor) blank() {
	x.frame = ""
	x.step()
}

func (x *extractor) end() {}

// step lets what was remembered grow old.
func (x *extractor) step() {
	if x.openFor > 0 {
		if x.openFor--; x.openFor == 0 {
			x.open = nil
		}
	}
	x.detail = max(0, x.detail-1)
	x.finding = max(0, x.finding-1)
	x.bars = max(0, x.bars-1)
	if x.frame != "" {
		if x.frameAt++; x.frameAt > 4 {
			x.frame = ""
		}
	}
}

// line takes one line that is not empty: full has its white space in front, b has
// not. It returns whether a line of this shape can mean something.
func (x *extractor) line(full, b []byte) bool {
	if x.structured(b) {
		return true
	}
	return x.plain(full, b)
}

// plainLine takes a line of text that a report carries.
func (x *extractor) plainLine(full []byte) {
	full = trimRight(full)
	if b := trim(full); len(b) > 0 {
		x.plain(full, b)
		return
	}
	x.blank()
}

// plain is line for what is neither JSON nor XML.
func (x *extractor) plain(full, b []byte) bool {
	if codeFrame(b) {
		x.step()
		return false
	}
	f := x.s.sc.split(full)
	if len(f.body) == 0 {
		x.blank()
		return false
	}
	if f.ruled {
		x.close()
	}
	if x.source && f.indent > 0 && !f.bar {
		x.source = false
		return true
	}
	x.source = false
	if x.s.user.extracts(x, f) {
		return true
	}
	if member(f.body) {
		x.step()
		return false
	}
	x.pairs.fill(f.body)
	r := book().find(f.body, f.bar, &x.pairs, &x.fields)
	if r == nil {
		return x.unknown(f, b)
	}
	used := x.apply(r, f, b)
	x.step()
	return used
}

// close forgets what belonged to the lines before.
func (x *extractor) close() {
	x.open, x.openFor, x.message, x.naming, x.detail, x.frame, x.file = nil, 0, 0, false, 0, "", ""
}

// member says whether a line is a member of a dumped object: "is_error": false.
func member(b []byte) bool {
	if b[0] != '"' {
		return false
	}
	n := bytes.IndexByte(b[1:], '"')
	return n > 0 && at(b, n+2) == ':'
}

// unknown handles a line that no rule takes.
func (x *extractor) unknown(f front, b []byte) bool {
	defer x.step()
	if x.message > 0 && x.naming && !f.log {
		x.fields[capName], x.naming = f.body, false
		x.check(&builtRule{id: "check-next", fact: factCheck}, f)
		return true
	}
	if x.message > 0 && !f.log {
		x.message = 0
		x.error("message", "", f.body, f)
		return true
	}
	if x.bars > 0 && f.bar && sentence(f.body) {
		x.add(fact{kind: factDetail, rule: "prose"}, f.body, 0)
		return true
	}
	if x.file != "" && x.table(f) {
		return true
	}
	if f.log && f.level == 'e' {
		x.add(fact{kind: factLog, rule: "log-level"}, f.body, 0)
		return true
	}
	if sourceFile(b) && (b[0] == '/' || bytes.IndexByte(b, '/') > 0 || f.indent == 0) {
		x.file = x.place(b)
		return true
	}
	return false
}

// table takes a row of a table of findings below a file name: "12  message".
func (x *extractor) table(f front) bool {
	n := digitsFrom(f.body, 0)
	if n == 0 || n > 6 || f.indent == 0 || !bytes.HasPrefix(f.body[n:], []byte("  ")) || len(trim(f.body[n:])) < 4 {
		return false
	}
	x.fields = fields{}
	x.fields[capPos], x.fields[capMsg] = f.body[:n], trim(f.body[n:])
	x.takeFinding(&builtRule{id: "diag-table", fact: factDiag}, f)
	return true
}

// apply makes the facts of a line that a rule took.
func (x *extractor) apply(r *builtRule, f front, b []byte) bool {
	fd := &x.fields
	switch r.fact {
	case factPass:
		x.close()
		return false
	case factNoise:
		return false
	case factCount:
		x.s.counts.read(f.body)
	case factCheck, factSuite:
		x.check(r, f)
	case factDiag, factWarn:
		x.takeFinding(r, f)
	case factError:
		x.error(r.id, string(fd[capKind]), x.errorText(f), f)
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
		x.add(fact{kind: factDetail, rule: r.id}, f.body, 0)
	case factStep:
		if nf := x.add(fact{kind: factStep, rule: r.id}, fd[capName], 0); nf != nil {
			x.within = nf.text
		}
	case factWeak:
		x.add(fact{kind: factWeak, rule: r.id}, f.body, 0)
	}
	return true
}

// check takes a failing check.
func (x *extractor) check(r *builtRule, f front) {
	fd := &x.fields
	name := checkName(fd[capName])
	if len(name) == 0 {
		name = fd[capFile]
	}
	switch {
	case len(name) == 0 && r.id == "tap-fail":
		name = []byte("unnamed")
	case len(name) == 0:
		x.close()
		x.message, x.naming = 2, true
		return
	case x.s.sc.split(name).log, len(bytes.Trim(name, "()[]/ 0123456789")) == 0 && len(name) > 4:
		return // a log line or a count glued to a progress mark
	case r.id == "check-verdict" && f.log && f.level != 'e' && f.level != 0:
		return
	}
	symbol := r.id == "check-symbol"
	if symbol && (x.finding > 0 || sentence(fd[capName])) {
		x.error(r.id, "", name, f)
		return
	}
	x.close()
	k := r.fact
	if k == factCheck && sourceFile(name) || k == factSuite && r.id == "check-word-suite" && sourceFile(name) {
		k, name = factSuite, []byte(x.place(name))
	}
	text := string(x.s.sc.name(nil, name, false))
	nf := x.keep(fact{kind: k, text: text, loose: string(x.s.sc.name(nil, name, true)), name: text, rule: r.id, raw: clip(f.body)}, 0)
	x.detail = 12
	if symbol {
		x.open, x.openFor = nf, 4 // a place right below makes it a finding
	}
	x.ending(r, text)
}

// ending notes how a failing check ended, where its line says so.
func (x *extractor) ending(r *builtRule, name string) {
	fd := &x.fields
	msg, how := fd[capMsg], fd[capStatus]
	if e := kindEnd(msg, 0); e > 0 {
		x.add(fact{kind: factError, rule: r.id, name: string(msg[:e])}, msg[:e], 0)
		return
	}
	if len(how) == 0 && (bytes.Contains(msg, []byte("signal")) || bytes.Contains(msg, []byte("SIG")) || bytes.Contains(msg, []byte("killed"))) {
		how = msg
	}
	if len(how) > 0 && !bytes.EqualFold(how, []byte("failed")) {
		x.add(fact{kind: factDetail, rule: r.id}, []byte(name+": "+string(how)), 0)
	}
}

// sentence says whether what stands behind a symbol is prose, no name.
func sentence(b []byte) bool {
	b = trim(b)
	return len(b) > 0 && (b[len(b)-1] == '.' || b[len(b)-1] == ':') && bytes.IndexByte(b, ' ') > 0
}

// takeFinding takes what a compiler or linter found.
func (x *extractor) takeFinding(r *builtRule, f front) {
	fd := &x.fields
	file := x.file
	if len(fd[capFile]) > 0 {
		file = x.place(fd[capFile])
	}
	msg := x.s.sc.text(nil, fd[capMsg], false)
	code := string(fd[capCode])
	if k := fd[capKind]; len(k) > 0 {
		code = string(k)
	}
	text := joined(file, code, string(squeeze(msg)))
	loose := joined(file, code, string(squeeze(x.s.sc.text(nil, fd[capMsg], true))))
	place := xxhash.Sum64(fd[capPos])*31 + xxhash.Sum64(fd[capCol])*17 + xxhash.Sum64String(file)
	k := r.fact
	if k == factWarn && lintCode(r, fd) {
		k = factDiag
	} else if r.id == "diag-note" {
		return
	}
	if f.log && f.level != 'e' && f.level != 0 {
		k = factLog
	}
	nf := x.keep(fact{kind: k, text: text, loose: loose, name: code, file: file, rule: r.id, raw: clip(f.body)}, place|1)
	x.detail, x.finding = 8, 5
	if len(msg) == 0 || badEnd(fd[capMsg], 0) >= len(fd[capMsg])-1 {
		x.message = 2
	}
	if file == "" {
		x.open, x.openFor = nf, 8
	}
	*fd = fields{}
}

// lintCode says whether a warning is one by which a linter fails: it has a rule's
// code as linters write it, not a compiler's flag.
func lintCode(r *builtRule, fd *fields) bool {
	if r.id == "diag-table-warning" {
		return true
	}
	msg := fd[capMsg]
	if e := codeEnd(msg, 0); r.id == "diag-graphic" && e > 0 && at(msg, e) == '(' && bytes.Contains(msg[e:], []byte("): ")) {
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
	return len(code) >= 4 && letter(code[0]) && digit(code[len(code)-1]) && codeEnd(code, 0) == len(code)
}

// error takes an error message.
func (x *extractor) error(rule, kind string, msg []byte, f front) {
	k := factError
	if f.log {
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
	x.detail = 8
	x.message = 0
}

// errorText is the part of the line that a fact about it keeps.
func (x *extractor) errorText(f front) []byte { return f.body }

// heading takes a line that announces a message.
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
	x.message, x.detail = 2, 8
	*fd = fields{}
}

// where gives the error or finding before it its place.
func (x *extractor) where(file []byte) {
	if x.open == nil {
		return
	}
	p := x.place(file)
	f := x.open
	x.open, x.openFor = nil, 0
	raw := xxhash.Sum64(x.fields[capPos])*31 + xxhash.Sum64(x.fields[capCol])*17 + xxhash.Sum64String(p)
	if f.kind == factCheck || f.kind == factError && f.rule == "error-code" {
		f.kind = factDiag
	}
	x.bars, x.finding = 12, 4
	f.file = p
	f.places = append(f.places[:0:0], raw|1)
	x.s.facts.rename(f, joined(p, f.text), joined(p, f.loose))
}

// stackFrame notes a frame; the first of the user's own code after an error, or
// the last before it, says where the error is.
func (x *extractor) stackFrame(b []byte) {
	x.source = bytes.HasPrefix(b, []byte("File ")) || bytes.Contains(b, []byte(": in "))
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
	x.frame, x.frameAt = file, 0
}

// add makes a fact of the masked text of b.
func (x *extractor) add(f fact, b []byte, place uint64) *fact {
	b = clipBytes(b)
	f.text = string(squeeze(x.s.sc.text(nil, b, false)))
	f.loose = string(squeeze(x.s.sc.text(nil, b, true)))
	f.raw = clip(b)
	return x.keep(f, place)
}

// addAt is add with the file that the fact is about.
func (x *extractor) addAt(f fact, b []byte, file string) *fact {
	b = clipBytes(b)
	f.text = string(squeeze(x.s.sc.text(nil, b, false)))
	f.loose = string(squeeze(x.s.sc.text(nil, b, true)))
	f.raw = clip(b)
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
	x.s.why.fact(&f)
	return x.s.facts.add(f, place)
}
