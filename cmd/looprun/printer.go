package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/looprun/looprun/internal/pager"
	"github.com/looprun/looprun/internal/tty"
)

// printer holds the text that a command prints until it is whole.
type printer struct {
	bytes.Buffer
	a      *app
	colour bool
	// width is how many columns a line may take; zero: as many as it needs, since
	// it is no terminal.
	width int
}

// printer prints on standard output. Its page or flush comes last.
func (a *app) printer() *printer {
	terminal := isTerminal(a.files.stdout)
	p := &printer{a: a, colour: colours(a.say.flags.Color, terminal, os.Getenv)}
	if terminal {
		p.width = tty.Columns(a.files.stdout.Fd())
	}
	return p
}

// paint is the text in the colour, where colours are wanted.
func (p *printer) paint(colour, text string) string {
	if !p.colour {
		return text
	}
	return paint(colour, text)
}

// flush prints the text.
func (p *printer) flush() error {
	_, err := p.a.stdout.Write(p.Bytes())
	return quietly(err)
}

// page prints the text, with the pager where it is longer than the screen.
func (p *printer) page() error {
	screen := p.a.files.stdout
	if p.width == 0 || bytes.Count(p.Bytes(), []byte{'\n'}) < tty.Rows(screen.Fd()) || os.Getenv("TERM") == "dumb" || !tty.Ours(screen.Fd()) {
		return p.flush()
	}
	// Ctrl-C is for the pager: it ends by its own keys, and leaves the terminal as
	// it was. It is caught and not ignored, which the pager would inherit.
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	if !pager.Show(context.Background(), pager.Command(os.Getenv), p.String(), screen) {
		return p.flush()
	}
	return nil
}

// printJSON prints a value as a JSON document.
func (a *app) printJSON(v any) error {
	w := bufio.NewWriterSize(a.stdout, 32<<10)
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return quietly(errors.Join(enc.Encode(v), w.Flush()))
}

// quietly is no error where nobody reads on: a reader such as head has what it
// wanted.
func quietly(err error) error {
	if errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return err
}
