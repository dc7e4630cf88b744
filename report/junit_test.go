package report

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/signature"
)

// junit writes the file, checks it by the rules, and returns its testcases.
func junitOf(t testing.TB, r *Report) (suite *node, cases map[string]*node) {
	t.Helper()
	doc := written(t, r.JUnit)
	if dir := os.Getenv("REPORT_JUNIT"); dir != "" { // to try other validators by hand
		name := strings.NewReplacer("/", "_", "#", "_").Replace(t.Name()) + "-" + string(r.Status) + ".xml"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(doc), 0o600); err != nil {
			t.Error(err)
		}
	}
	root := parseXML(t, doc)
	for _, w := range root.validate() {
		t.Error(w)
	}
	suite = root.children[0]
	cases = map[string]*node{}
	counts := map[string]int{}
	for _, c := range suite.children {
		if c.name != "testcase" {
			continue
		}
		cases[c.attrs["name"]] = c
		counts["tests"]++
		for _, kind := range []string{"failure", "error", "skipped"} {
			if slices.ContainsFunc(c.children, func(n *node) bool { return n.name == kind }) {
				counts[map[string]string{"failure": "failures", "error": "errors", "skipped": "skipped"}[kind]]++
			}
		}
	}
	for _, name := range []string{"tests", "failures", "errors", "skipped"} {
		if got, _ := strconv.Atoi(suite.attrs[name]); got != counts[name] {
			t.Errorf("%s is %d, there are %d", name, got, counts[name])
		}
	}
	return suite, cases
}

// kinds are the elements of a testcase with how often each is there.
func kinds(n *node) string {
	if n == nil {
		return "no such testcase"
	}
	var out []string
	for _, c := range n.children {
		if k := len(out) - 1; k >= 0 && strings.HasPrefix(out[k], c.name+" ") {
			var count int
			fmt.Sscanf(out[k], c.name+" %d", &count)
			out[k] = fmt.Sprintf("%s %d", c.name, count+1)
			continue
		}
		out = append(out, c.name+" 1")
	}
	return strings.Join(out, ", ")
}

// A check that failed and passed at last was fixed, which is no failure of any kind.
func TestJUnitFixed(t *testing.T) {
	suite, cases := junitOf(t, story(t).load())
	for _, name := range []string{"loop", "auth", "login", "logout"} {
		want := map[bool]string{true: "", false: "system-out 1"}[name == "loop"]
		if got := kinds(cases[name]); got != want {
			t.Errorf("%s: %s, want %q", name, got, want)
		}
	}
	if suite.attrs["failures"] != "0" {
		t.Error(suite.attrs)
	}
	said := cases["logout"].children[0].text
	if said != "passed after iteration 1: test-fail:3-auth,login,logout\n" {
		t.Errorf("%q", said)
	}
}

// One that failed at last is a failure; the loop's end is another.
func TestJUnitFailure(t *testing.T) {
	r := record(t, nil)
	for _, checks := range [][]string{{"auth", "login"}, {"login"}, {"auth", "logout"}} {
		r.iterate(failing(checks...), "x")
	}
	r.add(core.GuardTripped{Trip: core.Trip{Guard: core.MaxIterations, Iteration: 3, Reason: "3 of 3 iterations are done"}})
	r.add(core.QuestionClosed{Reason: "nobody answered", Unanswered: true})
	r.add(ended(core.StatusTripped, core.MaxIterations, "nobody answered"))
	suite, cases := junitOf(t, r.load())
	for name, want := range map[string]string{"loop": "failure 1", "auth": "failure 1", "login": "system-out 1", "logout": "failure 1"} {
		if got := kinds(cases[name]); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if suite.attrs["failures"] != "3" {
		t.Error(suite.attrs)
	}
	f := cases["auth"].children
	if !strings.HasPrefix(f[0].attrs["message"], "iteration 3:") {
		t.Error(f[0].attrs)
	}
	loop := cases["loop"].children[0]
	if loop.attrs["type"] != "max_iterations" || !strings.Contains(loop.attrs["message"], "nobody answered") || !strings.Contains(loop.text, "after iteration 3: max iterations: 3 of 3") {
		t.Errorf("%v %s", loop.attrs, loop.text)
	}
}

// A case has the line that says why it fails, and what its lines say of it: the time, the place and the class,
// which is the same in each run.
func TestJUnitOfOneCase(t *testing.T) {
	r := record(t, func(d *core.RunStarted) { d.Name = "" })
	d := failing("TestA", "TestAB", "tests/test_auth.py::TestLogin::test_it", "com.x.AuthTest.logout")
	d.Signature.Facts = []string{"check TestA", "suite example.com/x/auth"}
	d.Signature.Errors = []string{"of nobody"}
	d.Excerpt = "--- FAIL: TestA (0.50s)\n    a_test.go:12: got TestABC\n--- FAIL: TestAB (0.01s)\n    ab_test.go:3: no\n" +
		"FAILED tests/test_auth.py::TestLogin::test_it\n  tests/test_auth.py:9: AssertionError\n____ test_it ____\n  more of it\ncom.x.AuthTest.logout FAILED\n  boom it did"
	r.iterate(d, "x")
	suite, cases := junitOf(t, r.load())
	if suite.attrs["name"] != "looprun" || suite.attrs["timestamp"] == "" {
		t.Error(suite.attrs)
	}
	for name, want := range map[string][5]string{
		"TestA":   {"example.com/x/auth", "0.500", "a_test.go", "12", "a_test.go:12: got TestABC"},
		"TestAB":  {"example.com/x/auth", "0.010", "ab_test.go", "3", "ab_test.go:3: no"},
		"test_it": {"tests.test_auth.TestLogin", "0.000", "tests/test_auth.py", "9", "tests/test_auth.py:9: AssertionError"},
		"logout":  {"com.x.AuthTest", "0.000", "", "", "boom it did"},
	} {
		c := cases[name]
		if c == nil {
			t.Errorf("there is no case %s", name)
			continue
		}
		got := [5]string{c.attrs["classname"], c.attrs["time"], c.attrs["file"], c.attrs["line"], c.children[0].text}
		if message := c.children[0].attrs["message"]; got != want || message != "iteration 1: "+want[4] {
			t.Errorf("%s: %s: %q, want %q", name, message, got, want)
		}
	}
}

// What the last iteration does not say is not made up.
func TestJUnitOfWhatIsNotKnown(t *testing.T) {
	t.Run("an error at last", func(t *testing.T) {
		r := record(t, nil)
		r.iterate(failing("auth", "login"), "x")
		r.iterate(failing("auth"), "x")
		r.iterate(crashing("error:segfault"), "x")
		_, cases := junitOf(t, r.load())
		if a, l := kinds(cases["auth"]), kinds(cases["login"]); a != "failure 1" || l != "system-out 1" {
			t.Errorf("auth: %s; login: %s", a, l)
		}
	})
	for failing2, want := range map[int]string{1: "system-out 1", 2: "skipped 1"} {
		t.Run(fmt.Sprintf("%d fail and 1 is named", failing2), func(t *testing.T) {
			r := record(t, nil)
			r.iterate(failing("auth", "login"), "x")
			d := failing("auth")
			d.Signature.Failing = failing2
			r.iterate(d, "x")
			_, cases := junitOf(t, r.load())
			if got := kinds(cases["login"]); got != want {
				t.Errorf("login: %s, want %s", got, want)
			}
		})
	}
}

// Without names of checks the command is the testcase, or the check where there
// is one.
func TestJUnitOfACommand(t *testing.T) {
	plain := core.IterationFinished{
		Outcome: core.OutcomeNotDone, ExitCode: 1,
		Signature: signature.Signature{Kind: signature.KindOutput, Label: "output:9f2c", Hash: 5, Failing: -1, Passed: -1, Total: -1},
	}
	for _, c := range []struct {
		name string
		its  []core.IterationFinished
		want string
	}{
		{"none", nil, "skipped 1"},
		{"passed at once", []core.IterationFinished{passing()}, ""},
		{"failed", []core.IterationFinished{plain}, "failure 1"},
		{"failed again", []core.IterationFinished{plain, crashing("error:x"), plain}, "failure 1"},
		{"an error", []core.IterationFinished{plain, crashing("error:x"), crashing("error:x")}, "error 1"},
		{"passed at last", []core.IterationFinished{plain, crashing("error:x"), passing()}, "system-out 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := record(t, func(d *core.RunStarted) { d.Check = []string{"sh", "-c", "make test"} })
			for _, it := range c.its {
				r.iterate(it, "x")
			}
			_, cases := junitOf(t, r.load())
			if got := kinds(cases["make test"]); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
	t.Run("already passing", func(t *testing.T) {
		r := record(t, nil)
		r.add(done())
		if _, cases := junitOf(t, r.load()); kinds(cases["./fix.sh --all"]) != "" {
			t.Error(kinds(cases["./fix.sh --all"]))
		}
	})
}

func TestJUnitOfEveryStatus(t *testing.T) {
	for status, want := range map[core.Status]string{
		core.StatusDone: "", core.StatusAccepted: "skipped 1", core.StatusPaused: "skipped 1", core.StatusCancelled: "failure 1",
		core.StatusRejected: "failure 1", core.StatusTripped: "failure 1", core.StatusInterrupted: "failure 1", core.StatusFailed: "error 1",
		core.StatusCrashed: "error 1", core.StatusRunning: "skipped 1", core.StatusAwaiting: "skipped 1",
	} {
		r := record(t, nil).load()
		r.Status, r.Reason = status, "because"
		if got := kinds(&node{children: parseLoop(t, r)}); got != want {
			t.Errorf("%s: %s, want %s", status, got, want)
		}
	}
}

func parseLoop(t *testing.T, r *Report) []*node {
	_, cases := junitOf(t, r)
	return cases["loop"].children
}

// Hostile text is text: the document is well formed and holds to the rules, and
// only characters that XML allows are in it.
func TestJUnitInjection(t *testing.T) {
	r := hostileRun(t)
	junitOf(t, r)
	doc := written(t, r.JUnit)
	for _, c := range doc {
		if c != '\t' && c != '\n' && (c < 0x20 || c == 0xfffe || c == 0xffff) {
			t.Fatalf("%q is no character of XML 1.0", c)
		}
	}
	if strings.Contains(doc, "&#x0;") || strings.Contains(doc, "<script") {
		t.Error(doc)
	}
}
