package signal_test

import (
	"fmt"

	"github.com/looprun/looprun/protocol/signal"
)

func ExampleScanner() {
	var s signal.Scanner
	for _, line := range []string{
		"I will print LOOPRUN_DONE when all tests pass.",
		"LOOPRUN_PROGRESS: auth-12", "Two of three tests pass.",
		"LOOPRUN_BLOCKED: auth-12", "Question: Which key signs the tokens?",
	} {
		s.Line([]byte(line), false)
	}
	signals, malformed := s.Result()
	for _, sig := range signals {
		fmt.Printf("%s %s: %s%s\n", sig.Name, sig.Task, sig.Text, sig.Question)
	}
	fmt.Println(signals[signal.Acting(signals)].Name, "acts;", len(malformed), "malformed")
	// Output:
	// progress auth-12: Two of three tests pass.
	// blocked auth-12: Which key signs the tokens?
	// blocked acts; 0 malformed
}
