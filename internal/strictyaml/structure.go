package strictyaml

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/looprun/looprun/internal/problem"
	"github.com/looprun/looprun/internal/termsafe"
	"gopkg.in/yaml.v3"
)

// maxDepth is how deeply a document may be nested.
const maxDepth = 64

var plainTags = []string{"", "!", "!!str", "!!int", "!!float", "!!bool", "!!null", "!!map", "!!seq", "!!timestamp", "!!merge"}

// structure finds problems that are independent of what the file is decoded into.
type structure struct {
	doc      *Document
	problems problem.List
	deep     bool // nested too deeply to be read
}

func (s *structure) add(n *yaml.Node, text, remedy string) {
	s.problems = append(s.problems, s.doc.at(n.Line, n.Column, text, remedy))
}

func (s *structure) check(n *yaml.Node, depth int) {
	if depth > maxDepth {
		if !s.deep {
			s.add(n, fmt.Sprintf("nested more than %d levels deep", maxDepth), "")
		}
		s.deep = true
		return
	}
	switch {
	case n.Kind == yaml.AliasNode:
		s.add(n, "an alias (*"+clip(n.Value)+") is not supported", "write the value out")
		return
	case n.Anchor != "":
		s.add(n, "an anchor (&"+clip(n.Anchor)+") is not supported", "remove it, and write the value out where it is needed")
	case !slices.Contains(plainTags, n.Tag):
		s.add(n, "the tag "+quote(n.Tag)+" is not supported", "remove it")
	}
	if n.Kind == yaml.MappingNode {
		s.keys(n)
	}
	for _, child := range n.Content {
		s.check(child, depth+1)
	}
}

// keys checks that every key is a text and unique.
func (s *structure) keys(n *yaml.Node) {
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		switch {
		case key.Kind == yaml.AliasNode:
		case key.Kind != yaml.ScalarNode:
			s.add(key, "a key has to be a text", "put quotes around a text that begins with { or [")
		case key.Tag == "!!merge":
			s.add(key, "merging with << is not supported", "write the keys out")
		case seen[key.Value] > 0:
			s.add(key, fmt.Sprintf("the key %s is on line %d already", quote(key.Value), seen[key.Value]), "remove one of them")
		default:
			seen[key.Value] = key.Line
		}
	}
}

// quote shows a text of the file on one line, shortened if it is long.
func quote(text string) string { return strconv.Quote(clip(text)) }

func clip(text string) string { return termsafe.Cut(text, 40) }
