package main

import (
	"bytes"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/looprun/looprun/internal/fakemodel"
)

// standIns is where the manual's stand-ins find what the agents do and print: turns 1, 2 and
// so on of the story mends, and turn 0 of the one in which nothing is done.
const standIns = "../../cmd/looprun/testdata/docs/turns"

// turns returns the stories of the stand-ins, one process each.
func turns() story { return append(story{stories["nothing"][0]}, stories["mends"]...) }

// texts returns what a turn does and says, by file name.
func texts() map[string]string {
	files := map[string]string{}
	for i, process := range turns() {
		var lines []string
		for _, step := range process[:len(process)-1] {
			lines = append(lines, strings.TrimPrefix(step, "$ ")+"\n")
		}
		files[fmt.Sprintf("%d.sh", i)] = strings.Join(lines, "")
		files[fmt.Sprintf("%d.txt", i)] = process[len(process)-1] + "\n"
	}
	return files
}

// record writes them, and each agent's output for such a turn.
func record(dir string) error {
	for name, text := range texts() {
		if err := place(filepath.Join(dir, name), text); err != nil {
			return err
		}
	}
	for _, k := range kits {
		for format, args := range k.prints {
			for i, process := range turns() {
				out, err := k.print(args, process)
				if err != nil {
					return fmt.Errorf("%s, turn %d: %w", k.name, i, err)
				}
				if err := place(filepath.Join(dir, fmt.Sprintf("%s.%s.%d", k.name, format, i)), out); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// print returns the agent's output for one turn, always from the same folder.
func (k kit) print(args, process []string) (string, error) {
	root := filepath.Join(os.TempDir(), "looprun-stand-in")
	defer os.RemoveAll(root)
	dir, home := filepath.Join(root, "testfix"), filepath.Join(root, "home")
	if err := os.RemoveAll(root); err != nil {
		return "", err
	}
	if err := os.CopyFS(dir, os.DirFS("../../examples/testfix")); err != nil {
		return "", err
	}
	server := httptest.NewServer(fakemodel.New(k.script(story{process})))
	defer server.Close()
	if err := k.prepare(dir, server.URL); err != nil {
		return "", err
	}
	env, err := k.environ(home, server.URL)
	if err != nil {
		return "", err
	}
	var out, said bytes.Buffer
	line := append([]string{"git init -q . && exec \"$@\"", "sh", k.name}, append(args, k.flags(server.URL)...)...)
	cmd := exec.Command("sh", append([]string{"-c"}, line...)...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, env, strings.NewReader("Make the tests pass.\n"), &out, &said
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%w: %s%s", err, &said, &out)
	}
	return out.String(), nil
}
