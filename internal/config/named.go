package config

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"

	"github.com/looprun/looprun/escalate/policy"
	"github.com/looprun/looprun/internal/inputfile"
	"github.com/looprun/looprun/internal/strictyaml"
)

// Named is a file that a looprun.yaml names and that looprun reads at the start. Consent to
// looprun.yaml covers it.
type Named struct {
	Key  string // of looprun.yaml
	Name string // as messages call it
	Sum  string // SHA-256 of its content, in hexadecimal; empty where it cannot be read
	name string // within the folder that the key names; empty where it names the file
	// uncovered means that the file could be read later, although its content cannot be
	// compared now.
	uncovered bool
}

// readNamed reads the files that the keys of f name, and in a folder those that a template
// pack can contain. It includes every key for a path except those whose field has
// consent:"name": those paths are written to, or belong to the work.
func (f *File) readNamed() []Named {
	var list []Named
	for _, l := range f.layers {
		for _, k := range l.has {
			if k.field.Type == nil || k.tag("value") != "path" || k.tag("consent") == "name" {
				continue
			}
			for _, path := range l.values[k.Name].texts {
				list = append(list, f.namedBy(k.Name, path)...)
				if k.Name == "policy" {
					list = append(list, f.included(path)...)
				}
			}
		}
	}
	return list
}

func (f *File) namedBy(key, path string) []Named {
	entries, err := os.ReadDir(path)
	if err != nil {
		return []Named{f.named(key, path, "")}
	}
	var list []Named
	for _, e := range entries {
		if ext := strings.ToLower(filepath.Ext(e.Name())); ext == ".yaml" || ext == ".yml" {
			list = append(list, f.named(key, filepath.Join(path, e.Name()), e.Name()))
		}
	}
	return list
}

// included returns the files that a policy includes.
func (f *File) included(file string) []Named {
	text, err := inputfile.Read(file, strictyaml.MaxSize)
	if err != nil {
		return nil // what reads it reports that
	}
	var list []Named
	for _, name := range policy.Includes(text) {
		list = append(list, f.namedBy("policy", policy.Beside(file, name))...)
	}
	return list
}

func (f *File) named(key, path, name string) Named {
	n := Named{Key: key, Name: SeenFrom(filepath.Dir(f.path), path), name: name}
	switch info, err := os.Stat(path); {
	case err != nil: // it is not there: what reads it reports that
	case !info.Mode().IsRegular():
		n.uncovered = !info.IsDir()
	default:
		text, err := inputfile.Read(path, strictyaml.MaxSize)
		if n.uncovered = err != nil; err == nil {
			sum := sha256.Sum256(text)
			n.Sum = hex.EncodeToString(sum[:])
		}
	}
	return n
}
