package policy

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/inputfile"
	"github.com/looprun/looprun/internal/problem"
	"github.com/looprun/looprun/internal/strictyaml"
)

// Source is a policy file as it was read.
type Source struct {
	Name string `json:"name"`
	Text string `json:"text"`
	// Included means that the file is included by the nearest file before it that is not
	// itself included.
	Included bool `json:"included,omitempty"`
	recorded bool // its tests are not run
}

// UnmarshalJSON reads a file as a run recorded it.
func (s *Source) UnmarshalJSON(data []byte) error {
	type source Source
	s.recorded = true
	return json.Unmarshal(data, (*source)(s))
}

// Sources are files that answer together; earlier files come first.
type Sources []Source

// Read reads the files, each followed by the files that it includes. It fails if a file cannot
// be read.
func Read(files ...string) (Sources, error) {
	var list Sources
	add := func(name string, included bool) error {
		data, err := strictyaml.Read(name)
		if err != nil {
			return err
		}
		list = append(list, Source{Name: name, Text: string(data), Included: included})
		return nil
	}
	for _, file := range files {
		if err := add(file, false); err != nil {
			return nil, fmt.Errorf("%w; %s", err, inputfile.Remedy(err))
		}
		text := []byte(list[len(list)-1].Text)
		for i, name := range Includes(text) {
			if err := add(Beside(file, name), true); err != nil {
				doc, _ := strictyaml.Decode(file, text, new(policyFile))
				line, column := doc.Pos("include", i)
				return nil, problem.List{{File: file, Line: line, Column: column, Text: fmt.Sprintf("the file that it includes cannot be read: %v", err), Remedy: "correct its name, which is relative to this file"}}
			}
		}
	}
	return list, nil
}

// Beside returns the path of a file that a policy includes.
func Beside(file, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(file), name)
}

// Includes returns the files that a policy names under include. It leaves it to [Parse] to
// report errors in the policy.
func Includes(data []byte) []string {
	var f struct {
		Include []string `yaml:"include"`
	}
	_ = yaml.Unmarshal(data, &f)
	return f.Include
}

// Policy parses the files as one policy. Rules are tried in the order of the files. An action
// that one file forbids under never is forbidden to all. The strictest budget applies; for
// every other setting, the first file that has it. The tests are those of the first file.
func (s Sources) Policy(known Known) (*Policy, error) {
	all := &Policy{known: known}
	var problems problem.List
	for i, source := range s {
		p, r := source.read(known)
		included := 0
		for i+1+included < len(s) && s[i+1+included].Included {
			included++
		}
		if n := len(Includes([]byte(source.Text))); source.Included && n > 0 || !source.Included && n != included {
			r.Value("the files under include are not read here", "an included file includes no others: name them all in the first", "include")
		}
		problems = append(problems, r.Problems...)
		if i == 0 {
			all = p
		} else {
			all.add(p)
		}
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	for i := range all.Rules {
		r := &all.Rules[i]
		if n := all.overruled(r); n != nil {
			problems = append(problems, problem.Problem{
				File: r.file, Line: r.line, Column: r.column,
				Text: fmt.Sprintf("the rule answers %s, and %s forbids it: %s", quote(r.Answer), n.where, n.action), Remedy: "remove the rule",
			})
		}
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	return all, nil
}

// Without returns an error with the rules that need something that the run does not have: a
// debug command or an agent, if debug is true, or a service to notify, if notify is true.
func (p *Policy) Without(debug, notify bool) error {
	var problems problem.List
	for _, r := range p.Rules {
		text, remedy := "", ""
		switch {
		case debug && r.can(p.known, func(a core.Action) bool { return a == core.ActionDebug }):
			text, remedy = "the rule answers "+quote(r.Answer)+", and there is neither a debug command nor an agent", "add --debug LINE or --agent NAME, or debug: or agent: to looprun.yaml"
		case notify && r.Notify:
			text, remedy = "the rule notifies, and there is no service to notify", "add notify: [URL] to looprun.yaml, or -o notify=URL"
		default:
			continue
		}
		problems = append(problems, problem.Problem{File: r.file, Line: r.line, Column: r.column, Text: text, Remedy: remedy})
	}
	return problems.Err()
}

// add puts another file's policy below this one.
func (p *Policy) add(q *Policy) {
	p.Rules = append(p.Rules, q.Rules...)
	p.Budget.Continues = least(p.Budget.Continues, q.Budget.Continues)
	p.Budget.Iterations = least(p.Budget.Iterations, q.Budget.Iterations)
	p.Budget.Runtime = least(p.Budget.Runtime, q.Budget.Runtime)
	p.Budget.Cost = least(p.Budget.Cost, q.Budget.Cost)
	p.Budget.Tokens = least(p.Budget.Tokens, q.Budget.Tokens)
	p.Budget.Daily = p.Budget.Daily || q.Budget.Daily
	p.nevers = append(p.nevers, q.nevers...)
	p.Detached = cmp.Or(p.Detached, q.Detached)
	codes := maps.Clone(q.ExitCodes)
	if codes == nil {
		codes = p.ExitCodes
	}
	maps.Copy(codes, p.ExitCodes)
	p.ExitCodes = codes
}

// least returns the stricter of two bounds, where zero means no bound.
func least[T int | float64 | time.Duration](a, b T) T {
	if a == 0 || b == 0 {
		return a + b
	}
	return min(a, b)
}

// overruled returns what forbids every answer that the rule can give; nil if at least one is
// allowed.
func (p *Policy) overruled(r *Rule) (by *never) {
	for _, guard := range r.scope() {
		o, _, why := r.option(p.known.question(guard))
		if why != "" {
			continue
		}
		if by = p.forbids(o.Action); by == nil {
			return nil
		}
	}
	return by
}
