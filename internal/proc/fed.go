package proc

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
)

// RunFed runs a command with the text on its standard input, until it ends, ctx
// does, or enough is closed; a nil channel is never. The command need not read.
// The error is that nothing could be started.
func RunFed(ctx context.Context, spec Spec, text []byte, enough <-chan struct{}) (Exit, error) {
	stdin, feed, err := os.Pipe()
	if err != nil {
		return Exit{}, fmt.Errorf("there is no pipe for it: %w", err)
	}
	defer feed.Close()
	spec.Stdin = stdin
	p, err := Start(spec)
	stdin.Close()
	if err != nil {
		return Exit{}, err
	}
	var both sync.WaitGroup
	both.Go(func() { _, _ = feed.Write(text); feed.Close() })
	both.Go(func() {
		select {
		case <-ctx.Done():
			p.Stop(0)
		case <-enough:
			p.Stop(0)
		case <-p.Done():
		}
	})
	end := p.Wait()
	feed.Close() // whoever has inherited the other end may never read
	both.Wait()
	return end, nil
}

// Document is the value as one line of JSON, for a command to read from its standard
// input.
func Document(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// headKept is how many bytes a [Head] keeps.
const headKept = 4 << 10

// Head keeps the beginning of what a command prints: its Take is for Stdout and
// Stderr of a [Spec].
type Head []byte

// Take keeps of b what there is room for.
func (h *Head) Take(b []byte) {
	*h = append(*h, b[:min(len(b), headKept-len(*h))]...)
}
