package console

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/signal"
	"strings"

	"golang.org/x/term"

	"github.com/looprun/looprun/internal/cells"
	"github.com/looprun/looprun/internal/outlet"
	"github.com/looprun/looprun/internal/pager"
	"github.com/looprun/looprun/internal/strictjson"
	"github.com/looprun/looprun/internal/tty"
)

// Printer holds a command's output until it is complete.
type Printer struct {
	bytes.Buffer
	w      io.Writer
	screen *os.File
	colour bool
	// width is how many columns a line may take, and rows how many lines are visible at once;
	// zero means unlimited, because there is no terminal.
	width, rows int
}

// NewPrinter returns a printer to w. screen is the file under w; nil means there is none. flag
// is the value of --color. Call Page or Flush at the end.
func NewPrinter(w io.Writer, screen *os.File, flag string) *Printer {
	terminal := IsTerminal(screen)
	p := &Printer{w: w, screen: screen, colour: Colours(flag, terminal, os.Getenv)}
	if terminal {
		p.width, p.rows = tty.Size(screen.Fd())
	}
	return p
}

// Paint returns the text in the colour, if colours are enabled.
func (p *Printer) Paint(colour, text string) string {
	if !p.colour {
		return text
	}
	return Paint(colour, text)
}

// Prose adds a text. On a terminal its lines break between words, and the rest of a line is
// indented by two more columns.
func (p *Printer) Prose(text string) {
	if p.width == 0 {
		p.WriteString(text)
		return
	}
	for line := range strings.Lines(text) {
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		for _, part := range cells.Wrap(strings.TrimSuffix(line, "\n"), p.width, indent+"  ") {
			p.WriteString(part + "\n")
		}
	}
}

// Flush prints the text.
func (p *Printer) Flush() error {
	_, err := p.w.Write(p.Bytes())
	return Quietly(err)
}

// Page prints the text, through the pager if it is longer than the screen.
func (p *Printer) Page() error {
	screen := p.screen
	if p.width == 0 || bytes.Count(p.Bytes(), []byte{'\n'}) < p.rows || os.Getenv("TERM") == "dumb" || !tty.Ours(screen.Fd()) {
		return p.Flush()
	}
	// Ctrl-C is for the pager, which ends by its own keys and restores the terminal. It is
	// caught rather than ignored, because the pager would inherit an ignored signal.
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	if !pager.Show(context.Background(), pager.Command(os.Getenv), p.String(), screen) {
		return p.Flush()
	}
	return nil
}

// PrintJSON prints a value, or a list of values, as JSON documents of the form.
func PrintJSON(w io.Writer, form string, v any) error {
	document, err := strictjson.Stamp(form, v)
	if err != nil {
		return err
	}
	b := bufio.NewWriterSize(w, 32<<10)
	enc := json.NewEncoder(b)
	enc.SetIndent("", "  ")
	return Quietly(errors.Join(enc.Encode(document), b.Flush()))
}

// Quietly returns nil for the error of a closed reader, such as head, that has what it wanted.
func Quietly(err error) error {
	if outlet.ReaderGone(err) {
		return nil
	}
	return err
}

// IsTerminal reports whether a file is a terminal; nil is not.
func IsTerminal(f *os.File) bool { return f != nil && term.IsTerminal(int(f.Fd())) }
