package user

import (
	"cmp"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/looprun/looprun/internal/cells"
	"github.com/looprun/looprun/internal/pager"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/internal/tty"
)

// review shows the history, in the pager if it is longer than the screen, and prepares the
// keyboard for asking again.
func (p *prompt) review(ctx context.Context) error {
	var lines []string
	for _, l := range History(p.state, p.texts()) {
		lines = append(lines, cells.Wrap(l, p.width(), indentOf(l))...)
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

// page lends the terminal to the pager; it returns false if there is none.
func (p *prompt) page(ctx context.Context, text string) bool {
	command := pager.Command(p.getenv)
	return command != "" && p.lend(ctx, func(ctx context.Context, screen *os.File) bool { return pager.Show(ctx, command, text, screen) })
}

// lend lends the terminal to another program.
func (p *prompt) lend(ctx context.Context, run func(context.Context, *os.File) bool) bool {
	if p.t.Lend() != nil {
		return false
	}
	screen, err := os.OpenFile(cmp.Or(p.Tty, tty.Path), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer screen.Close()
	// Both signals and the context cancel the use of the terminal.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-p.news.end:
			cancel()
		case <-ctx.Done():
		}
	}()
	return run(ctx, screen)
}

// edit reads the words for an item from $VISUAL or $EDITOR; there are none if the file was
// left empty or there is no editor.
func (p *prompt) edit(ctx context.Context, item int) (c Choice, err error) {
	dir, err := os.MkdirTemp("", "looprun-words-")
	if err != nil {
		return c, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "words.md")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		return c, err
	}
	p.lend(ctx, func(ctx context.Context, screen *os.File) bool {
		editor := exec.CommandContext(ctx, "sh", "-c", cmp.Or(p.getenv("VISUAL"), p.getenv("EDITOR"), "vi")+` "$1"`, "sh", file)
		editor.Stdin, editor.Stdout, editor.Stderr = screen, screen, screen
		return editor.Run() == nil
	})
	p.news.stopped.Store(true) // the terminal may be in any state
	p.keys.entered = false
	if err := p.retake(); err != nil {
		return c, err
	}
	f, err := os.Open(file)
	if err != nil {
		p.hint = p.Options.say("hint_no_text")
		return c, nil
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxText+1))
	if len(text) > maxText {
		p.hint = p.Options.say("hint_long")
		return c, err
	}
	return Choice{Item: item, Text: strings.TrimSpace(termsafe.Text(string(text)))}, err
}
