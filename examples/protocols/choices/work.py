#!/usr/bin/env python3
"""The same in Python: leaves its questions in a file, and reads the answers."""

import json
import os
import sys

with open(os.environ["LOOPRUN_ANSWERS"], encoding="utf-8") as f:
    text = f.read()
if text:
    for answer in json.loads(text)["answers"]:
        print("answered:", answer["selected"] or answer["text"], "by", answer["responder"])
    sys.exit(0)

document = {
    "status": "paused_awaiting_choices",
    "partial_result": {"tables": 3},
    "pending_user_choices": [
        {
            "header": "Database",
            "question": "Which database?",
            "options": [{"id": "pg", "label": "Postgres"}, {"id": "lite", "label": "SQLite"}],
        }
    ],
}
with open(os.path.join(os.environ["LOOPRUN_DIR"], "questions.json"), "w", encoding="utf-8") as f:
    json.dump(document, f)
