#!/bin/sh
# A program that can only print: run it with --signals text.
cat <<'TEXT'
Converted 3 of 7 files.
LOOPRUN_COST
USD: 0.05
Tokens: 4200
SEEKING_CLARIFICATION: auth-12
Cause: ambiguous_criteria
Question: Must old tokens stay valid?
Options Considered:
1. Revoke all of them: users are logged out
2. Keep them: the leak stays open
What Would Help: A sentence on what users may notice
TEXT
exit 1
