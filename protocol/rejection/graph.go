package rejection

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/termsafe"
)

// The kinds of nodes.
const (
	NodeTask        = "task"
	NodeRejection   = "rejection"
	NodeBlocker     = "blocker"
	NodeDecision    = "decision"
	NodeCreatedTask = "created_task"
)

// The kinds of edges. They follow the course of events.
const (
	EdgeRejected  = "rejected"   // from the task to its rejection
	EdgeBlockedBy = "blocked_by" // from the rejection to the blocker
	EdgeDecided   = "decided"    // from the rejection to the decision
	EdgeCreated   = "created"    // from the decision to a created task
	EdgeBefore    = "before"     // from a created task to one that depends on it
)

// Graph shows the relations between tasks, rejections, blockers, decisions and created tasks.
// Identical tasks and identical blockers share one node.
type Graph struct {
	Nodes []Node `json:"nodes"`
	Edges []Edge `json:"edges"`
}

// Node is one element of the graph.
type Node struct {
	ID    string `json:"id"` // the kind, a colon, and what makes it one of its kind
	Kind  string `json:"kind"`
	Label string `json:"label"` // one line, safe to show
	// Run is the run of a rejection or a decision, and Time when it was made.
	Run  string    `json:"run,omitempty"`
	Time time.Time `json:"time,omitzero"`
	// Rejection is the whole rejection, and Issues are the issues that make it invalid; nil if
	// the node is not a rejection.
	Rejection *Rejection `json:"rejection,omitempty"`
	Issues    []Issue    `json:"issues,omitempty"`
	// By is who made a decision, and Reason the reason.
	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// attributes returns the attributes of a node besides its label, with their names.
func (n Node) attributes() [][2]string {
	var list [][2]string
	add := func(name, value string) {
		if !blank(value) {
			list = append(list, [2]string{name, value})
		}
	}
	if r := n.Rejection; r != nil {
		add("agent", r.Agent)
		add("reason_type", string(r.ReasonType))
		add("attempts", fmt.Sprint(len(r.attempts())))
		add("evidence", fmt.Sprint(len(r.evidence())))
	}
	add("by", n.By)
	add("reason", n.Reason)
	if !n.Time.IsZero() {
		add("time", n.Time.UTC().Format(time.RFC3339))
	}
	return list
}

// Edge leads from one node to another.
type Edge struct {
	From string `json:"from"`
	To   string `json:"to"`
	Kind string `json:"kind"`
}

// BuildGraph returns the graph of the records. Nodes and edges are in chronological order,
// without duplicates; the order of the records does not matter.
func BuildGraph(records []Record) Graph {
	b := builder{graph: Graph{Nodes: []Node{}, Edges: []Edge{}}, seen: map[string]bool{}}
	for i, r := range ordered(records) {
		b.record(r, i)
	}
	return b.graph
}

type builder struct {
	graph Graph
	seen  map[string]bool
}

func (b *builder) record(r Record, i int) {
	id := r.ID
	switch {
	case id == "":
		id = fmt.Sprintf("%s/#%d", r.RunID, i+1)
	case !strings.HasPrefix(id, r.RunID):
		id = r.RunID + "/" + id
	}
	label := string(r.Rejection.ReasonType)
	if !blank(r.Rejection.Summary) {
		label += ": " + r.Rejection.Summary
	}
	if !r.Valid {
		label = "invalid " + label
	}
	rejection := b.node(NodeRejection, id, label)
	if n := &b.graph.Nodes[len(b.graph.Nodes)-1]; n.ID == rejection {
		n.Run, n.Time, n.Rejection = termsafe.Line(r.RunID), r.Time, new(r.Rejection.texts(termsafe.Text))
		n.Issues = convert.Each(r.Issues, func(i Issue) Issue {
			i.Problem = termsafe.Line(i.Problem)
			return i
		})
	}
	if task := r.Rejection.Task; !blank(task) {
		b.edge(b.node(NodeTask, termsafe.Line(task), task), rejection, EdgeRejected)
	}
	if factor := r.Rejection.BlockingFactor; r.Valid && !blank(factor) {
		b.edge(rejection, b.node(NodeBlocker, sameText(factor), factor), EdgeBlockedBy)
	}
	if !r.decided() {
		return
	}
	label = string(r.Decision)
	if !blank(r.DecidedBy) {
		label += " by " + r.DecidedBy
	}
	decision := b.node(NodeDecision, id, label)
	if n := &b.graph.Nodes[len(b.graph.Nodes)-1]; n.ID == decision {
		n.Run, n.Time, n.By, n.Reason = termsafe.Line(r.RunID), r.DecidedAt, termsafe.Line(r.DecidedBy), termsafe.Text(r.DecidedReason)
	}
	b.edge(rejection, decision, EdgeDecided)
	created := make([]string, len(r.Created))
	for n, task := range r.Created {
		created[n] = b.node(NodeCreatedTask, fmt.Sprintf("%s/%d", id, n+1), task)
		b.edge(decision, created[n], EdgeCreated)
	}
	if r.Decision == Decompose {
		b.dependencies(r.Rejection, created)
	}
}

// dependencies links the sub-tasks, which were created in order.
func (b *builder) dependencies(r Rejection, created []string) {
	tasks, _ := r.Subtasks() // where a link cannot be made there is none
	needs, _ := links(tasks)
	for i, n := range needs {
		for _, on := range n.on {
			if max(i, on) < len(created) {
				b.edge(created[on], created[i], EdgeBefore)
			}
		}
	}
}

// node adds a node if it is new, and returns its id.
func (b *builder) node(kind, id, label string) string {
	id = kind + ":" + termsafe.Line(id)
	if !b.seen[id] {
		b.seen[id] = true
		b.graph.Nodes = append(b.graph.Nodes, Node{ID: id, Kind: kind, Label: termsafe.Line(label)})
	}
	return id
}

func (b *builder) edge(from, to, kind string) {
	b.graph.Edges = append(b.graph.Edges, Edge{From: from, To: to, Kind: kind})
}

// outline returns the Graphviz shape for a kind of node.
func outline(kind string) string {
	shapes := map[string]string{NodeRejection: "octagon", NodeBlocker: "hexagon", NodeDecision: "diamond", NodeCreatedTask: "note"}
	return cmp.Or(shapes[kind], "box")
}

// DOT returns the graph in Graphviz's language. Labels are shortened to fit a node.
func (g Graph) DOT() []byte {
	var out bytes.Buffer
	out.WriteString("digraph rejections {\n  rankdir=LR;\n")
	for _, n := range g.Nodes {
		fmt.Fprintf(&out, "  %s [shape=%s, label=%s", dotText(n.ID), outline(n.Kind), dotLabel(termsafe.Short(n.Label, cell)))
		for _, a := range n.attributes() {
			fmt.Fprintf(&out, ", %s=%s", a[0], dotLabel(termsafe.Short(a[1], cell)))
		}
		out.WriteString("];\n")
	}
	for _, e := range g.Edges {
		fmt.Fprintf(&out, "  %s -> %s [label=%s];\n", dotText(e.From), dotText(e.To), dotLabel(e.Kind))
	}
	out.WriteString("}\n")
	return out.Bytes()
}

// dotText returns a quoted text. Backslashes are doubled, so that none precedes the closing
// quote and labels contain no escapes such as \N.
func dotText(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(termsafe.Line(s)) + `"`
}

// dotLabel returns a quoted text for places where Graphviz interprets entities.
func dotLabel(s string) string { return dotText(strings.ReplaceAll(s, "&", "&amp;")) }
