#!/usr/bin/env bash
# Shows the main job on copies of the examples: a loop that ends, and a loop that is stuck.
# A policy stops the second; at a terminal looprun asks you too. Usage: demo.sh LOOPRUN
set -euo pipefail
looprun=${1:?usage: demo.sh LOOPRUN}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -R "$here/testfix" "$here/stuck" "$here/ci" "$work"
export GOFLAGS='-mod=mod -trimpath' GOWORK=off

step() { printf '\n== %s\n' "$1"; printf '$ %s\n' "$2"; }

step "A package with three bugs, and a fixer that fixes one at a time" \
  "cd examples/testfix && looprun --check 'go test ./...' -- ./fix.sh"
(cd "$work/testfix" && "$looprun" --check 'go test ./...' -- ./fix.sh) 2>&1

step "A fixer that is stuck; in CI, the policy file decides" \
  "cd examples/stuck && looprun --policy ../ci/policy.yaml --check 'go test ./...' -- ./fix.sh"
code=0
(cd "$work/stuck" && "$looprun" --non-interactive --policy ../ci/policy.yaml --check 'go test ./...' -- ./fix.sh) 2>&1 || code=$?
printf '(exit code %d)\n' "$code"
test "$code" -eq 101

# Only at a terminal: the demo must never wait for a person who is not there.
if [ -t 0 ] && [ -t 1 ] && [ -z "${CI:-}" ]; then
  printf '\nWithout a policy it asks you. Press Enter to try it (skipped after 15 seconds). '
  read -r -t 15 || { printf '\n'; exit 0; }
  step "The same without a policy: w lets you type what to do, and any words help; c cancels" \
    "cd examples/stuck && looprun --check 'go test ./...' -- ./fix.sh"
  cp "$here/stuck/slug.go" "$work/stuck"
  code=0
  (cd "$work/stuck" && "$looprun" --check 'go test ./...' -- ./fix.sh) || code=$?
  printf '(exit code %d)\n' "$code"
fi
