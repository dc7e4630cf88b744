package policy_test

import (
	"errors"
	"fmt"

	"github.com/looprun/looprun/escalate/policy"
	"github.com/looprun/looprun/templates"
)

// The templates say what a rule can name; plateau is a guard of the program's own, which
// is asked about with the template for every guard.
func ExampleParse() {
	questions, err := templates.Load()
	if err != nil {
		fmt.Println(err)
		return
	}
	known := questions.Known("plateau")
	p, err := policy.Parse("ci.yaml", []byte("version: 1\nrules:\n  - {guard: plateau, answer: accept, reason: good enough}\n"), known)
	fmt.Println(p.Rules[0].Guards, err)
	_, err = policy.Parse("ci.yaml", []byte("version: 1\nrules:\n  - {guard: plateu, answer: accept, reason: good enough}\n"), known)
	var problems policy.Problems
	fmt.Println(errors.As(err, &problems), len(problems), err)
	// Output:
	// [plateau] <nil>
	// true 1 ci.yaml:3:13: unknown guard "plateu"; did you mean "plateau"?
}
