package report

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/looprun/looprun/internal/termsafe"
)

// OpenOutput opens an output of the run in dir, and returns its size in bytes. An output that
// does not exist is empty: nothing was printed. It follows no links in the run's directory.
func OpenOutput(dir, name string) (io.ReadCloser, int64, error) {
	files, err := openOutputs(dir)
	if err != nil {
		return nil, 0, err
	}
	defer files.Close()
	f, size, err := files.file(name)
	if errors.Is(err, fs.ErrNotExist) {
		return io.NopCloser(strings.NewReader("")), 0, nil
	}
	if err != nil {
		return nil, 0, errors.New(problem(name, err))
	}
	return f, size, nil
}

// Log is a part of an output, line by line.
type Log struct {
	Lines []LogLine `json:"lines"`
	Total int       `json:"total"` // lines in the whole output
	Found int       `json:"found"` // lines that match the search; all lines without one
}

// LogLine is one line of an output, as HTML for a page that has [Stylesheet].
type LogLine struct {
	Number int    `json:"number"` // from 1
	HTML   string `json:"html"`
}

// logBytes limits the HTML of a log, in bytes.
const logBytes = 256 << 10

// LogPart says which lines of an output are read: those that end with line To if it is not
// zero, those around line Around if that is not zero, otherwise those from line From on. It is at
// most so many lines, and fewer where they are long.
type LogPart struct{ From, To, Around, Most int }

// logLine is a line as it was printed, or its beginning.
type logLine struct {
	number int
	text   []byte
	cut    bool
}

// logWindow is a series of lines, limited in number and in bytes. It has room for one line at
// least, unless most is zero.
type logWindow struct {
	lines        []logLine
	bytes        int
	most, atMost int // lines, bytes
	full         bool
}

func (w *logWindow) fits(l logLine) bool {
	return len(w.lines) == 0 || len(w.lines) < w.most && w.bytes+len(l.text) <= w.atMost
}

func (w *logWindow) add(l logLine) {
	l.text = bytes.Clone(l.text)
	w.lines, w.bytes = append(w.lines, l), w.bytes+len(l.text)
}

// slide adds a line at the end, and drops lines from the beginning until it fits.
func (w *logWindow) slide(l logLine) {
	for !w.fits(l) {
		w.bytes -= len(w.lines[0].text)
		w.lines = w.lines[1:]
	}
	w.add(l)
}

// fill adds a line at the end, if it and all before it fit.
func (w *logWindow) fill(l logLine) {
	if w.full = w.full || w.most < 1 || !w.fits(l); !w.full {
		w.add(l)
	}
}

// htmlOf returns the first lines as HTML of at most so many bytes, or the first alone, and how
// many bytes are left. A line of which a part is missing ends with an ellipsis.
func htmlOf(lines []logLine, room int) (shown []LogLine, left int, err error) {
	t, err := pageTemplate()
	if err != nil {
		return nil, room, err
	}
	for _, l := range lines {
		var a ansi
		a.write(string(l.text))
		if l.cut {
			a.put("…")
		}
		var b bytes.Buffer
		if err := t.ExecuteTemplate(&b, "lines", a.end()); err != nil {
			return nil, room, err
		}
		html := strings.TrimSuffix(b.String(), "\n")
		if len(shown) > 0 && len(html) > room {
			break
		}
		shown, room = append(shown, LogLine{l.number, html}), room-len(html)
	}
	return shown, room, nil
}

// ReadLog reads an output to its end, and returns a part of it. With a search it returns only
// lines that contain that text, in upper or lower case. Its memory does not depend on the size of
// the output, and of a very long line it has the beginning.
func ReadLog(r io.Reader, part LogPart, search string) (Log, error) {
	last, before, after := part.From-1, logWindow{}, logWindow{most: part.Most, atMost: logBytes}
	switch {
	case part.To > 0:
		last, before, after = part.To, after, before
	case part.Around > 0:
		last, before = part.Around, logWindow{most: part.Most / 2, atMost: logBytes / 2}
	}
	l, search := Log{}, strings.ToLower(search)
	in := bufio.NewReaderSize(r, 64<<10)
	for {
		b, err := in.ReadSlice('\n')
		if len(b) > 0 {
			l.Total++
			if search == "" || strings.Contains(strings.ToLower(termsafe.Text(string(b))), search) {
				l.Found++
				line := logLine{l.Total, b, err == bufio.ErrBufferFull}
				switch {
				case l.Total > last:
					after.fill(line)
				case before.most > 0:
					before.slide(line)
				}
			}
		}
		for err == bufio.ErrBufferFull {
			_, err = in.ReadSlice('\n')
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return l, err
		}
	}
	slices.Reverse(before.lines) // what is nearest to the line matters most
	shown, left, err := htmlOf(before.lines, before.atMost)
	if err != nil {
		return l, err
	}
	slices.Reverse(shown)
	more, _, err := htmlOf(after.lines[:min(len(after.lines), part.Most-len(shown))], logBytes-before.atMost+left)
	l.Lines = append(append([]LogLine{}, shown...), more...)
	return l, err
}
