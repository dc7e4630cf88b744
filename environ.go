package looprun

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// environLimit is how much of a text goes into an environment variable, in bytes.
const environLimit = 16 << 10

func environText(text string) string {
	return cutText(strings.ReplaceAll(text, "\x00", ""), environLimit)
}

// Environ are the variables that tell a command about the iteration it runs in.
func (it Iteration) Environ() []string {
	limit := offWord
	if it.Limit > 0 {
		limit = strconv.Itoa(it.Limit)
	}
	env := []string{
		"LOOPRUN=1",
		"LOOPRUN_ITERATION=" + strconv.Itoa(it.Number),
		"LOOPRUN_ITERATION_LIMIT=" + limit,
		"LOOPRUN_GUIDANCE=" + environText(it.Guidance),
		"LOOPRUN_TASK=" + environText(it.Task),
		"LOOPRUN_SUBTASK=" + it.Subtasks.place(),
	}
	if it.Last == nil {
		return append(env, "LOOPRUN_LAST_EXIT_CODE=", "LOOPRUN_LAST_SIGNATURE=")
	}
	return append(env,
		"LOOPRUN_LAST_EXIT_CODE="+strconv.Itoa(it.Last.ExitCode),
		"LOOPRUN_LAST_SIGNATURE="+it.Last.Signature.Label)
}

// cutText is text of at most n bytes, cut between two characters.
func cutText(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
