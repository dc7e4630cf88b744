#!/usr/bin/env python3
"""Sends signals over the socket; the question is a person's."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from looprun_socket import Refused, call

call("signal", signal={"name": "progress", "text": "3 of 7 files are converted"})
call("signal", signal={"name": "cost", "usd": 0.05, "tokens": 4200})
try:
    call("signal", signal={"name": "progres"})
except Refused as refused:
    print("refused:", refused)

call(
    "signal",
    signal={
        "name": "clarify",
        "cause": "ambiguous_criteria",
        "question": "Must old tokens stay valid?",
        "options_considered": [{"option": "Revoke all of them", "why_insufficient": "users are logged out"}],
        "attempts_made": ["Read the ticket and the tests"],
        "what_would_help": "A sentence on what users may notice",
    },
)
sys.exit(1)
