package socket

import (
	"bufio"
	"errors"
	"io"
)

// errTooLong is returned by [lineReader.next] for a line above the limit. The reader is
// unusable afterwards.
var errTooLong = errors.New("the line is too long")

// lineReader splits a stream into lines and never holds more than one.
type lineReader struct {
	r   *bufio.Reader
	max int // bytes of a line, without its end
}

func newLineReader(r io.Reader, limit int) *lineReader {
	return &lineReader{bufio.NewReader(r), limit}
}

// next returns the next line without its "\n". At the end of the stream it returns the text
// after the last "\n" together with the error.
func (l *lineReader) next() ([]byte, error) {
	var line []byte
	for {
		piece, err := l.r.ReadSlice('\n')
		if err == nil {
			piece = piece[:len(piece)-1]
		}
		if len(line)+len(piece) > l.max {
			return nil, errTooLong
		}
		line = l.extend(line, piece)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// extend appends and doubles the capacity, up to the limit.
func (l *lineReader) extend(line, piece []byte) []byte {
	if need := len(line) + len(piece); need > cap(line) {
		line = append(make([]byte, 0, min(max(need, 2*cap(line)), l.max)), line...)
	}
	return append(line, piece...)
}
