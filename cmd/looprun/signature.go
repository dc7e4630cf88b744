package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/looprun/looprun/signature"
)

// signatureCmd prints the signature of recorded output.
type signatureCmd struct {
	Files    []string `arg:"" optional:"" name:"file" help:"Recorded output; standard input without any."`
	ExitCode int      `default:"1" help:"The exit code that came with it (${default})." env:"-"`
	Format   string   `enum:"text,hash,json" default:"text" help:"${enum}." env:"-"`
}

func (signatureCmd) Help() string {
	return `Two outputs have the same hash exactly when they are the same failure.

Example:
  go test ./... 2>&1 | looprun signature --format hash`
}

func (c *signatureCmd) Run(a *app) error {
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
	sig, err := sign(r, c.ExitCode, workingDir())
	if err != nil {
		return err
	}
	if len(c.Files) < 2 {
		name = ""
	}
	switch c.Format {
	case "json":
		out := struct {
			File string `json:"file,omitempty"`
			signature.Signature
		}{name, sig}
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
	return printSignature(w, sig)
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
func sign(r io.Reader, exitCode int, dir string) (signature.Signature, error) {
	s := signature.New(signature.Options{Dir: dir})
	if _, err := io.Copy(s.Stdout(), r); err != nil {
		return signature.Signature{}, err
	}
	return s.Sum(exitCode), nil
}

func workingDir() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	return dir
}
