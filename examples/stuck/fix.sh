#!/bin/sh
# A fixer that is stuck: each time it is sure that a comment will help. Told of the
# punctuation, it mends the bug.
set -eu
cd "$(dirname "$0")"
echo "fix: attempt at $(date +%H:%M:%S), process $$"
case ${LOOPRUN_GUIDANCE:-} in
*punctuation*)
  sed 's/ReplaceAll(.*)$/NewReplacer(" ", "-", "?", "", "'\''", "").Replace(strings.ToLower(title))/' slug.go >slug.new
  mv slug.new slug.go ;;
*) printf '\n// Reviewed: this should be right now.\n' >>slug.go ;;
esac
