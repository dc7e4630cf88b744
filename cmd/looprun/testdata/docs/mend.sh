# What the stand-ins of coding agents share. Each takes the flags that the
# documentation of its agent has, and no others: a recipe with a wrong flag changes
# nothing. What they do at one call, what they say of it and, in JSON, print, is what
# the agents themselves did with the scripted model: make stand-ins writes turns.
turns=$(cd "$(dirname "$0")/../turns" && pwd)

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
	turn=0
	if [ "$1" = yes ] && [ -f roman.go ]; then
		for turn in 1 2 3 0; do # the first that changes anything
			before=$(cksum <roman.go)
			. "$turns/$turn.sh"
			[ "$before" = "$(cksum <roman.go)" ] || break
		done
	fi
	said=$(cat "$turns/$turn.txt")
}

# printed is what the agent prints of the turn in a format, in a session of its own.
printed() {
	sed "s/\"thread_id\":\"[^\"]*\"/\"thread_id\":\"thread-$$\"/" "$turns/$agent.$1.$turn"
}

# choose answers as an assistant that is given a schema: with the last option.
choose() { # choose SCHEMA
	printf '%s' "$1" | jq -c '{reason: "It can be taken back.",
		answer: (.properties.answer | if .enum then .enum[-1] elif .type == "boolean" then false else "as it was" end)}'
}
