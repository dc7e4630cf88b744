package signature

import "bytes"

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
	x.message, x.detail = 4, 8
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
	if f.kind == factCheck || f.kind == factError && f.rule == "error-code" {
		f.kind = factDiag
	}
	x.bars, x.finding = 12, 4
	f.file = p
	f.places = append(f.places[:0:0], placed(p, x.fields[capPos], x.fields[capCol]))
	x.s.facts.rename(f, joined(p, f.text), joined(p, f.loose))
}

// stackFrame notes a frame; the first of the user's own code after an error, or
// the last before it, says where the error is.
func (x *extractor) stackFrame(b []byte) {
	x.traced = bytes.HasPrefix(b, []byte("File "))
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
