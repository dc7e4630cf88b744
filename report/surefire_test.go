package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// element is what Surefire's schema (surefire-test-report.xsd) says of an
// element: which attributes it must and may have, and which elements it holds,
// in this order, one at most (?) or any number (*). What holds text has no
// elements, and the other way round.
type element struct {
	must, may []string
	children  []string
	text      bool
}

var surefire = map[string]element{
	"testsuites": {children: []string{"testsuite*"}}, // what other writers begin with
	"testsuite":  {must: []string{"name", "tests", "errors", "skipped", "failures"}, may: []string{"time", "group", "timestamp"}, children: []string{"properties*", "testcase*"}},
	"properties": {children: []string{"property*"}},
	"property":   {must: []string{"name", "value"}},
	"testcase":   {must: []string{"name", "time"}, may: []string{"classname", "group", "file", "line"}, children: []string{"failure*", "skipped?", "error?", "system-out?", "system-err?"}},
	"failure":    {must: []string{"type"}, may: []string{"message"}, text: true},
	"error":      {must: []string{"type"}, may: []string{"message"}, text: true},
	"skipped":    {may: []string{"message"}, text: true},
	"system-out": {text: true},
}

var surefireTime = regexp.MustCompile(`^[0-9]+(\.[0-9]{0,3})?$`)

// node is an element of a document.
type node struct {
	name     string
	attrs    map[string]string
	children []*node
	text     string
}

// parseXML reads a document; it fails on what is no well-formed XML 1.0.
func parseXML(t testing.TB, s string) *node {
	t.Helper()
	root := &node{}
	open := []*node{root}
	d := xml.NewDecoder(strings.NewReader(s))
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("no XML: %v", err)
		}
		top := open[len(open)-1]
		switch token := token.(type) {
		case xml.StartElement:
			n := &node{name: token.Name.Local, attrs: map[string]string{}}
			for _, a := range token.Attr {
				n.attrs[a.Name.Local] = a.Value
			}
			top.children = append(top.children, n)
			open = append(open, n)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			top.text += string(token)
		}
	}
	if len(root.children) != 1 {
		t.Fatalf("%d roots", len(root.children))
	}
	return root.children[0]
}

// validate lists what is wrong with the element by the rules.
func (n *node) validate() []string {
	rule, known := surefire[n.name]
	if !known {
		return []string{"there is no element " + n.name}
	}
	var wrong []string
	for _, a := range rule.must {
		if _, ok := n.attrs[a]; !ok {
			wrong = append(wrong, n.name+" has no "+a)
		}
	}
	for a, v := range n.attrs {
		if !slices.Contains(rule.must, a) && !slices.Contains(rule.may, a) {
			wrong = append(wrong, n.name+" has "+a)
		}
		if a == "time" && !surefireTime.MatchString(v) {
			wrong = append(wrong, n.name+" takes "+v)
		}
	}
	if !rule.text && strings.TrimSpace(n.text) != "" {
		wrong = append(wrong, n.name+" holds text")
	}
	at := 0
	for _, c := range rule.children {
		name, most := c[:len(c)-1], c[len(c)-1]
		count := 0
		for at < len(n.children) && n.children[at].name == name {
			wrong = append(wrong, n.children[at].validate()...)
			at++
			count++
		}
		if (most != '*' && count > 1) || (most == '1' && count != 1) {
			wrong = append(wrong, fmt.Sprintf("%s holds %d %s", n.name, count, name))
		}
	}
	if at < len(n.children) {
		wrong = append(wrong, fmt.Sprintf("%s does not hold %s there", n.name, n.children[at].name))
	}
	return wrong
}

// The rules refuse what the schema refuses.
func TestSurefireRules(t *testing.T) {
	for _, c := range []struct{ doc, want string }{
		{`<testsuite name="a" tests="0" errors="0" skipped="0" failures="0"/>`, ""},
		{`<testsuite tests="0" errors="0" skipped="0" failures="0"/>`, "testsuite has no name"},
		{`<testsuite name="a" tests="1" errors="0" skipped="0" failures="0" flakes="1"/>`, "testsuite has flakes"},
		{`<testcase name="a" time="1.2345"/>`, "testcase takes 1.2345"},
		{`<testcase name="a" time="1"><error type="x"/><failure type="x"/></testcase>`, "testcase does not hold failure there"},
		{`<testcase name="a" time="1"><error type="x"/><error type="x"/></testcase>`, "testcase holds 2 error"},
		{`<testcase name="a" time="1"><failure message="x"/></testcase>`, "failure has no type"},
	} {
		if got := strings.Join(parseXML(t, c.doc).validate(), "; "); got != c.want {
			t.Errorf("%s: %q, want %q", c.doc, got, c.want)
		}
	}
}
