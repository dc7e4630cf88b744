//go:build agents && linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/looprun/looprun/internal/eventually"
	"github.com/looprun/looprun/internal/fakemodel"
)

// TestMain runs the tests in a network that has nothing but loopback, where the system
// allows one.
func TestMain(m *testing.M) {
	code, done, err := isolated()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if !done {
		code = m.Run()
		for _, line := range matrix {
			fmt.Println(line)
		}
	}
	os.Exit(code)
}

// matrix has a line for each run: which test it was, how it ended, and its last message.
var matrix []string

// program is looprun, built once.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "looprun-agents-bin-")
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "looprun")
	build := exec.Command("go", "build", "-o", file, "../../cmd/looprun")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return file, nil
})

// eachAgent runs a test with every agent that is installed.
func eachAgent(t *testing.T, test func(t *testing.T, k kit), only ...string) {
	bin, err := installed()
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range kits {
		if len(only) > 0 && !slices.Contains(only, k.name) {
			continue
		}
		t.Run(k.name, func(t *testing.T) {
			if _, err := os.Stat(filepath.Join(bin, k.name)); err != nil {
				t.Skip("NOT TESTED: ", err)
			}
			test(t, k)
		})
	}
}

// job is a looprun around an agent, in a project of its own.
type job struct {
	*exec.Cmd
	dir, home  string
	model      *fakemodel.Model
	out, notes bytes.Buffer
}

// newJob prepares one. The environment that comes last counts.
func newJob(t *testing.T, k kit, script fakemodel.Script, env []string, flags ...string) *job {
	t.Helper()
	looprun, err := program()
	if err != nil {
		t.Fatal(err)
	}
	j := &job{dir: t.TempDir(), home: t.TempDir(), model: fakemodel.New(script)}
	server := httptest.NewServer(j.model)
	t.Cleanup(server.Close)
	if err := os.CopyFS(j.dir, os.DirFS("../../examples/testfix")); err != nil {
		t.Fatal(err)
	}
	if err := k.prepare(j.dir, server.URL); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"git init -q .", "git add .", "git -c user.name=t -c user.email=t@t commit -qm before"} {
		if out, err := exec.Command("sh", "-c", "cd '"+j.dir+"' && "+line).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v %s", line, err, out)
		}
	}
	base, err := k.environ(j.home, server.URL)
	if err != nil {
		t.Fatal(err)
	}
	base[0] = "PATH=" + filepath.Dir(looprun) + ":" + strings.TrimPrefix(base[0], "PATH=")
	args := []string{"--non-interactive", "--agent", k.name}
	if !slices.Contains(flags, "--promise") {
		args = append(args, "--check", "go test ./...")
	}
	args = slices.Concat(args, flags, []string{"Make the tests pass", "--"}, k.flags(server.URL))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	t.Cleanup(cancel)
	j.Cmd = exec.CommandContext(ctx, looprun, args...)
	j.Dir, j.Stdout, j.Stderr = j.dir, &j.out, &j.notes
	j.Env = slices.DeleteFunc(slices.Concat(base, env), func(v string) bool { return strings.HasSuffix(v, "=") })
	for _, v := range env {
		if name, empty := strings.CutSuffix(v, "="); empty {
			j.Env = slices.DeleteFunc(j.Env, func(v string) bool { return strings.HasPrefix(v, name+"=") })
		}
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("exit %v\n%s\n%s", j.ProcessState, &j.notes, tail(j.out.String()))
		}
	})
	return j
}

// bySignal is the exit code of a process that a signal ended, its own end by the one
// that it was sent included.
const bySignal = -1

func tail(s string) string { return s[max(0, len(s)-4000):] }

// ends waits for the end of the run, and returns its verdict.
func (j *job) ends(t *testing.T, code int, notes ...string) (verdict struct {
	Status     string  `json:"status"`
	Iterations int     `json:"iterations"`
	USD        float64 `json:"cost_usd"`
	Tokens     int64   `json:"tokens"`
},
) {
	t.Helper()
	if j.Process == nil {
		_ = j.Run()
	} else {
		_ = j.Wait()
	}
	said := strings.Split(strings.TrimSpace(j.notes.String()), "\n")
	last, _, _ := strings.Cut(strings.TrimPrefix(said[len(said)-1], "looprun: "), "; next: ")
	matrix = append(matrix, fmt.Sprintf("%-50s %4d  %s", t.Name(), j.ProcessState.ExitCode(), last))
	if got := j.ProcessState.ExitCode(); got != code {
		t.Errorf("exit code %d; want %d", got, code)
	}
	for _, want := range notes {
		if !strings.Contains(j.notes.String(), want) {
			t.Errorf("the messages have no %q", want)
		}
	}
	files, _ := filepath.Glob(filepath.Join(j.dir, ".looprun", "2*", "result.json"))
	if len(files) != 1 {
		return verdict
	}
	b, err := os.ReadFile(files[0])
	if err == nil {
		err = json.Unmarshal(b, &verdict)
	}
	if err != nil {
		t.Fatal(err)
	}
	return verdict
}

func TestMendsInThreeTurns(t *testing.T) {
	eachAgent(t, func(t *testing.T, k kit) {
		j := newJob(t, k, k.script(stories["mends"]), nil)
		v := j.ends(t, 0, "done after 3 of 10 iterations")
		if v.Status != "done" || v.Iterations != 3 || j.model.Processes() != 3 {
			t.Errorf("%+v, %d processes", v, j.model.Processes())
		}
		if k.name == "claude" && v.USD <= 0 {
			t.Errorf("no cost was read: %+v", v)
		}
		for _, r := range j.model.Requests() {
			if bytes.Contains(r.Body, []byte("The task: Make the tests pass")) {
				return
			}
		}
		t.Error("no request has the task")
	})
}

// Without a check, turns that change files or commit them are progress.
func TestWorksWithoutACheck(t *testing.T) {
	for _, name := range []string{"writes", "commits"} {
		t.Run(name, func(t *testing.T) {
			eachAgent(t, func(t *testing.T, k kit) {
				newJob(t, k, k.script(stories[name]), nil, "--promise", "ALL DONE").ends(t, 0, "done after 5 of 10 iterations")
			})
		})
	}
}

// A session that is kept has the words of the turns before.
func TestKeepsItsSession(t *testing.T) {
	eachAgent(t, func(t *testing.T, k kit) {
		for _, keep := range []string{"fresh", "keep"} {
			mends := stories["mends"]
			if keep == "keep" { // to the model it is one process
				mends = story{slices.Concat(mends...)}
			}
			j := newJob(t, k, k.script(mends), nil, "-o", "session="+keep)
			j.ends(t, 0, "done after 3 of 10 iterations")
			requests := j.model.Requests()
			last := requests[len(requests)-1].Body
			for _, said := range []string{"Nine is written IX now.", "Zero has no numeral any more."} {
				if got := bytes.Contains(last, []byte(said)); got != (keep == "keep") {
					t.Errorf("session=%s: the last request has %q: %v", keep, said, got)
				}
			}
		}
	})
}

func TestLiesAndIsStopped(t *testing.T) {
	eachAgent(t, func(t *testing.T, k kit) {
		v := newJob(t, k, k.script(stories["lies"]), nil).ends(t, 111, "loop_detected tripped")
		if v.Iterations != 3 {
			t.Errorf("%+v", v)
		}
	})
}

// What the server of the model says is waited for, until it says otherwise.
func TestWaitsForLimits(t *testing.T) {
	reset := fmt.Sprint(time.Now().Add(time.Hour).Unix())
	overloaded := fakemodel.Step{Status: 529, Kind: "overloaded_error", Error: "Overloaded"}
	for _, c := range []struct {
		who, name string
		env       []string
		step      fakemodel.Step
	}{
		{"claude", "429", nil, fakemodel.Step{Status: 429, Kind: "rate_limit_error", Error: "This request would exceed your account's rate limit."}},
		{"claude", "529", nil, overloaded},
		{
			"claude", "usage limit",
			[]string{"ANTHROPIC_API_KEY=", "CLAUDE_CODE_OAUTH_TOKEN=made-up"},
			fakemodel.Step{Status: 429, Kind: "rate_limit_error", Error: "This request would exceed your account's rate limit.", Header: map[string]string{
				"anthropic-ratelimit-unified-status": "rejected", "anthropic-ratelimit-unified-reset": reset,
				"anthropic-ratelimit-unified-representative-claim": "five_hour",
			}},
		},
		{"codex", "429", nil, fakemodel.Step{Status: 429, Kind: "rate_limit_exceeded", Error: "Rate limit reached. Please try again in 20s."}},
		{"codex", "usage limit", nil, fakemodel.Step{Status: 429, Kind: "usage_limit_reached", Error: "The usage limit has been reached"}},
		{"gemini", "429", nil, fakemodel.Step{Status: 429, Kind: "RESOURCE_EXHAUSTED", Error: "You exceeded your current quota.", Detail: map[string]any{
			"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": []any{map[string]any{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}},
		}}},
		{"gemini", "503", nil, fakemodel.Step{Status: 503, Kind: "UNAVAILABLE", Error: "The model is overloaded. Please try again later."}},
		{"opencode", "429", nil, fakemodel.Step{Status: 429, Kind: "rate_limit_exceeded", Error: "Rate limit reached for gpt-5.5. Please try again in 20s."}},
		{"opencode", "529", nil, overloaded},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachAgent(t, func(t *testing.T, k kit) {
				j := newJob(t, k, fakemodel.Script{{c.step}}, c.env)
				if err := j.Start(); err != nil {
					t.Fatal(err)
				}
				eventually.Holds(t, "the wait", func() bool { return waits(j) })
				_ = j.Process.Signal(os.Interrupt)
				j.ends(t, bySignal, "exit 130")
			}, c.who)
		})
	}
}

// What no later turn could mend ends the run at once, with the line that says so; what is
// not known to be of that kind is an error, and its words are seen.
func TestStopsAtWhatCannotPass(t *testing.T) {
	invalid := fakemodel.Step{Status: 401, Kind: "authentication_error", Error: "invalid x-api-key"}
	for _, c := range []struct {
		who, name string
		env       []string
		step      fakemodel.Step
		code      int
		says      string
	}{
		{"claude", "not logged in", []string{"ANTHROPIC_API_KEY="}, fakemodel.Step{}, 125, "Not logged in"},
		{"claude", "no credit", nil, fakemodel.Step{Status: 400, Kind: "invalid_request_error", Error: "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing."}, 125, "Credit balance is too low"},
		{"claude", "invalid key", nil, invalid, 125, "Invalid API key"},
		{"codex", "not logged in", []string{"OPENAI_API_KEY="}, fakemodel.Step{}, 125, "OPENAI_API_KEY"},
		{"codex", "no credit", nil, fakemodel.Step{Status: 429, Kind: "insufficient_quota", Error: "You exceeded your current quota, please check your plan and billing details."}, 125, "uota"},
		{"codex", "invalid key", nil, invalid, 125, "401 Unauthorized"},
		{"gemini", "not logged in", []string{"GEMINI_API_KEY="}, fakemodel.Step{}, 125, "uth method"},
		{"gemini", "invalid key", nil, fakemodel.Step{Status: 400, Kind: "INVALID_ARGUMENT", Error: "API key not valid. Please pass a valid API key.", Detail: map[string]any{
			"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com",
		}}, 125, "API key not valid"},
		{"gemini", "no credit", nil, fakemodel.Step{Status: 403, Kind: "PERMISSION_DENIED", Error: "This API method requires billing to be enabled."}, 125, "billing"},
		{"opencode", "not logged in", []string{"ANTHROPIC_API_KEY="}, fakemodel.Step{}, 112, "Unexpected server error"}, // it says no more
		{"opencode", "no credit", nil, fakemodel.Step{Status: 429, Kind: "insufficient_quota", Error: "You exceeded your current quota, please check your plan and billing details."}, 125, "quota"},
		{"opencode", "invalid key", nil, invalid, 125, "invalid x-api-key"},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachAgent(t, func(t *testing.T, k kit) {
				if c.name == "not logged in" && k.name == "opencode" {
					k.model = []string{"--model", "anthropic/claude-sonnet-4-5"} // whose provider is no made-up one
				}
				j := newJob(t, k, fakemodel.Script{{c.step}}, c.env)
				if c.name == "not logged in" && k.name == "gemini" {
					if err := os.RemoveAll(filepath.Join(j.home, ".gemini")); err != nil {
						t.Fatal(err)
					}
				}
				v := j.ends(t, c.code, c.says)
				if c.code == 125 && (v.Status != "failed" || v.Iterations != 1) {
					t.Errorf("%+v", v)
				}
			}, c.who)
		})
	}
}

// waits looks into the journal, which is written before it is shown.
func waits(j *job) bool {
	files, _ := filepath.Glob(filepath.Join(j.dir, ".looprun", "2*", "journal.jsonl"))
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && bytes.Contains(b, []byte(`"wait.started"`)) {
			return true
		}
	}
	return false
}

func TestAsksFromInsideATool(t *testing.T) {
	eachAgent(t, func(t *testing.T, k kit) {
		looprun, err := program() // the login shell of Codex has a PATH of its own
		if err != nil {
			t.Fatal(err)
		}
		asks := story{slices.Clone(stories["asks"][0])}
		asks[0][0] = strings.Replace(asks[0][0], "looprun", looprun, 1)
		j := newJob(t, k, k.script(asks), nil, "--max-iterations", "1", "--detached", "defaults")
		j.ends(t, 101) // the limit's question is answered with its default: cancel
		if b, err := os.ReadFile(filepath.Join(j.dir, "answer.txt")); err != nil || strings.TrimSpace(string(b)) != "two" {
			t.Errorf("the answer is %q, %v", b, err)
		}
	})
}

// However a run ends, nothing that the agent started outlives it.
func TestLeavesNothing(t *testing.T) {
	for name, end := range map[string]struct {
		flags []string
		by    os.Signal
		code  int
	}{
		"timeout": {flags: []string{"--iteration-timeout", "40s", "--max-errors", "1"}, code: 112},
		"Ctrl-C":  {by: os.Interrupt, code: bySignal},
		"kill -9": {by: syscall.SIGKILL, code: bySignal},
	} {
		t.Run(name, func(t *testing.T) {
			eachAgent(t, func(t *testing.T, k kit) {
				mark := fmt.Sprint(100000 + time.Now().UnixNano()%100000000)
				line := "setsid sleep " + mark + ".1 >/dev/null 2>&1 & sleep " + mark + ".2"
				j := newJob(t, k, k.script(story{{"$ " + line, hangs}}), nil, end.flags...)
				if err := j.Start(); err != nil {
					t.Fatal(err)
				}
				if end.by != nil {
					eventually.Holds(t, "the agent's processes", func() bool { return running("sleep\x00"+mark+".1") && running("sleep\x00"+mark+".2") })
					_ = j.Process.Signal(end.by)
				}
				j.ends(t, end.code)
				eventually.Holds(t, "the end of all processes", func() bool { return !running(mark) && !running(j.home) })
			})
		})
	}
}

// running reports whether a process has the text in its command line or environment.
func running(text string) bool {
	for _, file := range []string{"cmdline", "environ"} {
		all, _ := filepath.Glob("/proc/[0-9]*/" + file)
		for _, f := range all {
			if b, err := os.ReadFile(f); err == nil && bytes.Contains(b, []byte(text)) {
				return true
			}
		}
	}
	return false
}
