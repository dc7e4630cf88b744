package signature

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

// Signature says what the output of one iteration meant. Two outputs have equal
// hashes when a developer would call them the same failure.
type Signature struct {
	// Kind is one of the Kind constants.
	Kind string `json:"kind"`
	// Label is one short line of printable UTF-8 for people:
	// "test-fail:2-auth,logout". It is not unique; the hash is.
	Label string `json:"label"`
	// Hash is the strict hash: xxhash64 of the canonical facts.
	Hash Hash `json:"hash"`
	// Loose is Hash with every number masked. Equal loose with different strict
	// hashes means that only counts or values changed.
	Loose Hash `json:"loose"`
	// Core is the hash of which checks fail and how, without the values: equal cores
	// with different strict hashes mean that the same checks fail and only values
	// changed. Zero where no failing check is known by its name.
	Core Hash `json:"core,omitempty"`
	// Facts are the canonical facts, sorted, at most MaxFacts of them.
	Facts []string `json:"facts,omitempty"`
	// Failing, Passed and Total count checks; -1 is unknown, as where more than
	// 1,000 are named and none says how many they are.
	Failing int `json:"failing"`
	Passed  int `json:"passed"`
	Total   int `json:"total"`
	// Checks names failing checks, sorted, at most MaxChecks of them; Failing
	// counts all.
	Checks []string `json:"checks,omitempty"`
	// Errors are up to three error lines as the output had them, shortened and
	// without control characters.
	Errors []string `json:"errors,omitempty"`
}

// Bounds of what a Signature lists. The hashes cover more than is listed.
const (
	MaxFacts  = 100
	MaxChecks = 50
	MaxErrors = 3
)

// Pass is the signature of every passing check.
var Pass = Signature{Kind: KindPass, Label: "pass", Hash: 0x9a55_9a55_9a55_9a55, Loose: 0x9a55_9a55_9a55_9a55, Failing: 0, Passed: -1, Total: -1}
