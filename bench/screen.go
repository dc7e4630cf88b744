package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/creack/pty"
)

const (
	looks   = 21 // rounds: a screen is felt once at a time, and not as a throughput
	stamped = "stamp:"
	patient = time.Minute
)

// screen is a terminal, with the time at which each byte arrived.
type screen struct {
	cmd     *exec.Cmd
	end     *os.File
	mu      sync.Mutex
	changed *sync.Cond
	text    []byte
	chunks  []chunk
	over    bool
}

// chunk is the position of the bytes returned by one read, and its time.
type chunk struct {
	from int
	at   time.Time
}

// open starts a command on a terminal of 80 columns, and reads its output as fast as it can.
func (b *bench) open(argv []string) (*screen, error) {
	cmd, _, err := b.command(argv)
	if err != nil {
		return nil, err
	}
	cmd.Env = append(cmd.Env, "TERM=xterm-256color", "PATH="+os.Getenv("PATH"))
	s := &screen{cmd: cmd}
	s.changed = sync.NewCond(&s.mu)
	if s.end, err = pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 80}); err != nil {
		return nil, err
	}
	go s.read()
	return s, nil
}

func (s *screen) read() {
	buf := make([]byte, 64<<10)
	for {
		n, err := s.end.Read(buf)
		at := time.Now()
		for range bytes.Count(buf[:n], []byte("\x1b[5n")) { // as every terminal does
			_, _ = s.end.WriteString("\x1b[0n")
		}
		s.mu.Lock()
		s.chunks = append(s.chunks, chunk{len(s.text), at})
		s.text = append(s.text, buf[:n]...)
		s.over = err != nil
		s.changed.Broadcast()
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// await returns when the words first appeared after from, and where they end.
func (s *screen) await(words string, from int) (time.Time, int, error) {
	timer := time.AfterFunc(patient, func() { s.mu.Lock(); s.over = true; s.changed.Broadcast(); s.mu.Unlock() })
	defer timer.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for at := from; ; {
		if i := bytes.Index(s.text[at:], []byte(words)); i >= 0 {
			last := at + i + len(words)
			k, _ := slices.BinarySearchFunc(s.chunks, last, func(c chunk, at int) int { return c.from - at })
			return s.chunks[k-1].at, last, nil
		}
		if s.over {
			return time.Time{}, 0, fmt.Errorf("%q did not come: %q", words, s.text[max(0, len(s.text)-400):])
		}
		at = max(at, len(s.text)-len(words))
		s.changed.Wait()
	}
}

// stamp returns when the command wrote the stamp on the screen, and when it arrived.
func (s *screen) stamp() (wrote, came time.Time, end int, err error) {
	_, from, err := s.await(stamped, 0)
	if err != nil {
		return
	}
	came, end, err = s.await(";", from)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := strconv.ParseInt(string(s.text[from:end-1]), 10, 64)
	return time.Unix(0, n), came, end, err
}

func (s *screen) close() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	_ = s.end.Close()
}

// writeStamp prints that many MB of log, and then the time of writing.
func writeStamp(megabytes string) error {
	n, err := strconv.Atoi(megabytes)
	if err != nil {
		return err
	}
	if err := writeLog(os.Stdout, strconv.Itoa(n<<20)); err != nil {
		return err
	}
	_, err = fmt.Printf("%s%d;", stamped, time.Now().UnixNano())
	return err
}

// flood prints log until it is ended, and asks a question in the middle.
func flood(looprun string) error {
	ask := exec.Command(looprun, "ask", "Which way?", "--option", "left=Left", "--option", "right=Right")
	if err := ask.Start(); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- ask.Wait() }()
	for {
		select {
		case err := <-done:
			return err
		default:
			if err := writeLog(os.Stdout, "1000000"); err != nil {
				return err
			}
		}
	}
}

// screen measures how long a person at a terminal waits.
func (b *bench) screen() error {
	fmt.Printf("\non a terminal (medians of %d; in brackets the longest)\n", looks)
	var bare, first []time.Duration
	for range looks {
		for _, m := range []struct {
			argv []string
			to   *[]time.Duration
		}{
			{[]string{b.self, "child", "stamp", "0"}, &bare},
			{[]string{b.looprun, "--", b.self, "child", "stamp", "0"}, &first},
		} {
			took, err := b.firstByte(m.argv)
			if err != nil {
				return err
			}
			*m.to = append(*m.to, took)
		}
	}
	b.felt("the first byte of a bare command", bare, 0)
	b.felt("the first byte of a command in looprun", first, 0)
	b.within("the first byte of the output, beyond a bare command", median(first)-median(bare), time.Millisecond)
	for _, megabytes := range []int{0, 64} {
		drawn, keys, err := b.question(megabytes)
		if err != nil {
			return err
		}
		after := fmt.Sprintf(", after %d MiB of output", megabytes)
		b.felt("a question drawn"+after, drawn, 50*time.Millisecond)
		b.felt("a key echoed"+after, keys, 10*time.Millisecond)
	}
	keys, err := b.flooded()
	if err != nil {
		return err
	}
	b.felt("a key echoed, the command printing on", keys, 10*time.Millisecond)
	return nil
}

// felt prints how long something took, and adds a goal if there is one.
func (b *bench) felt(what string, took []time.Duration, wanted time.Duration) {
	ms := func(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d.Microseconds())/1e3) }
	fmt.Printf("%-52s %12s (%s)\n", what, ms(median(took)), ms(slices.Max(took)))
	if wanted > 0 {
		b.within(what, median(took), wanted)
	}
}

// firstByte returns how long a command's output took to reach the screen.
func (b *bench) firstByte(argv []string) (time.Duration, error) {
	s, err := b.open(argv)
	if err != nil {
		return 0, err
	}
	defer s.close()
	wrote, came, _, err := s.stamp()
	return came.Sub(wrote), err
}

// question trips max_iterations, and presses a key. The trip happens after a command that
// printed that much.
func (b *bench) question(megabytes int) (drawn, keys []time.Duration, err error) {
	for range looks {
		s, err := b.open([]string{b.looprun, "--max-iterations", "1", "--", "sh", "-c", `"$BENCH" child stamp ` + strconv.Itoa(megabytes) + `; exit 1`})
		if err != nil {
			return nil, nil, err
		}
		defer s.close()
		wrote, _, end, err := s.stamp()
		if err != nil {
			return nil, nil, err
		}
		at, end, err := s.await("asks again", end) // the last option
		if err != nil {
			return nil, nil, err
		}
		if _, end, err = s.await("interrupts", end); err != nil { // keys count from now on
			return nil, nil, err
		}
		echoed, err := s.key(end)
		if err != nil {
			return nil, nil, err
		}
		drawn, keys = append(drawn, at.Sub(wrote)), append(keys, echoed)
	}
	return drawn, keys, nil
}

// key returns how long the cursor takes to move to another option.
func (s *screen) key(end int) (time.Duration, error) {
	time.Sleep(100 * time.Millisecond) // a person has read it; nothing else is drawn then
	pressed := time.Now()
	if _, err := s.end.WriteString("j"); err != nil {
		return 0, err
	}
	at, _, err := s.await("interrupts", end)
	return at.Sub(pressed), err
}

// flooded presses a key at a question while the command prints as much as it can.
func (b *bench) flooded() (keys []time.Duration, err error) {
	for range looks {
		s, err := b.open([]string{b.looprun, "--", b.self, "child", "flood", b.looprun})
		if err != nil {
			return nil, err
		}
		defer s.close()
		_, end, err := s.await("interrupts", 0)
		if err != nil {
			return nil, err
		}
		took, err := s.key(end)
		if err != nil {
			return nil, err
		}
		keys = append(keys, took)
	}
	return keys, nil
}
