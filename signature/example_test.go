package signature_test

import (
	"fmt"
	"io"

	"github.com/looprun/looprun/signature"
)

// Two outputs are the same failure when their hashes are, whatever the times in them.
func ExampleSigner() {
	s := signature.New(signature.Options{})
	sign := func(output string) signature.Signature {
		s.Reset()
		_, _ = io.WriteString(s.Stdout(), output)
		return s.Sum(1)
	}
	first := sign("--- FAIL: TestAuth (0.01s)\nFAIL\n")
	again := sign("--- FAIL: TestAuth (0.42s)\nFAIL\n")
	other := sign("--- FAIL: TestLogout (0.01s)\nFAIL\n")
	fmt.Println(first.Label, first.Hash == again.Hash, first.Hash == other.Hash)
	fmt.Println(signature.Diff(first, other).Why)
	// Output:
	// test-fail:1-auth true false
	// facts differ: only the first has "check TestAuth", only the second has "check TestLogout"
}
