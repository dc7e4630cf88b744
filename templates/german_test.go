package templates_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/escalate/user"
	"github.com/looprun/looprun/templates"
)

const german = "../examples/templates/german"

// The pack in examples/templates has every question and every text, and none of its screens
// shows a word of the built-in ones.
func TestGermanScreens(t *testing.T) {
	if _, err := templates.Examine(true, german); err != nil {
		t.Fatal(err)
	}
	set, err := templates.Load(german)
	if err != nil {
		t.Fatal(err)
	}
	known, english := wordsIn(t, german), wordsIn(t, "builtin")
	ids := append(append([]core.GuardID{templates.AnyGuard}, core.GuardIDs()...), core.ProtocolIDs()...)
	for _, id := range ids {
		state, trip := templates.Sample(id)
		data, err := json.Marshal([]any{state, trip})
		if err != nil {
			t.Fatal(err)
		}
		own := word.FindAllString(string(data), -1)
		q, err := set.Question(state, trip)
		if err != nil {
			t.Fatal(err)
		}
		screen, err := user.Preview(q, 80, set)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(german, "golden", strings.ReplaceAll(string(id), "*", "other")+".txt")
		if kept, err := os.ReadFile(file); err != nil || string(kept) != screen {
			t.Errorf("%s is not the screen of the pack (%v); looprun template test --update %s writes it", file, err, german)
		}
		screen += strings.Join(user.History(state, set), "\n")
		for _, o := range q.Options {
			screen += "\n" + o.Guidance
		}
		if strings.Contains(screen, trip.Reason) {
			t.Errorf("%s shows the guard's English sentence %q:\n%s", id, trip.Reason, screen)
		}
		for _, w := range word.FindAllString(screen, -1) {
			if english[w] && !known[w] && !slices.Contains(own, w) {
				t.Errorf("%s shows the English word %q:\n%s", id, w, screen)
			}
		}
	}
}

var word = regexp.MustCompile(`[A-Za-zÄÖÜäöüß]{3,}`)

// wordsIn returns the words in the YAML files of a folder, without comments, keys, ids and what
// the texts mention.
func wordsIn(t *testing.T, dir string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	words := map[string]bool{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text := regexp.MustCompile(`(?m)^#.*|\{\{[^}]*\}\}|^[ -]*[a-z_]+: |id: .*|guard: .*|extends: .*`).ReplaceAllString(string(data), " ")
		for _, w := range word.FindAllString(text, -1) {
			words[w] = true
		}
	}
	return words
}

// Each text of messages.yaml differs from the built-in one, unless both have no words.
func TestGermanTexts(t *testing.T) {
	set, err := templates.Load(german)
	if err != nil {
		t.Fatal(err)
	}
	same := map[string]bool{"pause_label": true, "detail_agent": true, "hint_enter": true}
	for _, m := range templates.Messages() {
		values := map[string]any{}
		for i, v := range m.Variables {
			switch v.Type {
			case templates.TypeNumber:
				values[v.Name] = i + 2
			case templates.TypeBool:
				values[v.Name] = true
			case templates.TypeList:
				values[v.Name] = []string{"1", "2"}
			default:
				values[v.Name] = fmt.Sprint(i)
			}
		}
		text, builtin := set.Text(m.Key, values), templates.Builtin().Text(m.Key, values)
		if text == "" || text == builtin && word.MatchString(text) && !same[m.Key] {
			t.Errorf("%s: %q, built-in %q", m.Key, text, builtin)
		}
	}
}
