#!/bin/sh
# A fixer that is stuck: each time it adds a comment that does not help. With any guidance
# it fixes the bug.
set -eu
cd "$(dirname "$0")"
echo "fix: attempt at $(date +%H:%M:%S), process $$"
if [ -n "${LOOPRUN_GUIDANCE:-}" ]; then
  sed 's/ReplaceAll(.*)$/NewReplacer(" ", "-", "?", "", "'\''", "").Replace(strings.ToLower(title))/' slug.go >slug.new
  mv slug.new slug.go
else
  printf '\n// Reviewed: this should be right now.\n' >>slug.go
fi
