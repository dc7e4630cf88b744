package signature

import (
	"bytes"
)

// extractor finds the facts in the lines of one stream. It remembers a little of the earlier
// lines: a message may follow its heading, a place its message, and a stack trace may come
// before or after its error.
type extractor struct {
	s  *Signer
	id int

	suite     string // what the margin calls the source of the lines
	suiteHash uint64
	counts    counts
	timed     bool // the margin of this line had a time, and is that of a log
	boxed     bool // the margin of this line was the side of a box
	stamped   int  // lines whose margin had a time
	levelled  int  // those of them with a level behind it

	fields fields
	pairs  pairs

	file     string // the file that findings without one are in
	message  int    // so many more lines may be the message that a heading announced
	diff     int    // so many lines may be those of a difference
	under    int    // the indentation of a word that announces a value on the lines below, plus one
	naming   bool   // that message is the name of a failing check
	open     *fact  // the error or finding that still lacks its place
	openFor  int    // for so many lines more
	traced   bool   // a frame of Python's came last, whose trace ends with what was thrown
	frame    string // the last frame of the user's own code
	frameFor int    // for so many lines more
	detail   int    // values may follow for so many lines more
	row      *fact  // the finding of the table row above, whose text may go on
	finding  int    // a finding stands so few lines above
	explain  int    // what explains an error may follow for so many lines more
	bars     int    // prose in a margin may follow for so many lines more
	within   string // the step that runs
	source   bool   // the next line quotes the source of a frame
	above    []byte // the last line that no rule took: a place below may be its own
	aboveFor int    // for so many lines more

	tap   tap
	found findings
	json  jsonReader
	xml   xmlReader
}

func (x *extractor) init(s *Signer, id int) {
	*x = extractor{s: s, id: id}
	x.found.x = x
	x.json.done = x.found.jsonObject
	x.json.value = func(_ *jsonReader, key, v string) {
		if key == "failureMessages" || key == "messages" || key == "errors" {
			x.found.lines(v)
		}
	}
	x.xml.fi = &x.found
}

// busy reports whether the next line may mean something because of the earlier ones.
func (x *extractor) busy() bool {
	return x.json.active() || x.xml.active() || x.source || x.diff > 0 || x.row != nil || x.bars > 0 || x.explain > 0 || x.finding > 0 || x.message > 0 || x.openFor > 0 || x.frame != "" || x.traced || x.detail > 0
}

// className returns the class name at the beginning of a line, perhaps qualified by a module:
// app.models.NotConfigured, with or without a colon and a message after it.
func className(b []byte) string {
	name, _, _ := bytes.Cut(b, []byte(": "))
	for part := range bytes.SplitSeq(name, []byte(".")) {
		if len(part) == 0 || runOf(part, 0, wordMask) < len(part) {
			return ""
		}
	}
	if name[bytes.LastIndexByte(name, '.')+1]-'A' >= 26 {
		return ""
	}
	return string(name)
}

// logs reports, for a message after a time, whether its stream is a log, most of whose entries
// have a level. A runner puts a time before any tool's output, where ERROR is the tool's own
// word.
func (x *extractor) logs(message []byte) bool {
	x.stamped++
	if _, e := levelAt(trim(message)); e > 0 {
		x.levelled++
	}
	return x.stamped < 8 || 3*x.levelled > x.stamped
}

// blank handles an empty line.
func (x *extractor) blank() {
	x.row = nil
	x.frame = ""
	x.explain = 0 // what comes behind a paragraph may be anybody's
	x.step()
}

// step ages what was remembered of earlier lines.
func (x *extractor) step() {
	for _, left := range [...]*int{&x.message, &x.diff, &x.openFor, &x.aboveFor, &x.frameFor, &x.detail, &x.finding, &x.explain, &x.bars} {
		*left = max(0, *left-1)
	}
	x.naming = x.naming && x.message > 0
	if x.openFor == 0 {
		x.open = nil
	}
	if x.frameFor == 0 {
		x.frame = ""
	}
}

// line handles one line that is not empty: full includes leading white space, b does not. It
// reports whether a line of this shape can mean something.
func (x *extractor) line(full, b []byte) bool {
	if x.structured(b) {
		return true
	}
	return x.plain(full, b)
}

// plainLine handles a line of text inside a report.
func (x *extractor) plainLine(full []byte) {
	full = trimRight(full)
	if b := trim(full); len(b) > 0 {
		x.plain(full, b)
		return
	}
	x.blank()
}

// plain is line for text that is neither JSON nor XML.
func (x *extractor) plain(full, b []byte) bool {
	source, f, taken := x.read(full)
	if source {
		x.step()
		return false
	}
	if len(f.body) == 0 {
		x.blank()
		return false
	}
	if f.ruled {
		file := x.file
		x.close()
		x.file = file
	}
	if x.source && f.indent > 0 && !f.bar {
		x.source = false
		return true
	}
	x.source = false
	if n := x.tap.line(full, b); n > 0 {
		x.counts.merge(byClass{countTotal: n + 1})
	}
	x.s.warned = x.s.warned || !f.log && blames(f.body)
	if x.s.opt.extracts(x, f) {
		return true
	}
	if x.difference(f.body) || x.value(f) {
		x.step()
		return true
	}
	if taken == nil {
		return x.unknown(f, b)
	}
	used := x.apply(taken.rule, f, b)
	if !f.log {
		x.step()
	}
	return used
}

// read returns whether a line quotes source text, what surrounds its message, and the pattern
// that matches the message.
func (x *extractor) read(full []byte) (source bool, f front, taken *matcher) {
	if codeFrame(trim(full)) {
		return true, f, nil
	}
	if f = split(full, x.timed); len(f.body) == 0 {
		return false, f, nil
	}
	f.bar = f.bar || x.boxed
	x.pairs.fill(f.body)
	return false, f, book().find(f.body, f.bar, &x.pairs, &x.fields)
}

// difference handles a line of a diff between two values, below a heading that announces one.
func (x *extractor) difference(b []byte) bool {
	if c := b[0]; c != '+' && c != '-' && c != '{' && c != '[' {
		if x.detail > 0 && bytes.EqualFold(b, []byte("diff:")) {
			x.diff = 12
		}
		return false
	}
	for _, heading := range [...]string{"+ expected - actual", "+ actual - expected", "- Expected", "+ Received"} {
		if bytes.HasPrefix(b, []byte(heading)) {
			x.diff = 12
			return x.detail > 0
		}
	}
	tuple := x.detail > 0 && (bytes.HasPrefix(b, []byte("{expected,")) || bytes.HasPrefix(b, []byte("{value,"))) // Erlang
	if !tuple && (x.diff == 0 || b[0] == '{' || b[0] == '[' || len(trim(b[1:])) == 0) {
		return false
	}
	x.add(fact{kind: factDetail, rule: "detail"}, bytes.TrimRight(b, "]},"))
	return true
}

// value handles a line of a value below the word that announces it: Got:, and then the value,
// further in.
func (x *extractor) value(f front) bool {
	if x.under > 0 && f.indent >= x.under && x.detail > 0 && !f.log {
		return x.add(fact{kind: factDetail, rule: "detail"}, f.body) != nil
	}
	x.under = 0
	if n := len(f.body) - 1; f.body[n] == ':' && oneOf(f.body, 0, valueWords) == n {
		x.under = f.indent + 1
	}
	return false
}

// close forgets the state of earlier lines.
func (x *extractor) close() {
	x.open, x.openFor, x.message, x.naming, x.traced, x.detail, x.explain, x.frame, x.file, x.row = nil, 0, 0, false, false, 0, 0, "", "", nil
}

// unknown handles a line that no rule matches.
func (x *extractor) unknown(f front, b []byte) bool {
	if !f.log { // one that comes between is no part of what is read
		defer x.step()
	}
	if x.traced && f.indent == 0 && !f.log {
		x.traced = false
		if name := className(f.body); name != "" {
			x.error("error-kind", name, f.body, f)
			return true
		}
	}
	if bytes.HasPrefix(f.body, []byte("```")) { // the end of what somebody quotes
		x.close()
		return false
	}
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
	if x.bars > 0 && f.bar && prose(f.body) {
		x.add(fact{kind: factDetail, rule: "prose"}, f.body)
		return true
	}
	if x.row != nil && f.bars == 2 {
		text, loose := x.texts(f.body)
		x.row = x.s.facts.rename(x.row, joined(x.row.text, text), joined(x.row.loose, loose))
		return true
	}
	if x.file != "" && x.table(f) {
		return true
	}
	if !f.log && x.s.done.take(x, f.body) {
		return true
	}
	if x.explain > 0 && !f.log && (prose(f.body) || x.explain == 5 && f.indent > 4 && !hasPlace(f.body)) {
		_, loose := x.texts(f.body) // the numbers of what only explains are no difference
		x.keep(fact{kind: factDetail, rule: "explained", text: loose, loose: loose, said: f.body}, 0)
		return true
	}
	if f.log && f.level == 'e' {
		x.add(fact{kind: factLog, rule: "log-level"}, f.body)
		return true
	}
	if sourceFile(b) && (b[0] == '/' || bytes.IndexByte(b, '/') > 0 || f.indent == 0) {
		x.file = x.place(b)
		return true
	}
	x.leave(f)
	if !f.log {
		x.above, x.aboveFor = append(x.above[:0], f.body...), 3
	}
	return false
}
