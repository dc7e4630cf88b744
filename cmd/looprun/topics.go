package main

import "github.com/looprun/looprun/core"

// shellWord quotes a text so that a shell takes it for one word.
func shellWord(text string) string { return core.CommandLine([]string{text}) }

const ladderTopic = `The escalation ladder: who tries when attempts fail.

A looprun.yaml lists the rungs. Each distinct approach that fails is an attempt; after
as many as the rung allows, the next rung follows. The last rung is a person.

  ladder:
    - rung: self_solve        # the command itself
      attempts: 3
    - rung: experts           # commands that give advice
      experts:
        docs: ./ask-docs.sh
    - rung: human             # somebody is asked

looprun show prints the rung of a run. If nobody answers on the last one, the run
ends with 115. docs/ladder.md says more.
`

const rejectionsTopic = `Rejections: how the command rejects its task as given.

Inside a run the command calls looprun reject with a reason and with what it tried. looprun
checks the rejection by its rules, and a person, a policy or an assistant accepts it or
sends the command back to work. looprun help exit has the exit codes.

  looprun reject --help             the reasons, and what each has to say
  looprun stats rejections          rejections of all runs, counted
  looprun schema rejection          the JSON that it is recorded as

docs/rejections.md says more.
`

const signalsTopic = `Signals: how the command reports on its work.

Inside a run the command calls looprun signal: that it is done, that it is blocked, that it
needs a clarification, or how far it is. With -o signals=text looprun also reads them from
what the command prints.

  looprun signal --help             the signals
  looprun signal done               the promise, without printing a text

docs/signals.md says more.
`
