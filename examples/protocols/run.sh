#!/bin/sh
# Runs every example of this folder and checks the output:
#   ./run.sh [FILE]      FILE is the binary; without it the one on the PATH
set -eu
here=$(cd "$(dirname "$0")" && pwd)
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
file=${1:-$(command -v looprun)}
ln -s "$(cd "$(dirname "$file")" && pwd)/$(basename "$file")" "$bin/looprun"
PATH=$bin:$PATH
# looprun must ask nobody here, and must not detect a CI system or an outer run.
unset LOOPRUN LOOPRUN_SOCKET LOOPRUN_DIR LOOPRUN_STATE_DIR PYTHONUNBUFFERED
export LOOPRUN_NON_INTERACTIVE=true CI=

failed=0
wrong() {
  echo "WRONG  $example: $1" >&2
  sed 's/^/       /' "$work/printed" >&2
  failed=1
}

# in NAME enters a copy of an example; runs are kept in the copy.
in_example() {
  example=$1
  work=$bin/$1
  rm -rf "$work"
  mkdir "$work"
  cp -R "$here"/* "$work"
  cd "$work/${1%% *}"
  echo "$example"
}

# exits CODE COMMAND... runs the command and checks its exit code.
exits() {
  want=$1
  shift
  code=0
  "$@" >"$work/printed" 2>"$work/errors" </dev/null || code=$?
  cat "$work/errors" >>"$work/printed" # not at once: their lines would mix
  [ "$code" = "$want" ] || wrong "$* ended with $code, not with $want"
}

# prints TEXT... checks that the last command printed each text.
prints() {
  for text; do
    grep -qF -- "$text" "$work/printed" || wrong "it did not print “$text”"
  done
}

# waits_for TEXT waits until a run asks a question with that text.
waits_for() {
  for _ in $(seq 200); do
    if looprun show --pending >"$work/printed" 2>&1 && grep -qF -- "$1" "$work/printed"; then return; fi
    sleep 0.1
  done
  wrong "nobody asked “$1”"
}

python=$(command -v python3 || true)
[ -n "$python" ] || echo 'python3 is not there: the examples in Python are left out' >&2

for x in sh py; do
  [ $x = sh ] || [ -n "$python" ] || continue

  in_example asking
  exits 0 looprun --detached defaults -- ./ask.$x
  prints 'database: lite' 'old tables: kept' 'table: users'
  exits 110 looprun --max-iterations 1 -- ./ask.$x
  prints 'nobody answered'
  # Deferred: the run pauses, a person answers later, and the next question gets the answers.
  if [ $x = sh ]; then
    exits 102 looprun --detached defer -- ./ask.$x
    exits 0 looprun answer pg --reason 'it is there already'
    exits 0 looprun resume --detached defaults
    prints 'database: pg' 'it is there already'
  fi

  in_example choices
  exits 102 looprun --detached defer -- ./work.$x
  exits 0 looprun show --pending --format ask-user-question
  prints '"question": "Which database?\n\nResult so far: '
  exits 0 sh -c 'looprun answer - <answers.json'
  exits 0 looprun resume
  prints answered: lite # as JSON, or as a word

  in_example rejection
  exits 102 looprun --detached defer -- ./reject.$x
  if [ $x = sh ]; then
    exits 0 looprun answer accept --reason 'nobody can change that today'
  else
    prints 'to be corrected: what_attempted' 'valid: True'
    exits 0 looprun answer decompose
    exits 0 looprun resume
    prints 'working on the first part'
  fi
  exits 0 looprun stats rejections
  prints 'Override rate: 0 % of 1 decision'
done

in_example signals
exits 0 looprun --promise READY -- ./work.sh
prints 'signal progress: step 2 of 2' 'done after 2 of 10'
exits 115 looprun --signals text -- ./print.sh
prints 'clarification tripped: the command signalled clarify: Must old tokens stay valid?'
if [ -n "$python" ]; then
  exits 115 looprun -- ./work.py
  prints 'signal progress: 3 of 7 files' 'did you mean "progress"?' 'clarification tripped'
fi

in_example ladder
exits 102 looprun --trust --detached defer -- ./work.sh
prints 'ATTEMPT 2: Self-Solve' 'ATTEMPT 3: Expert Delegation' 'expert protocol was unsuccessful' 'ladder_exhausted tripped'
exits 0 looprun answer continue --guidance 'Speak version 2 of the protocol.'
exits 0 looprun resume
prints 'guidance: Speak version 2 of the protocol.'

in_example nested
looprun --name outer --wait-answer 1m -- ./outer.sh >out 2>&1 &
waits_for 'Which way?'
exits 0 looprun answer right --question "$(looprun show --pending | sed -n 's/^answer with: .* --question //p')"
code=0
wait $! || code=$?
cp out "$work/printed"
[ $code = 0 ] || wrong "the runs ended with $code"
prints right

[ $failed = 0 ] && echo 'all as expected'
exit $failed
