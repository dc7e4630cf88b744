"""Talk to looprun from Python, with nothing but the standard library.

The socket takes one JSON object a line and replies with one:
{"ok": true, "reply": ...} or {"ok": false, "error": {"code": ..., "text": ...}}.
"""

import json
import os
import socket


class Refused(Exception):
    """looprun did not do it; code says why to programs, the text to people."""

    def __init__(self, error):
        super().__init__(error["text"])
        self.code = error["code"]


def call(kind, **message):
    """Send one message and wait for its reply. An answer may take days."""
    path = os.environ.get("LOOPRUN_SOCKET")
    if not path:
        raise SystemExit("this is for a command that looprun runs: LOOPRUN_SOCKET is not set")
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(path)
        with s.makefile("rw", encoding="utf-8", newline="\n") as lines:
            lines.write(json.dumps({"type": kind, **message}) + "\n")
            lines.flush()
            line = lines.readline()
    if not line:
        raise SystemExit("the run ended before it replied")
    reply = json.loads(line)
    if not reply["ok"]:
        raise Refused(reply["error"])
    return reply.get("reply")
