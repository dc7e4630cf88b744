package signature

import (
	"bytes"
	"html"
	"strings"

	"github.com/looprun/looprun/internal/lazy"
)

// xmlReader reads test and lint reports in XML, in pieces of any size. Elements with a name
// and a verdict, or a name and a failure inside, are failing checks; elements with a message
// and a line are findings.
type xmlReader struct {
	fi    *findings
	tag   []byte  // the tag being read, without < and >
	in    bool    // inside a tag
	quote byte    // inside an attribute's value
	last  [2]byte // bytes of the tag that was read
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
		case !r.in && c == '<':
			r.in, r.tag, r.quote = true, r.tag[:0], 0
		case !r.in:
			if len(r.text) < maxTrace {
				r.text = append(r.text, c)
			}
		case c == '>' && r.tagEnds():
			r.in = false
			r.tagEnd(string(r.tag))
		default:
			switch {
			case c == r.quote:
				r.quote = 0
			case r.quote == 0 && (c == '"' || c == '\''):
				r.quote = c
			}
			if len(r.tag) < 8*maxScalar {
				r.tag = append(r.tag, c)
			}
			r.last = [2]byte{r.last[1], c}
		}
	}
}

const (
	xmlComment = "!--"
	xmlData    = "![CDATA["
)

// tagEnds reports whether a > ends the tag.
func (r *xmlReader) tagEnds() bool {
	switch {
	case bytes.HasPrefix(r.tag, []byte(xmlComment)):
		return string(r.last[:]) == "--"
	case bytes.HasPrefix(r.tag, []byte(xmlData)):
		return string(r.last[:]) == "]]"
	}
	return r.quote == 0
}

func (r *xmlReader) tagEnd(tag string) {
	if data, ok := strings.CutPrefix(tag, xmlData); ok {
		data = strings.TrimSuffix(data, "]]")
		r.text = append(r.text, data[:min(len(data), maxTrace-len(r.text))]...)
		return
	}
	words := strings.Fields(strings.TrimSuffix(tag, "/"))
	switch {
	case len(words) == 0 || tag[0] == '?' || tag[0] == '!':
		return
	case tag[0] == '/':
		r.close()
		return
	case len(r.open) >= maxDepth:
		r.done = true
		return
	}
	e := element{name: words[0]}
	for _, a := range attribute().FindAllStringSubmatch(tag, maxFields) {
		value := a[2][1 : len(a[2])-1]
		e.attrs.set(a[1], html.UnescapeString(value[:min(len(value), maxScalar)]))
	}
	r.open, r.text = append(r.open, e), r.text[:0]
	if strings.HasSuffix(tag, "/") {
		r.close()
	}
}

// attribute matches name="value".
var attribute = lazy.Regexp(`([^\s=]+)\s*=\s*("[^"]*"|'[^']*')`)

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
