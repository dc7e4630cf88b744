package main

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/looprun/looprun/internal/completion"
)

// Each command is parsed by a description of itself alone. Its help, what completes
// it and what is said of wrong words are those of the description of all.
func TestAPartSaysWhatTheWholeSays(t *testing.T) {
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
	for _, call := range calls {
		command, known := commandIn(call)
		if !known {
			t.Errorf("%q: the command is not known", call)
		}
		grammar, _ := part(command)
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
	for _, w := range words {
		model, err := modelFor(w)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := completion.Complete(model, w, lookup), completion.Complete(whole, w, lookup); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %+v, want %+v", w, got, want)
		}
	}
}

func helpOf(t *testing.T, grammar any, call []string) (text string) {
	t.Helper()
	var out bytes.Buffer
	exited := errors.New("exited")
	parser, err := newParser(grammar, kong.Writers(&out, &out), kong.Exit(func(int) { panic(exited) }), kong.Help(help))
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
