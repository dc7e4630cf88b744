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

	"golang.org/x/term"

	"github.com/looprun/looprun/internal/outlet"
	"github.com/looprun/looprun/internal/pager"
	"github.com/looprun/looprun/internal/strictjson"
	"github.com/looprun/looprun/internal/tty"
)

// Printer holds the text that a command prints until it is whole.
type Printer struct {
	bytes.Buffer
	w      io.Writer
	screen *os.File
	colour bool
	// width is how many columns a line may take, and rows how many lines are seen at once;
	// zero: as many as it needs, since it is no terminal.
	width, rows int
}

// NewPrinter prints to w, behind which is screen; nil: no file is. The flag --color says
// whether in colour. Its Page or Flush comes last.
func NewPrinter(w io.Writer, screen *os.File, flag string) *Printer {
	terminal := IsTerminal(screen)
	p := &Printer{w: w, screen: screen, colour: Colours(flag, terminal, os.Getenv)}
	if terminal {
		p.width, p.rows = tty.Size(screen.Fd())
	}
	return p
}

// Paint is the text in the colour, where colours are wanted.
func (p *Printer) Paint(colour, text string) string {
	if !p.colour {
		return text
	}
	return Paint(colour, text)
}

// Flush prints the text.
func (p *Printer) Flush() error {
	_, err := p.w.Write(p.Bytes())
	return Quietly(err)
}

// Page prints the text, with the pager where it is longer than the screen.
func (p *Printer) Page() error {
	screen := p.screen
	if p.width == 0 || bytes.Count(p.Bytes(), []byte{'\n'}) < p.rows || os.Getenv("TERM") == "dumb" || !tty.Ours(screen.Fd()) {
		return p.Flush()
	}
	// Ctrl-C is for the pager: it ends by its own keys, and leaves the terminal as
	// it was. It is caught and not ignored, which the pager would inherit.
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	if !pager.Show(context.Background(), pager.Command(os.Getenv), p.String(), screen) {
		return p.Flush()
	}
	return nil
}

// PrintJSON prints a value, or a list of them, as JSON documents of the form.
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

// Quietly is no error where nobody reads on: a reader such as head has what it
// wanted.
func Quietly(err error) error {
	if outlet.ReaderGone(err) {
		return nil
	}
	return err
}

// IsTerminal reports whether a file is a terminal; nil is none.
func IsTerminal(f *os.File) bool { return f != nil && term.IsTerminal(int(f.Fd())) }
