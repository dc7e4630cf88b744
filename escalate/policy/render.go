package policy

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/looprun/looprun/core"
)

// Write prints the evaluation as text: the known facts, each rule with the reason why it did
// not match, and the answer.
func (e Evaluation) Write(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "question: %s\n", e.Guard)
	for _, line := range e.known() {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	if len(e.Rules) > 0 {
		b.WriteString("rules:\n")
	}
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, v := range e.Rules {
		fmt.Fprintf(t, "  %s\t%s\t%s\n", v.Rule, v.Answer, v.line())
	}
	t.Flush()
	switch {
	case e.Answer != nil:
		fmt.Fprintf(&b, "answer: %s (%s)\nreason: %s\n", e.Answer.Option, e.Answer.Rule, e.Answer.Reason)
	case e.Why != "":
		fmt.Fprintf(&b, "answer: none, as %s\n", e.Why)
	default:
		b.WriteString("answer: none, as no rule matches\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// line describes the rule's result in a few words.
func (v Verdict) line() string {
	switch {
	case v.Matched && v.Verify != nil:
		return fmt.Sprintf("matches: %s exited with 0", quote(v.Verify.Command)) + v.inBrackets()
	case v.Matched:
		return "matches" + v.inBrackets()
	}
	return "no: " + v.Why
}

// known lists the known facts, several per line.
func (e Evaluation) known() []string {
	const width = 90
	var lines []string
	line := ""
	for _, fact := range core.FactList() {
		if fact.Name == "guard" || (fact.Unknown != nil && e.Facts.Unknown(fact)) {
			continue
		}
		text := fact.Name + "=" + show(e.Facts.Value(fact.Name))
		if line != "" && len(line)+len(text) > width {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimPrefix(line+" "+text, " ")
	}
	return append(lines, line)
}

// operators are those of conditions, the loosest first.
var operators = [][2]string{
	{"a || b, a or b", "one of them holds"},
	{"a && b, a and b", "both hold"},
	{"== !=", "values of one type are equal, or not"},
	{"< <= > >=", "numbers, or times such as 90s, 10m, 1h30m"},
	{"in, not in", `an entry of a list: signature in ["a", "b"]`},
	{"contains startsWith endsWith", "texts"},
	{"matches", `a regular expression: signature matches "^test-fail:"`},
	{"+ - * /", "numbers and times"},
	{"!a, not a", "it does not hold"},
	{"#", "an entry, inside all, any, none: any(failing_checks, # contains \"auth\")"},
	{"all(a list, true or false)", "the condition holds for each entry of the list: gives true or false"},
	{"any(a list, true or false)", "it holds for at least one: gives true or false"},
	{"none(a list, true or false)", "it holds for none: gives true or false"},
	{"len(anything)", "entries of a list, or characters of a text: gives a number"},
}

// WriteFunctions prints the operators and functions of conditions.
func WriteFunctions(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, o := range operators {
		fmt.Fprintf(t, "%s\t%s\n", o[0], o[1])
	}
	return t.Flush()
}

// WriteFacts prints a table of the facts that conditions can mention.
func WriteFacts(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, f := range core.FactList() {
		fmt.Fprintf(t, "%s\t%s\t%s\n", f.Name, f.Type, f.About())
	}
	return t.Flush()
}
