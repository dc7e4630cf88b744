package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/escalate/user"
	"github.com/looprun/looprun/internal/nearest"
)

// interview asks the person at the terminal, and nobody else: nothing that is
// piped into looprun answers.
type interview struct {
	ctx  context.Context
	user looprun.Responder
}

// ask asks what cannot be known. Enter alone takes what was found.
func (s *setup) ask(ctx context.Context, a *app, found []project, given bool) error {
	o := user.Options{NoColor: !a.promptColours()}
	if err := user.Available(o); err != nil {
		return &usageError{strings.TrimSuffix(err.Error(), ": "+looprun.ErrNoAnswer.Error()), "use --yes to take what is found here, or --dry-run to see it first"}
	}
	i := interview{ctx, user.New(o)}
	if !given {
		if err := i.project(s, found); err != nil {
			return err
		}
		check, err := i.text("Done", "Which shell line says that it is done, by its exit code 0?", s.check, nil, wantLine)
		if err != nil {
			return err
		}
		if check != s.check {
			s.check, s.verify, s.found = check, "", ""
		}
	}
	var err error
	s.iterations, err = i.text("Limit", "How many iterations may a run have? A number, or off.", s.iterations, nil, wantCount)
	if err != nil {
		return err
	}
	s.policy, err = i.confirm("CI", "Write a policy too, which answers where no person can be asked?")
	return err
}

// project asks which one is meant where several were found.
func (i interview) project(s *setup, found []project) error {
	if len(found) < 2 {
		return nil
	}
	var kinds, details []string
	for _, p := range found {
		kinds = append(kinds, p.kind)
		details = append(details, fmt.Sprintf("%s: %s (%s)", p.kind, p.check, p.file))
	}
	kind, err := i.text("Project", "There are "+strings.Join(kinds, ", ")+" here. Which of them is to be tested?", kinds[0], details, func(word string) error {
		for _, kind := range kinds {
			if word == kind {
				return nil
			}
		}
		return fmt.Errorf("%q is none of them; %s", word, nearest.DidYouMean(word, kinds))
	})
	if err != nil {
		return err
	}
	for _, p := range found {
		if p.kind == kind {
			s.choose(p)
		}
	}
	return nil
}

// text asks until the answer is one that can be used.
func (i interview) text(header, question, preset string, details []string, wrong func(string) error) (string, error) {
	q := looprun.Question{ID: "init", Kind: looprun.KindText, Header: "looprun init · " + header, Text: question, Default: preset, Details: details}
	for {
		a, err := i.user.Respond(i.ctx, q, nil)
		if err != nil {
			return "", i.failed(err)
		}
		if a.Text == nil {
			return "", errors.New("the prompt gave no text; nothing was written")
		}
		err = wrong(*a.Text)
		if err == nil {
			return *a.Text, nil
		}
		q.Details = append(details[:len(details):len(details)], "That does not work: "+err.Error()+".")
	}
}

func (i interview) confirm(header, question string) (bool, error) {
	word, err := i.text(header, question+" yes or no", looprun.Yes, nil, func(word string) error {
		if word == looprun.Yes || word == looprun.No {
			return nil
		}
		return fmt.Errorf("%q is neither yes nor no", word)
	})
	return word == looprun.Yes, err
}

// failed makes sure that it is said what became of the files.
func (i interview) failed(err error) error {
	if errors.Is(err, looprun.ErrInterrupted) || i.ctx.Err() != nil {
		return looprun.ErrInterrupted
	}
	return fmt.Errorf("nothing was written: %w", err)
}

func wantLine(line string) error {
	if strings.TrimSpace(line) == "" {
		return errors.New("it is empty")
	}
	return nil
}

func wantCount(word string) error {
	var n countLimit
	return n.UnmarshalText([]byte(word))
}
