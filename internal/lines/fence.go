package lines

import (
	"bytes"
	"strings"
)

// Fence tracks the fenced code block of Markdown that contains a line. It follows CommonMark
// except for two rules, because most text is logs: a list item may begin with a fence, and
// tildes are an underline that opens no block if there are more than eight of them, or if
// anything but a word follows. The zero value is outside of any block.
type Fence struct {
	mark   byte // ` or ~; 0: no block
	length int  // of the opening fence; a closing one is at least as long
	listed bool // in a list item, where the closing fence is indented
	info   string
}

// Place is the position of a line relative to a block.
type Place byte

// The places.
const (
	Outside Place = iota
	Opening       // the line opens a block
	Inside
	Closing // the line closes the block
)

const (
	shortestFence = 3
	mostIndent    = 3
	ruler         = 8 // more tildes underline something
)

// Open reports whether a block is open.
func (f *Fence) Open() bool { return f.mark != 0 }

// Info returns the text after the opening fence on its line, without surrounding blanks.
func (f *Fence) Info() string { return f.info }

// Take reads the next line, as a terminal shows it.
func (f *Fence) Take(line []byte) Place {
	switch {
	case f.Open() && f.closes(line):
		*f = Fence{}
		return Closing
	case f.Open():
		return Inside
	case !bytes.Contains(line, []byte("```")) && !bytes.Contains(line, []byte("~~~")):
		return Outside
	}
	text, indent := unindent(string(line))
	item := Unlist(text)
	if indent > mostIndent || !f.opens(item) {
		return Outside
	}
	f.listed = len(item) < len(text)
	return Opening
}

func (f *Fence) opens(text string) bool {
	if text == "" || text[0] != '`' && text[0] != '~' {
		return false
	}
	info := strings.TrimLeft(text, text[:1])
	n := len(text) - len(info)
	info = strings.TrimSpace(info)
	switch {
	case n < shortestFence,
		text[0] == '`' && strings.ContainsRune(info, '`'), // code in a line: ```like this```
		text[0] == '~' && (n > ruler || !isWord(info)):
		return false
	}
	*f = Fence{mark: text[0], length: n, info: info}
	return true
}

// isWord reports whether the text after tildes can name a language.
func isWord(info string) bool {
	return info == "" || info[0] == '{' || info[0] == '.' || info[0]|0x20 >= 'a' && info[0]|0x20 <= 'z'
}

func (f *Fence) closes(line []byte) bool {
	if bytes.IndexByte(line, f.mark) < 0 {
		return false
	}
	text, indent := unindent(string(line))
	rest := strings.TrimLeft(text, string(f.mark))
	return (indent <= mostIndent || f.listed) && len(text)-len(rest) >= f.length && strings.TrimRight(rest, " \t") == ""
}

// Indented reports whether a line is indented so far that Markdown treats it as code.
func Indented(line string) bool {
	_, indent := unindent(line)
	return indent > mostIndent
}

// unindent removes the indentation and returns its width.
func unindent(line string) (string, int) {
	text := strings.TrimLeft(line, " \t")
	indent := 0
	for _, c := range line[:len(line)-len(text)] {
		if c == '\t' {
			indent += 4 - indent%4
			continue
		}
		indent++
	}
	return text, indent
}

// Unlist removes the marker of a list item, such as "- " and "1. ".
func Unlist(text string) string {
	digits := 0
	for digits < len(text) && digits < 9 && text[digits] >= '0' && text[digits] <= '9' {
		digits++
	}
	n := digits
	switch {
	case n < len(text) && digits > 0 && (text[n] == '.' || text[n] == ')'):
	case len(text) > 0 && digits == 0 && strings.IndexByte("-*+", text[0]) >= 0:
	default:
		return text
	}
	rest := strings.TrimLeft(text[n+1:], " ")
	if spaces := len(text) - n - 1 - len(rest); spaces < 1 || spaces > 4 {
		return text
	}
	return rest
}
