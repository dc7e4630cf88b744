package carrier

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"sync"
)

// known has a shape a line. Agents come first: an object of theirs has more that tells
// it from others. It holds for the versions that the recordings in testdata are of.
//
//go:embed known.jsonl
var known []byte

// KnownShapes returns the shapes of [Known].
var KnownShapes = sync.OnceValue(func() (shapes []Shape) {
	for line := range bytes.Lines(known) {
		if line[0] != '{' {
			continue // a comment
		}
		var s Shape
		if err := json.Unmarshal(line, &s); err != nil {
			panic(err) // which every test sees
		}
		shapes = append(shapes, s)
	}
	return shapes
})

// Known returns the table of known carriers.
var Known = sync.OnceValue(func() *Table { return NewTable(KnownShapes()...) })
