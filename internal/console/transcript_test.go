package console

import (
	"bytes"
	"strings"
	"testing"
)

const agentTurn = `starting
{"type":"assistant","message":{"model":"m","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"go test"}}]},"session_id":"s","uuid":"v"}
{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"ok \u001b]0;title\u0007\u001b[31mred"}]},"session_id":"s","uuid":"u"}
{"no":"agent"}
{"type":"result","subtype":"success","is_error":false,"result":"All tests pass.","session_id":"s"}
the end`

// An agent's JSON is shown as text, however it comes; what it hides from a terminal stays
// hidden, and what is no agent's passes as it is.
func TestTranscript(t *testing.T) {
	want := "starting\n[Bash] {\"command\":\"go test\"}\n  ok red\n{\"no\":\"agent\"}\nAll tests pass.\nthe end"
	for _, end := range []string{"\n", "\r\n"} {
		in := strings.ReplaceAll(agentTurn, "\n", end)
		for _, n := range []int{1, 7, len(in)} {
			var out bytes.Buffer
			s := NewTranscript(&out, nil)
			for range 2 { // of two iterations
				out.Reset()
				for rest := in; rest != ""; {
					k := min(n, len(rest))
					_, _ = s.Write([]byte(rest[:k]))
					rest = rest[k:]
				}
				s.Flush()
				if got := strings.ReplaceAll(out.String(), "\r\n", "\n"); got != want {
					t.Errorf("in pieces of %d: %q, want %q", n, got, want)
				}
			}
		}
	}
}

// A line that is no agent's is shown as it comes, also before it is whole.
func TestTranscriptHoldsNothingElseBack(t *testing.T) {
	var out bytes.Buffer
	s := NewTranscript(&out, nil)
	for _, piece := range []string{"10%", "\r20%", "\nPassword: "} {
		out.Reset()
		_, _ = s.Write([]byte(piece))
		if out.String() != piece {
			t.Errorf("%q is shown of %q", out.String(), piece)
		}
	}
}

// What an agent tells of its own calls of the model is not for people.
func TestTranscriptOfCopilot(t *testing.T) {
	var out bytes.Buffer
	s := NewTranscript(&out, nil)
	_, _ = s.Write([]byte(`{"type":"assistant.turn_start","data":{"turnId":"0"},"id":"a","timestamp":"2026-01-02T03:04:05Z","parentId":"p"}
{"type":"model.call_start","data":{"turnId":"0","model":"m"},"ephemeral":true,"id":"b","timestamp":"2026-01-02T03:04:05Z","parentId":"a"}
{"type":"model.call_finished","data":{"turnId":"0","outcome":"success"},"ephemeral":true,"id":"c","timestamp":"2026-01-02T03:04:06Z","parentId":"a"}
{"type":"assistant.message","data":{"messageId":"m","content":"I am done.","toolRequests":[]},"id":"d","timestamp":"2026-01-02T03:04:06Z","parentId":"a"}
{"type":"model.call_final_result","data":{"model":"m","result":"success"},"ephemeral":true,"id":"e","timestamp":"2026-01-02T03:04:06Z","parentId":"a"}
`))
	s.Flush()
	if got := out.String(); got != "I am done.\n" {
		t.Errorf("%q", got)
	}
}
