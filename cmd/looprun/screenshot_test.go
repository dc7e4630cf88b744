//go:build unix

package main

import (
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hinshun/vt10x"
)

// The picture of the README is what a run shows today: a fixer that is stuck, what a
// person types, and how it goes on. make screenshot draws it again.
func TestScreenshot(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds and tests a package again and again")
	}
	t.Parallel()
	home := t.TempDir()
	dir := filepath.Join(home, "stuck")
	if err := os.CopyFS(dir, os.DirFS(inExamples(t, "stuck"))); err != nil {
		t.Fatal(err)
	}
	file, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	const columns, rows = 90, 32
	cmd := atHome("-u", "NO_COLOR", "HOME="+home, "XDG_STATE_HOME=", "GOCACHE="+goCache(), "GOMODCACHE="+modCache(), "GOPROXY=off", "GOFLAGS=-mod=mod -trimpath -count=1", "GOWORK=off",
		"TERM=xterm-256color", "LOOPRUN_STATE_DIR="+filepath.Join(home, "state"), file, "--progress", "off", "--check", "go test ./...", "--", "./fix.sh")
	cmd.Env = append(os.Environ(), standIns(t)...)
	s := &screen{started: started{Cmd: cmd, dir: dir}}
	s.term = vt10x.New(vt10x.WithSize(columns, rows), vt10x.WithWriter(replies{s}))
	s.Dir = dir
	s.show(t, columns, rows)

	var r recording
	appears(t, "it asks", s.shows("a key marks"))
	r.frame(s.term, 5)
	s.take(t, "w", "words are asked for", s.shows("type what to do ·"))
	s.keys(t, "The apostrophe has to go, too.")
	appears(t, "the words are there", s.shows("has to go, too."))
	r.frame(s.term, 3)
	if code := s.answer(t, "\r"); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	r.frame(s.term, 5)

	picture := filepath.Join("..", "..", "docs", "screen.svg")
	drawn := r.svg(columns, rows-2)
	if *update {
		if err := os.WriteFile(picture, []byte(drawn), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(picture)
	if err != nil {
		t.Fatal(err)
	}
	got, want := pictured(t, drawn), pictured(t, string(kept))
	if got != want {
		t.Errorf("docs/screen.svg is not what is shown today; make screenshot draws it again\nnow\n%s\nthere\n%s", got, want)
	}
}

// pictured is the text of a picture, without what differs from run to run.
func pictured(t *testing.T, svg string) string {
	t.Helper()
	var b strings.Builder
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := d.Token()
		if token == nil {
			if err.Error() != "EOF" {
				t.Fatal(err)
			}
			break
		}
		if text, ok := token.(xml.CharData); ok {
			b.Write(text)
		}
	}
	text := regexp.MustCompile(`[0-9]{8}-[0-9]{6}-[0-9a-f]{4}|[0-9]{2}:[0-9]{2}:[0-9]{2}, process [0-9]+|([0-9.]+(h|m|ms|s))+\b|\(cached\)`).ReplaceAllString(b.String(), "…")
	return strings.Join(strings.Fields(text), "") // where a line is broken depends on how long something took
}

// recording is what a terminal showed, one screen after the other.
type recording struct {
	frames  []string
	seconds []int
}

const (
	cellWidth, cellHeight = 8.4, 18
	paper                 = "#161b22"
)

// colours are those of a terminal, 8 and their bright forms.
var colours = []string{
	"#484f58", "#ff7b72", "#3fb950", "#d29922", "#58a6ff", "#bc8cff", "#39c5cf", "#b1bac4",
	"#6e7681", "#ffa198", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#f0f6fc",
}

// frame keeps for so many seconds what is on the screen since the third iteration began.
// Texts of one colour are one piece.
func (r *recording) frame(term vt10x.Terminal, seconds int) {
	var b strings.Builder
	columns, rows := term.Size()
	above, _, _ := strings.Cut(term.String(), "looprun: iteration 3 of 10")
	top := strings.Count(above, "\n")
	for y := top; y < rows; y++ {
		for x := 0; x < columns; {
			first, text, from := term.Cell(x, y), "", x
			for ; x < columns && term.Cell(x, y).FG == first.FG && term.Cell(x, y).Mode == first.Mode; x++ {
				text += string(max(' ', term.Cell(x, y).Char))
			}
			if text = strings.TrimRight(text, " "); text == "" {
				continue
			}
			fill := "#e6edf3"
			if int(first.FG) < len(colours) {
				fill = colours[first.FG]
			}
			fmt.Fprintf(&b, `<text x="%.1f" y="%d" fill="%s">`, 12+float64(from)*cellWidth, 24+(y-top)*cellHeight, fill)
			_ = xml.EscapeText(&b, []byte(text)) // a builder takes all
			b.WriteString("</text>\n")
		}
	}
	r.frames, r.seconds = append(r.frames, b.String()), append(r.seconds, seconds)
}

// svg shows one frame after the other, again and again; the first alone where nothing is
// to move.
func (r *recording) svg(columns, rows int) string {
	var b strings.Builder
	width, height := 24+int(float64(columns)*cellWidth), 24+rows*cellHeight
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"ui-monospace,SFMono-Regular,Menlo,Consolas,monospace\" font-size=\"14\">\n", width, height)
	total := 0
	for _, n := range r.seconds {
		total += n
	}
	b.WriteString("<style>text{white-space:pre}")
	at := 0
	for i, n := range r.seconds {
		from, to := 100*float64(at)/float64(total), 100*float64(at+n)/float64(total)
		hidden := 0
		if i == 0 {
			hidden = 1
		}
		fmt.Fprintf(&b, "\n@keyframes f%d{0%%{opacity:0}%.2f%%{opacity:1}%.2f%%{opacity:0}}#f%[1]d{opacity:%[4]d}", i, from, to, hidden)
		fmt.Fprintf(&b, "@media (prefers-reduced-motion:no-preference){#f%d{animation:f%[1]d %ds step-end infinite}}", i, total)
		at += n
	}
	fmt.Fprintf(&b, "</style>\n<rect width=\"%d\" height=\"%d\" rx=\"8\" fill=\"%s\"/>\n", width, height, paper)
	for i, f := range r.frames {
		fmt.Fprintf(&b, "<g id=\"f%d\">\n%s</g>\n", i, f)
	}
	b.WriteString("</svg>\n")
	return b.String()
}
