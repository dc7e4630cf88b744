package signature

import (
	"fmt"
	"strconv"
)

// The kinds of signature, from the most to the least telling.
const (
	KindPass      = "pass"       // the judge exited with 0
	KindTestFail  = "test-fail"  // checks failed
	KindBuildFail = "build-fail" // a compiler, linker or build tool gave diagnostics
	KindLintFail  = "lint-fail"  // a linter or type checker gave findings
	KindError     = "error"      // something else went wrong and said so
	KindOutput    = "output"     // nothing known was found: the masked lines decide
	KindSilent    = "silent"     // no output at all: the exit code decides
)

// Signature is what the output of one iteration meant. Two outputs have equal hashes when a
// developer would call them the same failure.
type Signature struct {
	// Kind is one of the Kind constants.
	Kind string `json:"kind"`
	// Label is one short line of printable UTF-8 for people: "test-fail:2-auth,logout". Unlike
	// the hash, it is not unique.
	Label string `json:"label"`
	// Hash is the strict hash: xxhash64 of the canonical facts.
	Hash Hash `json:"hash"`
	// Loose is Hash with every number masked. Equal loose hashes with different strict ones
	// mean that only counts or values changed.
	Loose Hash `json:"loose"`
	// Core is the hash of which checks fail and how, without the values: equal cores with
	// different strict hashes mean that the same checks fail and only values changed. Zero if
	// no failing check has a name.
	Core Hash `json:"core,omitempty"`
	// Facts are the canonical facts, sorted, at most MaxFacts of them.
	Facts []string `json:"facts,omitempty"`
	// Failing, Passed and Total count checks; -1 means unknown, for example if the output
	// names more than 1,000 and does not state how many there are.
	Failing int `json:"failing"`
	Passed  int `json:"passed"`
	Total   int `json:"total"`
	// Checks holds the names of failing checks, sorted, at most MaxChecks of them; Failing
	// counts all.
	Checks []string `json:"checks,omitempty"`
	// Errors holds up to three error lines from the output, shortened and without control
	// characters.
	Errors []string `json:"errors,omitempty"`
}

// Limits of what a Signature lists. The hashes cover more than is listed.
const (
	MaxFacts  = 100
	MaxChecks = 50
	MaxErrors = 3
)

// Pass is the signature of every passing check.
var Pass = Signature{Kind: KindPass, Label: "pass", Hash: 0x9a55_9a55_9a55_9a55, Loose: 0x9a55_9a55_9a55_9a55, Failing: 0, Passed: -1, Total: -1}

// Hash is the 64-bit form of a signature. Zero means "no signature" and equals nothing. As
// text, including in JSON, it is 16 lower-case hex digits.
type Hash uint64

// String returns the 16 hex digits.
func (h Hash) String() string { return fmt.Sprintf("%016x", uint64(h)) }

// MarshalText returns the 16 hex digits; it never fails.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText parses the output of MarshalText. Anything but 16 hex digits is an error that
// quotes the text.
func (h *Hash) UnmarshalText(b []byte) error {
	if len(b) != 16 {
		return fmt.Errorf("signature hash %q: want 16 hex digits", b)
	}
	v, err := strconv.ParseUint(string(b), 16, 64)
	if err != nil {
		return fmt.Errorf("signature hash %q: want 16 hex digits", b)
	}
	*h = Hash(v)
	return nil
}
