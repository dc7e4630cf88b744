// Package console is looprun's output: messages, tables, colours and pages, and times and
// command lines in the form that people write. It knows nothing about loops.
package console

// The colours of looprun's output.
const (
	Plain  = "\x1b[m"
	Bold   = "\x1b[1m"
	Dim    = "\x1b[2m"
	Red    = "\x1b[31m"
	Green  = "\x1b[32m"
	Yellow = "\x1b[33m"
)

// Paint returns the text in the colour; an empty colour leaves it unchanged.
func Paint(colour, text string) string {
	if colour == "" || text == "" {
		return text
	}
	return colour + text + Plain
}

// Colours reports whether to use colours: the flag takes precedence over the environment, and
// the environment over the kind of output. NO_COLOR takes precedence over FORCE_COLOR
// (no-color.org and force-color.org; the order is Python's), and CLICOLOR is that of the BSD
// tools.
func Colours(flag string, terminal bool, getenv func(string) string) bool {
	force := getenv("FORCE_COLOR")
	switch {
	case flag == "always", flag == "never":
		return flag == "always"
	case getenv("NO_COLOR") != "":
		return false
	case force != "":
		return force != "0" && force != "false"
	case getenv("CLICOLOR_FORCE") != "" && getenv("CLICOLOR_FORCE") != "0":
		return true
	case getenv("CLICOLOR") == "0", getenv("TERM") == "dumb":
		return false
	}
	return terminal
}
