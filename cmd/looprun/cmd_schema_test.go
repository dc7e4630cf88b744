package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

var update = flag.Bool("update", false, "write docs/schemas")

// The schemas in docs are those that this version keeps to.
func TestSchemaFiles(t *testing.T) {
	dir := filepath.Join("..", "..", "docs", "schemas")
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "documents.md"))
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, s := range schemas() {
		file := s.name + ".schema.json"
		want = append(want, file)
		if row := "| [" + s.name + "](schemas/" + file + ") | " + s.about + " |\n"; !bytes.Contains(page, []byte(row)) {
			t.Errorf("docs/documents.md has no row %s", row)
		}
		var now bytes.Buffer
		if err := s.write(&now); err != nil {
			t.Fatal(err)
		}
		var head struct {
			Type string `json:"type"`
		}
		if err := json.Unmarshal(now.Bytes(), &head); err != nil || head.Type != "object" {
			t.Errorf("%s is no schema of an object: %v", s.name, err)
		}
		if *update {
			if err := os.WriteFile(filepath.Join(dir, file), now.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if kept, err := os.ReadFile(filepath.Join(dir, file)); err != nil || !bytes.Equal(kept, now.Bytes()) {
			t.Errorf("docs/schemas/%s is not that of this version (%v); go test ./cmd/looprun -run TestSchemaFiles -update writes it", file, err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !slices.Contains(want, e.Name()) {
			t.Errorf("docs/schemas/%s is no schema of looprun any more; remove it", e.Name())
		}
	}
}
