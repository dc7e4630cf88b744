package scratchpad

import (
	"bytes"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
)

// FuzzReplay reads any bytes as a journal. With sealed set every line gets a
// right check sum first, so that what is in the lines is reached.
func FuzzReplay(f *testing.F) {
	dir := f.TempDir()
	var journal, plain []byte
	for _, e := range numbered(story()...) {
		line := encoded(f, dir, e)
		journal = append(append(journal, line...), '\n')
		plain = append(append(plain, must(e.MarshalJSON())...), '\n')
	}
	f.Add(journal, false)
	f.Add(journal[:len(journal)/2], false)
	f.Add(bytes.Replace(journal, []byte("auth"), []byte("AUTH"), 1), false)
	f.Add(append(journal[:len(journal):len(journal)], make([]byte, 5000)...), false)
	f.Add(plain, true)
	f.Add(plain[:len(plain)/2], true)
	for _, line := range bytes.Split(plain, []byte{'\n'}) {
		f.Add(append([]byte("\n\n"), line...), true)
	}
	f.Add([]byte(`{"seq":1,"type":"run.started","detail":["name"],"detail_sum":"0123456789abcdef"}`), true)
	f.Add([]byte(`{"seq":1,"type":"moon.landed"}`), true)
	f.Add([]byte(`{"seq":1,"type":"run.started","limits":{"iterations":"off","runtime":-1}}`), true)
	f.Add([]byte(`[]`), true)
	f.Add([]byte(`}`), true)
	f.Fuzz(func(t *testing.T, data []byte, sealed bool) {
		if sealed {
			data = sealLines(data)
		}
		checkReader(t, dir, data)
	})
}

func sealLines(data []byte) []byte {
	var out []byte
	for line := range bytes.SplitSeq(data, []byte{'\n'}) {
		if len(line) > 0 {
			out = append(out, seal(bytes.Clone(line), "")...)
		}
	}
	return out
}

// checkReader says what holds for any journal.
func checkReader(t *testing.T, dir string, data []byte) {
	var events []string
	tail, err := replay(dir, bytes.NewReader(data), func(e core.Event) error {
		events = append(events, asJSON(e))
		if e.Seq != int64(len(events)) {
			t.Fatalf("event %d is the %dth", e.Seq, len(events))
		}
		return nil
	})
	switch {
	case tail.Events != int64(len(events)):
		t.Fatalf("%d events, %+v", len(events), tail)
	case err == nil && tail.Cut > 0 && tail.Offset+tail.Cut != int64(len(data)):
		t.Fatalf("%d bytes, %+v", len(data), tail)
	case err == nil && tail.Cut == 0 && strings.Trim(string(data[tail.Offset:]), "\n") != "":
		t.Fatalf("%q is left out silently", data[tail.Offset:])
	case tail.Events == 0 && tail.Offset != 0, tail.Events > 0 && data[tail.Offset-1] != '\n':
		t.Fatalf("%+v is not behind a record", tail)
	}
	whole := 0 // as many events as lines with a right sum, up to there
	for line := range bytes.SplitSeq(data[:tail.Offset], []byte{'\n'}) {
		if len(line) == 0 {
			continue
		}
		if _, err := sealed(line); err != nil {
			t.Fatalf("%q was read: %v", line, err)
		}
		whole++
	}
	if whole != len(events) {
		t.Fatalf("%d events of %d lines", len(events), whole)
	}
	n := 0
	again, err := replay(dir, bytes.NewReader(data[:tail.Offset]), func(core.Event) error { n++; return nil })
	if err != nil || n != len(events) || again != (Tail{Offset: tail.Offset, Events: tail.Events}) {
		t.Fatalf("cut there: %d of %d events, %+v, %v", n, len(events), again, err)
	}
	s := new(core.State)
	_, _ = replay(dir, bytes.NewReader(data), s.Apply) // no panic
	Render(s)
}
