package courier

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/helper"
	"github.com/looprun/looprun/internal/inputfile"
	"github.com/looprun/looprun/internal/program"
	"github.com/looprun/looprun/internal/socket"
	"github.com/looprun/looprun/internal/xdg"
)

// The messages on the courier's socket, by type.
const (
	kindCarry = "carry" // a [Question]
	kindHere  = "here"  // nothing: the reply is that the courier is there, and a [hereReply]
	kindStay  = "stay"  // nothing: the courier waits for questions until the connection ends
	kindStop  = "stop"  // the courier is to end
)

type hereReply struct {
	// Problem is why a service does not take messages; empty: there is none.
	Problem string `json:"problem,omitempty"`
}

// Question is a question that the courier is to carry to people.
type Question struct {
	Dir string `json:"dir"` // of the run
	ID  string `json:"id"`
	// Title and Body are the message.
	Title string `json:"title"`
	Body  string `json:"body"`
	// Services are those that bring answers back.
	Services []Service `json:"services"`
	// Env is the environment in which the run continues.
	Env []string `json:"env"`
}

// Service is a service that brings answers back, in the form of the key notify: Answers is true,
// and Exclusive means that it also does so for questions that only a person may answer. From
// lists who may answer; a service without it has buttons only, and does not name people.
type Service struct {
	URL       string   `json:"url"`
	Answers   bool     `json:"answers"`
	Exclusive bool     `json:"exclusive,omitempty"`
	From      []string `json:"from,omitempty"`
}

// allows reports whether somebody may answer. Only ntfy, which names nobody, needs no list.
func (s Service) allows(from string) bool {
	return len(s.From) == 0 && strings.HasPrefix(s.URL, core.ViaNtfy+"://") || slices.Contains(s.From, from)
}

// folder returns where the courier keeps its lock, the path of its socket and its log.
func folder() (string, error) {
	dir := xdg.State()
	if dir == "" {
		return "", errors.New("there is no folder for the user's state; set HOME or XDG_STATE_HOME")
	}
	return filepath.Join(dir, "courier"), nil
}

// call sends a message to the courier and decodes its reply, unless that is nil. The error is [socket.ErrNoServer] if none is running.
func call(ctx context.Context, kind string, message, reply any) error {
	dir, err := folder()
	if err != nil {
		return err
	}
	f, err := inputfile.Open(filepath.Join(dir, socketFile))
	if errors.Is(err, fs.ErrNotExist) {
		return socket.ErrNoServer
	} else if err != nil {
		return err
	}
	defer f.Close()
	path, err := inputfile.ReadLimited(f, 4<<10)
	if err != nil {
		return err
	}
	return socket.Call(ctx, strings.TrimSpace(string(path)), kind, message, reply)
}

// Carry hands a question to the courier.
func Carry(ctx context.Context, q Question) error {
	err := call(ctx, kindCarry, q, nil)
	if errors.Is(err, socket.ErrNoServer) || errors.Is(err, socket.ErrNoReply) {
		return errors.New("the courier is not running; the next run starts it")
	}
	return err
}

// Stay keeps the courier for a run that may still ask, until ctx ends.
func Stay(ctx context.Context) {
	_ = call(ctx, kindStay, nil, nil) // if the courier ends, [Carry] says so
}

// startPatience is how long a courier may take to start, and to reply.
const startPatience = 10 * time.Second

// errStopped is the cause when a courier does not reply.
var errStopped = errors.New("it runs, and does not reply: continue or kill the process looprun __courier")

// Start makes sure that a courier is running. It must be called before the caller becomes the
// parent of orphans: the courier may not be below a run, whose command could be its brother.
// problem is why a service does not take messages, as far as the courier knows.
func Start(ctx context.Context, looprun string) (problem string, err error) {
	here, cancel := context.WithTimeoutCause(ctx, startPatience, errStopped)
	defer cancel()
	var reply hereReply
	if err := call(here, kindHere, nil, &reply); err == nil || errors.Is(err, errStopped) {
		return reply.Problem, err
	}
	ctx, cancel = context.WithTimeout(ctx, 2*startPatience) // StartDetached gives up before, with a reason
	defer cancel()
	cmd := exec.CommandContext(ctx, looprun, "__courier", "--start")
	cmd.Env = helper.Environ(os.Environ())
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("the courier of answers does not start: %w %s", err, program.Message(out))
	}
	return "", nil
}

// StartDetached starts the courier as a process of its own, and returns once it can be reached.
func StartDetached(looprun string) error {
	dir, err := folder()
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(dir, "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(looprun, "__courier")
	cmd.Dir, cmd.Stderr, cmd.SysProcAttr = string(filepath.Separator), log, program.Detached()
	if err := cmd.Start(); err != nil {
		return err
	}
	over := make(chan error, 1)
	go func() { over <- cmd.Wait() }()
	ctx, cancel := context.WithTimeout(context.Background(), startPatience)
	defer cancel()
	for {
		if call(ctx, kindHere, nil, nil) == nil {
			return nil
		}
		select {
		case err := <-over:
			if err != nil {
				return fmt.Errorf("%w; see %s", err, log.Name())
			}
			over = nil // another one was first
		case <-ctx.Done():
			return fmt.Errorf("it cannot be reached; see %s", log.Name())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// Stop ends the courier of this user. The questions that it carries still wait.
func Stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startPatience, errStopped)
	defer cancel()
	err := call(ctx, kindStop, nil, nil)
	if errors.Is(err, socket.ErrNoServer) {
		return errors.New("no courier is running")
	}
	return err
}

// again returns the variable with which the run that continues notifies the same services.
func (q Question) again() string {
	list := slices.Clone(q.Services)
	for i := range list {
		list[i].Answers = true // a run of an older looprun does not say it
	}
	text, _ := json.Marshal(list) // texts always encode
	return "LOOPRUN_NOTIFY=" + string(text)
}
