#!/usr/bin/env python3
"""Asks three questions in one round over the socket."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from looprun_socket import Refused, call

questions = [
    {
        "id": "db",
        "header": "Database",
        "question": "Which database?",
        "options": [
            {"id": "pg", "label": "Postgres", "description": "One more server to run"},
            {"id": "lite", "label": "SQLite", "description": "A file"},
        ],
        "default": "lite",
    },
    {"id": "drop", "question": "May the old tables be dropped?", "kind": "confirm", "default": "no"},
    {"id": "name", "question": "What is the new table called?", "kind": "text", "default": "users"},
]

try:
    answers = {a["id"]: a for a in call("ask", questions=questions)["answers"]}
except Refused as refused:
    # nobody: there is no answer. deferred: the run pauses; ask again in the next iteration.
    print(f"no answer ({refused.code}): {refused}")
    sys.exit(1)

# For a text in place of an option, selected is None.
print("database:", answers["db"]["selected"] or answers["db"]["text"])
print("old tables:", "dropped" if answers["drop"]["selected"] == "yes" else "kept")
print("table:", answers["name"]["text"])
print("answered by", answers["db"]["responder"])
