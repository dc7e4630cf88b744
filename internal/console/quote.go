package console

import (
	"strings"

	"github.com/looprun/looprun/internal/cells"
	"github.com/looprun/looprun/internal/termsafe"
)

// Short returns text on one line of at most n columns.
func Short(text string, n int) string { return cells.Cut(termsafe.Line(text), n) }

// CommandLine returns the command as a person would type it.
func CommandLine(argv []string) string {
	if len(argv) == 3 && argv[0] == "sh" && argv[1] == "-c" {
		return argv[2]
	}
	quoted := make([]string, len(argv))
	for i, a := range argv {
		quoted[i] = a
		if a == "" || strings.ContainsAny(a, " \t\n'\"\\$`*?[]{}()<>|&;#~!") {
			quoted[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}
