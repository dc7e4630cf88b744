package main

// details holds what the help of a command says below its first line, with an example.
var details = map[string]string{
	"run": `Example:
  looprun --check 'go test ./...' --max-iterations 5 -- ./fix.sh`,
	"many": `Each loop is a run of its own, in a git work tree outside of the repository: list, show,
answer, serve and report know it. The other flags are those of looprun run and hold for each
loop. Nothing is merged: the end prints how each result is seen and taken.

Example:
  looprun many --for 'go list ./...' --check 'go test {}' -- ./fix.sh {}
  looprun many loops.yaml
  looprun many --resume`,
	"resume": `Counters, limits, guidance and elapsed time are kept; give limits or a policy
again to change them. Without a run it takes the latest; if several are possible, it asks
which one, or refuses if nobody can be asked. A run that tripped asks its question
again. A run that came with a clone, an archive or a cache is refused without --trust-run.

Example:
  looprun resume --max-iterations 20
  looprun resume --dir .                 after the project was moved here`,
	"answer": `Without an option it asks at the terminal; looprun show --pending prints the questions and
their options. Name the question with --question if the run is active or several wait. The
first valid answer counts. An answer that ends the run ends it at once. After one that
continues, looprun asks at a terminal whether to continue now; elsewhere use --resume or
looprun resume. looprun answer itself exits with 0. For a run that waits for a rate limit,
the answer continue ends the wait. Standard input has
{"answers": {"QUESTION": "OPTION"}} with questions by their text or id, or
{"question": "ID", "option": "ID", "reason": "TEXT"}.

Example:
  looprun answer accept --reason 'good enough for the demo'
  looprun answer --guidance 'use the other table' --resume`,
	"say": `The next iteration gets the words as its guidance, once. Counters are not reset. If
the run waits with a question, give words with the answer: looprun answer.

Example:
  looprun say latest 'the port is 8081, not 8080'`,
	"pause": `The current iteration finishes first; a wait between iterations ends at once. Continue with
looprun resume.

Example:
  looprun pause latest`,
	"stop": `Ends the run's processes as Ctrl-C does: they get their grace period, and a second
looprun stop kills them. The run ends as cancelled, with 101. Its files, checkpoints and
results stay.

Example:
  looprun stop latest`,
	"list": `Columns are cut to the width of the terminal, and not in a pipe; -v shows them
whole, and when each run started. A long text is shown with $PAGER on a
terminal.

Example:
  looprun list -n 5
  looprun list --all`,
	"show": `A long text is shown with $PAGER on a terminal. Columns are cut to its width; -v
shows them whole, with the moments at which iterations ended.

With --follow, exit code 1 means that the run was killed.

Example:
  looprun show --format json | jq .status
  looprun show --follow`,
	"context": `The most important comes first: the task, guidance, answers, errors to avoid, what was
tried, known issues, notes, and how to talk to looprun.

Example:
  looprun --check 'go test ./...' -c 'looprun context | my-agent --stdin'`,
	"ask": `For the command of a run. The answer is on standard output, its reason on standard
error. Exit codes: 0 answered (--confirm: yes), 1 no, 3 nobody answered, 75 deferred,
130 cancelled, 125 not inside a run or a mistake in the question.

Example:
  looprun ask 'Which database?' --option pg=Postgres --option my=MySQL`,
	"signal": `For the command of a run. It takes effect after the iteration.

Example:
  looprun signal attempt --approach 'pin the clock' \
    --why-different 'the last one retried'
  looprun signal clarify --question 'Must the old format stay?' \
    --cause ambiguous_criteria
  looprun signal cost --usd 0.12 --tokens 3400`,
	"reject": `For the command of a run. Exit codes: 0 the rejection waits for a decision after the
iteration, 1 it breaks the rules (docs/rejections.md), 125 not inside a run.

Example:
  looprun reject --reason-type BLOCKER --summary 'The registry is down.' \
    --attempted 'ran npm ci twice' --attempted 'used the mirror' \
    --blocking-factor 'the registry answers 503' \
    --evidence 'type=api_response,data=503' \
    --alternative 'run again when the registry is up' --agent fixer`,
	"stats rejections": `Example:
  looprun stats rejections --since 2026-01-01
  looprun stats rejections --format list RUN`,
	"doctor": `It changes nothing. Exit codes: 0 when nothing is wrong, 1 when something is,
125 if the run cannot be examined.

Example:
  looprun doctor && looprun resume`,
	"diff": `Only runs with --checkpoint keep what their iterations changed. The output is a patch
that git apply takes.

Example:
  looprun diff 3f9a 2
  looprun diff 3f9a | git apply`,
	"take": `Each result becomes a commit with the name of its loop, on a new branch that begins at your
HEAD. Your branch, your work tree and your index stay as they are. Results that change the same
files are named first. At a conflict it stops and names both loops (exit code 102): resolve it
in the work tree that it names, then run --continue, or --abort to undo.

Example:
  looprun take parser lexer
  looprun take --done && git merge looprun/20260102-150405-3f9a`,
	"restore": `The files in the run's directory become what they were after the iteration; what they
are now is kept as one more checkpoint. Ignored files, nested repositories, branches, the stash
and staged changes stay unchanged; restore refuses to overwrite a file that no commit has.
Only runs with --checkpoint can do it.

Example:
  looprun restore 3f9a 2
  looprun restore 3f9a best`,
	"prune": `Flags combine: a run is removed if all of them match. An active run is never
removed. One that is paused, waits for an answer or cannot be read
is removed only when it is named.

A result of looprun many is kept until looprun take took it, or a branch has its commit,
the same files or the same patch. --untaken removes it all the same.

Without --yes it asks, and without a terminal to ask at it removes nothing (exit
code 125). Exit code 101: the answer was no.

Example:
  looprun prune --older-than 30d --keep 20 --dry-run
  looprun prune --status done,cancelled --older-than 1w --yes`,
	"signature": `Two outputs of the same failure have the same hash.

Example:
  looprun signature --format hash test.log`,
	"replay": `It reports where each guard would first trip. After a done iteration, a new run
begins. An earlier run keeps its own limits, unless you give others. With your own masks or
rules, looprun reads its outputs again.

Example:
  looprun replay --loop-threshold 3 monday.log tuesday.log=2 wednesday.log`,
	"report": `html is one page that needs nothing else; junit is what CI servers read.

Example:
  looprun report --format html --output run.html`,
	"explain": `It shows the iterations that a guard counted, the facts they share, and what of
the first and the last of them was masked as noise. A long text is shown with
$PAGER on a terminal.

Example:
  looprun explain`,
	"hook stop": `Each stop is one iteration, and the check of looprun.yaml judges. If it passes, the
agent may stop; otherwise the agent reads what fails and continues. When a guard trips the
agent may stop, and the question is kept for looprun answer. A hook that cannot judge
allows the stop: exit code 0, and why on standard error.

Example:
  looprun hook stop --check 'go test ./...' < stop.json`,
	"hook install": `Nothing else in the agent's file is changed, and remove takes out what install put in. It
shows the check that will run, and by installing you agree to it.

Example:
  looprun hook install claude --check 'go test ./...'`,
	"hook status": `Example:
  looprun hook status`,
	"hook remove": `Example:
  looprun hook remove claude`,
	"hook off": `LOOPRUN_HOOK=off does the same for one session.

Example:
  looprun hook off`,
	"hook on": `Example:
  looprun hook on`,
	"serve": `It prints an address with a token, which is the key to the page: whoever has it can
answer. It listens on this machine only, until Ctrl-C; from another machine, forward the
port with ssh -L. The page is a program of its own, looprun-serve, which lies beside looprun.

Example:
  looprun serve --open --all`,
	"fleet": `It runs looprun-fleet, a separate program beside looprun or on the PATH;
looprun fleet list --help is the help of one of its commands.

Example:
  looprun fleet dev
  looprun fleet submit loops.yaml`,
	"policy check": `Example:
  looprun policy check ci/policy.yaml`,
	"policy test": `Example:
  looprun policy test ci.yaml --guard loop_detected
  looprun policy test ci.yaml --all --since 7d`,
	"policy schema": `Example:
  looprun policy schema facts`,
	"template list": `Example:
  looprun template list --templates my-pack`,
	"template show": `Example:
  looprun template show loop_detected`,
	"template init": `Example:
  looprun template init my-pack`,
	"template check": `Example:
  looprun template check my-pack`,
	"template test": `Example:
  looprun template test my-pack --update`,
	"template preview": `Example:
  looprun template preview loop_detected --templates my-pack`,
	"template schema": `Example:
  looprun template schema variables`,
	"schema": `The same schemas are in docs/schemas of the source.

Example:
  looprun schema question > question.schema.json`,
	"agents": `The built-in agents, and those under agents: in a looprun.yaml; --format json
prints each as such a file has it. PERMIT are the agent's own flags that let it edit files and
run commands unasked. looprun never adds them: pass them on behind --.

Example:
  looprun --agent claude --check 'go test ./...' 'Make the tests pass' \
    -- --permission-mode acceptEdits --allowedTools Bash`,
	"config show": `Takes the flags of run, to see what they would change.

Example:
  looprun config show --max-iterations 20`,
	"config check": `Example:
  looprun config check looprun.yaml`,
	"config schema": `Example:
  looprun config schema > looprun.schema.json`,
	"version": `The date is that of the commit. looprun --version prints the version alone.

Example:
  looprun version`,
	"help": `Example:
  looprun help policy test
  looprun help keys                  all keys of looprun.yaml
  looprun help keys done_codes       one of them, with an example
  looprun help exit                  what the exit codes mean`,
	"init": `Looks for go.mod, package.json, Cargo.toml, pytest and a Makefile, asks what it cannot
know, and writes looprun.yaml, looprun.policy.yaml and the schemas with which an editor
checks them, in this folder. All of them are written, or none. That is your consent to
what looprun.yaml sets, so --trust is not needed.

Example:
  looprun init --yes`,
	"completion": `Commands, flags and their values are completed, and so are the ids of runs, the
options of a question that waits, and guards. Words after -- are completed for
that command. The script calls the looprun that is found in PATH.

  bash   source <(looprun completion bash)   in ~/.bashrc
  zsh    source <(looprun completion zsh)    in ~/.zshrc, after compinit
  fish   looprun completion fish > ~/.config/fish/completions/looprun.fish

Example:
  looprun completion bash > ~/.bash_completion.d/looprun`,
	"man": `The pages are the same whenever they are written, and have no date, unless
SOURCE_DATE_EPOCH gives one in seconds since 1970.

Example:
  looprun man ~/.local/share/man/man1
  looprun man | man -l -`,
}
