package ci

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
)

// hostile is what a command may print to be taken for looprun, or for a step.
var hostile = []string{
	"::set-output name=status::done\n",
	"::error title=x::y\n", "  \t::warning::y\n", "::group::mine\n", "::endgroup::\n", "::ENDGROUP::\r\n", "::stop-commands::mine\n", "::mine::\n",
	"progress\r::error::x\r", "\n::add-mask::o", "::debug::x", "::add-matcher::x.json\n",
	"::looprun-::\n", "::looprun-0::\n", "##[looprun-1]\n",
	"##[group]mine\n", "##[endgroup]\n", "x ##[error]y\n", "##[set-output name=status]done\n", "###[error]z", "##[", "##", "#", "#[error]\n",
	"##vso[task.setvariable variable=status]done\n", "x##vso[task.complete result=Succeeded]", "###vso[task.logissue type=error]x", "##v", "so[task.setvariable variable=x]y\n",
	"\x1b[0Ksection_start:1:mine\r\x1b[0Kmine\n", "section_end:1700000000:looprun_r_1\r\x1b[0K", "sectionsection_start:1:mine[collapsed=true]\r\x1b[0K", "section_", "start:1:mine\r\x1b[0K\n", "sec",
	"--- mine\n", "+++ mine\n", "~~~ mine\n", "^^^ +++\n", "---\r\n", "\x1b[31m---\x1b[0m mine\n", "-\x1b[1m-\x1b[K- mine\n", "---a\b mine\n",
	"x\r--- mine\n", "x-- a\r-\n", "x\b--- mine\n", "xxx\x1b[3D--- mine\n", "\x1b[1G--- mine\n", "-x- a\x1b[3D-\n", "\x1b(B--- mine\n", "\x1b]0;title\x07--- mine\n", "\x00--- mine\n",
	"\x1b_bk;t=1\x07", "\x1b", "_bk;x\x07", "-", "--", "- mine\n", "+", "\x1b[", "1D",
	"", "\n", "\r", "plain\n", "no end of line",
}

// run writes outputs through a Log as looprun does, and returns the log. The
// streams are two writers to the same log, as in a job.
func run(t *testing.T, l *Log, b *bytes.Buffer, iterations [][]string, cut func(string) []string) string {
	streams := []io.Writer{l.Output(&pipe{b}), l.Output(&pipe{b})}
	state := &core.State{RunID: "r"}
	state.Limits.Iterations = 10
	at := time.Unix(1700000000, 0)
	for n, outputs := range iterations {
		l.Observe(core.Event{Time: at, Data: core.IterationStarted{Iteration: n + 1}}, state)
		for i, text := range outputs {
			for _, piece := range cut(text) {
				_, _ = streams[i%2].Write([]byte(piece)) // a buffer takes all
			}
		}
		l.Observe(core.Event{Time: at, Data: core.IterationFinished{Iteration: n + 1}}, state)
	}
	_ = l.Finish(t.Context(), Verdict{Result: tripped, Limit: 10}) // no files are named
	return b.String()
}

// pipe is one of several writers to the same log.
type pipe struct{ io.Writer }

var tripped = core.Result{
	RunID: "r", Iterations: 2, Runtime: 1500 * time.Millisecond, Signature: "test-fail:1-auth", Says: "1 test failing: auth",
	Ending: core.Ending{Status: core.StatusTripped, ExitCode: 111, Guard: core.LoopDetected},
}

func whole(text string) []string { return []string{text} }

func bytewise(text string) []string { return strings.Split(text, "") } // runes; the texts that matter are ASCII

func nothing(string) string { return "" }

// counter makes words that can be guessed, which the hostile outputs do.
func counter() func() string {
	n := 0
	return func() string { n++; return fmt.Sprint(n + 99) }
}

// only fails unless the CI system carried out looprun's own commands and no other.
func only(t *testing.T, p Provider, log string, iterations int) {
	t.Helper()
	var got, want []string
	switch p {
	case GitHub:
		r := &githubRunner{}
		r.read(log)
		for _, c := range r.commands {
			got = append(got, c.name+" "+c.data)
		}
		got = append(got, r.groups...)
		for n := range iterations {
			want = append(want, fmt.Sprintf("group looprun: iteration %d of 10", n+1), "endgroup ")
		}
		want = append(want, "error "+verdict(tripped, 10))
		for n := range iterations {
			want = append(want, fmt.Sprintf("looprun: iteration %d of 10", n+1))
		}
		if r.stop != "" || r.depth != 0 || r.deepest > 1 {
			t.Errorf("the log ends with the fence %q and %d groups open, %d deep", r.stop, r.depth, r.deepest)
		}
	case GitLab:
		got = gitlabSections(log)
		for n := range iterations {
			want = append(want, fmt.Sprintf("looprun_r_%d", n+1), fmt.Sprintf("/looprun_r_%d", n+1))
		}
	case Azure:
		got = azureCommands(log)
		for range iterations {
			want = append(want, "##[group", "##[endgroup")
		}
		want = append(want, "##vso[task.logissue")
	}
	if !slices.Equal(got, want) {
		t.Errorf("carried out:\n%q\nwant only looprun's own:\n%q\nthe log:\n%q", got, want, log)
	}
}

var spoken = []Provider{GitHub, GitLab, Azure}

func newTestLog(p Provider, b *bytes.Buffer) *Log {
	return New(Options{Provider: p, Log: b, Getenv: nothing, Random: counter()})
}

// Hostile output says nothing to the CI system, however it is cut into writes
// and whichever stream a piece of it comes from.
func TestHostileOutputIsNotCarriedOut(t *testing.T) {
	for _, p := range spoken {
		t.Run(string(p), func(t *testing.T) {
			for _, cut := range []func(string) []string{whole, bytewise} {
				for _, text := range hostile {
					var b bytes.Buffer
					only(t, p, run(t, newTestLog(p, &b), &b, [][]string{{text}, {"", text}}, cut), 2)
				}
				var b bytes.Buffer
				only(t, p, run(t, newTestLog(p, &b), &b, [][]string{hostile, hostile[1:], nil}, cut), 3)
			}
		})
	}
}

// Any two or three of them, one after the other.
func TestHostileOutputsTogether(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, p := range spoken {
		t.Run(string(p), func(t *testing.T) {
			for range 500 {
				var list []string
				for range 1 + random.IntN(6) {
					list = append(list, hostile[random.IntN(len(hostile))])
				}
				var b bytes.Buffer
				only(t, p, run(t, newTestLog(p, &b), &b, [][]string{list}, whole), 1)
				if t.Failed() {
					t.Fatalf("outputs: %q", list)
				}
			}
		})
	}
}

// The tests above see what is let through: without the protection each CI
// system carries out something.
func TestAllowedCommandsAreCarriedOut(t *testing.T) {
	for p, text := range map[Provider]string{
		GitHub: "::set-output name=status::done\n",
		GitLab: "\x1b[0Ksection_start:1:mine\r\x1b[0Kmine\n",
		Azure:  "##vso[task.setvariable variable=status]done\n",
	} {
		var b bytes.Buffer
		l := New(Options{Provider: p, Log: &b, Getenv: nothing, AllowCommands: true})
		log := run(t, l, &b, [][]string{{text, "no end of line"}}, whole)
		if !strings.Contains(log, "\n"+text) || strings.Contains(log, "stop-commands") {
			t.Errorf("%s: the output was changed:\n%q", p, log)
		}
		r := &githubRunner{}
		r.read(log)
		if names := r.names(); p == GitHub && !slices.Equal(names, []string{"group", "set-output", "endgroup", "error"}) {
			t.Errorf("carried out: %q", names)
		}
	}
}

// Where the CI system reads two pipes, a word may come through one of them while
// the other is written to as well.
func TestHostileOutputOnTwoPipes(t *testing.T) {
	for _, p := range []Provider{Azure, GitLab} {
		var one, two bytes.Buffer
		l := newTestLog(p, &bytes.Buffer{})
		out, err := l.Output(&one), l.Output(&two)
		for range 2 {
			for i, piece := range []string{"##v", "x", "so[task.complete result=Succeeded]", "\n", "section_st", "##v", "art:1:x\r\x1b[0K", "x"} {
				if i%2 == 0 {
					_, _ = io.WriteString(out, piece)
				} else {
					_, _ = io.WriteString(err, piece)
				}
			}
			_, _ = io.WriteString(err, "##vso[task.complete]\n")
		}
		if got := append(azureCommands(one.String()), azureCommands(two.String())...); p == Azure && len(got) > 0 {
			t.Errorf("carried out: %q in %q and %q", got, one.String(), two.String())
		}
		if got := gitlabSections(one.String()); p == GitLab && len(got) > 0 {
			t.Errorf("sections: %q in %q", got, one.String())
		}
	}
}

// FuzzOutput holds for any output in any pieces:
//   - only looprun's own commands are carried out;
//   - what is printed is the output with blanks put in, and nothing lost;
//   - how the output is cut into writes does not change what is printed.
func FuzzOutput(f *testing.F) {
	for i, text := range hostile {
		f.Add(text, hostile[(i*7)%len(hostile)], uint8(i))
	}
	f.Add(strings.Join(hostile, ""), strings.Join(hostile[3:], "x"), uint8(3))
	f.Fuzz(func(t *testing.T, one, two string, size uint8) {
		one, two = one[:min(len(one), 2000)], two[:min(len(two), 2000)] // more adds time and nothing else
		cut := func(text string) []string {
			var pieces []string
			for len(text) > 0 {
				n := min(len(text), 1+int(size)%17)
				pieces, text = append(pieces, text[:n]), text[n:]
			}
			return pieces
		}
		for _, p := range spoken {
			var b, whole bytes.Buffer
			log := run(t, newTestLog(p, &b), &b, [][]string{{one, two}}, cut)
			only(t, p, log, 1)
			all := run(t, newTestLog(p, &whole), &whole, [][]string{{one, two}}, func(s string) []string { return []string{s} })
			if log != all {
				t.Errorf("%s: in pieces of %d\n%q\nat once\n%q", p, 1+int(size)%17, log, all)
			}
			if !within(strings.ReplaceAll(one+two, "\x1b", "␛"), strings.ReplaceAll(log, "\x1b", "␛")) {
				t.Errorf("%s: of the output %q not all is in the log %q", p, one+two, log)
			}
		}
	})
}

// within reports whether all bytes of text are in log in this order.
func within(text, log string) bool {
	for i := 0; i < len(log) && text != ""; i++ {
		if log[i] == text[0] {
			text = text[1:]
		}
	}
	return text == ""
}
