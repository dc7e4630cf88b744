// Package console is how looprun prints: messages, tables, colours and pages, and moments
// and command lines as a person writes them. It knows of no loop.
package console

// The colours of what looprun prints.
const (
	Plain  = "\x1b[m"
	Bold   = "\x1b[1m"
	Dim    = "\x1b[2m"
	Red    = "\x1b[31m"
	Green  = "\x1b[32m"
	Yellow = "\x1b[33m"
)

// Paint is the text in the colour; an empty one leaves it as it is.
func Paint(colour, text string) string {
	if colour == "" || text == "" {
		return text
	}
	return colour + text + Plain
}

// Colours decides whether something has colours: the flag beats the environment,
// and that beats what it is printed to. NO_COLOR beats FORCE_COLOR
// (no-color.org and force-color.org; which wins is as in Python), and CLICOLOR
// is that of the BSD tools.
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
