package engine

import (
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/internal/carrier"
	"github.com/looprun/looprun/internal/lines"
	"github.com/looprun/looprun/signature"
)

// heardLines remembers what it was given, with a mark behind lines that were cut.
type heardLines struct{ b []byte }

func (h *heardLines) Line(line []byte, cut bool) {
	if h.b = append(h.b, line...); cut {
		h.b = append(h.b, '>')
	}
	h.b = append(h.b, '\n')
}
func (h *heardLines) Reset() { h.b = nil }

// What reads one stream is given that stream whole, and nothing of the other.
func TestStreamsAreApart(t *testing.T) {
	const promise = "READY TO SHIP"
	text := [2]string{"a\nb\n" + promise, "usage limit reached\nx"}
	for seed := range int64(200) {
		rnd := rand.New(rand.NewSource(seed))
		var l Listeners[heardLines, *heardLines]
		work := newAnalyzer(signature.Options{}, true)
		work.listen(promise, false, &l)
		for range 2 {
			work.reset()
			for rest := text; rest[0]+rest[1] != ""; {
				i := rnd.Intn(2)
				n := min(len(rest[i]), rnd.Intn(9))
				work.take(i, []byte(rest[i][:n]))
				rest[i] = rest[i][n:]
			}
			work.settle(false)
			for i, got := range []string{string(l.Stdout.b), string(l.Stderr.b)} {
				if end := string(work.streams[i].end.Bytes()); got != text[i]+"\n" || end != text[i] {
					t.Fatalf("seed %d, stream %d: a listener was given %q, and the end is %q; want %q", seed, i, got, end, text[i])
				}
			}
			if made, _ := work.promised(); !made {
				t.Fatalf("seed %d: the promise was overlooked", seed)
			}
		}
	}
}

// Beside a transcript, standard error is evidence where the turn failed, or the step did;
// without one always, and in the order in which it came.
func TestStandardErrorBesideATranscript(t *testing.T) {
	const turn, end = `{"type":"turn.started"}` + "\n", `{"type":"turn.completed","usage":{}}` + "\n"
	const broken = `{"type":"turn.failed","error":{"message":"no more"}}` + "\n"
	for name, c := range map[string]struct {
		out    []string // with the other stream between them
		failed bool
		counts bool
	}{
		"banner first":        {[]string{"", turn + end}, false, false},
		"within the turn":     {[]string{turn, end}, false, false},
		"after the turn":      {[]string{turn + end, ""}, false, false},
		"the turn failed":     {[]string{"", turn + broken}, false, true},
		"the turn has no end": {[]string{"", turn}, false, true},
		"the step failed":     {[]string{"", turn + end}, true, true},
		"no transcript":       {[]string{"", "hello\n"}, false, true},
		"nothing else":        {[]string{"", ""}, false, true},
		"text before it":      {[]string{"hello\n", turn + end}, false, true},
	} {
		for _, asides := range [][]string{
			{"no true colour\n", "cannot connect to the moon\n"},
			{"Exit code 3\n", "Exit code 4\n"}, // as a tool without output has, but this is no tool's
		} {
			hashes := map[signature.Hash]bool{}
			for _, aside := range asides {
				work := newAnalyzer(signature.Options{}, false)
				work.take(0, []byte(c.out[0]))
				work.take(1, []byte(aside))
				work.take(0, []byte(c.out[1]))
				work.settle(c.failed)
				hashes[work.sign(0, false).Hash] = true
			}
			if counts := len(hashes) == 2; counts != c.counts {
				t.Errorf("%s: of standard error, %q counts: %t", name, asides, counts)
			}
		}
	}
}

// What an agent prints about itself is no evidence, by the run's own table.
func TestBannersAreNoEvidence(t *testing.T) {
	own := carrier.NewTable(append(carrier.KnownShapes(), carrier.Shape{Agent: "own", When: carrier.Match{"own": "*"}, Banner: []string{"own *"}})...)
	for aside, c := range map[string]struct {
		table *carrier.Table
		plain bool
	}{
		"Warning: running headless with --yolo / x": {nil, false},
		"own 1.2": {own, false},
		"own 1.3": {nil, true},
	} {
		var o signature.Options
		*carrier.Of(&o) = c.table
		work := newAnalyzer(o, false)
		work.take(1, []byte(aside+"\n"))
		work.take(0, []byte(`{"type":"turn.started"}`+"\n"))
		work.settle(true)
		if work.plain != c.plain {
			t.Errorf("%q is evidence: %t", aside, work.plain)
		}
	}
}

// What learns from a stream is given whole lines as a terminal shows them, however they
// came; a line that is too long is cut.
func TestListenersGetLines(t *testing.T) {
	for _, size := range []int{1, 20, lines.Max - 1, 3 * lines.Max} {
		text := strings.Repeat("x", size) + "\n\x1b[31mab\x1b[m\r\n\n50%\rend"
		want := strings.Repeat("x", min(size, lines.Max))
		if size > lines.Max {
			want += ">"
		}
		want += "\nab\n\nend\n"
		for seed := range int64(20) {
			rnd := rand.New(rand.NewSource(seed))
			var l Listeners[heardLines, *heardLines]
			work := newAnalyzer(signature.Options{}, false)
			work.listen("", false, &l)
			for rest := text; rest != ""; {
				n := min(len(rest), 1+rnd.Intn(1+size))
				work.take(1, []byte(rest[:n]))
				rest = rest[n:]
			}
			work.settle(false)
			if got := string(l.Stderr.b); got != want {
				t.Fatalf("seed %d: %d bytes arrived, want %d", seed, len(got), len(want))
			}
		}
	}
}

// ends matches a stream by its last byte: u names the moment, w none.
type ends struct{ moments map[byte]time.Time }

func (e ends) Match(end []byte, _ bool) (string, time.Time, bool) {
	if len(end) == 0 {
		return "", time.Time{}, false
	}
	at, ok := e.moments[end[len(end)-1]]
	return string(end), at, ok
}

// Of several limits the one with the latest moment is waited for.
func TestLimitOfSeveralStreams(t *testing.T) {
	early, late := time.Unix(1, 0), time.Unix(2, 0)
	m := ends{map[byte]time.Time{'e': early, 'l': late, 'n': {}}}
	for _, c := range []struct {
		output [4]string // the work's standard output and error, the check's
		want   string
	}{
		{[4]string{"x", "", "x", "x"}, ""},
		{[4]string{"1n", "", "", ""}, "1n"},
		{[4]string{"", "2n", "", ""}, "2n"},
		{[4]string{"1n", "2n", "", "x"}, "2n"},
		{[4]string{"1n", "2n", "3n", ""}, "3n"},
		{[4]string{"1n", "2n", "3n", "4n"}, "4n"},
		{[4]string{"1e", "2n", "3n", "4n"}, "1e"},
		{[4]string{"1l", "2e", "", "4e"}, "1l"},
		{[4]string{"1e", "2l", "3e", ""}, "2l"},
	} {
		x := &Executor{WaitOn: m, work: newAnalyzer(signature.Options{}, true), check: newAnalyzer(signature.Options{}, true)}
		for i, text := range c.output {
			[]*analyzer{x.work, x.check}[i/2].take(i%2, []byte(text))
		}
		x.work.settle(false)
		x.check.settle(false)
		line, until, ok := x.match(m)
		if want := m.moments[append([]byte(c.want), 'x')[len(c.want)-min(1, len(c.want))]]; line != c.want || ok != (c.want != "") || c.want != "" && until != want {
			t.Errorf("%q: %q %s %t, want %q", c.output, line, until, ok, c.want)
		}
	}
}
