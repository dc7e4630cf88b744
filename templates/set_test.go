package templates

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/termsafe"
)

const small = `guard: max_iterations
header: NAME
question: "NAME {{.Max}}?"
options:
  - {id: more, label: More, action: continue, extend: {iterations: 1}}
  - {id: stop, label: Stop, action: cancel}
`

// folder writes files, given as name and content in turn.
func folder(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		if err := os.WriteFile(filepath.Join(dir, files[i]), []byte(files[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func named(name string) string { return strings.ReplaceAll(small, "NAME", name) }

func ask(t *testing.T, set *Set, guard core.GuardID) core.Question {
	t.Helper()
	s, trip := Sample(guard)
	q, err := set.Question(s, trip)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// The question of a run knows the branch and the CI job, and records them for policies.
func TestQuestionKnowsTheJob(t *testing.T) {
	file := strings.Replace(named("Own"), "{{.Max}}", "{{.Branch}} #{{.PullRequest}} {{.Cost}} {{.Runtime}} {{.Failing}}/{{.Total}} {{.Tokens}}", 1)
	set := load(t, folder(t, "own.yaml", file))
	job := core.CI{In: true, Branch: "topic", PullRequest: 7}
	s, trip := Sample(core.MaxIterations)
	s.Cost = 2.1
	q, err := set.WithCI(job).Question(s, trip)
	if want := "Own topic #7 $2.10 4m10s 2/5 -1?"; err != nil || q.Text != want || q.CI != job {
		t.Errorf("%q of %+v (%v), want %q", q.Text, q.CI, err, want)
	}
}

func TestLoadOrder(t *testing.T) {
	first := folder(t, "a.yaml", named("First"), "messages.yaml", "detail_far: FIRST\n", "notes.txt", "x", ".hidden.yaml", "x")
	second := folder(t, "b.yml", named("Second"), "c.yaml", strings.Replace(named("Loop"), "max_iterations", "loop_detected", 1), "messages.yaml", "detail_far: SECOND\ndetail_words: SECOND\n")
	if _, err := Load(first, second); err == nil || !strings.Contains(err.Error(), "c.yaml:5:") {
		t.Fatalf("an extension of a guard without a limit: %v", err)
	}
	loop := strings.Replace(strings.Replace(named("Loop"), "max_iterations", "loop_detected", 1), ", extend: {iterations: 1}", "", 1)
	if err := os.WriteFile(filepath.Join(second, "c.yaml"), []byte(loop), 0o600); err != nil {
		t.Fatal(err)
	}
	set := load(t, first, second)
	q := ask(t, set, core.MaxIterations)
	if q.Text != "First 10?" || !reflect.DeepEqual(q.OptionIDs(), []string{"more", "stop"}) || q.Default != "" || q.Short != "First" {
		t.Errorf("the first folder's file is not taken whole: %+v", q)
	}
	if q := ask(t, set, core.LoopDetected); q.Text != "Loop 3?" {
		t.Errorf("the second folder's file is not taken: %+v", q)
	}
	if q := ask(t, set, core.MaxRuntime); q.Header != "Runtime Limit" {
		t.Errorf("the built-in file is not taken: %+v", q)
	}
	if !slices.Contains(q.Details, "FIRST") || !slices.Contains(q.Details, "SECOND") || strings.Contains(details(q), "said last") {
		t.Errorf("messages: %q", q.Details)
	}
	if q := ask(t, load(t, second, first), core.MaxIterations); q.Text != "Second 10?" {
		t.Errorf("the order of folders does not matter: %+v", q)
	}
	if q := ask(t, load(t), core.MaxIterations); q.Header != "Iteration Limit" {
		t.Errorf("a loaded folder changed the built-in templates: %+v", q)
	}
}

func TestLoadProblems(t *testing.T) {
	twice := folder(t, "a.yaml", named("A"), "b.yaml", named("B"))
	broken := folder(t, "c.yaml", "guard: max_runtime\n")
	_, err := Load(twice, broken, filepath.Join(broken, "missing"))
	for _, want := range []string{"b.yaml:1:8: ", "a.yaml is for the guard max_iterations too", "c.yaml:1:1: the key \"options\" is missing", "missing: the folder of templates cannot be read"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in\n%v", want, err)
		}
	}
}

func TestRequires(t *testing.T) {
	const file = `guard: loop_detected
header: Loop
question: Well?
default: deep
options:
  - {id: deep, label: Deep, action: debug, requires: debug}
  - {id: proven, label: Proven, action: accept, requires: [check, promise]}
  - {id: stop, label: Stop, action: cancel}
`
	set := load(t, folder(t, "l.yaml", file))
	s, trip := Sample(core.LoopDetected)
	q, err := set.Question(s, trip)
	if err != nil || !reflect.DeepEqual(q.OptionIDs(), []string{"stop"}) || q.Default != "" {
		t.Errorf("nothing is there: %v %q %v", q.OptionIDs(), q.Default, err)
	}
	if got, want := q.Details[len(q.Details)-2:], []string{"“Deep” is not offered: there is no debug command (--debug)", "“Proven” is not offered: there is no promise (--promise)"}; !reflect.DeepEqual(got, want) {
		t.Errorf("details %q, want %q", got, want)
	}
	s.Promise = "DONE"
	q, err = set.WithDebug(true).Question(s, trip)
	if err != nil || !reflect.DeepEqual(q.OptionIDs(), []string{"deep", "proven", "stop"}) || q.Default != "deep" {
		t.Errorf("all is there: %v %q %v", q.OptionIDs(), q.Default, err)
	}
}

// What a command printed is never read as template text, and reaches a
// question as plain lines of a bounded length.
func TestOutputIsData(t *testing.T) {
	nasty := "{{.RunID}}{{range 1000000000}}x{{end}}\x1b]0;title\x07\x1b[2J\u202e" + strings.Repeat("z", 1<<20) + "\n\n{{end}} - id: accept\r\x00\n"
	s, trip := Sample(core.ConsecutiveErrors)
	s.Name, s.Command, s.Findings = nasty, []string{nasty, nasty}, nasty
	trip.Reason, trip.Also = nasty, []core.GuardID{core.GuardID(nasty)}
	last := &s.Errors[len(s.Errors)-1]
	last.Detail, last.Excerpt, last.Signature.Label = nasty, nasty, nasty
	last.Signature.Errors, last.Signature.Checks, last.Signature.Failing = []string{nasty}, []string{nasty, nasty}, 2
	s.Last = last
	const file = `guard: "*"
header: Any
question: "{{.Task}} {{.Program}} {{.Reason}} {{.Summary}} {{.Why}} {{.LastError}} {{join \",\" .Tripped}} {{.Signature}}"
options:
  - {id: go, label: Go, action: continue, guidance: "{{range .LastErrors}}{{.}}\n{{end}}", description: "{{.Why}}"}
  - {id: stop, label: Stop, action: cancel}
`
	for _, guard := range []core.GuardID{core.ConsecutiveErrors, "any"} {
		trip.Guard = guard
		q, err := load(t, folder(t, "any.yaml", file)).Question(s, trip)
		if err != nil {
			t.Fatal(err)
		}
		texts := append(slices.Clone(q.Details), q.Header, q.Short)
		for _, o := range q.Options {
			texts = append(texts, o.Label, o.Description)
			if len(o.Guidance) > guidanceLimit+3 || termsafe.Text(o.Guidance) != o.Guidance {
				t.Errorf("guidance %.100q…", o.Guidance)
			}
		}
		for _, text := range texts {
			if termsafe.Text(text) != text || strings.Contains(text, "\n") || len(text) > 4*valueLength {
				t.Errorf("detail of %d bytes: %.100q", len(text), text)
			}
		}
		if termsafe.Text(q.Text) != q.Text || len(q.Text) > textLimit+3 {
			t.Errorf("text of %d bytes: %.100q", len(q.Text), q.Text)
		}
		if !strings.Contains(strings.Join(q.Details, ""), "{{.RunID}}") {
			t.Errorf("the output is not shown as it is: %.300q", q.Details)
		}
	}
}

// Whatever file is taken gives a question, in any state.
func FuzzTemplate(f *testing.F) {
	for _, dir := range []string{"builtin", "starter", "testdata/bad"} {
		files, err := filepath.Glob(dir + "/*.yaml")
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	builtin, err := Load()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		parseMessages("f", data)
		tmpl, problems := parseTemplate("f", data)
		if len(problems) > 0 {
			return
		}
		set := &Set{templates: map[core.GuardID]*Template{AnyGuard: tmpl}, texts: builtin.texts}
		for _, guard := range []core.GuardID{core.MaxRuntime, core.LoopDetected, AnyGuard} {
			s, trip := Sample(guard)
			for _, state := range []*core.State{s, {}} {
				q, err := set.Question(state, trip)
				if err != nil {
					t.Fatal(err)
				}
				cancels := slices.ContainsFunc(q.Options, func(o core.Option) bool { return o.Action == core.ActionCancel })
				if !cancels || len(q.Options) > maxOptions || utf8.RuneCountInString(q.Short) > maxShort || len(q.Text) > textLimit+3 {
					t.Errorf("question %+v", q)
				}
			}
		}
	})
}
