package main

// The colours of what looprun prints.
const (
	plain  = "\x1b[m"
	bold   = "\x1b[1m"
	dim    = "\x1b[2m"
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
)

// paint is the text in the colour; an empty one leaves it as it is.
func paint(colour, text string) string {
	if colour == "" || text == "" {
		return text
	}
	return colour + text + plain
}

// colours decides whether something has colours: the flag beats the environment,
// and that beats what it is printed to. NO_COLOR beats FORCE_COLOR
// (no-color.org and force-color.org; which wins is as in Python), and CLICOLOR
// is that of the BSD tools.
func colours(flag string, terminal bool, getenv func(string) string) bool {
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
