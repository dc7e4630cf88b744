package assistant

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
)

// stub puts a program of that name in the place of the real one. It keeps its
// arguments, one a line, and its input in dir, and then runs the script.
func stub(t *testing.T, name, script string) (dir string, env []string) {
	t.Helper()
	dir = t.TempDir()
	text := "#!/bin/sh\nprintf '%s\\n' \"$@\" >\"$STUB_DIR/args\"\ncat >\"$STUB_DIR/stdin\"\n" + script + "\n"
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir, append(os.Environ(), "STUB_DIR="+dir, "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

func stubbed(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What each agent's command line prints for a reply, and for a failure.
var agents = map[string]struct {
	reply string
	fail  []string
	args  []string
}{
	"claude": {
		reply: `echo '{"type": "result", "is_error": false, "result": "text", "structured_output": {"reason": "Stuck.", "answer": "cancel"}}'`,
		fail: []string{
			`echo '{"type": "result", "is_error": true, "result": "Credit balance is too low", "structured_output": {"reason": "r", "answer": "continue"}}'`,
			`echo '{"type": "result", "is_error": false, "result": "continue"}'`,
		},
		args: []string{"-p", "--json-schema", `{"type":"object"`},
	},
	"codex": {
		reply: `while [ $# -gt 0 ]; do
  case $1 in
  --output-schema) grep -q '"enum":\["continue","accept","cancel"\]' "$2" || exit 9 ;;
  --output-last-message) printf '{"reason": "Stuck.", "answer": "cancel"}' >"$2" ;;
  esac
  shift
done
echo thinking`,
		fail: []string{`echo '{"reason": "r", "answer": "continue"}'`},
		args: []string{"exec", "read-only", "--output-schema"},
	},
	"gemini": {
		reply: "printf '%s' '{\"response\": \"```json\\n{\\\"reason\\\": \\\"Stuck.\\\", \\\"answer\\\": \\\"cancel\\\"}\\n```\", \"stats\": {}}'",
		fail: []string{
			`echo '{"error": {"message": "quota"}, "response": "{}"}'`,
			`echo '{"stats": {}}'`,
		},
		args: []string{"-p", "--output-format"},
	},
}

func TestExampleScripts(t *testing.T) {
	if _, err := exec.LookPath("jq"); err != nil {
		t.Skip("the scripts need jq")
	}
	for name, agent := range agents {
		t.Run(name, func(t *testing.T) {
			script, err := filepath.Abs(filepath.Join("..", "..", "examples", "assistants", name+".sh"))
			if err != nil {
				t.Fatal(err)
			}
			respond := func(does string) (dir string, a core.Answer, err error) {
				dir, env := stub(t, name, does)
				a, err = New(Options{Command: `exec "` + script + `"`, Env: env, Delays: []time.Duration{}}).Respond(t.Context(), trip(), stuck())
				return dir, a, err
			}
			dir, a, err := respond(agent.reply)
			if want := (core.Answer{Option: "cancel", Responder: core.RespondedByAssistant, Reason: "Stuck."}); err != nil || !reflect.DeepEqual(a, want) {
				t.Fatalf("%+v %v", a, err)
			}
			if stdin := stubbed(t, dir, "stdin"); !strings.Contains(stdin, `"schema":"`+RequestSchemaID+`"`) {
				t.Errorf("it reads\n%s", stdin)
			}
			for _, want := range agent.args {
				if args := stubbed(t, dir, "args"); !strings.Contains(args, want) {
					t.Errorf("%s is not among\n%s", want, args)
				}
			}
			for _, does := range append(agent.fail, "exit 1", agent.reply+"; exit 7", "echo continue", "") {
				if _, a, err := respond(does); err == nil || a.Option != "" {
					t.Errorf("%s: %+v %v", does, a, err)
				}
			}
		})
	}
}
