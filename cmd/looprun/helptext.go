package main

import (
	"strings"

	"github.com/looprun/looprun/internal/cells"
	"github.com/looprun/looprun/shell/man"
)

// commandEnvironment are the variables that the command in the loop gets, for the
// manual and the help of run.
func commandEnvironment() []man.Entry {
	return []man.Entry{
		{Term: "LOOPRUN, LOOPRUN_RUN_ID, LOOPRUN_ITERATION, LOOPRUN_ITERATION_LIMIT", Text: "1, the id of the run, the number of the iteration from 1, and how many there may be."},
		{Term: "LOOPRUN_LAST_EXIT_CODE, LOOPRUN_LAST_OUTPUT, LOOPRUN_LAST_SIGNATURE", Text: "how the iteration before ended, the file of what it printed, and its signature; with a check, those of the check."},
		{Term: "LOOPRUN_GUIDANCE, LOOPRUN_GUIDANCE_FILE", Text: "what an answer told it, at most 16 KiB of it, and a file with all of it."},
		{Term: "LOOPRUN_SCRATCHPAD, LOOPRUN_CONTEXT, LOOPRUN_ANSWERS", Text: "files with the page of the run, with what looprun context prints, and with the answers to what it asked."},
		{Term: "LOOPRUN_DIR, LOOPRUN_SOCKET", Text: "the folder of the run, and where it listens to looprun ask and looprun signal."},
		{Term: "LOOPRUN_ROLE", Text: "in a check, verify, debug or expert command, which have no LOOPRUN_SOCKET: which of them it is."},
	}
}

// environmentHelp is the part of the help of run about the command's variables.
func environmentHelp() string {
	const indent, most = "      ", 80
	var b strings.Builder
	b.WriteString("\nWhat the command finds in its environment (docs/running.md says more):\n")
	for _, e := range commandEnvironment() {
		b.WriteString("  " + e.Term + "\n")
		line := indent
		for word := range strings.FieldsSeq(e.Text) {
			if cells.Width(line+word) > most {
				b.WriteString(strings.TrimRight(line, " ") + "\n")
				line = indent
			}
			line += word + " "
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}
