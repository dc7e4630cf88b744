package signature

import (
	"bytes"
	"html"
	"strings"
)

// xmlReader reads test and lint reports in XML, in pieces of any size. Elements with a name
// and a verdict, or a name and a failure inside, are failing checks; elements with a message
// and a line are findings.
type xmlReader struct {
	fi    *findings
	tag   []byte // the tag being read, without < and >
	in    bool   // inside a tag
	quote byte   // inside an attribute's value
	skip  string // inside <!-- or <![CDATA[, up to this end
	began bool
	open  []element
	text  []byte
	done  bool
}

type element struct {
	name  string
	attrs object
	bad   bool
}

// maxTrace is how much text of one element is read, in bytes.
const maxTrace = 8 << 10

// xmlStart reports whether a line begins a report in XML.
func xmlStart(b []byte) bool {
	if len(b) < 5 || b[0] != '<' {
		return false
	}
	for _, s := range [...]string{"<?xml", "<testsuite", "<checkstyle", "<TestRun", "<test-run", "<assemblies", "<results ", "<issues", "<pmd"} {
		if bytes.HasPrefix(b, []byte(s)) {
			return true
		}
	}
	return false
}

func (r *xmlReader) active() bool { return r.began && !r.done }

func (r *xmlReader) reset() {
	*r = xmlReader{fi: r.fi, tag: r.tag[:0], open: r.open[:0], text: r.text[:0]}
}

// feed reads the next piece of the document.
func (r *xmlReader) feed(p []byte) {
	r.began = true
	for _, c := range p {
		switch {
		case r.done:
			return
		case r.in:
			r.inTag(c)
		case c == '<':
			r.in, r.tag = true, r.tag[:0]
		case len(r.text) < maxTrace:
			r.text = append(r.text, c)
		}
	}
}

func (r *xmlReader) inTag(c byte) {
	if r.skip != "" {
		r.tag = append(r.tag, c)
		if before, ok := bytes.CutSuffix(r.tag, []byte(r.skip)); ok {
			if r.skip == "]]>" {
				r.addText(before)
			}
			r.in, r.skip = false, ""
		} else if len(r.tag) > maxScalar {
			n := len(r.skip)
			if r.skip == "]]>" {
				r.addText(r.tag[:len(r.tag)-n])
			}
			r.tag = append(r.tag[:0], r.tag[len(r.tag)-n:]...)
		}
		return
	}
	switch {
	case r.quote != 0:
		if c == r.quote {
			r.quote = 0
		}
	case c == '"' || c == '\'':
		r.quote = c
	case c == '>':
		r.in = false
		r.tagEnd(string(r.tag))
		return
	}
	if len(r.tag) < 8*maxScalar {
		r.tag = append(r.tag, c)
	}
	switch string(r.tag) {
	case "!--":
		r.skip, r.tag, r.quote = "-->", r.tag[:0], 0
	case "![CDATA[":
		r.skip, r.tag, r.quote = "]]>", r.tag[:0], 0
	}
}

func (r *xmlReader) addText(b []byte) {
	if room := maxTrace - len(r.text); room > 0 {
		r.text = append(r.text, b[:min(len(b), room)]...)
	}
}

func (r *xmlReader) tagEnd(tag string) {
	switch {
	case tag == "" || tag[0] == '?' || tag[0] == '!':
		return
	case tag[0] == '/':
		r.close()
		return
	}
	self := strings.HasSuffix(tag, "/")
	if self {
		tag = tag[:len(tag)-1]
	}
	if len(r.open) >= maxDepth {
		r.done = true
		return
	}
	words := strings.Fields(tag)
	if len(words) == 0 {
		return
	}
	e := element{name: words[0]}
	attributes(strings.TrimPrefix(strings.TrimSpace(tag), e.name), &e.attrs)
	r.open = append(r.open, e)
	r.text = r.text[:0]
	if self {
		r.close()
	}
}

// attributes parses name="value" pairs.
func attributes(s string, o *object) {
	for {
		key, rest, ok := strings.Cut(s, "=")
		rest = strings.TrimLeft(rest, " \t\r\n")
		if !ok || rest == "" || rest[0] != '"' && rest[0] != '\'' {
			return
		}
		end := strings.IndexByte(rest[1:], rest[0])
		if end < 0 {
			return
		}
		v := rest[1 : 1+end]
		if len(v) > maxScalar {
			v = v[:maxScalar]
		}
		o.set(strings.TrimSpace(key), html.UnescapeString(v))
		s = rest[end+2:]
	}
}

// close ends the innermost element.
func (r *xmlReader) close() {
	n := len(r.open) - 1
	if n < 0 {
		r.done = true
		return
	}
	e := r.open[n]
	r.open = r.open[:n]
	text := html.UnescapeString(string(r.text))
	r.text = r.text[:0]
	if n == 0 {
		r.done = true
	}
	switch strings.ToLower(e.name) {
	case "failure", "error", "errorinfo", "fatal":
		r.failure(&e, text)
	case "message":
		if n > 0 {
			r.open[n-1].attrs.set("message", strings.TrimSpace(text))
		}
	case "output":
		if n > 0 && r.open[n-1].attrs.get("message") == "" {
			r.open[n-1].attrs.set("message", e.attrs.get("message"))
		}
	case "testcase", "test-case", "test", "unittestresult", "case":
		if e.bad || failed(e.attrs.get("result", "outcome", "status")) {
			r.check(&e)
		}
	case "testsuite", "testsuites", "test-run", "assembly", "counters":
		r.fi.count(&e.attrs)
	case "location":
		if n > 0 {
			lift(&object{key: "location", fields: e.attrs.fields}, &r.open[n-1].attrs)
		}
	}
	if e.name == "violation" || e.name == "issue" {
		r.found(&e)
	}
}

// failure handles an element that is inside a failing check or is a finding of its own.
func (r *xmlReader) failure(e *element, text string) {
	if e.attrs.get("line") != "" && (e.attrs.get("message", "msg") != "" || e.attrs.get("id") != "") {
		r.found(e)
		return
	}
	for i := len(r.open) - 1; i >= 0; i-- {
		switch strings.ToLower(r.open[i].name) {
		case "testcase", "test-case", "test", "unittestresult", "case", "output", "results":
			r.open[i].bad = true
			msg := e.attrs.get("message")
			if msg == "" {
				msg = strings.TrimSpace(text)
			}
			if t := e.attrs.get("type"); t != "" && !strings.Contains(msg, t) {
				msg = t + ": " + msg
			}
			if r.open[i].attrs.get("message") == "" {
				r.open[i].attrs.set("message", msg)
			}
			r.open[i].attrs.set("trace", text)
			if strings.EqualFold(e.name, "error") {
				r.open[i].attrs.set("how", "error")
			}
			return
		}
	}
}

func (r *xmlReader) check(e *element) {
	name := e.attrs.get("fullname", "name", "testName")
	if class := e.attrs.get("classname", "class"); class != "" && !strings.HasPrefix(name, class) && !sourceFile([]byte(name)) {
		name = class + "." + name
	}
	text := r.fi.failing("xml-check", name)
	if how := e.attrs.get("how"); how != "" {
		r.fi.x.add(fact{kind: factDetail, rule: "xml-check"}, []byte(text+": "+how))
	}
	r.fi.lines(e.attrs.get("message"))
	r.fi.lines(e.attrs.get("trace"))
}

// found records a finding of a linter's report.
func (r *xmlReader) found(e *element) {
	file := e.attrs.get(fileKeys...)
	for i := len(r.open) - 1; i >= 0 && file == ""; i-- {
		file = r.open[i].attrs.get("name", "file", "path")
	}
	code := e.attrs.get("source", "id", "rule")
	if s := e.attrs.get("severity"); s == "ignore" || code == "" && (s == "info" || s == "information") {
		return
	}
	r.fi.found("xml-finding", factDiag, file, code, e.attrs.get("message", "msg", "verbose"), e.attrs.get("line"), e.attrs.get("column"))
}
