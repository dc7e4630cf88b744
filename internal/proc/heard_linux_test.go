package proc

import "testing"

// What a guardian still says of a command that has ended is no news of the next: an
// end can be asked for in the moment in which the command ends by itself.
func TestALateAnswerIsNotOfTheNextCommand(t *testing.T) {
	for n := range 50 {
		p := must(t, Spec{Argv: []string{"sleep", "600"}})
		p.Stop(0)
		p.Stop(0)
		await(t, p)
		if exit := run(t, Spec{Argv: []string{"true"}}); exit.Cause != Exited || exit.Code != 0 {
			t.Fatalf("the command after the stopped one, %d: %+v", n, exit)
		}
	}
}
