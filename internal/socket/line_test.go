package socket

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// FuzzLines: however a stream is cut into reads, the lines are those between the
// "\n", none is longer than the limit, no more than the limit is held, and the
// error is errTooLong exactly when the next line is above the limit.
func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nbb\n\nccc"), 3)
	f.Add([]byte("\r\n\x00\xff"), 1)
	f.Add([]byte(strings.Repeat("x", 10_000)+"\n"+strings.Repeat("y", 4096)), 9999)
	f.Add([]byte(strings.Repeat("x", 8192)+"\n"), 8192)
	f.Fuzz(func(t *testing.T, stream []byte, limit int) {
		if limit < 1 || limit > 1<<20 {
			return
		}
		for _, r := range []io.Reader{bytes.NewReader(stream), iotest.OneByteReader(bytes.NewReader(stream)), iotest.DataErrReader(bytes.NewReader(stream))} {
			lines, rest := newLineReader(r, limit), stream
			for {
				want, after, more := bytes.Cut(rest, []byte("\n"))
				line, err := lines.next()
				if len(want) > limit {
					if !errors.Is(err, errTooLong) || line != nil {
						t.Fatalf("%q, %v for a line of %d bytes", line, err, len(want))
					}
					break
				}
				if !bytes.Equal(line, want) || cap(line) > max(limit, 1) || (err == nil) != more {
					t.Fatalf("%q (capacity %d), %v; want %q", line, cap(line), err, want)
				}
				if rest = after; !more {
					if !errors.Is(err, io.EOF) {
						t.Fatal(err)
					}
					break
				}
			}
		}
	})
}

// FuzzMessageType: what it takes is one JSON object in UTF-8 that has the type.
func FuzzMessageType(f *testing.F) {
	for _, s := range []string{`{"type":"ask"}`, `{"type":"a","type":"b"}`, `{}`, `null`, "\x00", `{"type":"\ud800"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		kind, err := messageType(line)
		if (kind == "") != (err != nil) {
			t.Fatalf("%q, %v", kind, err)
		}
		if err == nil && (!bytes.HasPrefix(bytes.TrimSpace(line), []byte("{")) || !bytes.Contains(line, []byte("type")) && !bytes.Contains(line, []byte(`\u`))) {
			t.Fatalf("%q has the type %q", line, kind)
		}
	})
}
