#!/bin/sh
# A flaky script: it fails three times in the same way, then it works.
[ "${LOOPRUN_ITERATION:-1}" -ge 4 ] || { echo "error: connection reset by peer"; exit 1; }
echo "connected"
