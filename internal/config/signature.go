package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/looprun/looprun/internal/inputfile"
	"github.com/looprun/looprun/internal/strictyaml"
	"github.com/looprun/looprun/signature"
)

// Signature is what a user adds to the computation of signatures: the key signature of
// looprun.yaml, or a separate file given with --signature-rules.
type Signature struct {
	// Mask holds regular expressions whose matches are noise.
	Mask []maskConfig `yaml:"mask" json:"mask,omitempty" doc:"Regular expressions whose matches are noise."`
	// Ignore holds regular expressions for lines that mean nothing.
	Ignore []ignoreConfig `yaml:"ignore" json:"ignore,omitempty" doc:"Regular expressions for lines that mean nothing."`
	// Extract holds rules that find facts.
	Extract []extractConfig `yaml:"extract" json:"extract,omitempty" doc:"Rules that find facts."`
	// Reports lists files that the command writes: JUnit XML, TAP, SARIF, JSON.
	Reports []string `yaml:"reports" json:"reports,omitempty" doc:"Files that the command writes: JUnit XML, TAP, SARIF, JSON."`
}

type maskConfig struct {
	Pattern string           `yaml:"pattern,required" json:"pattern" also:"minLength=1" doc:"What matches is noise."`
	Name    string           `yaml:"name" json:"name,omitempty" also:"pattern=^[A-Za-z_-]*$" doc:"What replaces it in the signature."`
	Source  signature.Source `yaml:"-" json:"source"`
}

type ignoreConfig struct {
	Pattern string           `yaml:"pattern,required" json:"pattern" also:"minLength=1" doc:"Lines that match mean nothing."`
	Source  signature.Source `yaml:"-" json:"source"`
}

type extractConfig struct {
	ID      string           `yaml:"id" json:"id,omitempty" doc:"The name of the rule, for looprun signature --explain."`
	Fact    string           `yaml:"fact,required" json:"fact" doc:"The fact that a line with a match represents."`
	Pattern string           `yaml:"pattern" json:"pattern,omitempty" also:"minLength=1" doc:"A pattern with places in braces; this or regexp."`
	Regexp  string           `yaml:"regexp" json:"regexp,omitempty" also:"minLength=1" doc:"A regular expression with named groups; this or pattern."`
	Source  signature.Source `yaml:"-" json:"source"`
}

// locate records the position of each pattern, for error messages.
func (c *Signature) locate(file string, doc *strictyaml.Document, path ...any) {
	at := func(key string, i int) signature.Source {
		line, _ := doc.Pos(append(append([]any{}, path...), key, i)...)
		return signature.Source{File: file, Line: line}
	}
	for i := range c.Mask {
		c.Mask[i].Source = at("mask", i)
	}
	for i := range c.Ignore {
		c.Ignore[i].Source = at("ignore", i)
	}
	for i := range c.Extract {
		c.Extract[i].Source = at("extract", i)
	}
}

// Options compiles the patterns. The error lists every invalid one.
func (c *Signature) Options(dir string) (signature.Options, error) {
	o := signature.Options{Dir: dir}
	if c == nil {
		return o, nil
	}
	var errs []error
	for _, m := range c.Mask {
		p, err := signature.NewMask(m.Pattern, m.Name, m.Source)
		o.Mask, errs = append(o.Mask, p), append(errs, err)
	}
	for _, m := range c.Ignore {
		p, err := signature.NewPattern(m.Pattern, m.Source)
		o.Ignore, errs = append(o.Ignore, p), append(errs, err)
	}
	for _, e := range c.Extract {
		r, err := signature.NewRule(signature.RuleText{ID: e.ID, Fact: e.Fact, Pattern: e.Pattern, Regexp: e.Regexp, Source: e.Source})
		o.Extract, errs = append(o.Extract, r), append(errs, err)
	}
	return o, errors.Join(errs...)
}

// RuleFlags are the user's own masks and rules, for trying them out.
type RuleFlags struct {
	SignatureRules string   `placeholder:"FILE" help:"Your own masks and rules, in YAML."`
	Mask           []string `placeholder:"REGEXP" help:"What matches is noise; repeatable." sep:"none"`
	Ignore         []string `placeholder:"REGEXP" help:"Lines that match mean nothing; repeatable." sep:"none"`
}

// Signature returns what the flags specify; nil if nothing.
func (f *RuleFlags) Signature() (*Signature, error) {
	c := &Signature{}
	if f.SignatureRules != "" {
		var err error
		if c, err = ReadRules(f.SignatureRules); err != nil {
			return nil, err
		}
	}
	for _, text := range f.Mask {
		c.Mask = append(c.Mask, maskConfig{Pattern: text, Source: signature.Source{File: "--mask"}})
	}
	for _, text := range f.Ignore {
		c.Ignore = append(c.Ignore, ignoreConfig{Pattern: text, Source: signature.Source{File: "--ignore"}})
	}
	_, err := c.Options("")
	return c, err
}

func (f *RuleFlags) Given() bool { return f.SignatureRules != "" || len(f.Mask)+len(f.Ignore) > 0 }

// ReadRules reads a file with the content of the key signature.
func ReadRules(file string) (*Signature, error) {
	text, err := strictyaml.Read(file)
	if err != nil {
		return nil, Usagef("%s: %v; %s", Flag("signature-rules"), err, inputfile.Remedy(err))
	}
	var c Signature
	doc, err := strictyaml.Decode(file, text, &c)
	if err != nil {
		return nil, fmt.Errorf("the rules cannot be used:\n%w", err)
	}
	c.locate(file, doc)
	_, err = c.Options("")
	return &c, err
}

// AddReports reads the reports that the command wrote since the iteration began. It ignores
// missing and older ones.
func (c *Signature) AddReports(dir string, s *signature.Signer, since time.Time, warn func(string, ...any)) {
	for _, name := range c.Reports {
		err := addReport(filepath.Join(dir, name), name, s, since)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			warn("the report %s cannot be read: %v", name, err)
		}
	}
}

func addReport(file, name string, s *signature.Signer, since time.Time) error {
	f, err := inputfile.OpenRegular(file)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.ModTime().Before(since.Add(-clockGrain)) {
		return err
	}
	return s.Report(name, io.LimitReader(f, reportLimit))
}

// clockGrain is how coarse file times may be.
const clockGrain = 20 * time.Millisecond

// reportLimit is how much of a report is read, in bytes.
const reportLimit = 64 << 20
