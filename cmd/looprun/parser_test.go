package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"slices"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/looprun/looprun/internal/completion"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/rounds"
)

// Each command is parsed by a description of itself alone. Its help, what completes
// it and what is said of wrong words are those of the description of all.
func TestAPartSaysWhatTheWholeSays(t *testing.T) {
	t.Parallel()
	whole, err := wholeModel()
	if err != nil {
		t.Fatal(err)
	}
	calls := [][]string{{"--help"}, {"-h"}, {"run", "--ask", "-h"}}
	words := [][]string{{}, {""}, {"-"}, {"--ma"}, {"l"}, {"nothing"}, {"nothing", ""}, {"--ask", ""}, {"--detached", ""}}
	var visit func(path []string, n *kong.Node)
	visit = func(path []string, n *kong.Node) {
		for _, child := range n.Children {
			p := append(path[:len(path):len(path)], child.Name)
			calls = append(calls, append(p[:len(p):len(p)], "--help"))
			for _, word := range []string{"", "-", "--f", "x"} {
				words = append(words, append(p[:len(p):len(p)], word))
			}
			for _, f := range child.Flags {
				words = append(words, append(p[:len(p):len(p)], "--"+f.Name, ""))
			}
			visit(p, child)
		}
	}
	visit(nil, whole.Node)
	for n, call := range calls {
		if n%rounds.Step(1) != 0 {
			continue
		}
		command, known := commandIn(call)
		if !known {
			t.Errorf("%q: the command is not known", call)
		}
		grammar, _ := part(command, command == "")
		want := helpOf(t, new(cli), call)
		if got := helpOf(t, grammar, call); got != want {
			t.Errorf("%q: got\n%s\nwant\n%s", call, got, want)
		}
		var out bytes.Buffer
		if p, err := (&app{stdout: &out, stderr: &out, args: call}).parse(call); err != nil || p.exited != 0 || out.String() != want {
			t.Errorf("%q: it ends with %d, %v, and prints\n%s\nwant\n%s", call, p.exited, err, out.String(), want)
		}
	}
	lookup := func(kind completion.Kind, at completion.Place) []completion.Candidate {
		return []completion.Candidate{{Value: string(kind)}}
	}
	for n, w := range words {
		if n%rounds.Step(1) != 0 {
			continue
		}
		model, err := modelFor(w)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := completion.Complete(model, w, lookup), completion.Complete(whole, w, lookup); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %+v, want %+v", w, got, want)
		}
	}
}

// What is wrong with words is said as by the description of all, of which a part is known.
func TestAPartRefusesAsTheWholeDoes(t *testing.T) {
	for _, call := range [][]string{
		{"--bogus"},
		{"--formt"},
		{"--wait", "--max-itr", "3"},
		{"run", "--bogus"},
		{"run", "--formt"},
		{"list", "--formt"},
		{"list", "--bogus"},
		{"lsit"},
		{"lsit", "--all"},
		{"lsit", "list"},
		{"run", "list"},
		{"list", "run", "x"},
		{"policy", "chek"},
		{"policy", "chek", "--formt"},
		{"policy", "test", "--formt"},
		{"stats", "rejections", "--formt"},
		{"hook", "status", "x"},
		{"help", "--formt"},
		{"--ask", "list"},
		{"--ask", "lsit"},
		{"--color", "never", "list", "--all"},
		{"--color", "never", "list", "--al"},
		{"--color", "never", "policy", "chek"},
		{"--agent", "x", "--bogus", "fix"},
		{"--agent", "x", "list", "--al"},
		{"--color", "blue"},
		{"list", "--format", "x"},
		{"-Z"},
		{"-c"},
		{"--ask", "--helpp"},
	} {
		said := func(parse func(*app) (parsed, error)) string {
			a := &app{stdout: io.Discard, stderr: io.Discard, args: call, say: &console.Observer{Messages: console.Messages{W: io.Discard}}}
			p, err := parse(a)
			if err != nil {
				t.Fatal(err)
			}
			if p.err == nil {
				return p.ctx.Command()
			}
			return a.parseError(p.err, p.model, call).Error()
		}
		got := said(func(a *app) (parsed, error) { return a.parse(call) })
		want := said(func(a *app) (parsed, error) {
			var c cli
			p, _, err := a.parseWith(&c, &c.commonFlags, call, whole)
			return p, err
		})
		if got != want || got == "" {
			t.Errorf("%q: got %s, want %s", call, got, want)
		}
	}
}

func helpOf(t *testing.T, grammar any, call []string) (text string) {
	t.Helper()
	var out bytes.Buffer
	exited := errors.New("exited")
	parser, err := newParser(grammar, kong.Writers(&out, &out), kong.Exit(func(int) { panic(exited) }), kong.Help(func(_ kong.HelpOptions, ctx *kong.Context) error { return help(ctx, helpWidth(nil)) }))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if r := recover(); r != exited {
			t.Errorf("%q: %v", call, r)
		}
		text = out.String()
	}()
	_, err = parser.Parse(call)
	t.Errorf("%q gives no help: %v", call, err)
	return ""
}

// A run is parsed by the flags alone that it may have been given: none that the arguments
// or the environment name is left out.
func TestARunKnowsTheFlagsItIsGiven(t *testing.T) {
	whole, err := wholeModel()
	if err != nil {
		t.Fatal(err)
	}
	run := slices.IndexFunc(whole.Children, func(n *kong.Node) bool { return n.Name == "run" })
	has := func(own, environ []string, name string) bool {
		some := someOf(own, environ, "Run")
		if some == nil {
			return true // all are known
		}
		parser, err := newParser(some.grammar)
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(parser.Model.Children[0].Flags, func(f *kong.Flag) bool { return f.Name == name })
	}
	for _, f := range whole.Children[run].Flags {
		if !has([]string{"--" + f.Name + "=x"}, nil, f.Name) || !has([]string{"--" + f.Name}, nil, f.Name) {
			t.Errorf("--%s is not known", f.Name)
		}
		for _, name := range f.Envs {
			if !has(nil, []string{name + "=x"}, f.Name) {
				t.Errorf("%s is not known", name)
			}
		}
		if f.Short != 0 && !has([]string{"-q" + string(f.Short)}, nil, f.Name) {
			t.Errorf("-%c is not known", f.Short)
		}
	}
	if has(nil, nil, "max-iterations") {
		t.Error("all flags are described without need")
	}
	for _, own := range [][]string{{"--help"}, {"-h"}, {"--agent", "x"}, {"--agent=x"}, {"--dry-run"}} {
		if someOf(own, nil, "Run") != nil {
			t.Errorf("%q needs all flags", own)
		}
	}
	if someOf(nil, []string{"LOOPRUN_AGENT=x"}, "Run") != nil {
		t.Error("the variable of --agent needs all flags")
	}
}

// What is parsed is the same as by all flags.
func TestSomeFlagsSayWhatAllSay(t *testing.T) {
	for _, own := range [][]string{
		{},
		{"run"},
		{"--max-iterations", "3", "-q", "--kill-after=2s", "--wait-on", "a", "--wait-on=b", "--exit-code", "accepted=3", "--done-codes", "0,7"},
		{"-ixq", "-c", "make --check", "--check=x", "--stdin", "-", "--detached", "defer,select=deny", "--keep-runs", "runs=2", "--run-id", "x"},
		{"run", "--retry=2", "--loop-often", "off", "--assistant-for", "guards", "--max-tokens=2M", "--no-pty", "--color", "never"},
	} {
		var all runOnly
		parser, err := newParser(&all)
		if err == nil {
			_, err = parser.Parse(own)
		}
		if err != nil {
			t.Fatalf("%q: %v", own, err)
		}
		some := someOf(own, nil, "Run")
		if parser, err = newParser(some.grammar); err == nil {
			_, err = parser.Parse(own)
		}
		if err != nil {
			t.Fatalf("%q: %v", own, err)
		}
		if got := some.run(); !reflect.DeepEqual(*got, all.Run) || !reflect.DeepEqual(*some.flags, all.commonFlags) {
			t.Errorf("%q: got %+v, want %+v", own, *got, all.Run)
		}
		type plain config.Options // by the tags of all
		got, err := json.Marshal(all.Run.Options)
		want, werr := json.Marshal(plain(all.Run.Options))
		if err != nil || werr != nil || !bytes.Equal(got, want) {
			t.Errorf("%q: as JSON %s, %v, want %s, %v", own, got, err, want, werr)
		}
	}
}

// What config show prints of some flags is what it prints of all.
func TestShowingSomeIsAsShowingAll(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("LOOPRUN_MAX_ERRORS", "7")
	for _, more := range [][]string{
		{},
		{"--max-iterations", "20"},
		{"--wait"},
		{"--retry=2", "--delay", "3s", "-q"},
		{"--exit-code", "done=3", "--check", "x"},
		{"--wait", "--ask", "--format", "json"},
		{"--detached", "defer", "-c", "make", "--templates", "a", "--templates", "b", "--ci", "off", "--max-cost", "2.5", "--no-pty"},
	} {
		own := append([]string{"config", "show"}, more...)
		shown := func(parse func(*app) (parsed, error)) string {
			var out bytes.Buffer
			a := &app{stdout: &out, stderr: io.Discard, args: own, say: &console.Observer{Messages: console.Messages{W: io.Discard}}}
			p, err := parse(a)
			if err == nil {
				err = p.err
			}
			if err == nil {
				err = p.run(a)
			}
			if err != nil {
				t.Fatalf("%q: %v", own, err)
			}
			return out.String()
		}
		got := shown(func(a *app) (parsed, error) { return a.parse(own) })
		want := shown(func(a *app) (parsed, error) {
			var c cli
			p, _, err := a.parseWith(&c, &c.commonFlags, own, whole)
			return p, err
		})
		if got != want {
			t.Errorf("%q: got\n%s\nwant\n%s", own, got, want)
		}
	}
	if someOf([]string{"config", "show"}, nil, "Config", "Show") == nil {
		t.Error("all flags are described without need")
	}
}
