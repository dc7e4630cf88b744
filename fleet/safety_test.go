package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/mock"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/mocks"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"google.golang.org/protobuf/proto"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/checkpoint"
	"github.com/looprun/looprun/internal/eventually"
	"github.com/looprun/looprun/internal/loops"
	"github.com/looprun/looprun/scratchpad"
)

func keyFile(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "key")
	if err := MakeKey(name); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestOffThisMachineNothingIsPlain(t *testing.T) {
	key := keyFile(t)
	api := filepath.Join(t.TempDir(), "api")
	if err := os.WriteFile(api, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		server Server
		want   string // in the error; empty: there is none
		tls    bool
	}{
		"loopback":            {Server{Address: "127.0.0.1:7233"}, "", false},
		"loopback by name":    {Server{Address: "localhost:7233"}, "", false},
		"loopback, IPv6":      {Server{Address: "[::1]:7233"}, "", false},
		"elsewhere":           {Server{Address: "10.0.0.1:7233"}, "--key-file", false},
		"looks like this":     {Server{Address: "127.0.0.1.example.com:7233"}, "--key-file", false},
		"localhost's child":   {Server{Address: "localhost.example.com:7233"}, "--key-file", false},
		"everywhere":          {Server{Address: "0.0.0.0:7233"}, "--key-file", false},
		"no port":             {Server{Address: "fleet.example.com"}, "HOST:PORT", false},
		"key alone":           {Server{Address: "fleet.example.com:7233", KeyFile: key}, "--api-key-file", false},
		"authority alone":     {Server{Address: "fleet.example.com:7233", KeyFile: key, TLSCA: key}, "no credentials", false},
		"API key, no key":     {Server{Address: "fleet.example.com:7233", APIKeyFile: api}, "--key-file", false},
		"API key":             {Server{Address: "fleet.example.com:7233", APIKeyFile: api, KeyFile: key}, "", true},
		"API key, loopback":   {Server{Address: "127.0.0.1:7233", APIKeyFile: api}, "", true},
		"both":                {Server{Address: "fleet.example.com:7233", APIKeyFile: api, TLSCert: "c", KeyFile: key}, "exclude", false},
		"certificate, no key": {Server{Address: "fleet.example.com:7233", TLSCert: api, TLSKey: api, KeyFile: key}, "certificate", false},
	} {
		o, err := c.server.options()
		switch {
		case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, not %q", name, err, c.want)
		case err == nil && (o.ConnectionOptions.TLS != nil) != c.tls:
			t.Errorf("%s: TLS is %v", name, o.ConnectionOptions.TLS)
		}
	}
}

func TestPayloadsAreSealed(t *testing.T) {
	first, second := keyFile(t), keyFile(t)
	c, other := keyed(t, first), keyed(t, second)
	plain, err := converter.GetDefaultDataConverter().ToPayload(strings.Repeat("a command that nobody is to read ", 20))
	if err != nil {
		t.Fatal(err)
	}
	in := converter.WorkflowSerializationContext{WorkflowID: "a"}
	out, err := c.WithSerializationContext(in).Encode([]*commonpb.Payload{plain})
	if err != nil {
		t.Fatal(err)
	}
	wire, err := proto.Marshal(out[0])
	if err != nil || bytes.Contains(wire, []byte("nobody")) || len(wire) > 400 {
		t.Errorf("%d bytes on the wire: %q, %v", len(wire), wire, err)
	}
	for _, reader := range []converter.PayloadCodec{c, c.WithSerializationContext(in)} {
		back, err := reader.Decode(out)
		if err != nil || !proto.Equal(back[0], plain) {
			t.Errorf("%v, %v", back, err)
		}
	}
	for name, decode := range map[string]func() ([]*commonpb.Payload, error){
		"another namespace": func() ([]*commonpb.Payload, error) {
			there := *c
			there.namespace = "b"
			return there.Decode(out)
		},
		"another loop": func() ([]*commonpb.Payload, error) {
			return c.WithSerializationContext(converter.ActivitySerializationContext{WorkflowID: "b"}).Decode(out)
		},
		"the name of another loop": func() ([]*commonpb.Payload, error) {
			p, _ := proto.Clone(out[0]).(*commonpb.Payload)
			p.Metadata[owner] = []byte("b")
			return c.Decode([]*commonpb.Payload{p})
		},
		"another key": func() ([]*commonpb.Payload, error) { return other.Decode(out) },
		"no key":      func() ([]*commonpb.Payload, error) { return new(codec).Decode(out) },
		"plain text":  func() ([]*commonpb.Payload, error) { return c.Decode([]*commonpb.Payload{plain}) },
		"packed only": func() ([]*commonpb.Payload, error) {
			p, _ := new(codec).Encode([]*commonpb.Payload{plain})
			return c.Decode(p)
		},
		"changed": func() ([]*commonpb.Payload, error) {
			p, _ := proto.Clone(out[0]).(*commonpb.Payload)
			p.Data[len(p.Data)-1] ^= 1
			return c.Decode([]*commonpb.Payload{p})
		},
		"cut": func() ([]*commonpb.Payload, error) {
			p, _ := proto.Clone(out[0]).(*commonpb.Payload)
			p.Data = p.Data[:4]
			return c.Decode([]*commonpb.Payload{p})
		},
	} {
		if _, err := decode(); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

// Temporal's own page reads what is stored, at its origin and nowhere else. Its client is that of
// the SDK.
func TestThePageReadsWhatIsStored(t *testing.T) {
	s := Server{Namespace: "a", KeyFile: keyFile(t)}
	decoder, err := s.Decoder("http://page")
	if err != nil {
		t.Fatal(err)
	}
	at := httptest.NewServer(decoder)
	defer at.Close()
	plain, err := converter.GetDefaultDataConverter().ToPayload("a command")
	if err != nil {
		t.Fatal(err)
	}
	stored, err := keyed(t, s.KeyFile).WithSerializationContext(converter.WorkflowSerializationContext{WorkflowID: "l"}).Encode([]*commonpb.Payload{plain})
	if err != nil {
		t.Fatal(err)
	}
	from := func(origin string) converter.PayloadCodec {
		return converter.NewRemotePayloadCodec(converter.RemotePayloadCodecOptions{Endpoint: at.URL, ModifyRequest: func(r *http.Request) error {
			r.Header.Set("Origin", origin)
			return nil
		}})
	}
	if back, err := from("http://page").Decode(stored); err != nil || !proto.Equal(back[0], plain) {
		t.Errorf("%v, %v", back, err)
	}
	if _, err := from("http://other").Decode(stored); err == nil {
		t.Error("another page was answered")
	}
	if _, err := from("http://page").Encode([]*commonpb.Payload{plain}); err == nil {
		t.Error("something was encrypted for the page")
	}
	asked := httptest.NewRequest(http.MethodOptions, "/decode", nil)
	asked.Header.Set("Origin", "http://page")
	told := httptest.NewRecorder()
	decoder.ServeHTTP(told, asked)
	if told.Code != http.StatusOK || told.Header().Get("Access-Control-Allow-Origin") != "http://page" {
		t.Errorf("%d, %v", told.Code, told.Header())
	}
}

// keyed returns the codec of a client with that key file.
func keyed(t *testing.T, file string) *codec {
	t.Helper()
	keys, err := readKeys(file)
	if err != nil {
		t.Fatal(err)
	}
	return &codec{keys: keys, namespace: "a"}
}

// A key is replaced in two steps: everybody gets the new one, and then uses it first.
func TestAKeyIsReplaced(t *testing.T) {
	old, fresh := keyFile(t), keyFile(t)
	join := func(files ...string) string {
		var all []byte
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, text...)
		}
		name := filepath.Join(t.TempDir(), "keys")
		if err := os.WriteFile(name, all, 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	plain, err := converter.GetDefaultDataConverter().ToPayload("a command")
	if err != nil {
		t.Fatal(err)
	}
	steps := []*codec{keyed(t, old), keyed(t, join(old, fresh)), keyed(t, join(fresh, old)), keyed(t, fresh)}
	for i, from := range steps {
		out, err := from.Encode([]*commonpb.Payload{plain})
		if err != nil {
			t.Fatal(err)
		}
		for j, to := range steps { // machines may be one step apart
			back, err := to.Decode(out)
			if near := i-j <= 1 && j-i <= 1; near && (err != nil || !proto.Equal(back[0], plain)) {
				t.Errorf("step %d does not read step %d: %v", j, i, err)
			}
		}
	}
	out, err := steps[0].Encode([]*commonpb.Payload{plain})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := steps[3].Decode(out); err == nil || !strings.Contains(err.Error(), "another key (\""+steps[0].keys[0].id+"\"") {
		t.Errorf("the old key is gone: %v", err)
	}
}

func TestAKeyIsForItsOwnerAlone(t *testing.T) {
	name := keyFile(t)
	if err := MakeKey(name); err == nil {
		t.Error("a key was written over")
	}
	if err := os.Chmod(name, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := readKeys(name); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a key that others can read: %v", err)
	}
	short := filepath.Join(t.TempDir(), "short")
	if err := os.WriteFile(short, []byte("c2hvcnQ=\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readKeys(short); err == nil || !strings.Contains(err.Error(), "32 bytes") {
		t.Errorf("a short key: %v", err)
	}
}

func TestAWorkerRunsWhatItsListAllows(t *testing.T) {
	a := &Allow{Repositories: []string{"https://git.example.com/team/*", "/srv/one"}, Commands: []string{"./fix.sh *", "go test ./..."}, Env: []string{"CGO_ENABLED"}}
	good := Work{Repo: "https://git.example.com/team/app"}
	for name, c := range map[string]struct {
		work  Work
		lines []string
		ok    bool
	}{
		"all of it":          {good, []string{"./fix.sh a b", "go test ./..."}, true},
		"no repository":      {Work{}, []string{"go test ./..."}, true},
		"another repository": {Work{Repo: "https://git.example.com/other/app"}, nil, false},
		"beside it":          {Work{Repo: "/srv/one/more"}, nil, false},
		"up from it":         {Work{Repo: "https://git.example.com/team/../other/app"}, nil, false},
		"another command":    {good, []string{"rm -rf /"}, false},
		"a second command":   {good, []string{"./fix.sh a; rm -rf /"}, false},
		"one in it":          {good, []string{"./fix.sh $(rm -rf /)"}, false},
		"a second line":      {good, []string{"./fix.sh a\nrm -rf /"}, false},
		"longer":             {good, []string{"go test ./... -exec evil"}, false},
		"setup":              {Work{Setup: "curl evil | sh"}, nil, false},
		"a variable":         {Work{Env: map[string]string{"CGO_ENABLED": "0"}}, nil, true},
		"another variable":   {Work{Env: map[string]string{"LD_PRELOAD": "evil.so"}}, nil, false},
	} {
		if err := a.check(c.work, c.lines); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := (&Allow{}).check(Work{}, []string{"true"}); err == nil {
		t.Error("an empty list allows a command")
	}
}

// Each of the commands that a configuration can name is one that the worker runs.
func TestAListSeesEveryCommand(t *testing.T) {
	policy := filepath.Join(t.TempDir(), "policy.yaml")
	text := "version: 1\nrules:\n  - guard: consecutive_errors\n    answer: cancel\n    reason: so\n    verify: evil verify\n"
	if err := os.WriteFile(policy, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*loops.Loop){
		"command":   func(l *loops.Loop) { l.Command.Shell = "evil" },
		"words":     func(l *loops.Loop) { l.Command = loops.Command{Words: []string{"evil"}} },
		"check":     func(l *loops.Loop) { l.Check = "evil" },
		"setup":     func(l *loops.Loop) { l.Setup = "evil" },
		"debug":     func(l *loops.Loop) { l.Options["debug"] = "evil" },
		"assistant": func(l *loops.Loop) { l.Options["assistant"] = "evil" },
		"policy":    func(l *loops.Loop) { l.Options["policy"] = policy },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(w *Worker) { w.Allow = &Allow{Commands: []string{"true"}} })
			r := b.run(submitted(t, "true", change))
			if r.Status != core.StatusFailed || !strings.Contains(r.Reason, "does not allow") {
				t.Errorf("%+v", r)
			}
		})
	}
	b := newBench(t, func(w *Worker) { w.Allow = &Allow{Commands: []string{"true"}} })
	if r := b.run(submitted(t, "true", nil)); r.Status != core.StatusDone {
		t.Errorf("what is allowed: %+v", r)
	}
	lied := submitted(t, "evil", nil)
	lied.Started.Command = []string{"true"} // what is shown is not what is run
	for _, options := range []string{`"assistants":{"max_iterations":{"command":"evil"}}`, `"stdin":"/etc/hostname"`} {
		hidden := submitted(t, "true", nil)
		hidden.Started.Config = bytes.Replace(hidden.Started.Config, []byte(`"stdin":"none",`), nil, 1)
		hidden.Started.Config = bytes.Replace(hidden.Started.Config, []byte(`"options":{`), []byte(`"options":{`+options+`,`), 1)
		b = newBench(t, func(w *Worker) { w.Allow = &Allow{Commands: []string{"true"}} })
		if r := b.run(hidden); r.Status != core.StatusFailed {
			t.Errorf("%s: %+v", options, r)
		}
	}
	b = newBench(t, func(w *Worker) { w.Allow = &Allow{Commands: []string{"true"}} })
	if r := b.run(lied); r.Status != core.StatusFailed {
		t.Errorf("a command that says that it is another: %+v", r)
	}
}

// What a command prints of the worker's secrets is masked before it leaves the worker:
// the results of activities are what the server keeps.
func TestSecretsStayOnTheWorker(t *testing.T) {
	const secret = "hunter2-hunter2-hunter2"
	b := newBench(t, func(w *Worker) { w.Environ = append(w.Environ, "DEPLOY_TOKEN="+secret) })
	var sent bytes.Buffer
	b.SetOnActivityCompletedListener(func(_ *activity.Info, result converter.EncodedValue, err error) {
		var raw json.RawMessage
		if result != nil && result.HasValue() && result.Get(&raw) == nil {
			sent.Write(raw)
		}
	})
	r := b.run(submitted(t, `echo "FAIL: token $DEPLOY_TOKEN"; printf 'LOOPRUN_PROGRESS\n%s\n' "said $DEPLOY_TOKEN"
printf '{"status":"paused_awaiting_choices","partial_result":"none","pending_user_choices":[{"question":"May I use %s?","options":[{"id":"a","label":"A"},{"id":"b","label":"B"}]}]}' "$DEPLOY_TOKEN" > "$LOOPRUN_DIR/questions.json"; exit 1`, func(l *loops.Loop) {
		l.Options["max_iterations"], l.Options["detached"], l.Options["signals"] = 1, "deny", "text"
		l.Check = `echo "and $DEPLOY_TOKEN"; exit 1`
	}))
	state, err := json.Marshal(b.state())
	if err != nil {
		t.Fatal(err)
	}
	if sent.Len() == 0 || bytes.Contains(sent.Bytes(), []byte(secret)) || bytes.Contains(state, []byte(secret)) || strings.Contains(r.Signature, secret) {
		t.Errorf("a secret has left the worker: %s\n%s", sent.Bytes(), state)
	}
	if !bytes.Contains(sent.Bytes(), []byte("said ***")) || !bytes.Contains(sent.Bytes(), []byte("May I use ***?")) || !bytes.Contains(sent.Bytes(), []byte("and ***")) {
		t.Errorf("nothing of the output is there: %s", sent.Bytes())
	}
}

func TestASecretIsNotSubmitted(t *testing.T) {
	t.Setenv("DEPLOY_TOKEN", "hunter2-hunter2-hunter2")
	l := loops.Loop{Name: "a loop", Command: loops.Command{Shell: "deploy hunter2-hunter2-hunter2"}}
	if _, err := Check([]loops.Loop{l}, ".", ""); err == nil || !strings.Contains(err.Error(), "secret") {
		t.Errorf("a secret in the command: %v", err)
	}
}

func TestABudgetIsReservedBefore(t *testing.T) {
	limit := 10.0
	b := Budget{Limit: &limit}
	for i, c := range []struct {
		key string
		usd float64
		ok  bool
	}{{"a", 6, true}, {"a", 6, true}, {"b", 5, false}, {"c", 4, true}, {"d", 0.01, false}} {
		if g := b.reserve(Spend{Group: "team", Key: c.key, USD: c.usd}); g.OK != c.ok {
			t.Errorf("%d: %+v", i, g)
		}
	}
	b.commit(Spend{Group: "team", Key: "a", USD: 2})
	b.commit(Spend{Group: "team", Key: "a", USD: 2}) // told twice
	if b.Spent != 2 || b.Open() != 4 {
		t.Errorf("%+v", b)
	}
	if g := b.reserve(Spend{Group: "team", Key: "a", USD: 100}); !g.OK {
		t.Errorf("an iteration that was committed asks again: %+v", g)
	}
	if g := b.reserve(Spend{Group: "team", Key: "e", USD: 4}); !g.OK {
		t.Errorf("%+v", g)
	}
}

// labelled is a bench with a ledger that answers so.
func labelled(t *testing.T, reserve func(context.Context, Spend) (Granted, error), committed *[]Spend) *bench {
	t.Helper()
	b := newBench(t, nil)
	b.OnActivity((*Worker)(nil).Reserve, mock.Anything, mock.Anything).Return(reserve)
	b.OnActivity((*Worker)(nil).Commit, mock.Anything, mock.Anything).Return(func(_ context.Context, s Spend) (Granted, error) {
		*committed = append(*committed, s)
		return Granted{OK: true}, nil
	})
	return b
}

// An iteration that says nothing of its cost is no free one: under a budget.
func TestASilentIterationCostsWhatItReserved(t *testing.T) {
	limit := 5.0
	for want, b := range map[float64]*Budget{1: {Limit: &limit}, 0: {}} {
		b.reserve(Spend{Key: "a", USD: 1})
		b.commit(Spend{Key: "a", Silent: true})
		if b.Spent != want || b.Open() != 0 {
			t.Errorf("%+v, want %v spent", b, want)
		}
	}
	var spent []Spend
	b := newBench(t, nil)
	b.OnActivity((*Worker)(nil).Reserve, mock.Anything, mock.Anything).Return(Granted{OK: true}, nil)
	b.OnActivity((*Worker)(nil).Commit, mock.Anything, mock.Anything).Return(func(_ context.Context, s Spend) (Granted, error) {
		spent = append(spent, s)
		return Granted{OK: true}, nil
	})
	b.run(submitted(t, `test $LOOPRUN_ITERATION -le 2 || printf 'LOOPRUN_COST\nUSD: 3\n'; test $LOOPRUN_ITERATION = 3`, func(l *loops.Loop) {
		l.Group, l.Options["signals"], l.Options["loop_threshold"] = "team", "text", "off"
	}))
	if len(spent) != 3 || !spent[0].Silent || !spent[1].Silent || spent[2].Silent || spent[2].USD != 3 {
		t.Errorf("%+v", spent)
	}
}

// An iteration that a worker hands back has cost nothing, whatever it reserved.
func TestAnIterationThatDidNotBeginIsFree(t *testing.T) {
	var committed []Spend
	b := labelled(t, func(context.Context, Spend) (Granted, error) { return Granted{OK: true}, nil }, &committed)
	times := 0
	b.OnActivity((*Worker)(nil).Iterate, mock.Anything, mock.Anything).Return(func(ctx context.Context, in Iterate) (Iterated, error) {
		if times++; times == 2 {
			return Iterated{}, temporal.NewNonRetryableApplicationError("no slot", errGone, nil)
		}
		return b.worker.Iterate(ctx, in)
	})
	r := b.run(submitted(t, `echo "in $LOOPRUN_ITERATION"; test $LOOPRUN_ITERATION = 2`, func(l *loops.Loop) { l.Group = "team" }))
	if r.Status != core.StatusDone || len(committed) != 3 || committed[1].USD != 0 || committed[1].Silent || !committed[2].Silent {
		t.Errorf("%+v, %+v", r, committed)
	}
}

func TestABudgetThatIsSpentTrips(t *testing.T) {
	var committed []Spend
	b := labelled(t, func(context.Context, Spend) (Granted, error) { return Granted{Reason: "it is spent"}, nil }, &committed)
	r := b.run(submitted(t, "touch ran", func(l *loops.Loop) { l.Group, l.Options["detached"] = "team", "deny" }))
	if r.Guard != core.MaxCost || r.Status != core.StatusTripped || r.Iterations != 0 || len(committed) > 0 {
		t.Errorf("%+v, %v", r, committed)
	}
}

// A ledger that does not answer neither ends a loop nor lets it through: the loop waits, says
// for what, and needs no slot for that.
func TestALoopWaitsForItsBudget(t *testing.T) {
	var committed []Spend
	tried := 0
	b := labelled(t, func(context.Context, Spend) (Granted, error) {
		if tried++; tried < 4 {
			return Granted{OK: true}, errors.New("no server")
		}
		return Granted{OK: true}, nil
	}, &committed)
	var notes []Note
	var ran []int
	b.OnUpsertMemo(mock.Anything).Run(func(args mock.Arguments) {
		note, _ := args.Get(0).(map[string]any)[memoNote].(Note)
		notes = append(notes, note)
		ran = append(ran, len(b.worker.held))
	}).Return(nil)
	r := b.run(submitted(t, "true", func(l *loops.Loop) { l.Group, l.Options["detached"] = "team", "deny" }))
	if r.Status != core.StatusDone || r.Iterations != 1 || tried != 4 || len(committed) != 1 {
		t.Errorf("%+v after %d tries, %v", r, tried, committed)
	}
	if len(notes) == 0 || !strings.Contains(notes[0].Reason, `waiting for the budget of "team"`) || notes[len(notes)-1].Reason != "" {
		t.Errorf("lists show %+v", notes)
	}
	if ran[0] != 0 {
		t.Error("it waited with a slot")
	}
}

func TestWithoutABudgetNothingIsCommitted(t *testing.T) {
	var committed []Spend
	b := labelled(t, func(context.Context, Spend) (Granted, error) { return Granted{None: true}, nil }, &committed)
	if r := b.run(submitted(t, "true", func(l *loops.Loop) { l.Group = "team" })); r.Status != core.StatusDone || len(committed) > 0 {
		t.Errorf("%+v, %v", r, committed)
	}
}

func TestAnIterationThatWasLostCostsWhatItReserved(t *testing.T) {
	var committed []Spend
	b := labelled(t, func(context.Context, Spend) (Granted, error) { return Granted{OK: true}, nil }, &committed)
	times := 0
	b.OnActivity((*Worker)(nil).Iterate, mock.Anything, mock.Anything).Return(func(_ context.Context, in Iterate) (Iterated, error) {
		if times++; times == 1 {
			return Iterated{}, temporal.NewHeartbeatTimeoutError()
		}
		return Iterated{Result: core.IterationResult{
			IterationFinished: core.IterationFinished{Iteration: in.Iteration.Number, Outcome: core.OutcomeDone},
			Said:              []core.Data{core.CostReported{USD: 0.5}},
		}}, nil
	})
	l := submitted(t, "true", func(l *loops.Loop) { l.Group = "team" })
	r := b.run(l)
	if r.Status != core.StatusDone || len(committed) != 2 || committed[0].USD != 1 || committed[1].USD != 0.5 {
		t.Errorf("%+v, %v", r, committed)
	}
	if committed[0].Key == committed[1].Key {
		t.Errorf("both were committed as %s", committed[0].Key)
	}
}

// What an iteration reserved comes back where nothing ran.
func TestAnIterationThatDidNotBeginCostsNothing(t *testing.T) {
	var committed []Spend
	b := labelled(t, func(context.Context, Spend) (Granted, error) { return Granted{OK: true}, nil }, &committed)
	failures := []error{
		temporal.NewNonRetryableApplicationError("the loop has no slot", errGone, nil), unknown(t), (&Worker{}).stopped(), // and that may have run
	}
	b.OnActivity((*Worker)(nil).Iterate, mock.Anything, mock.Anything).Return(func(ctx context.Context, in Iterate) (Iterated, error) {
		if len(failures) > 0 {
			err := failures[0]
			failures = failures[1:]
			return Iterated{}, err
		}
		return b.worker.Iterate(ctx, in)
	})
	l := submitted(t, "true", func(l *loops.Loop) { l.Group = "team" })
	b.run(l)
	if len(committed) != 4 || committed[0].USD != 0 || committed[0].Silent || committed[1].USD != 0 || committed[2].USD != 1 || committed[2].Silent {
		t.Errorf("%+v", committed)
	}
}

// unknown is the error of a worker that does not know an activity, as a workflow gets it.
func unknown(t *testing.T) error {
	t.Helper()
	env := new(testsuite.WorkflowTestSuite).NewTestActivityEnvironment()
	env.RegisterActivity((&Worker{}).Leave)
	_, err := env.ExecuteActivity("Dream")
	if typeOf(err) == "" {
		t.Fatal(err)
	}
	return err
}

// An iteration whose checkpoint was not pushed has run.
func TestAnIterationThatWasNotPushedCostsWhatItReserved(t *testing.T) {
	var committed []Spend
	b := labelled(t, func(context.Context, Spend) (Granted, error) { return Granted{OK: true}, nil }, &committed)
	b.OnActivity((*Worker)(nil).Iterate, mock.Anything, mock.Anything).Return(Iterated{Away: "the repository is away"}, nil).Once()
	b.OnActivity((*Worker)(nil).Iterate, mock.Anything, mock.Anything).Return(b.worker.Iterate)
	b.OnActivity((*Worker)(nil).Push, mock.Anything, mock.Anything).Return(temporal.NewNonRetryableApplicationError("no slot", errGone, nil))
	l := submitted(t, "true", func(l *loops.Loop) { l.Group = "team" })
	r := b.run(l)
	if r.Status != core.StatusDone || len(committed) != 2 || committed[0].USD != 1 {
		t.Errorf("%+v, %+v", r, committed)
	}
}

// The time in a queue is no failure of a worker, and one that stops or is lost has not tried.
func TestTheQueueIsNoFailure(t *testing.T) {
	for name, c := range map[string]struct {
		first, other error
		queue        time.Duration
	}{
		"a long queue":          {errors.New("the repository is away"), errors.New("the repository is away"), 3 * time.Hour},
		"workers that stop":     {(&Worker{}).stopped(), (&Worker{}).stopped(), 0},
		"workers that are lost": {temporal.NewHeartbeatTimeoutError(), temporal.NewHeartbeatTimeoutError(), 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			times := 100
			if c.queue > 0 {
				times = 1
				b.OnActivity((*Worker)(nil).Place, mock.Anything, mock.Anything).Return(Placed{}, c.first).Once()
				b.OnActivity((*Worker)(nil).Place, mock.Anything, mock.Anything).After(c.queue).Return(Placed{}, c.first).Once()
			}
			b.OnActivity((*Worker)(nil).Place, mock.Anything, mock.Anything).Return(Placed{}, c.other).Times(times)
			b.OnActivity((*Worker)(nil).Place, mock.Anything, mock.Anything).Return(b.worker.Place)
			l := submitted(t, "true", nil)
			l.Work.RetryFor = time.Hour
			if r := b.run(l); r.Status != core.StatusDone {
				t.Errorf("%+v", r)
			}
		})
	}
}

// A repository that is away makes no worker sick, and its own disk does.
func TestWhoIsSick(t *testing.T) {
	b := newBench(t, nil)
	l := submitted(t, "true", func(l *loops.Loop) { l.Repo = filepath.Join(t.TempDir(), "away") })
	l.Work.RetryFor = 10 * time.Second
	r := b.run(l)
	if r.Status != core.StatusFailed || !strings.Contains(r.Reason, "worker w1 cannot reach") || b.worker.slots.failed != 0 || !b.worker.slots.until.IsZero() {
		t.Errorf("%+v, %d failures, rests until %s", r, b.worker.slots.failed, b.worker.slots.until)
	}
	const full = "/proc" // it has no room at all
	if _, err := os.Stat(filepath.Join(full, "self")); err != nil {
		t.Skip("no file system without room is here")
	}
	if err := (&Worker{Root: full}).room(); err == nil || typeOf(err) != "" {
		t.Errorf("a full disk: %v", err)
	}
}

// An iteration that was lost three times, or handed back more often than any upgrade does, asks at
// once: its work is not done.
func TestThreeLossesAreAnError(t *testing.T) {
	for name, c := range map[string]struct {
		lost  error
		times int
	}{
		"lost":        {temporal.NewHeartbeatTimeoutError(), 3},
		"handed back": {(&Worker{Name: "w0"}).stopped(), handedMost + 3},
	} {
		b := newBench(t, nil)
		times := 0
		b.OnActivity((*Worker)(nil).Iterate, mock.Anything, mock.Anything).Return(func(context.Context, Iterate) (Iterated, error) {
			if times++; times > 2*c.times {
				b.CancelWorkflow()
			}
			return Iterated{}, c.lost
		})
		r := b.run(submitted(t, "true", func(l *loops.Loop) { l.Options["detached"] = "deny" }))
		s := b.state()
		if r.Guard != core.ConsecutiveErrors || s.Last == nil || s.Last.Cause != core.CauseCrash || times != c.times || !strings.Contains(r.Reason, "iteration 1: it did not end: ") {
			t.Errorf("%s: %+v, %+v, it began %d times", name, r, s.Last, times)
		}
	}
}

// After an answer, workers may hand an iteration back as often as before.
func TestAnAnswerForgetsWhatWasHandedBack(t *testing.T) {
	b := newBench(t, nil)
	times := 0
	b.OnActivity((*Worker)(nil).Iterate, mock.Anything, mock.Anything).Return(func(ctx context.Context, in Iterate) (Iterated, error) {
		if times++; times <= handedMost+3+handedMost {
			return Iterated{}, (&Worker{Name: "w0"}).stopped()
		}
		return b.worker.Iterate(ctx, in)
	})
	given := b.answer(time.Hour, "u1", "", core.Answer{Option: "retry"})
	b.RegisterDelayedCallback(b.CancelWorkflow, 2*time.Hour)
	if r := b.run(submitted(t, "true", nil)); r.Status != core.StatusDone || *given != nil {
		t.Errorf("%+v after %d, the answer: %v", r, times, *given)
	}
}

// alwaysHandedBack lets workers hand an activity about a question back each time, and counts how often.
// Without a bound the loop is cancelled.
func alwaysHandedBack[R any](t *testing.T, b *bench, activity any) (times *int) {
	times = new(int)
	b.OnActivity(activity, mock.Anything, mock.Anything).Return(func(context.Context, Respond) (R, error) {
		if *times++; *times > 3*handedMost {
			b.CancelWorkflow()
		}
		return *new(R), unknown(t)
	})
	return times
}

// Workers that hand the help with a question back each time leave the question to a person.
func TestAHelpThatIsHandedBackEachTime(t *testing.T) {
	b := newBench(t, nil)
	times := alwaysHandedBack[Responded](t, b, (*Worker)(nil).Respond)
	given := b.answer(time.Hour, "u1", "", core.Answer{Option: "cancel"})
	l := submitted(t, "echo the same; exit 1", nil)
	l.Work.Responds = true
	if r := b.run(l); r.Guard != core.LoopDetected || *given != nil || *times != handedMost+1 {
		t.Errorf("%+v after %d, the answer: %v", r, *times, *given)
	}
}

// An answer's command that is handed back each time is asked about again.
func TestADebugThatIsHandedBackEachTime(t *testing.T) {
	b := newBench(t, nil)
	times := alwaysHandedBack[Debugged](t, b, (*Worker)(nil).Debug)
	first := b.answer(time.Hour, "u1", "", core.Answer{Option: "debug"})
	second := b.answer(3*time.Hour, "u2", "", core.Answer{Option: "cancel"})
	r := b.run(submitted(t, "echo the same; exit 1", func(l *loops.Loop) { l.Options["debug"] = "true" }))
	if r.Guard != core.LoopDetected || *first != nil || *second != nil || *times != handedMost+1 {
		t.Errorf("%+v after %d, the answers: %v, %v", r, *times, *first, *second)
	}
}

func TestOneLossIsOneCrashAndGoesOn(t *testing.T) {
	b := newBench(t, nil)
	from := repo(t)
	lost := false
	var at []string
	b.OnActivity((*Worker)(nil).Iterate, mock.Anything, mock.Anything).Return(func(ctx context.Context, in Iterate) (Iterated, error) {
		at = append(at, in.Commit)
		if in.Iteration.Number == 2 && !lost {
			lost = true
			if in.State.Crashes != 0 {
				t.Errorf("%d crashes before", in.State.Crashes)
			}
			return Iterated{}, temporal.NewHeartbeatTimeoutError()
		}
		if in.Iteration.Number == 2 && in.State.Crashes != 1 {
			t.Errorf("a loss counts as %d crashes", in.State.Crashes)
		}
		outcome := core.OutcomeNotDone
		if in.Iteration.Number == 2 {
			outcome = core.OutcomeDone
		}
		return Iterated{Result: core.IterationResult{IterationFinished: core.IterationFinished{Iteration: in.Iteration.Number, Outcome: outcome}}, Commit: in.Commit}, nil
	})
	r := b.run(submitted(t, "true", func(l *loops.Loop) { l.Repo = from }))
	if r.Status != core.StatusDone || r.Iterations != 2 || len(at) != 3 || at[1] == at[2] {
		t.Errorf("%+v, checkpoints %v", r, at)
	}
	for _, e := range b.events {
		if d, ok := e.Data.(core.IterationWithdrawn); ok && d.Reason != "worker w1 was lost: Heartbeat timeout" {
			t.Errorf("it was withdrawn since %s", d.Reason)
		}
	}
	// Whoever had it before cannot keep another checkpoint.
	if got := git1(t, from, "rev-parse", checkpoint.Ref(b.state().RunID)); got != at[2] {
		t.Errorf("the repository has %s, not %s", got, at[2])
	}
}

// A worker that cannot place a loop does not end it: it is tried again, the list says why, and a
// cancel ends that.
func TestALoopIsTriedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		failures int
		for_     time.Duration
		want     core.Status
		code     int
	}{
		"until it works":  {20, 0, core.StatusDone, 0},
		"for a time":      {1 << 30, time.Hour, core.StatusFailed, core.ExitFailed},
		"for a day":       {1 << 30, 0, core.StatusFailed, core.ExitFailed},
		"until cancelled": {1 << 30, 30 * time.Hour, core.StatusInterrupted, 143},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			tried := 0
			b.OnActivity((*Worker)(nil).Place, mock.Anything, mock.Anything).Return(func(ctx context.Context, in Prepare) (Placed, error) {
				if tried++; tried <= c.failures {
					return Placed{}, errors.New("the repository is away")
				}
				return b.worker.Place(ctx, in)
			})
			var notes []Note
			b.OnUpsertMemo(mock.Anything).Run(func(args mock.Arguments) {
				note, _ := args.Get(0).(map[string]any)[memoNote].(Note)
				notes = append(notes, note)
			}).Return(nil)
			b.RegisterDelayedCallback(b.CancelWorkflow, 25*time.Hour)
			l := submitted(t, "true", nil)
			l.Work.RetryFor = c.for_
			began := b.Now()
			r := b.run(l)
			if r.Status != c.want || r.ExitCode != c.code || tried < 20 {
				t.Errorf("%+v after %d tries", r, tried)
			}
			if took := b.Now().Sub(began); c.for_ == time.Hour && (took < time.Hour || took > time.Hour+time.Minute) {
				t.Errorf("it was tried for %s", took)
			}
			if len(notes) == 0 || notes[0].Reason != "the repository is away" {
				t.Errorf("lists show %+v", notes)
			}
		})
	}
}

// What a worker did not begin, or withdrew, another one does, and nobody is asked for that.
func TestAStoppingWorkerLosesNothing(t *testing.T) {
	stopped := (&Worker{Name: "w0"}).stopped()
	for _, activity := range []string{"Iterate", "Respond", "Gone", "Untaken"} {
		switch activity {
		case "Gone":
			activity, stopped = "Respond", temporal.NewNonRetryableApplicationError("no slot", errGone, nil)
		case "Untaken":
			activity, stopped = "Iterate", temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START, nil)
		}
		b := newBench(t, nil)
		times, places := 0, 0
		b.OnActivity((*Worker)(nil).Place, mock.Anything, mock.Anything).Return(func(ctx context.Context, in Prepare) (Placed, error) {
			places++
			return b.worker.Place(ctx, in)
		})
		switch activity {
		case "Iterate":
			b.OnActivity((*Worker)(nil).Iterate, mock.Anything, mock.Anything).Return(func(ctx context.Context, in Iterate) (Iterated, error) {
				if times++; times <= 4 { // it is no crash
					return Iterated{}, stopped
				}
				if in.State.Crashes != 0 {
					t.Errorf("%d crashes", in.State.Crashes)
				}
				return b.worker.Iterate(ctx, in)
			})
		case "Respond":
			b.OnActivity((*Worker)(nil).Respond, mock.Anything, mock.Anything).Return(func(ctx context.Context, in Respond) (Responded, error) {
				if times++; times == 1 {
					return Responded{}, stopped
				}
				return b.worker.Respond(ctx, in)
			})
		}
		r := b.run(submitted(t, "echo the same; exit 1", func(l *loops.Loop) { l.Options["detached"] = "deny" }))
		if r.Status != core.StatusTripped || r.Guard != core.LoopDetected || times < 2 {
			t.Errorf("%s: %+v after %d", activity, r, times)
		}
		if want := map[string]int{"Iterate": 5, "Respond": 2}[activity]; places != want {
			t.Errorf("%s: it was placed %d times", activity, places)
		}
	}
}

// A worker that stops lets iterations continue for a while, and then ends them: what it ended is
// withdrawn, and runs on another one.
func TestAWorkerDrains(t *testing.T) {
	for _, ends := range []bool{true, false} {
		t.Run(fmt.Sprintf("the iteration ends: %v", ends), func(t *testing.T) {
			b := newBench(t, nil)
			in, end := filepath.Join(t.TempDir(), "in"), filepath.Join(t.TempDir(), "end")
			b.worker.Drain = time.Millisecond
			if ends {
				b.worker.Drain = time.Hour
			}
			drained := make(chan struct{})
			b.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, _ converter.EncodedValues) {
				if info.ActivityType.Name != "Iterate" {
					return
				}
				go func() {
					defer close(drained)
					waitFor(in)
					if ends {
						defer waitFor(end)
						go b.worker.drain()
						for until := time.Now().Add(eventually.Patience); b.worker.begin() == nil; {
							b.worker.work.Done()
							if time.Now().After(until) {
								t.Error("it takes more all the while")
								break
							}
						}
						_ = os.WriteFile(end, nil, 0o600)
						return
					}
					b.worker.drain()
				}()
			})
			b.RegisterDelayedCallback(b.CancelWorkflow, time.Hour)
			r := b.run(submitted(t, "touch "+in+"; until test -e "+end+"; do sleep 0.02; done; exit 1", func(l *loops.Loop) { l.Options["kill_after"] = "1s" }))
			<-drained
			iterations := 0 // the one that was ended runs elsewhere
			if ends {
				iterations = 1
			}
			if r.Status != core.StatusInterrupted || r.Iterations != iterations || r.Reason != "it was cancelled" {
				t.Errorf("%+v", r)
			}
		})
	}
}

func waitFor(name string) {
	for {
		if _, err := os.Stat(name); err == nil {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// A repository that is away for a while costs no iteration: its checkpoint is pushed later.
func TestAPushIsTriedAgain(t *testing.T) {
	from := repo(t)
	away := from + ".away"
	b := newBench(t, nil)
	reason := ""
	b.OnUpsertMemo(mock.Anything).Run(func(args mock.Arguments) {
		note, _ := args.Get(0).(map[string]any)[memoNote].(Note)
		if reason == "" && note.Reason != "" {
			reason = note.Reason
			if err := os.Rename(away, from); err != nil {
				t.Error(err)
			}
		}
	}).Return(nil)
	r := b.run(submitted(t, `echo x >> `+away+`.ran; mv `+from+` `+away, func(l *loops.Loop) { l.Repo = from }))
	ran, err := os.ReadFile(away + ".ran")
	if r.Status != core.StatusDone || r.Iterations != 1 || string(ran) != "x\n" || err != nil {
		t.Errorf("%+v, %q, %v", r, ran, err)
	}
	if !strings.Contains(reason, "worker w1 cannot reach "+from) {
		t.Errorf("lists show %q", reason)
	}
	if got := git1(t, from, "log", "-1", "--format=%s", checkpoint.Ref(b.state().RunID)); !strings.Contains(got, "iteration 1") {
		t.Errorf("the repository has %q", got)
	}
}

// A tree that git cannot commit is an error of its iteration: nothing is tried again, run again
// or said to be done.
func TestATreeThatCannotBeKept(t *testing.T) {
	b := newBench(t, nil)
	r := b.run(submitted(t, `mkdir -p sub && git init -q sub && echo x > sub/f && echo x >> ran`, func(l *loops.Loop) {
		l.Repo, l.Options["detached"], l.Options["max_errors"] = repo(t), "deny", 2
	}))
	s := b.state()
	if r.Guard != core.ConsecutiveErrors || r.Iterations != 2 || s.Crashes != 0 || !strings.Contains(s.Last.Detail, "worker w1 cannot keep a checkpoint: git add") {
		t.Errorf("%+v, %+v", r, s.Last)
	}
}

// hang returns the address of a repository at which git hangs, until end is called; begun is
// closed when git is there.
func hang(t *testing.T) (repo string, begun <-chan struct{}, end func()) {
	t.Helper()
	at, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	in, over := make(chan struct{}), make(chan struct{})
	go func() {
		c, err := at.Accept()
		if err != nil {
			return
		}
		close(in)
		<-over
		_ = c.Close()
	}()
	end = sync.OnceFunc(func() {
		close(over)
		_ = at.Close()
	})
	t.Cleanup(end)
	return "git://" + at.Addr().String() + "/app", in, end
}

// A push that hangs is given up and tried again, and holds up no other repository.
func TestAPushThatHangs(t *testing.T) {
	at, begun, _ := hang(t)
	w := &Worker{Name: "w1", Root: t.TempDir()}
	p := &place{id: "20260102-030405-0001", repo: at, tree: repo(t)}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-begun
		cancel()
	}()
	if err := w.push(ctx, p, "HEAD", ""); err == nil || ctx.Err() == nil {
		t.Errorf("a cancel does not end it: %v", err)
	}
	w.attempt = time.Second
	err := w.push(t.Context(), p, "HEAD", "")
	if app, ok := errors.AsType[*temporal.ApplicationError](err); !ok || app.Type() != errAway || !strings.Contains(app.Message(), "it took too long") {
		t.Error(err)
	}
	path := os.Getenv("PATH")
	t.Setenv("PATH", t.TempDir())
	if err := w.push(t.Context(), p, "HEAD", ""); err == nil || typeOf(err) != "" {
		t.Errorf("a worker without git is to blame itself: %v", err)
	}
	t.Setenv("PATH", path)
	defer w.lockMirror("one")()
	w.lockMirror("another")()
}

// A cancel ends a loop whose push hangs.
func TestACancelEndsAPush(t *testing.T) {
	b := newBench(t, nil)
	from := repo(t)
	at, begun, end := hang(t)
	b.OnUpsertMemo(mock.Anything).Run(func(args mock.Arguments) {
		if note, _ := args.Get(0).(map[string]any)[memoNote].(Note); note.Reason == "" {
			return
		}
		git1(t, filepath.Join(b.root, "trees", b.state().RunID), "config", "url."+at+".insteadOf", from)
		go func() {
			<-begun
			b.CancelWorkflow()
		}()
	}).Return(nil)
	r := b.run(submitted(t, `mv `+from+` `+from+`.away`, func(l *loops.Loop) { l.Repo = from }))
	end() // a worker of the bench hears of the cancel with its next heartbeat
	b.worker.work.Wait()
	if r.Status != core.StatusInterrupted || len(b.worker.held) != 0 {
		t.Errorf("%+v, %v", r, b.worker.held)
	}
}

// A setup that failed is final: no other worker is asked.
func TestAFailedSetupIsFinal(t *testing.T) {
	b := newBench(t, nil)
	r := b.run(submitted(t, "true", func(l *loops.Loop) { l.Setup = "seq 2000; echo no network; exit 3" }))
	if r.Status != core.StatusFailed || !strings.HasSuffix(r.Reason, "the setup command failed with exit code 3 on worker w1: no network") {
		t.Errorf("%+v", r)
	}
}

// A command that a worker does not have is looked for elsewhere, and the worker is not sick.
func TestAWorkerWithoutTheCommand(t *testing.T) {
	b := newBench(t, nil)
	l := submitted(t, "true", nil)
	l.Started.Command = []string{"no-such-agent"}
	l.Work.RetryFor = time.Hour
	r := b.run(l)
	if r.Status != core.StatusFailed || !strings.Contains(r.Reason, "worker w1 has no command no-such-agent") || b.worker.slots.failed != 0 {
		t.Errorf("%+v", r)
	}
}

// A loop that needs something is in the queue of the workers that offer it.
func TestALoopRunsWhereItsNeedsAreOffered(t *testing.T) {
	b := newBench(t, func(w *Worker) { w.Offers = []string{"big", "gpu"} })
	var queues []string
	b.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, _ converter.EncodedValues) {
		queues = append(queues, info.TaskQueue)
	})
	r := b.run(submitted(t, "test $LOOPRUN_ITERATION = 2", func(l *loops.Loop) { l.Needs = []string{"gpu", "big"} }))
	if want := []string{"+gpu", "@w1", "@w1", "@w1"}; r.Status != core.StatusDone || len(queues) != len(want) {
		t.Fatalf("%+v, queues %q", r, queues)
	} else {
		for i := range want {
			if !strings.HasSuffix(queues[i], want[i]) {
				t.Errorf("queues %q, want %q", queues, want)
			}
		}
	}
	if len(b.worker.slots.used) != 0 || b.worker.slots.kept != 0 {
		t.Errorf("%d slots in use, %d of polls", len(b.worker.slots.used), b.worker.slots.kept)
	}
}

// A loop that needs what no worker offers says so, and waits: also longer than workers that fail
// are tried.
func TestALoopWaitsForItsNeeds(t *testing.T) {
	for want, offered := range map[string]error{
		"no worker offers gpu": temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START, nil), "worker w1 does not offer big": nil,
	} {
		t.Run(want, func(t *testing.T) {
			b := newBench(t, func(w *Worker) { w.Offers = []string{"gpu"} })
			if offered != nil {
				b.OnActivity((*Worker)(nil).Place, mock.Anything, mock.Anything).Return(Placed{}, offered)
			}
			var notes []Note
			b.OnUpsertMemo(mock.Anything).Run(func(args mock.Arguments) {
				note, _ := args.Get(0).(map[string]any)[memoNote].(Note)
				notes = append(notes, note)
			}).Return(nil)
			b.RegisterDelayedCallback(b.CancelWorkflow, 25*time.Hour)
			r := b.run(submitted(t, "true", func(l *loops.Loop) { l.Needs = []string{"gpu", "big"} }))
			if r.Status != core.StatusInterrupted || len(notes) == 0 || notes[0].Reason != want {
				t.Errorf("%+v, lists show %+v", r, notes)
			}
		})
	}
}

// A worker that could run no loop says so, and does not ask for any.
func TestAWorkerChecksItself(t *testing.T) {
	taken := t.TempDir()
	unlock, err := scratchpad.Hold(taken)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unlock() }()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, w := range map[string]*Worker{
		"mkdir " + file:                {Root: file},
		"another worker uses " + taken: {Root: taken},
		"--listen nowhere cannot":      {Root: t.TempDir(), Listen: "nowhere"},
		"cannot run git":               {Root: t.TempDir()},
	} {
		t.Run(want, func(t *testing.T) {
			if want == "cannot run git" {
				t.Setenv("PATH", t.TempDir())
			}
			if err := w.Serve(t.Context(), nil, func() { t.Error("it is ready") }); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// The name of a loop is not encrypted, so the arguments of its command are not in it; and a
// database takes no longer one.
func TestANameShowsNoArguments(t *testing.T) {
	for line, want := range map[string]string{
		"/usr/bin/curl --data customer=ACME": "curl", "KEY=ACME ./fix.sh": "loop", "x='ACME'": "loop", "./fix.sh ACME": "fix.sh",
	} {
		l := submitted(t, line, func(l *loops.Loop) { l.Name = line })
		if l.Started.Name != want {
			t.Errorf("%s is named %q", line, l.Started.Name)
		}
	}
	l := submitted(t, "true", func(l *loops.Loop) { l.Name, l.Group = "x"+strings.Repeat("ö", 200), strings.Repeat("ö", 200) })
	o := (&Fleet{}).start(l)
	name, _ := o.TypedSearchAttributes.GetKeyword(temporal.NewSearchAttributeKeyKeyword(AttrName))
	if len(name) != 255 || !utf8.ValidString(name) || len(o.Priority.FairnessKey) != 64 || !utf8.ValidString(o.Priority.FairnessKey) {
		t.Errorf("%d bytes, %d bytes", len(name), len(o.Priority.FairnessKey))
	}
}

// A loop that was ended by force has a slot for two minutes, and none that is used is taken.
func TestASlotComesBack(t *testing.T) {
	w := &Worker{Name: "w1", Root: t.TempDir(), Slots: 2}
	w.prepare(nil)
	for _, id := range []string{"gone", "busy"} {
		if err := w.slots.take(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := w.hold(t.Context(), id, 0); err != nil {
			t.Fatal(err)
		}
		w.slots.ReleaseSlot(nil)
	}
	busy := &place{id: "busy", used: time.Now()}
	busy.busy.Lock()
	w.places["busy"] = busy
	w.sweep(time.Now().Add(idle / 2))
	if len(w.slots.used) != 2 {
		t.Errorf("%d slots are in use before the time", len(w.slots.used))
	}
	w.sweep(time.Now().Add(2 * idle))
	if _, held := w.held["busy"]; len(w.slots.used) != 1 || !held {
		t.Errorf("%d slots are in use, by %v", len(w.slots.used), w.held)
	}
	if err := w.hold(t.Context(), "back", again); err != nil || len(w.slots.used) != 2 {
		t.Errorf("%v, %d in use", err, len(w.slots.used))
	}
	w.unhold("back")
	w.unhold("back")
	if len(w.slots.used) != 1 {
		t.Errorf("%d slots are in use", len(w.slots.used))
	}
}

// A worker that fails takes no loop for a while.
func TestASickWorkerRests(t *testing.T) {
	w := &Worker{Name: "w1", Root: t.TempDir(), Slots: 1, Log: slog.New(slog.NewTextHandler(t.Output(), nil))}
	w.prepare(nil)
	for i := range 2*sickAfter + 1 { // after a rest it may fail as often as before
		if i == 1 {
			w.slots.placed(nil)
		}
		if rests := w.slots.placed(errors.New("no git")); rests != (i > 0 && i%sickAfter == 0) {
			t.Errorf("after failure %d: %v", i, rests)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if permit, err := w.slots.ReserveSlot(ctx, nil); err == nil {
		t.Errorf("it takes a loop: %v", permit)
	}
}

func TestACancelledLoopEndsItsIteration(t *testing.T) {
	b := newBench(t, nil)
	mark := filepath.Join(t.TempDir(), "pid")
	b.RegisterDelayedCallback(b.CancelWorkflow, time.Hour)
	b.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, _ converter.EncodedValues) {
		if info.ActivityType.Name == "Iterate" {
			go func() {
				for {
					if _, err := os.Stat(mark); err == nil {
						b.CancelWorkflow()
						return
					}
					time.Sleep(5 * time.Millisecond)
				}
			}()
		}
	})
	r := b.run(submitted(t, `echo $$ > `+mark+`; exec sleep 60`, func(l *loops.Loop) { l.Options["kill_after"] = "1s" }))
	if n := b.count(core.TypeInterruptReceived); r.Status != core.StatusInterrupted || r.ExitCode != 143 || n != 1 {
		t.Errorf("%+v, and the cancel is recorded %d times", r, n)
	}
}

// What was begun at a loop before may take its time: a worker that waits for its end is
// heard of, or it would be taken for lost.
func TestAWorkerThatWaitsForALoopIsHeardOf(t *testing.T) {
	for name, line := range map[string]string{"Iterate": "true", "Respond": "echo the same; exit 1"} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			w := b.worker
			b.SetTestTimeout(20 * time.Second)
			var held *place
			b.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, _ converter.EncodedValues) {
				if info.ActivityType.Name == name && held == nil {
					w.mu.Lock()
					defer w.mu.Unlock()
					for _, held = range w.places {
						held.busy.Lock()
					}
				}
			})
			heard := false
			b.SetOnActivityHeartbeatListener(func(info *activity.Info, _ converter.EncodedValues) {
				if info.ActivityType.Name == name && held != nil && !heard {
					heard = true
					held.busy.Unlock()
				}
			})
			b.run(submitted(t, line, func(l *loops.Loop) { l.Options["detached"] = "deny" }))
			if !heard {
				t.Error("nothing was heard of the worker")
			}
		})
	}
}

// A wait outlives its looks, also where the server's clock ends one before ours does.
func TestAWaitLooksAgain(t *testing.T) {
	c, f := known(t)
	run := new(mocks.WorkflowRun)
	c.On("GetWorkflow", mock.Anything, "l1", "").Return(run)
	c.On("DescribeWorkflowExecution", mock.Anything, "l1", "").Return(&workflowservice.DescribeWorkflowExecutionResponse{}, nil)
	run.On("Get", mock.Anything, mock.Anything).Return(serviceerror.NewDeadlineExceeded("context deadline exceeded")).Once()
	run.On("Get", mock.Anything, mock.Anything).Return(nil)
	if _, err := f.Wait(t.Context(), "l1", func(string) {}); err != nil {
		t.Error(err)
	}
}

// A monitor sees what a worker has run, and whether it takes loops.
func TestAWorkerIsMonitored(t *testing.T) {
	b := newBench(t, nil)
	get := func(path string) (int, string) {
		r := httptest.NewRecorder()
		b.worker.monitor(r, httptest.NewRequest(http.MethodGet, path, nil))
		return r.Code, r.Body.String()
	}
	b.run(submitted(t, "test $LOOPRUN_ITERATION = 2", nil))
	code, text := get("/metrics")
	want := "# TYPE looprun_slots gauge\nlooprun_slots 2\n# TYPE looprun_slots_held gauge\nlooprun_slots_held 0\n" +
		"# TYPE looprun_iterations_total counter\nlooprun_iterations_total{outcome=\"done\"} 1\nlooprun_iterations_total{outcome=\"not_done\"} 1\n"
	if code != http.StatusOK || text != want {
		t.Errorf("%d: %s", code, text)
	}
	if code, _ := get("/else"); code != http.StatusNotFound {
		t.Errorf("another path: %d", code)
	}
	if code, text := get("/healthz"); code != http.StatusOK {
		t.Errorf("%d: %s", code, text)
	}
	b.worker.slots.close()
	if code, _ := get("/healthz"); code != http.StatusServiceUnavailable {
		t.Errorf("a worker that takes no loops: %d", code)
	}
}
