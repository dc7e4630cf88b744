package ci

import (
	"regexp"
	"slices"
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

// buildkiteHeaders are the lines of a log that open groups: those that begin
// with a marker as the agent reads them, without colours, and those that do as
// the log viewer shows them, after the cursor has been moved about.
func buildkiteHeaders(log string) []string {
	header := regexp.MustCompile(`^(?:---|\+\+\+|~~~|\^\^\^)(?:\s|$)`)
	colour := regexp.MustCompile(`\x1b\[[;\d]*[mK]`)
	var found []string
	note := func(line string) {
		if line = strings.TrimRight(line, "\r \x00"); header.MatchString(line) && !slices.Contains(found, line) {
			found = append(found, line)
		}
	}
	for line := range strings.SplitSeq(log, "\n") {
		note(colour.ReplaceAllString(line, ""))
		for _, drawn := range drawn(line) {
			note(drawn)
		}
	}
	if strings.Contains(log, "\x1b_") {
		found = append(found, "ESC _")
	}
	return found
}

// drawn is what a terminal shows of a line: CR, BS and the sequences that move
// the cursor within the line are carried out, others are left out.
func drawn(line string) []string {
	var cells []byte
	x := 0
	sequence := regexp.MustCompile(`^\x1b(?:\[([0-?]*)[ -/]*([@-~])|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]+[0-~]|[0-Z\\-~])`)
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\r':
			x = 0
		case c == '\b':
			x = max(0, x-1)
		case c == 0x1b:
			m := sequence.FindStringSubmatch(line[i:])
			if m == nil {
				continue
			}
			i += len(m[0]) - 1
			n := 1
			if digits := strings.TrimLeft(m[1], "0"); len(digits) > 0 && len(digits) < 3 {
				n = 0
				for _, d := range digits {
					if d < '0' || d > '9' {
						n = 1
						break
					}
					n = 10*n + int(d-'0')
				}
			}
			switch m[2] {
			case "C":
				x = min(x+n, 200)
			case "D":
				x = max(0, x-n)
			case "G":
				x = min(n-1, 200)
			}
		case c < 0x20 && c != '\t':
		default:
			for len(cells) <= x {
				cells = append(cells, ' ')
			}
			cells[x] = c
			x++
		}
	}
	return []string{string(cells)}
}
