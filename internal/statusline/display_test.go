package statusline

import (
	"bytes"
	"io"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hinshun/vt10x"

	"github.com/looprun/looprun/core"
)

// stage is a display on a terminal that is only played.
type stage struct {
	*Display
	raw   bytes.Buffer
	ours  bool
	wide  int
	out   io.Writer
	own   io.Writer
	clock time.Time
}

func newStage(o Options) *stage {
	s := &stage{ours: true, wide: 80, clock: time.Unix(0, 0)}
	o.Elapsed = func() time.Duration { return s.clock.Sub(time.Unix(0, 0)) }
	s.Display = &Display{o: o, screen: &s.raw, cursor: cursor{fresh: true}, stop: func() {}}
	s.ready = func() bool { return s.ours }
	s.columns = func() int { return s.wide }
	s.out, s.own = s.Output(&s.raw), s.Messages(&s.raw)
	return s
}

// begin lets an iteration start.
func (s *stage) begin() {
	st := &core.State{Running: true, Open: 1, Limits: core.DefaultLimits()}
	s.Observe(core.Event{Time: s.clock, Data: core.IterationStarted{Iteration: 1}}, st)
}

// quiet lets so much time pass that the line is drawn where it can be.
func (s *stage) quiet() {
	for range 2 {
		s.clock = s.clock.Add(tickEvery)
		s.tick(s.clock)
	}
}

func (s *stage) print(text string) { _, _ = io.WriteString(s.out, text) }

// shows is what a terminal shows.
func (s *stage) shows() string { return picture(s.raw.Bytes(), s.wide) }

func picture(raw []byte, wide int) string {
	term := vt10x.New(vt10x.WithSize(wide, 24))
	_, _ = term.Write(bytes.ReplaceAll(raw, []byte("\n"), []byte("\r\n")))
	lines := strings.Split(term.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

const first = "looprun: iteration 1 of 10 · 0s of 15m"

func TestTheLineIsDrawnWhenItIsQuiet(t *testing.T) {
	s := newStage(Options{Line: true})
	s.quiet()
	if got := s.shows(); got != "" {
		t.Errorf("before there is a status: %q", got)
	}
	s.begin()
	s.quiet()
	if got := s.shows(); got != first {
		t.Errorf("it shows %q", got)
	}
	s.print("output\n")
	if got := s.shows(); got != "output" {
		t.Errorf("right after output it shows %q", got)
	}
	s.tick(s.clock)
	if got := s.shows(); got != "output" {
		t.Errorf("it is not quiet yet: %q", got)
	}
	s.tick(s.clock)
	if got := s.shows(); got != "output\n"+first {
		t.Errorf("it shows %q", got)
	}
	s.Close()
	s.quiet()
	if got := s.shows(); got != "output" {
		t.Errorf("at the end it shows %q", got)
	}
}

// Nothing is written where nothing changed.
func TestTheLineIsDrawnOnce(t *testing.T) {
	s := newStage(Options{Line: true})
	s.begin()
	s.quiet()
	n := s.raw.Len()
	s.tick(s.clock)
	s.tick(s.clock)
	if s.raw.Len() != n {
		t.Errorf("written again: %q", s.raw.Bytes()[n:])
	}
	s.clock = s.clock.Add(time.Second)
	s.tick(s.clock)
	if s.raw.Len() == n {
		t.Error("a second later it is not drawn anew")
	}
}

func TestWhereTheLineKeepsAway(t *testing.T) {
	for name, set := range map[string]func(*stage){
		"an unfinished line":            func(s *stage) { s.print("Password: ") },
		"a line that is drawn again":    func(s *stage) { s.print("10 %\r") },
		"a command that moves about":    func(s *stage) { s.print("a\n\x1b[1Ab\n") },
		"the alternate screen":          func(s *stage) { s.print("\x1b[?1049h\n") },
		"half an escape sequence":       func(s *stage) { s.print("a\n\x1b[3") },
		"a terminal that is another's":  func(s *stage) { s.ours = false },
		"a terminal that is lent":       func(s *stage) { s.Lend() },
		"a terminal that is lent twice": func(s *stage) { s.Lend(); s.Lend(); s.Retake() },
		"a run that has ended":          func(s *stage) { s.Close() },
		"a very narrow terminal":        func(s *stage) { s.wide = 4 },
		"a line that is not wanted":     func(s *stage) { s.o.Line = false },
	} {
		s := newStage(Options{Line: true})
		s.begin()
		set(s)
		n := s.raw.Len()
		s.quiet()
		if s.raw.Len() != n {
			t.Errorf("%s: %q was written", name, s.raw.Bytes()[n:])
		}
	}
}

// After a prompt or a stop it is drawn again, and so it is after a command that
// moved the cursor about.
func TestTheLineComesBack(t *testing.T) {
	s := newStage(Options{Line: true})
	s.begin()
	s.quiet()
	s.Lend()
	if got := s.shows(); got != "" {
		t.Errorf("a prompt finds %q", got)
	}
	s.raw.WriteString("prompt\n")
	s.Retake()
	s.quiet()
	if got := s.shows(); got != "prompt\n"+first {
		t.Errorf("after the prompt: %q", got)
	}
	s.print("\x1b[1Axyz\n\n")
	s.begin()
	s.quiet()
	if got := s.shows(); !strings.HasSuffix(got, first) {
		t.Errorf("in the next iteration: %q", got)
	}
	s.changed() // stopped without a warning, and the shell wrote
	s.raw.WriteString("\n[1]+ Stopped\n")
	s.quiet()
	if got := s.shows(); !strings.HasSuffix(got, "Stopped\n"+first) {
		t.Errorf("after a stop: %q", got)
	}
}

// A message begins a line of its own.
func TestMessagesBeginALine(t *testing.T) {
	s := newStage(Options{Line: true})
	_, _ = io.WriteString(s.own, "looprun: one\n")
	s.print("no end")
	if n, err := io.WriteString(s.own, "looprun: two\n"); n != 13 || err != nil {
		t.Errorf("wrote %d, %v", n, err)
	}
	s.print("line\n")
	_, _ = io.WriteString(s.own, "looprun: three\n")
	if got, want := s.raw.String(), "looprun: one\nno end\nlooprun: two\nline\nlooprun: three\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	s.print("no end")
	s.Lend() // a prompt is on the screen, and looks after itself
	_, _ = io.WriteString(s.own, "looprun: four\n")
	if !strings.HasSuffix(s.raw.String(), "no endlooprun: four\n") {
		t.Errorf("got %q", s.raw.String())
	}
}

// When the window becomes narrower the line wraps; all of it is cleared.
func TestANarrowerWindow(t *testing.T) {
	s := newStage(Options{Line: true})
	s.begin()
	s.quiet()
	s.wide = 20
	s.changed()
	s.tick(s.clock)
	if got := s.raw.String(); !strings.Contains(got, "1/10 · 0s\x1b[J") {
		t.Errorf("drawn as %q", got)
	}
	s.print("a\n")
	if got := s.raw.String(); !strings.HasSuffix(got, "\r\x1b7\x1b[m\x1b[K\x1b8a\n") {
		t.Errorf("erased as %q", got)
	}
}

var frame = regexp.MustCompile("\r\x1b7\x1b\\[m[^\n]*?\x1b\\[[KJ]\x1b8")

// Whatever a command prints and whenever, its bytes arrive unchanged and in order,
// and the terminal shows in the end what it would show without the line: the same
// text, the same cursor, the same colours.
func TestOutputIsLeftAlone(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 500 {
		s := newStage(Options{Line: true, Colour: round%2 == 0})
		s.wide = 40
		s.begin()
		var printed bytes.Buffer
		for range random.IntN(40) {
			switch random.IntN(5) {
			case 0:
				s.clock = s.clock.Add(time.Duration(random.IntN(3000)) * time.Millisecond)
				s.quiet()
			case 1:
				s.clock = s.clock.Add(tickEvery)
				s.tick(s.clock)
			default:
				piece := pieces[random.IntN(len(pieces))]
				if back := saves[piece]; back != "" && !bytes.Contains(printed.Bytes(), []byte(back)) {
					continue // where nothing was saved, terminals differ in where they go back to
				}
				for part := range chunks([]byte(piece), 1+random.IntN(8)) {
					_, _ = s.out.Write(part)
					printed.Write(part)
					if random.IntN(8) == 0 {
						s.quiet()
					}
				}
			}
		}
		s.Close()
		if got := frame.ReplaceAll(s.raw.Bytes(), nil); !bytes.Equal(got, printed.Bytes()) {
			t.Fatalf("round %d: %q was printed, %q arrived", round, printed.Bytes(), got)
		}
		if got, want := glance(s.raw.Bytes()), glance(printed.Bytes()); got != want {
			t.Fatalf("round %d: %q shows\n%s\nwant\n%s", round, printed.Bytes(), got, want)
		}
	}
}

// saves is by what the position was saved that a sequence goes back to.
var saves = map[string]string{"\x1b8": "\x1b7", "\x1b[u": "\x1b[s", "\x1b[?1049l": "\x1b[?1049h"}

// glance is a picture with the place of the cursor, and the colour in which it
// would write.
func glance(raw []byte) string { return picture(append(bytes.Clone(raw), "|"...), 40) }

func TestNoDisplayDoesNothing(t *testing.T) {
	var d *Display
	var b bytes.Buffer
	d.Observe(core.Event{}, nil)
	d.Lend()
	d.Retake()
	_, _ = io.WriteString(d.Output(&b), "a")
	_, _ = io.WriteString(d.Messages(&b), "b")
	d.Close()
	if b.String() != "ab" {
		t.Errorf("got %q", b.String())
	}
}

// BenchmarkOutput is what the display costs a command's output: pieces as they come
// from a terminal, plain and with colours.
func BenchmarkOutput(b *testing.B) {
	plainly := bytes.Repeat([]byte("a line of a log that says what has been done and how long it took: 12.5ms\n"), 60)[:4096]
	coloured := bytes.Repeat([]byte("\x1b[32m✓\x1b[0m a test that passed \x1b[2m(12 ms)\x1b[0m\n"), 90)[:4096]
	for name, text := range map[string][]byte{"plain": plainly, "coloured": coloured} {
		for which, out := range map[string]io.Writer{"display": newStage(Options{Line: true}).Output(io.Discard), "none": io.Discard} {
			b.Run(name+"/"+which, func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					_, _ = out.Write(text)
				}
			})
		}
	}
}
