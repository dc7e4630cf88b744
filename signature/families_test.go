package signature

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

type familyOutput struct {
	tool, state, kind, text string
	code                    int
}

func readFamilies(t *testing.T) (out []familyOutput) {
	t.Helper()
	raw, err := os.ReadFile("testdata/families.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(string(raw), "\n@@ ")[1:] {
		head, text, _ := strings.Cut(part, "\n")
		f := strings.Fields(head)
		if len(f) != 4 {
			t.Fatalf("heading %q: want tool, state, exit code and kind", head)
		}
		code, err := strconv.Atoi(f[2])
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, familyOutput{tool: f[0], state: f[1], kind: f[3], code: code, text: strings.ReplaceAll(text, "␛", "\x1b") + "\n"})
	}
	return out
}

// The same state of a tool gives the same signature, another state another one.
func TestFamilies(t *testing.T) {
	outs := readFamilies(t)
	sigs := make([]Signature, len(outs))
	for i, o := range outs {
		sigs[i] = sign(o.text, o.code)
		if o.kind != "*" && sigs[i].Kind != o.kind {
			t.Errorf("%s %s: kind %s (%s), want %s; facts %q", o.tool, o.state, sigs[i].Kind, sigs[i].Label, o.kind, sigs[i].Facts)
		}
	}
	for i, a := range outs {
		for j, b := range outs[:i] {
			if a.tool != b.tool {
				continue
			}
			if same := a.state == b.state; same != (sigs[i].Hash == sigs[j].Hash) {
				t.Errorf("%s %s and %s: want the same: %v\n%q\n%q", a.tool, a.state, b.state, same, sigs[i].Facts, sigs[j].Facts)
			}
		}
	}
}
