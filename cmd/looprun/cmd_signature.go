package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/signature"
)

// signatureCmd prints the signature of recorded output.
type signatureCmd struct {
	Files    []string `arg:"" optional:"" name:"file" help:"Recorded output; standard input without any."`
	ExitCode int      `default:"1" help:"The exit code that came with it (${default})." env:"-"`
	Format   string   `enum:"text,hash,json" default:"text" help:"${enum}." env:"-"`
	Explain  bool     `help:"Show the masked lines, and which rule found each fact." env:"-"`
	Diff     bool     `help:"Say why two outputs are, or are not, the same failure." env:"-"`
	config.RuleFlags

	rules *config.Signature
}

func (signatureCmd) Help() string {
	return `Two outputs have the same hash exactly when they are the same failure.

Example:
  looprun signature --format hash test.log`
}

func (c *signatureCmd) Run(a *app) (err error) {
	if c.rules, err = c.Signature(); err != nil {
		return err
	}
	if c.Diff {
		return c.diff(a.stdout)
	}
	if len(c.Files) == 0 {
		return c.print(a.stdout, "", a.stdin)
	}
	for _, name := range c.Files {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		err = c.print(a.stdout, name, f)
		f.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *signatureCmd) print(w io.Writer, name string, r io.Reader) error {
	why, err := sign(r, c.ExitCode, c.rules, c.Explain)
	if err != nil {
		return err
	}
	sig := why.Signature
	if len(c.Files) < 2 {
		name = ""
	}
	switch c.Format {
	case "json":
		out := struct {
			File string `json:"file,omitempty"`
			signature.Signature
			Facts []signature.FoundFact  `json:"found,omitempty"`
			Lines []signature.MaskedLine `json:"lines,omitempty"`
		}{name, sig, why.Facts, why.Lines}
		return json.NewEncoder(w).Encode(out)
	case "hash":
		if name != "" {
			name = "  " + name
		}
		_, err = fmt.Fprintf(w, "%s%s\n", sig.Hash, name)
		return err
	}
	if name != "" {
		fmt.Fprintf(w, "%s\n", name)
	}
	if err := printSignature(w, sig); err != nil || !c.Explain {
		return err
	}
	return printExplanation(w, why)
}

// printExplanation shows how the signature came about: what decided is marked.
func printExplanation(w io.Writer, why signature.Explanation) error {
	var b strings.Builder
	if len(why.Carriers) > 0 {
		fmt.Fprintf(&b, "\nopened     %s\n", strings.Join(why.Carriers, ", "))
	}
	for i, m := range why.Margins {
		if i == 0 {
			b.WriteString("\nmargins that were cut off:\n")
		}
		fmt.Fprintf(&b, "  %s\n", m)
	}
	b.WriteString("\nfacts that were found, * those that decide:\n")
	for _, f := range why.Facts {
		mark := " "
		if f.Used {
			mark = "*"
		}
		fmt.Fprintf(&b, "%s %-24s %s\n    %s\n", mark, f.Rule, f.Fact, f.Line)
	}
	b.WriteString("\nthe output without its noise:\n")
	for _, l := range why.Lines {
		fmt.Fprintf(&b, "  %s\n", l.Text)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// diff compares two recordings.
func (c *signatureCmd) diff(w io.Writer) error {
	if len(c.Files) != 2 {
		return config.Usage(fmt.Sprintf("--diff compares two files, and %d are given", len(c.Files)), "name two")
	}
	var sigs [2]signature.Signature
	for i, name := range c.Files {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		why, err := sign(f, c.ExitCode, c.rules, false)
		f.Close()
		if err != nil {
			return err
		}
		sigs[i] = why.Signature
	}
	d := signature.Diff(sigs[0], sigs[1])
	if c.Format == "json" {
		return json.NewEncoder(w).Encode(d)
	}
	return printDiff(w, d, c.Files[0], c.Files[1])
}

func printDiff(w io.Writer, d signature.Difference, a, b string) error {
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

func printSignature(w io.Writer, sig signature.Signature) error {
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

// sign reads recorded output as it would have streamed past.
func sign(r io.Reader, exitCode int, rules *config.Signature, explain bool) (signature.Explanation, error) {
	o, err := rules.Options(workingDir())
	if err != nil {
		return signature.Explanation{}, err
	}
	o.Explain = explain
	s := signature.New(o)
	if _, err := io.Copy(s.Stdout(), r); err != nil {
		return signature.Explanation{}, err
	}
	return s.Explain(s.Sum(exitCode)), nil
}

func workingDir() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	return dir
}
