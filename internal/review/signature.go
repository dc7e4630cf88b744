package review

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/looprun/looprun/internal/agent"
	"github.com/looprun/looprun/internal/carrier"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/signature"
)

// Sign signs recorded output as if it had streamed past.
func Sign(r io.Reader, exitCode int, rules *config.Signature, own agent.Agents, explain bool) (signature.Explanation, error) {
	s, err := read(r, rules, own, explain)
	if err != nil {
		return signature.Explanation{}, err
	}
	return s.Explain(s.Sum(exitCode)), nil
}

func read(r io.Reader, rules *config.Signature, own agent.Agents, explain bool) (*signature.Signer, error) {
	dir, _ := os.Getwd() // without one, no path is made relative
	o, err := rules.Options(dir)
	if err != nil {
		return nil, err
	}
	o.Explain, *carrier.Of(&o) = explain, own.Carriers()
	s := signature.New(o)
	_, err = io.Copy(s.Stdout(), r)
	return s, err
}

// WriteSignature prints the parts of a signature.
func WriteSignature(w io.Writer, sig signature.Signature) error {
	var b strings.Builder
	fmt.Fprintf(&b, "label    %s\nkind     %s\nhash     %s\nloose    %s\n", sig.Label, sig.Kind, sig.Hash, sig.Loose)
	for _, n := range []struct {
		name  string
		value int
	}{{"failing", sig.Failing}, {"passed", sig.Passed}, {"total", sig.Total}} {
		if n.value >= 0 {
			fmt.Fprintf(&b, "%-8s %d\n", n.name, n.value)
		}
	}
	for _, f := range sig.Facts {
		fmt.Fprintf(&b, "fact     %s\n", f)
	}
	for _, e := range sig.Errors {
		fmt.Fprintf(&b, "error    %s\n", e)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteExplanation shows how the signature came about, marking what decided.
func WriteExplanation(w io.Writer, why signature.Explanation) error {
	var b strings.Builder
	if len(why.Carriers) > 0 {
		fmt.Fprintf(&b, "\nopened     %s\n", strings.Join(why.Carriers, ", "))
	}
	for i, m := range why.Margins {
		if i == 0 {
			b.WriteString("\nmargins removed:\n")
		}
		fmt.Fprintf(&b, "  %s\n", m)
	}
	if len(why.Facts) > 0 {
		b.WriteString("\nfacts found (* decides the hash):\n")
	}
	for _, f := range why.Facts {
		mark := " "
		if f.Used {
			mark = "*"
		}
		fmt.Fprintf(&b, "%s %-24s %s\n    %s\n", mark, f.Rule, f.Fact, f.Line)
	}
	b.WriteString("\noutput with its noise masked:\n")
	for _, l := range why.Lines {
		fmt.Fprintf(&b, "  %s\n", l.Text)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteDifference explains why two outputs are, or are not, the same failure.
func WriteDifference(w io.Writer, d signature.Difference, a, b string) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%s\n", d.Why)
	for _, part := range []struct {
		title string
		facts []string
	}{{"in both", d.Common}, {"only in " + a, d.OnlyA}, {"only in " + b, d.OnlyB}} {
		if len(part.facts) > 0 {
			fmt.Fprintf(&text, "%s:\n", part.title)
		}
		for _, f := range part.facts {
			fmt.Fprintf(&text, "  %s\n", f)
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}
