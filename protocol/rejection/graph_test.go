package rejection

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/looprun/looprun/internal/termsafe"
)

func TestGraph(t *testing.T) {
	g := BuildGraph(records())
	golden(t, "graph.dot", g.DOT())
	golden(t, "graph.json", asJSON(g))
	known := map[string]bool{}
	kinds := map[string]int{}
	for _, n := range g.Nodes {
		if known[n.ID] {
			t.Errorf("%s is there twice", n.ID)
		}
		known[n.ID] = true
		kinds[n.Kind]++
	}
	if want := map[string]int{NodeTask: 2, NodeRejection: 7, NodeBlocker: 3, NodeDecision: 5, NodeCreatedTask: 3}; !reflect.DeepEqual(kinds, want) {
		t.Errorf("%v, want %v", kinds, want)
	}
	for _, e := range g.Edges {
		if !known[e.From] || !known[e.To] {
			t.Errorf("%+v leads nowhere", e)
		}
	}
	for seed := range uint64(20) {
		if got := BuildGraph(shuffled(records(), seed)); !reflect.DeepEqual(got, g) {
			t.Fatalf("another order gives another graph:\n%s", got.DOT())
		}
	}
}

// asJSON returns the graph as JSON for a person.
func asJSON(g Graph) []byte {
	text, err := json.MarshalIndent(g, "", "  ")
	if err != nil {
		panic(err)
	}
	return append(text, '\n')
}

func TestEmptyGraph(t *testing.T) {
	g := BuildGraph(nil)
	if got, want := string(asJSON(g)), "{\n  \"nodes\": [],\n  \"edges\": []\n}\n"; got != want {
		t.Error(got)
	}
	if got, want := string(g.DOT()), "digraph rejections {\n  rankdir=LR;\n}\n"; got != want {
		t.Error(got)
	}
}

// Two rejections without an id are two.
func TestGraphWithoutIDs(t *testing.T) {
	r := Record{RunID: "r", Rejection: Rejection{Task: "t", ReasonType: Blocker}}
	if g := BuildGraph([]Record{r, r}); len(g.Nodes) != 3 || len(g.Edges) != 2 {
		t.Errorf("%s", g.DOT())
	}
}

// dotTokens reads DOT as Graphviz does: quoted texts, in which only a quote is
// escaped, and what is between them.
func dotTokens(t *testing.T, dot string) (texts []string, rest string) {
	t.Helper()
	for {
		before, quoted, found := strings.Cut(dot, `"`)
		rest += before
		if !found {
			return texts, rest
		}
		var text strings.Builder
		for i := 0; ; i++ {
			if i >= len(quoted) {
				t.Fatalf("a quoted text does not end: %q", quoted)
			}
			if quoted[i] == '"' {
				dot = quoted[i+1:]
				break
			}
			text.WriteByte(quoted[i])
			if quoted[i] == '\\' && i+1 < len(quoted) {
				i++
				text.WriteByte(quoted[i])
			}
		}
		texts = append(texts, text.String())
		rest += "T"
	}
}

// No text gets out of its quotes, whatever it holds.
func TestDOTInjection(t *testing.T) {
	texts := []string{hostile, `"`, `\`, `\"`, `\\"`, "a\\\nb", "\"];\nx [label=\"", "<b>", "&quot;", "&amp;", "\\N\\G", "\r\n", "\x00", "\xff", "\u2028"}
	for _, text := range texts {
		r := hostileRecord()
		r.RunID, r.ID, r.Rejection.Task, r.Rejection.BlockingFactor, r.Created, r.DecidedBy = text, text+"x", "t"+text, "b"+text, []string{text}, text
		g := BuildGraph([]Record{r})
		quoted, rest := dotTokens(t, string(g.DOT()))
		by := ""
		if !blank(termsafe.Line(text)) {
			by = ", by=T"
		}
		want := "digraph rejections {\n  rankdir=LR;\n" +
			"  T [shape=octagon, label=T, agent=T, reason_type=T, attempts=T, evidence=T];\n  T [shape=box, label=T];\n  T [shape=hexagon, label=T];\n  T [shape=diamond, label=T" + by + "];\n  T [shape=note, label=T];\n" +
			"  T -> T [label=T];\n  T -> T [label=T];\n  T -> T [label=T];\n  T -> T [label=T];\n}\n"
		if rest != want {
			t.Errorf("%q: outside of the quotes is %s", text, rest)
		}
		for _, q := range quoted {
			if q != termsafe.Line(q) {
				t.Errorf("%q is not safe to show", q)
			}
		}
		label := strings.NewReplacer(`\\`, `\`, `\"`, `"`, "&amp;", "&").Replace(quoted[len(quoted)-1-12]) // the created task, before 4 edges
		if label != termsafe.Line(text) {
			t.Errorf("the label reads %q, want %q", label, termsafe.Line(text))
		}
		var back struct{ Nodes []Node }
		if err := json.Unmarshal(asJSON(g), &back); err != nil || !reflect.DeepEqual(back.Nodes, g.Nodes) {
			t.Errorf("the JSON is another graph: %v %s", err, asJSON(g))
		}
	}
	bare := Graph{Nodes: []Node{{ID: "a\nb\x1b[1m", Label: "c\nd"}}}
	if got, want := string(bare.DOT()), "digraph rejections {\n  rankdir=LR;\n  \"a b\" [shape=box, label=\"c d\"];\n}\n"; got != want {
		t.Errorf("%q", got)
	}
	long := Graph{Nodes: []Node{{ID: "x", Label: strings.Repeat(`"`, 1000)}}}
	if dot := long.DOT(); len(dot) > 300 || !bytes.Contains(dot, []byte("…")) {
		t.Errorf("%s", dot)
	}
}
