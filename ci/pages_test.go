//go:build unix

package ci

import (
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
)

// codes are all exit codes of looprun's own, with the words that stand for them.
func codes() map[int][]string {
	words := map[int][]string{126: {"failed"}, 127: {"failed"}, 129: {"interrupted"}, 143: {"interrupted"}}
	for _, s := range []core.Status{
		core.StatusDone, core.StatusAccepted, core.StatusCancelled, core.StatusPaused, core.StatusRejected,
		core.StatusTripped, core.StatusFailed, core.StatusInterrupted,
	} {
		words[s.ExitCode()] = append(words[s.ExitCode()], string(s))
	}
	for _, g := range core.GuardIDs() {
		words[g.ExitCode()] = append(words[g.ExitCode()], "tripped", string(g))
	}
	return words
}

// An exit code in the examples and the pages is one of looprun's, and the word
// beside it is the right one.
func TestExitCodesInTheExamplesAndPages(t *testing.T) {
	number := regexp.MustCompile(`\b(?:0|1[0-4][0-9])\b`)
	word := regexp.MustCompile(`[a-z_]+`)
	known := codes()
	meanings := map[string]bool{}
	for _, words := range known {
		for _, w := range words {
			meanings[w] = true
		}
	}
	// A comment of an example, or a row of a table: codes, then what they mean.
	said := regexp.MustCompile(`(?m)^(.*?)(?:#|\|)([^#|\n]+)\|?.*$`)
	files, err := filepath.Glob("../examples/ci/*")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob("../docs/ci/*.md")
	if err != nil || len(pages) != 6 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	checked := 0
	for _, file := range append(files, pages...) {
		text := read(t, file)
		if strings.HasSuffix(file, "policy.yaml") {
			continue // it names none
		}
		for _, n := range regexp.MustCompile(`\b1[0-4][0-9]\b`).FindAllString(text, -1) {
			if code, _ := strconv.Atoi(n); len(known[code]) == 0 {
				t.Errorf("%s: %d is not an exit code of looprun's", file, code)
			}
		}
		for _, m := range said.FindAllStringSubmatch(strings.ReplaceAll(text, "\n| ", "\n"), -1) {
			var allowed []string
			for _, n := range number.FindAllString(m[1], -1) {
				code, _ := strconv.Atoi(n)
				allowed = append(allowed, known[code]...)
			}
			if len(allowed) == 0 {
				continue
			}
			for _, w := range word.FindAllString(m[2], -1) {
				if meanings[w] {
					if checked++; !slices.Contains(allowed, w) {
						t.Errorf("%s: %q stands beside %q", file, w, m[1])
					}
				}
			}
		}
	}
	if checked < 15 {
		t.Errorf("%d meanings were checked: are they still written as they were?", checked)
	}
}

// A page shows the example as it is.
func TestPagesShowTheExamples(t *testing.T) {
	for page, example := range map[string]string{
		"github": "github.yml", "gitlab": "gitlab-ci.yml", "buildkite": "buildkite.yml", "azure": "azure-pipelines.yml", "generic": "generic.sh",
	} {
		text, want := read(t, "../docs/ci/"+page+".md"), read(t, "../examples/ci/"+example)
		if !strings.Contains(text, "\n"+want+"```\n") {
			t.Errorf("docs/ci/%s.md does not show examples/ci/%s as it is", page, example)
		}
	}
}
