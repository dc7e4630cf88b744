//go:build unix

package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
)

// TestMatrixDetached lets each detached mode decide about each guard; but for the long form,
// one of them about a guard.
func TestMatrixDetached(t *testing.T) {
	t.Parallel()
	set := builtin(t)
	for n, guard := range tried() {
		for i, mode := range []string{"deny", "defaults", "defer"} {
			if !sampled(n+i, 3) {
				continue
			}
			t.Run(string(guard)+"/"+mode, func(t *testing.T) {
				t.Parallel()
				if mode == "defer" {
					newCell(t, guard, core.Option{}, "").deferred(t)
					return
				}
				tpl := set.Template(guard)
				i := slices.Index(tpl.OptionIDs(), tpl.Default)
				if mode == "deny" || i < 0 {
					newCell(t, guard, core.Option{}, "").nobody(t, "--detached", mode)
					return
				}
				c := newCell(t, guard, tpl.Options[i].Option, "")
				out := c.over(t, begin(t, c.home, c.command("--detached", mode, "--non-interactive")...), "state")
				c.check(t, responder{as: core.RespondedByDetached}, out)
			})
		}
	}
}

// nobody runs the cell with nobody who answers.
func (c *cell) nobody(t *testing.T, flags ...string) {
	t.Helper()
	out := c.over(t, begin(t, c.home, c.command(append(slices.Clone(flags), "--non-interactive")...)...), "state")
	j := readJournal(t, out.dir)
	j.failsClosed(t)
	c.unanswered(t, out, j)
}

// deferred checks that the question is kept, and that resume asks it again before
// any work is done.
func (c *cell) deferred(t *testing.T) {
	t.Helper()
	out := c.over(t, begin(t, c.home, c.command("--detached", "defer", "--non-interactive")...), "state")
	j := readJournal(t, out.dir)
	j.failsClosed(t)
	if d, _ := j.applied(t); out.code != 102 || d != nil || j.state.Ending.Status != core.StatusPaused {
		t.Errorf("exit code %d, applied %+v, ended as %+v", out.code, d, j.state.Ending)
	}
	if j.state.Question == nil || j.state.Question.Guard != c.guard || !j.state.Result().Pending {
		t.Errorf("the question was not kept: %+v", j.state.Question)
	}
	again := c.over(t, begin(t, c.home, "resume", "--detached", "deny", "--non-interactive"), "state")
	j = readJournal(t, again.dir)
	j.failsClosed(t)
	c.unanswered(t, again, j)
}

// TestMatrixNoAnswer has responders that fail in every way there is, at every
// guard: none of it is an answer.
func TestMatrixNoAnswer(t *testing.T) {
	t.Parallel()
	builtin(t)
	assistant := func(line string) []string {
		return []string{"--assistant", "cat >request.json; " + line, "--assistant-for", "ask,guards"}
	}
	all := map[string][]string{
		"assistant prints garbage":       assistant("echo continue accept"),
		"assistant prints nothing":       assistant("exit 0"),
		"assistant fails":                assistant(`echo '{"reason": "It works.", "answer": "accept"}'; exit 3`),
		"assistant names no option":      assistant(`echo '{"reason": "It works.", "answer": "yes"}'`),
		"assistant gives no reason":      assistant(`echo '{"reason": " ", "answer": "accept"}'`),
		"assistant adds a key":           assistant(`echo '{"reason": "It works.", "answer": "accept", "also": 1}'`),
		"assistant hangs":                append(assistant("sleep 60"), "--assistant-timeout", "100ms"),
		"assistant's cancel is for none": append(assistant(`echo '{"reason": "It is stuck.", "answer": "cancel"}'`), "--assistant-escalation"),
		"policy without rules":           {"--policy", "empty.yaml"},
		"policy whose verify fails":      {"--policy", "verify.yaml"},
		"policy whose condition fails":   {"--policy", "condition.yaml"},
		"nobody looks in time":           {"--wait-answer", "1ms"},
	}
	for n, name := range slices.Sorted(maps.Keys(all)) {
		flags, guards := all[name], oneShort(tried(), n)
		if !everyCombination && (strings.HasSuffix(name, " fails") || strings.HasSuffix(name, " hangs")) && flags[0] == "--assistant" {
			guards = guards[:1]
		}
		for i, guard := range guards {
			if !everyCombination && len(guards) > 1 && (i+n)%3 != 0 { // each guard with a third of them
				continue
			}
			t.Run(fmt.Sprintf("%s/%s", guard, name), func(t *testing.T) {
				t.Parallel()
				c := newCell(t, guard, core.Option{}, "")
				rule := "version: 1\nrules:\n  - guard: " + c.ruled() + "\n    answer: cancel\n    reason: It is stuck.\n    "
				c.write(t, "empty.yaml", "version: 1\nnever: [accept]\nrules: []\n")
				c.write(t, "verify.yaml", rule+"verify: test -e nothing\n")
				c.write(t, "condition.yaml", rule+"when: iteration > 1000\n")
				c.nobody(t, flags...)
			})
		}
	}
}

// TestMatrixEveryGuard has one rule for every guard, with each of the answers that
// a policy may give unlisted. It covers guards, and nothing of what the command
// says. But for the long form, a guard has one of the answers.
func TestMatrixEveryGuard(t *testing.T) {
	t.Parallel()
	set := builtin(t)
	for n, action := range []core.Action{core.ActionAccept, core.ActionPause, core.ActionCancel} {
		for i, guard := range tried() {
			if !sampled(n+i, 3) {
				continue
			}
			t.Run(fmt.Sprintf("%s/%s", guard, action), func(t *testing.T) {
				t.Parallel()
				c := newCell(t, guard, core.Option{ID: string(action), Action: action}, "")
				if slices.Contains(core.ProtocolIDs(), guard) {
					c.write(t, "policy.yaml", everyGuardRule(c, "verify: 'true'"))
					c.nobody(t, "--policy", "policy.yaml")
					return
				}
				if listed := slices.Contains(set.Template(guard).OptionIDs(), string(action)); action == core.ActionAccept && !listed {
					c.write(t, "policy.yaml", everyGuardRule(c, ""))
					c.nobody(t, "--policy", "policy.yaml")
					c = newCell(t, guard, c.option, "") // with its files as they were
				}
				c.write(t, "policy.yaml", everyGuardRule(c, "verify: 'true'"))
				out := c.over(t, begin(t, c.home, c.command("--policy", "policy.yaml", "--non-interactive")...), "state")
				c.check(t, responder{as: core.RespondedByPolicy, rule: true, reasons: true}, out)
			})
		}
	}
}

func everyGuardRule(c *cell, more string) string {
	return fmt.Sprintf("version: 1\nrules:\n  - guard: \"*\"\n    answer: %s\n    reason: %s\n    %s\n", c.option.ID, c.reason, more)
}

// TestMatrixKinds lets each detached mode decide about each kind of question that
// the command asks.
func TestMatrixKinds(t *testing.T) {
	t.Parallel()
	options := "--option pg=Postgres --option my=MySQL"
	kinds := map[string]struct{ ask, standard, want, reply string }{
		"confirm": {"ask Go? --confirm", "yes", "yes", "true"},
		"no":      {"ask Go? --confirm", "no", "no", "false"},
		"select":  {"ask Db? " + options, "my", "my", `"my"`},
		"text":    {"ask Name? --text", "Ann", "Ann", `"Ann"`},
		"multi":   {"ask Dbs? --multi " + options, "my", "my", `"my"`},
	}
	for i, kind := range slices.Sorted(maps.Keys(kinds)) {
		k, given := kinds[kind], 0
		if kind == "no" {
			given = exitNo
		}
		for n, cell := range []struct {
			name  string
			flags []string
			ask   string
			code  int    // of looprun ask
			by    string // empty: nobody
			run   int
		}{
			{"deny", []string{"--detached", "deny"}, "--default " + k.standard, exitNobody, "", 0},
			{"not set", nil, "--default " + k.standard, exitNobody, "", 0},
			{"defaults", []string{"--detached", "defaults"}, "--default " + k.standard, given, core.RespondedByDetached, 0},
			{"defaults without one", []string{"--detached", "defaults"}, "", exitNobody, "", 0},
			{"defaults and exclusive", []string{"--detached", "defaults"}, "--exclusive --default " + k.standard, exitNobody, "", 0},
			{"auto", []string{"--detached", "auto", "--assistant", "cat reply.json"}, "", given, core.RespondedByAssistant, 0},
			{"auto and exclusive", []string{"--detached", "auto", "--assistant", "cat reply.json"}, "--exclusive", exitNobody, "", 0},
			{"auto and a failure", []string{"--detached", "auto", "--assistant", "cat missing.json"}, "--default " + k.standard, exitNobody, "", 0},
			{"defer", []string{"--detached", "defer"}, "--default " + k.standard, exitDeferred, "", 102},
			{"defer and exclusive", []string{"--detached", "defer"}, "--exclusive", exitDeferred, "", 102},
		} {
			if !sampled(n-i+len(kinds), len(kinds)) {
				continue // each of them at one kind
			}
			if kind == "multi" && cell.by == core.RespondedByAssistant {
				cell.code, cell.by = exitNobody, "" // its reply can name one option alone
			}
			t.Run(kind+"/"+cell.name, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				writeFile(t, dir, "work.sh", "LOOPRUN "+k.ask+" "+cell.ask+" >answer\necho $? >code\nexit 0\n")
				writeFile(t, dir, "reply.json", `{"reason": "It is so.", "answer": `+k.reply+"}")
				s := begin(t, dir, append(slices.Clone(cell.flags), "--non-interactive", "--", "sh", "work.sh")...)
				if code := s.ended(t); code != cell.run {
					t.Errorf("the run ended with %d, want %d", code, cell.run)
				}
				if code := s.pid(t, "code"); code != cell.code {
					t.Errorf("looprun ask ended with %d, want %d", code, cell.code)
				}
				checkAsked(t, s, cell.by, k.want, cell.run == 102)
			})
		}
	}
}

// checkAsked checks what is on record of the one question of the command, and what
// the command was told.
func checkAsked(t *testing.T, s *started, by, want string, pending bool) {
	t.Helper()
	dir, err := findRun(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	j := readJournal(t, dir)
	j.failsClosed(t)
	told, err := os.ReadFile(s.file("answer"))
	if err != nil {
		t.Fatal(err)
	}
	answers := j.of(core.TypeQuestionAnswered)
	if n := len(j.of(core.TypeQuestionAsked)); n != 1 {
		t.Errorf("%d questions on record", n)
	}
	if got := j.state.Result().Pending; got != pending {
		t.Errorf("pending is %v", got)
	}
	if by == "" {
		if len(answers) != 0 || len(told) != 0 {
			t.Errorf("nobody answered, and the record has %+v; the command was told %q", answers, told)
		}
		return
	}
	if len(answers) != 1 || string(told) != want+"\n" {
		t.Fatalf("%d answers; the command was told %q, want %q", len(answers), told, want)
	}
	if a := answers[0].(core.QuestionAnswered); a.Responder != by || a.String() != want || a.Reason == "" {
		t.Errorf("the record has %s by %s: %q", a.String(), a.Responder, a.Reason)
	}
}
