package signature

import (
	"bytes"
	"io"
)

// Report reads a report file that the command wrote (JUnit XML, SARIF, TAP, the JSON of a test
// runner or linter) and adds its facts to the iteration. name is used only in messages. The
// error is that of r; what was read before it counts. The reader is streamed, so a report may
// be of any size.
func (s *Signer) Report(name string, r io.Reader) error {
	c := &channel{}
	c.init(s, 0)
	buf := make([]byte, 64<<10)
	for {
		n, err := r.Read(buf)
		c.stream.Write(buf[:n])
		if err != nil {
			c.end()
			s.reported.add(c.texts[0].src.main.counts)
			if err == io.EOF {
				return nil
			}
			return err
		}
	}
}

// structured offers a line to the readers of JSON and XML. It reports whether one of them
// accepted it.
func (x *extractor) structured(b []byte) bool {
	switch {
	case x.xml.active(), x.json.active():
		ok := x.goOn(b)
		x.goOn([]byte{'\n'})
		return ok
	case jsonStart(b) && !bytes.HasPrefix(b, []byte("[]")):
		x.json.start()
		x.found.line = b
		defer func() { x.found.line = nil }()
	case xmlStart(b):
		x.xml.reset()
		x.xml.began = true
	}
	return x.goOn(b)
}

// goOn passes the next piece to an open document; it returns false if there is none, or if it
// turns out not to be a document.
func (x *extractor) goOn(p []byte) bool {
	if x.xml.active() {
		x.xml.feed(p)
		return true
	}
	return x.json.active() && x.json.feed(p)
}

// longLine reads the pieces of a line that is too long to keep, if it looks like JSON or XML.
// It reports whether it did.
func (x *extractor) longLine(p []byte, first bool) bool {
	if first {
		p = trim(p)
		return (jsonStart(p) || xmlStart(p) || x.json.active() || x.xml.active()) && x.structured(p)
	}
	return x.goOn(p)
}
