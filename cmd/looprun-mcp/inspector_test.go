//go:build inspector && unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The inspector's command line, which is another implementation of the protocol, starts a
// loop, reads of it, and is told that it cannot show a person anything.
func TestInspector(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"tools/list"}, `"question_to_person"`},
		{[]string{"tools/call", "--tool-name", "loop_start", "--tool-arg", "command=sh -c true", "--tool-arg", "check=echo 'FAIL: test_login'; exit 1"}, `\"status\":\"running\"`},
		{[]string{"tools/call", "--tool-name", "loop_status", "--tool-arg", "wait_seconds=40"}, "same failure 3 times in a row"},
		{[]string{"tools/call", "--tool-name", "question_to_person"}, "this client shows the person no questions"},
		{[]string{"resources/read", "--uri", "looprun://latest/last-output"}, "FAIL: test_login"},
		{[]string{"resources/read", "--uri", "looprun://latest/../secret"}, "there is no such resource"},
	} {
		cmd := exec.Command("mcp-inspector", append([]string{"--cli", filepath.Join(bin, "looprun-mcp"), "--method"}, c.args...)...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "LOOPRUN=", "HOME="+dir, "LOOPRUN_STATE_DIR="+filepath.Join(dir, ".looprun"))
		out, _ := cmd.CombinedOutput()
		if !strings.Contains(string(out), c.want) {
			t.Fatalf("%v has no %q: %s", c.args, c.want, out)
		}
		t.Logf("%s: ok", c.args)
	}
}
