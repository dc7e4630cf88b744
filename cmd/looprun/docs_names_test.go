//go:build unix

package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// ownReference are the documents that only programs read, and the file of texts: their schemas
// say what each key is, and no page repeats them. Of the journal a page names the events.
var ownReference = map[string]bool{
	"doctor": true, "explanation": true, "listed-run": true, "listed-template": true, "many": true, "many-result": true,
	"messages": true, "pending": true, "policy-replay": true, "policy-test": true, "prune": true, "rejection-graph": true, "rejection-stats": true,
	"replay": true, "report": true, "run": true, "setting": true, "signature-diff": true,
}

var schemaName = regexp.MustCompile(`^[A-Za-z][A-Za-z_.-]+$`)

// namesIn adds the keys and the words of a schema. Identifiers of schemas, paths and patterns are
// no words.
func namesIn(schema any, names map[string]bool) {
	add := func(v any) {
		if s, ok := v.(string); ok && schemaName.MatchString(s) {
			names[s] = true
		}
	}
	switch v := schema.(type) {
	case []any:
		for _, e := range v {
			namesIn(e, names)
		}
	case map[string]any:
		if p, ok := v["properties"].(map[string]any); ok {
			for key := range p {
				add(key)
			}
		}
		if words, ok := v["enum"].([]any); ok {
			for _, w := range words {
				add(w)
			}
		}
		add(v["const"])
		for _, e := range v {
			namesIn(e, names)
		}
	}
}

// eventsIn adds the types of the events in the schema of the journal.
func eventsIn(schema any, names map[string]bool) {
	forms, _ := schema.(map[string]any)["oneOf"].([]any)
	for _, form := range forms {
		namesIn(form.(map[string]any)["properties"].(map[string]any)["type"], names)
	}
}

// wordsInCode adds the words that a page has in code: whole, and the parts between their dots. A
// flag counts as its key.
func wordsInCode(text string, words map[string]bool) {
	code := &strings.Builder{}
	for _, b := range blocksOf(text) {
		code.WriteString(b.text)
	}
	for _, line := range unfenced(text) {
		code.WriteString(strings.Join(inlineCode.FindAllString(line, -1), " ") + "\n")
	}
	for _, w := range regexp.MustCompile(`[A-Za-z][\w.-]*`).FindAllString(strings.ReplaceAll(code.String(), "--", " "), -1) {
		w = strings.ReplaceAll(w, "-", "_")
		for _, part := range append(strings.Split(w, "."), w) {
			words[strings.Trim(part, "_.")] = true
		}
	}
}

// unexplained are the names that no page has in code.
func unexplained(names, words map[string]bool) (list []string) {
	for name := range names {
		if !words[strings.ReplaceAll(name, "-", "_")] {
			list = append(list, name)
		}
	}
	return list
}

// A page explains each key of looprun.yaml, each key and word of what people write and programs
// exchange with looprun, and each event.
func TestDocsNameEveryKey(t *testing.T) {
	t.Parallel()
	root := os.DirFS("../..")
	pages, err := pagesBelow(root)
	if err != nil {
		t.Fatal(err)
	}
	words := map[string]bool{}
	for _, page := range pages {
		if strings.HasPrefix(page, "docs/") && !strings.HasPrefix(page, "docs/decisions/") && page != "docs/upgrading.md" {
			wordsInCode(readPage(t, root, page), words)
		}
	}
	files, err := fs.Glob(root, "docs/schemas/*.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, file := range files {
		var schema any
		if err := json.Unmarshal([]byte(readPage(t, root, file)), &schema); err != nil {
			t.Fatal(err)
		}
		name, names := strings.TrimSuffix(path.Base(file), ".schema.json"), map[string]bool{}
		switch {
		case name == "journal":
			eventsIn(schema, names)
		case !ownReference[name]:
			namesIn(schema, names)
		}
		checked += len(names)
		for _, n := range unexplained(names, words) {
			t.Errorf("%s: no page explains %s", file, n)
		}
	}
	if checked < 500 {
		t.Errorf("only %d names were checked", checked)
	}
}

func TestDocsNameEveryKeyFindsWhatIsMissing(t *testing.T) {
	words := map[string]bool{}
	wordsInCode("Plain words, `--max-cost 2` and `run.alive`.\n```yaml\n# a.yaml\nkeep: off\n```\n", words)
	names := map[string]bool{}
	namesIn(map[string]any{"properties": map[string]any{
		"max_cost": map[string]any{"const": "run.alive"}, "keep": map[string]any{"enum": []any{"plain", "off", 3.0, "a/b"}},
	}}, names)
	if list := unexplained(names, words); len(names) != 5 || len(list) != 1 || list[0] != "plain" {
		t.Errorf("missing are %q of %v", list, names)
	}
}
