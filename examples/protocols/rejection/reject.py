#!/usr/bin/env python3
"""Rejects a task that has become three, and goes on with the first of them."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from looprun_socket import call

if "Split the reader off" in open(os.environ["LOOPRUN_CONTEXT"], encoding="utf-8").read():
    print("working on the first part")
    sys.exit(0)

rejection = {
    "task": "Split the importer",
    "agent": "splitter",
    "reason_type": "SCOPE_CREEP",
    "reason_summary": "The task has become three.",
    "what_attempted": ["Split the reader off, 40 tests pass"],
    "blocking_factor": "The writer is used by two other services",
    "suggested_alternative": "Split the reader off now and the writer later",
    "task_original_scope": "Split one module",
    "scope_growth_factor": 3,
    "alternative_tasks": [
        {"title": "Split the reader off", "estimate": "1 h"},
        {"title": "Split the writer off", "dependencies": ["Split the reader off"]},
    ],
}
reply = call("reject", rejection=rejection)
for issue in reply.get("issues", []):
    print(f"to be corrected: {issue['field']}: {issue['problem']}")

rejection["what_attempted"].append("Split the writer off, 12 tests of two other services fail")
print("valid:", call("reject", rejection=rejection)["valid"])
sys.exit(1)
