#!/bin/sh
# A fixer that is stuck: each time it is sure that a comment will help.
set -eu
cd "$(dirname "$0")"
echo "fix: attempt at $(date +%H:%M:%S), process $$"
printf '\n// Reviewed: this should be right now.\n' >>slug.go
