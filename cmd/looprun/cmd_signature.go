package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/inputfile"
	"github.com/looprun/looprun/internal/review"
	"github.com/looprun/looprun/internal/strictjson"
	"github.com/looprun/looprun/signature"
)

// signatureCmd prints the signature of recorded output.
type signatureCmd struct {
	Files    []string `arg:"" optional:"" name:"file" help:"Recorded output; standard input without any."`
	ExitCode int      `default:"1" help:"The exit code that came with it (${default})."`
	Format   string   `enum:"text,hash,json" default:"text" help:"${enum}."`
	Explain  bool     `help:"Show the masked lines, and which rule found each fact."`
	Diff     bool     `help:"Say why two outputs are, or are not, the same failure."`
	config.RuleFlags

	rules *config.Signature
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
		f, err := inputfile.Open(name)
		if err != nil {
			return config.Unreadable(err)
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
	why, err := review.Sign(r, c.ExitCode, c.rules, nil, c.Explain)
	if err != nil {
		return err
	}
	sig := why.Signature
	if len(c.Files) < 2 {
		name = ""
	}
	switch c.Format {
	case "json":
		return encodeForm(w, "signature", signed{name, sig, why.Facts, why.Lines})
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
	if err := review.WriteSignature(w, sig); err != nil || !c.Explain {
		return err
	}
	return review.WriteExplanation(w, why)
}

// signed is what is known about an output.
type signed struct {
	File string `json:"file,omitempty"`
	signature.Signature
	Facts []signature.FoundFact  `json:"found,omitempty"`
	Lines []signature.MaskedLine `json:"lines,omitempty"`
}

// encodeForm writes a document on one line.
func encodeForm(w io.Writer, name string, v any) error {
	document, err := strictjson.Stamp(form(name), v)
	if err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(document)
}

// diff compares two recordings.
func (c *signatureCmd) diff(w io.Writer) error {
	if len(c.Files) != 2 {
		return config.Usage("--diff compares two files", fmt.Sprintf("name two, not %d", len(c.Files)))
	}
	var sigs [2]signature.Signature
	for i, name := range c.Files {
		f, err := inputfile.Open(name)
		if err != nil {
			return config.Unreadable(err)
		}
		why, err := review.Sign(f, c.ExitCode, c.rules, nil, false)
		f.Close()
		if err != nil {
			return err
		}
		sigs[i] = why.Signature
	}
	d := signature.Diff(sigs[0], sigs[1])
	if c.Format == "json" {
		return encodeForm(w, "signature-diff", d)
	}
	return review.WriteDifference(w, d, c.Files[0], c.Files[1])
}
