package report

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/looprun/looprun/internal/termsafe"
)

// OpenOutput opens an output of the run in dir, and returns its size in bytes. It follows no
// links in the run's directory.
func OpenOutput(dir, name string) (io.ReadCloser, int64, error) {
	files, err := openOutputs(dir)
	if err != nil {
		return nil, 0, err
	}
	defer files.Close()
	f, size, err := files.file(name)
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

// ReadLog reads an output to its end, and returns at most so many of its lines, from a line on.
// With a search it returns only lines that contain that text, in upper or lower case. Its memory
// does not depend on the size of the output, and of a very long line it has the beginning.
func ReadLog(r io.Reader, from, most int, search string) (Log, error) {
	t, err := pageTemplate()
	if err != nil {
		return Log{}, err
	}
	l, search, room := Log{Lines: []LogLine{}}, strings.ToLower(search), logBytes
	in := bufio.NewReaderSize(r, 64<<10)
	for {
		b, err := in.ReadSlice('\n')
		if len(b) > 0 {
			l.Total++
			if search == "" || strings.Contains(strings.ToLower(termsafe.Text(string(b))), search) {
				l.Found++
				if l.Total >= from && len(l.Lines) < most && room > 0 {
					var a ansi
					a.write(string(b))
					var html bytes.Buffer
					if err := t.ExecuteTemplate(&html, "lines", a.end()); err != nil {
						return l, err
					}
					room -= html.Len()
					l.Lines = append(l.Lines, LogLine{l.Total, strings.TrimSuffix(html.String(), "\n")})
				}
			}
		}
		for err == bufio.ErrBufferFull {
			_, err = in.ReadSlice('\n')
		}
		if err == io.EOF {
			return l, nil
		}
		if err != nil {
			return l, err
		}
	}
}
