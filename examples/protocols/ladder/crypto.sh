#!/bin/sh
# An expert's output is guidance for the next iteration. The expert reads the same
# context as the work, and cannot ask anybody.
if looprun ask 'May I?' --confirm >/dev/null 2>&1; then exit 1; fi
echo 'The key is rotated every hour: read it again before each request.'
