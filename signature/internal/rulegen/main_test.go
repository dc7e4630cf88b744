package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

func TestTableIsFresh(t *testing.T) {
	src, err := os.ReadFile("../../rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	table, fixtures, err := generate(src)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]byte{"../../rules_gen.go": table, "../../rules_gen_test.go": fixtures} {
		got, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is stale: run go generate ./signature", name)
		}
	}
}

func TestGenerateRefuses(t *testing.T) {
	const ok = "rules:\n- {id: a, fact: check, patterns: ['x {name}'], examples: ['x y => check y']}\n"
	if _, _, err := generate([]byte(ok)); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, old, new, want string }{
		{"unknown fact", "check,", "chek,", "unknown fact"},
		{"unknown key", "fact:", "fcat:", "fcat"},
		{"no example", "['x y => check y']", "[]", "no examples"},
		{"example without fact", " => check y", "", `no " => "`},
		{"no pattern", "['x {name}']", "[]", "no patterns"},
		{"no id", "id: a", "id: ''", "empty or used twice"},
	} {
		_, _, err := generate([]byte(strings.Replace(ok, tt.old, tt.new, 1)))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got error %v, want one with %q", tt.name, err, tt.want)
		}
	}
}
