#!/bin/sh
# Any CI system that runs a script: what looprun's exit code means for the job.
#
#   generic.sh POLICY CHECK COMMAND [ARG…]
set -eu
policy=$1 check=$2
shift 2

code=0
looprun --policy "$policy" --check "$check" --result looprun.json -- "$@" || code=$?

case $code in
0) ;; # done
100) echo "the result is partial: see looprun.json" ;; # accepted
102) echo "a question waits for an answer: looprun answer, then looprun resume" ;; # paused
101 | 103) echo "the run was given up: see looprun.json" ;; # cancelled, rejected
110 | 111 | 112 | 113 | 114 | 115 | 124) echo "a guard stopped it and nobody answered" ;; # tripped
125 | 126 | 127) echo "it could not be run" ;; # failed
*) echo "it was interrupted" ;;
esac

case $code in
0 | 100) exit 0 ;;
esac
exit "$code"
