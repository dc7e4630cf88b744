package ci

import (
	"regexp"
	"strings"
)

// gitlabSections are the names of the sections that GitLab shows, in the order
// of their markers: a name for its start, /name for its end.
func gitlabSections(log string) []string {
	marker := regexp.MustCompile(`section_(start|end):\d+:([a-zA-Z0-9_.-]+)(?:\[\w+=\w+(?:, ?\w+=\w+)*\])?\r\x1b\[0K`)
	var names []string
	for _, m := range marker.FindAllStringSubmatch(log, -1) {
		if m[1] == "end" {
			m[2] = "/" + m[2]
		}
		names = append(names, m[2])
	}
	return names
}

// azureCommands are the logging and formatting commands in a log: wherever they
// stand in a line, the first in each.
func azureCommands(log string) []string {
	var found []string
	for _, line := range regexp.MustCompile(`\r\n|\r|\n`).Split(log, -1) {
		for _, prefix := range []string{"##vso[", "##["} {
			if _, rest, ok := strings.Cut(line, prefix); ok {
				word, _, _ := strings.Cut(rest, "]")
				word, _, _ = strings.Cut(word, " ")
				found = append(found, prefix+word)
			}
		}
	}
	return found
}
