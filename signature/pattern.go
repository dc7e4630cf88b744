package signature

import (
	"fmt"
	"slices"
	"strings"

	"github.com/looprun/looprun/internal/ascii"
)

// capture is what a {…} of a pattern matches; the matched text is stored under it.
type capture byte

const (
	capNone   capture = iota
	capAny            // {*} anything, also nothing
	capName           // {name} any text
	capMsg            // {msg} any text
	capFile           // {file} a file name, no spaces
	capPos            // {pos} a line number
	capCol            // a second {pos}: a column
	capN              // {n} a number
	capSev            // {sev} error, fatal error, …
	capWarn           // {warn} warning, …
	capInfo           // {info} note, info, …
	capCode           // {code} E501, TS2322, no-undef, errors/x
	capRule           // {rule} E501, SC2086: capitals, then digits
	capKind           // {kind} TypeError, java.io.IOException, …
	capWord           // {word} letters, digits, _ and -
	capTool           // {tool} a program: no spaces, colons or quotes
	capKey            // {key} a word that announces a value: expected, got, …
	capStatus         // {status} how a test ended: Failed, SEGFAULT, …
	capBad            // {bad} FAILED, BAD, unhealthy, …
	capGood           // {good} OK, good, healthy, …
	capCount          // {count} "3 failed": a number and a word that counts checks
	capEnd
)

var captureNames = [capEnd]string{
	capAny: "*", capName: "name", capMsg: "msg", capFile: "file", capPos: "pos", capN: "n", capSev: "sev", capWarn: "warn",
	capInfo: "info", capCode: "code", capRule: "rule", capKind: "kind", capWord: "word", capTool: "tool", capKey: "key", capBad: "bad", capStatus: "status", capGood: "good", capCount: "count",
}

// fields holds the texts captured by one match, as slices of the line.
type fields [capEnd][]byte

// node is a literal or a capture.
type node struct {
	lit string
	cap capture
}

// matcher is a compiled pattern: literals and captures that match a whole line. A space in it
// matches any run of spaces and tabs.
type matcher struct {
	nodes []node
	need  []uint16 // pairs of bytes that a line must have
	first byte     // first byte of the line, folded; 0 any
	rule  *builtRule
}

// compile parses a pattern.
func compile(src string) (matcher, error) {
	var m matcher
	for rest := src; rest != ""; {
		open := strings.IndexByte(rest, '{')
		if open < 0 {
			m.nodes = append(m.nodes, node{lit: rest})
			break
		}
		if open > 0 {
			m.nodes = append(m.nodes, node{lit: rest[:open]})
		}
		n := strings.IndexByte(rest[open:], '}')
		if n < 0 {
			return m, fmt.Errorf("pattern %q: '{' without '}'", src)
		}
		c := capture(max(0, slices.Index(captureNames[:], rest[open+1:open+n])))
		if c == capPos && slices.Contains(m.nodes, node{cap: capPos}) {
			c = capCol
		}
		if c == capNone {
			return m, fmt.Errorf("pattern %q: unknown capture %q", src, rest[open:open+n+1])
		}
		if k := len(m.nodes); k > 0 && m.nodes[k-1].cap != capNone && captureEnd[m.nodes[k-1].cap] == nil {
			return m, fmt.Errorf("pattern %q: two captures need text between them", src)
		}
		m.nodes = append(m.nodes, node{cap: c})
		rest = rest[open+n+1:]
	}
	if len(m.nodes) == 0 {
		return m, fmt.Errorf("pattern is empty")
	}
	m.prefilter()
	return m, nil
}

// prefilter computes which byte pairs every matching line contains.
func (m *matcher) prefilter() {
	if lit := m.nodes[0].lit; lit != "" {
		m.first = folded[lit[0]]
	}
	for i, nd := range m.nodes {
		switch nd.cap {
		case capN, capPos, capCol, capRule:
			m.needs(single('0'))
		case capCount:
			m.needs(pair('0', ' '))
		}
		lit := nd.lit
		if lit != "" && i+1 < len(m.nodes) {
			switch m.nodes[i+1].cap {
			case capPos, capCol, capN, capCount:
				lit += "0"
			}
		}
		if i > 0 && lit != "" {
			switch m.nodes[i-1].cap {
			case capPos, capCol, capN:
				lit = "0" + lit
			}
		}
		for j := 0; j+1 < len(lit); j++ {
			if lit[j] != ' ' || lit[j+1] != ' ' {
				m.needs(pair(lit[j], lit[j+1]))
			}
		}
		if len(nd.lit) == 1 {
			m.needs(single(nd.lit[0]))
		}
	}
}

func (m *matcher) needs(k uint16) {
	if len(m.need) < 16 {
		m.need = append(m.need, k)
	}
}

// single returns the index of a byte in pairs.
func single(c byte) uint16 { return pairKinds + uint16(folded[c]) }

// pairs is the set of byte pairs of a line, with letters folded and digits treated alike,
// followed by the set of its bytes.
type pairs [pairKinds/64 + 4]uint64

const pairKinds = 2048

// folded is each byte as it counts in pairs.
var folded = fold()

func fold() (t [256]byte) {
	for i := range t {
		switch c := byte(i); {
		case ascii.Digit(c):
			t[c] = '0'
		case c == '\t':
			t[c] = ' '
		default:
			t[c] = lower(c)
		}
	}
	return t
}

func pair(a, b byte) uint16 { return (uint16(folded[a])*37 + uint16(folded[b])*2) % pairKinds }

func (p *pairs) fill(b []byte) {
	*p = pairs{}
	if len(b) == 0 {
		return
	}
	first := uint16(folded[b[0]])
	p[pairKinds/64+first>>6] |= 1 << (first & 63)
	prev := first * 37
	for _, c := range b[1:] {
		f := uint16(folded[c])
		k := (prev + f*2) % pairKinds
		p[k>>6] |= 1 << (k & 63)
		p[pairKinds/64+f>>6] |= 1 << (f & 63)
		prev = f * 37
	}
}

func (p *pairs) has(need []uint16) bool {
	for _, k := range need {
		if p[k>>6]&(1<<(k&63)) == 0 {
			return false
		}
	}
	return true
}

// match reports whether the pattern matches the whole of b, and fills f.
func (m *matcher) match(b []byte, f *fields) bool {
	return matchNodes(m.nodes, b, 0, f)
}

func matchNodes(nodes []node, b []byte, i int, f *fields) bool {
	for len(nodes) > 0 {
		nd := nodes[0]
		nodes = nodes[1:]
		if nd.cap != capNone {
			return matchCapture(nd.cap, nodes, b, i, f)
		}
		if i = literalAt(b, i, nd.lit); i < 0 {
			return false
		}
	}
	return i == len(b)
}

// literalAt returns the end of lit at i, or -1.
func literalAt(b []byte, i int, lit string) int {
	for k := 0; k < len(lit); k++ {
		c := ascii.At(b, i)
		if lit[k] == ' ' {
			if c != ' ' && c != '\t' {
				return -1
			}
			for i < len(b) && (b[i] == ' ' || b[i] == '\t') {
				i++
			}
			continue
		}
		if i >= len(b) || c != lit[k] {
			return -1
		}
		i++
	}
	return i
}

func matchCapture(c capture, rest []node, b []byte, i int, f *fields) bool {
	if fixed := captureEnd[c]; fixed != nil {
		e := fixed(b, i)
		if e <= i {
			return false
		}
		f[c] = b[i:e]
		return matchNodes(rest, b, e, f)
	}
	if len(rest) == 0 {
		t := trim(b[i:])
		if len(t) == 0 && c != capAny || c == capFile && !fileName(t) {
			return false
		}
		f[c] = t
		return true
	}
	lit := rest[0].lit
	for j, tries := i, 0; j < len(b) && tries < 64; j++ {
		if c == capFile && !fileByte(b[j]) {
			if literalAt(b, j, lit) < 0 {
				return false
			}
		}
		if b[j] != lit[0] && !(lit[0] == ' ' && b[j] == '\t') {
			continue
		}
		tries++
		t := trim(b[i:j])
		if len(t) == 0 && c != capAny || c == capFile && !fileName(t) {
			continue
		}
		if matchNodes(rest, b, j, f) {
			f[c] = t
			return true
		}
		if c == capFile && !fileByte(b[j]) {
			return false
		}
	}
	return false
}
