package main

import (
	"os"
	"path/filepath"
	"testing"
)

// The stand-ins of the manual do what the scripts of the model do.
func TestStandInsAreOfTheScripts(t *testing.T) {
	for name, want := range texts() {
		got, err := os.ReadFile(filepath.Join(standIns, name))
		if err != nil || string(got) != want {
			t.Errorf("%s: %v\n%s\nwant\n%s\nmake stand-ins writes it", name, err, got, want)
		}
	}
	for _, k := range kits {
		for format := range k.prints {
			for i := range turns() {
				if files, _ := filepath.Glob(filepath.Join(standIns, k.name+"."+format+"."+string(rune('0'+i)))); len(files) == 0 {
					t.Errorf("there is no turn %d of %s in %s; make stand-ins writes it", i, k.name, format)
				}
			}
		}
	}
}
