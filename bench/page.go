package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// The load while the page is being viewed.
const (
	watchedLoops = 100
	watchedTurns = 10
	watchers     = 10
)

// The load that only waits.
const (
	calmLoops = 200
	calmFor   = 10 * time.Second
)

// One loop in a hundred prints a gigabyte, the others a page a second.
const (
	gigabyte = "yes 'a line of what a command prints' | head -c 1073741824; exit 1"
	aPage    = "sleep 1; seq -f 'line %g of what a command says' 200; exit 1"
)

// page measures what looprun serve costs the loops that it shows: a hundred of them, along
// with 10,000 runs at rest, alternately with and without ten clients.
func (b *bench) page() error {
	state, err := b.full()
	if err != nil {
		return err
	}
	var alone, watched, first, again []time.Duration
	var peaks []int64
	var share time.Duration // of a second, on one processor
	for range rounds {
		took, err := b.watchedRound(state, nil)
		if err != nil {
			return err
		}
		alone = append(alone, took)
		p, err := b.serve(state)
		if err != nil {
			return err
		}
		first, again = append(first, p.first), append(again, p.again)
		since := time.Now()
		took, err = b.watchedRound(state, p)
		round := time.Since(since)
		peak, endErr := p.end()
		if err := errors.Join(err, endErr); err != nil {
			return err
		}
		watched, peaks = append(watched, took), append(peaks, peak)
		share += time.Duration(float64(p.processor()) / round.Seconds() / rounds)
	}
	a, w := median(alone), median(watched)
	fmt.Printf("\nthe page: %d loops, one of which prints 1 GiB, %d runs at rest, %d clients\n", watchedLoops, kept, watchers)
	fmt.Printf("a loop takes %s alone, %s with the page: %+.1f %%\n", a.Round(time.Millisecond), w.Round(time.Millisecond), 100*(float64(w)/float64(a)-1))
	fmt.Printf("looprun serve: peak memory %s, processor time %s a second with its start, of %d processors\n", mib(median(peaks)), share.Round(time.Millisecond), runtime.NumCPU())
	fmt.Printf("the page with its list: %s after the start, %s afterwards\n", median(first).Round(time.Millisecond), median(again).Round(time.Millisecond))
	return b.calm(state)
}

// calm measures what looprun serve uses while 200 loops wait for their commands: with nobody
// watching, and with one page open.
func (b *bench) calm(state string) (err error) {
	if runtime.GOOS != "linux" {
		return nil // only there is the time of a process that still runs read
	}
	began, ctx := time.Now(), context.Background()
	var loops []*exec.Cmd
	defer func() {
		for _, cmd := range loops {
			_ = cmd.Process.Signal(syscall.SIGTERM)
		}
		for _, cmd := range loops {
			_ = cmd.Wait()
		}
		err = errors.Join(err, removeSince(state, began))
	}()
	for range calmLoops {
		cmd := exec.Command(b.looprun, b.loops(1, "--state-dir", state, "--", "sleep", "1000")[1:]...)
		cmd.Env = append(os.Environ(), "CI=")
		if err := cmd.Start(); err != nil {
			return err
		}
		loops = append(loops, cmd)
	}
	p, err := b.serve(state)
	if err != nil {
		return err
	}
	defer func() {
		_, endErr := p.end()
		err = errors.Join(err, endErr)
	}()
	for live := 0; live < calmLoops; {
		time.Sleep(time.Second)
		text, err := p.get(ctx, "api/runs?filter=running")
		if err != nil {
			return err
		}
		live = bytes.Count(text, []byte(`"key"`))
	}
	alone, err := p.uses(calmFor)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	left := make(chan error, 1)
	go func() { left <- p.follow(ctx, "") }()
	watched, err := p.uses(calmFor)
	if err != nil {
		return err
	}
	select {
	case err := <-left:
		return err
	default:
	}
	fmt.Printf("%d loops that wait, for %s: %s of processor time with nobody watching, %s with a page open\n", calmLoops, calmFor, alone, watched)
	return nil
}

// uses returns the processor time that a server uses meanwhile, to a hundredth of a second.
func (p *served) uses(meanwhile time.Duration) (time.Duration, error) {
	var ticks [2]int64
	for i := range ticks {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
		if err != nil {
			return 0, err
		}
		for _, field := range strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))[11:13] { // utime, stime
			n, err := strconv.ParseInt(field, 10, 64)
			if err != nil {
				return 0, err
			}
			ticks[i] += n
		}
		if i == 0 {
			time.Sleep(meanwhile)
		}
	}
	return time.Duration(ticks[1]-ticks[0]) * time.Second / 100, nil
}

// watchedRound runs the loops, viewed by clients if there is a page, and returns the average
// time of one loop.
func (b *bench) watchedRound(state string, p *served) (time.Duration, error) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var all, clients sync.WaitGroup
	var mu sync.Mutex
	var wrong error
	var took time.Duration
	began := time.Now()
	for i := range watchedLoops {
		line := aPage
		turns := watchedTurns
		if i == 0 {
			line, turns = gigabyte, 1
		}
		cmd := exec.Command(b.looprun, b.loops(turns, "--state-dir", state, "--", "sh", "-c", line)[1:]...)
		cmd.Env = append(os.Environ(), "CI=")
		if err := cmd.Start(); err != nil {
			return 0, err
		}
		all.Go(func() {
			since := time.Now()
			_ = cmd.Wait()
			mu.Lock()
			defer mu.Unlock()
			took += time.Since(since)
			if code := cmd.ProcessState.ExitCode(); code != limit {
				wrong = errors.Join(wrong, fmt.Errorf("one exited with %d, not %d", code, limit))
			}
		})
	}
	if p != nil {
		for i := range watchers {
			clients.Go(func() {
				if err := p.watch(ctx, i); err != nil && ctx.Err() == nil {
					mu.Lock()
					defer mu.Unlock()
					wrong = errors.Join(wrong, fmt.Errorf("a client: %w", err))
				}
			})
		}
	}
	all.Wait()
	stop()
	clients.Wait()
	return took / watchedLoops, errors.Join(wrong, removeSince(state, began))
}

// removeSince removes the runs that a round created.
func removeSince(state string, began time.Time) error {
	runs, err := filepath.Glob(filepath.Join(state, began.UTC().Format("2006")+"*-*-*"))
	for _, dir := range runs {
		if info, statErr := os.Stat(dir); statErr == nil && info.ModTime().After(began) {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}
	return err
}

// served is a looprun serve process.
type served struct {
	cmd          *exec.Cmd
	base, token  string
	first, again time.Duration // until the page and its list are there
}

func (b *bench) serve(state string) (*served, error) {
	cmd := exec.Command(b.looprun, "serve", "--state-dir", state)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = cmd.Wait()
		return nil, fmt.Errorf("looprun serve: %w (make build puts looprun-serve beside looprun)", err)
	}
	base, token, _ := strings.Cut(strings.TrimSpace(address), "#token=")
	p := &served{cmd: cmd, base: base}
	if p.token, err = enter(base, token); err != nil {
		return nil, errors.Join(err, cmd.Process.Kill(), cmd.Wait())
	}
	for _, took := range []*time.Duration{&p.first, &p.again} {
		since := time.Now()
		for _, path := range []string{"", "report.css", "page.css", "page.js", "api/runs"} {
			if _, err := p.get(context.Background(), path); err != nil {
				return nil, errors.Join(err, cmd.Process.Kill(), cmd.Wait())
			}
		}
		*took = time.Since(since)
	}
	return p, nil
}

// enter trades the token of the printed address for one that requests carry.
func enter(base, token string) (string, error) {
	res, err := http.Post(base+"api/enter", "application/json", strings.NewReader(`{"token": "`+token+`"}`)) //nolint:gosec,noctx // it is this program's server
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	var given struct{ Token string }
	if err = json.NewDecoder(res.Body).Decode(&given); err != nil {
		err = fmt.Errorf("looprun serve did not let the benchmark in (%s): %w", res.Status, err)
	}
	return given.Token, err
}

func (p *served) open(ctx context.Context, path string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.base+path, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+p.token)
	res, err := http.DefaultClient.Do(r)
	if err == nil && res.StatusCode != http.StatusOK {
		res.Body.Close()
		err = fmt.Errorf("%s: %s", path, res.Status)
	}
	return res, err
}

func (p *served) get(ctx context.Context, path string) ([]byte, error) {
	res, err := p.open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	return io.ReadAll(res.Body)
}

// watch does what the page does to show a run: it follows the stream, and requests the run
// when it has changed, and the list once a second at most.
func (p *served) watch(ctx context.Context, i int) error {
	var list struct{ Runs []struct{ Key string } }
	for len(list.Runs) <= i {
		b, err := p.get(ctx, "api/runs?filter=running")
		if err == nil {
			err = json.Unmarshal(b, &list)
		}
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(200 * time.Millisecond):
		}
	}
	return p.follow(ctx, list.Runs[len(list.Runs)-1-i].Key) // the one that began first prints most
}

// follow does what an open page does that shows this run, or only the list where it has no key.
func (p *served) follow(ctx context.Context, key string) error {
	res, err := p.open(ctx, "api/stream?run="+key)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	lines := bufio.NewReaderSize(res.Body, 64<<10)
	var listed time.Time
	for {
		line, err := lines.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
		switch name, _ := bytes.CutPrefix(bytes.TrimSpace(line), []byte("event: ")); {
		case string(name) == "run":
			_, err = p.get(ctx, "api/runs/"+key)
		case string(name) == "list" && time.Since(listed) > time.Second:
			listed = time.Now()
			_, err = p.get(ctx, "api/runs")
		default:
			err = nil
		}
		if err != nil {
			return err
		}
	}
}

// processor returns the processor time of a server that has ended.
func (p *served) processor() time.Duration {
	return p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()
}

// end ends the server, and returns its peak memory use, in bytes.
func (p *served) end() (int64, error) {
	err := errors.Join(p.cmd.Process.Signal(os.Interrupt), p.cmd.Wait())
	return peak(p.cmd.ProcessState), err
}
