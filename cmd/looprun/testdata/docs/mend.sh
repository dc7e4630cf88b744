# What the stand-ins of coding agents share. Each takes the flags that the
# documentation of its agent has, and no others, and mends what fix.sh of the
# folder mends at one call: a recipe with a wrong flag changes nothing.

refuse() {
	printf '%s: %s\n' "$agent" "$1" >&2
	exit "${2:-1}"
}

# fed is what comes on standard input, unless that is a terminal.
fed() {
	if [ ! -t 0 ]; then cat; fi
}

# mend makes the next change, where the agent may edit files and knows its task.
mend() { # mend MAY-EDIT TASK
	[ -n "$2" ] || refuse "there is no prompt"
	if [ "$1" = yes ] && [ -x fix.sh ]; then
		./fix.sh >/dev/null
		said="I changed roman.go."
	else
		said="I may not edit files, so nothing is changed."
	fi
}

# choose answers as an assistant that is given a schema: with the last option.
choose() { # choose SCHEMA
	printf '%s' "$1" | jq -c '{reason: "It can be taken back.",
		answer: (.properties.answer | if .enum then .enum[-1] elif .type == "boolean" then false else "as it was" end)}'
}
