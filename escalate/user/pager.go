package user

import (
	"cmp"
	"context"
	"os"
	"strings"

	"github.com/looprun/looprun/internal/pager"
	"github.com/looprun/looprun/internal/tty"
)

// review shows the history, through the pager where it is longer than the
// screen, and gets the keyboard ready for asking again.
func (p *prompt) review(ctx context.Context) error {
	var lines []string
	for _, l := range History(p.state) {
		lines = append(lines, wrap(l, p.width(), indentOf(l))...)
	}
	text := strings.Join(lines, "\n") + "\n"
	if len(lines) < p.rows-1 || !p.page(ctx, text) {
		if _, err := p.t.Write([]byte(text)); err != nil {
			return err
		}
	}
	p.news.stopped.Store(true) // the terminal may be in any state
	return p.retake()
}

// page lends the terminal to the pager; false when there is none.
func (p *prompt) page(ctx context.Context, text string) bool {
	command := p.pager()
	if command == "" || p.t.Lend() != nil {
		return false
	}
	screen, err := os.OpenFile(cmp.Or(p.Tty, tty.Path), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer screen.Close()
	// The terminal is cancelled by signals and by the context.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-p.news.end:
			cancel()
		case <-ctx.Done():
		}
	}()
	return pager.Show(ctx, command, text, screen)
}

// pager is the command to page with; empty: there is none.
func (p *prompt) pager() string {
	if p.Getenv != nil {
		return pager.Command(p.Getenv)
	}
	return pager.Command(os.Getenv)
}
