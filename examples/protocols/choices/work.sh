#!/bin/sh
# Cannot wait for an answer: it prints its questions and exits. The iteration
# after the answers finds them in the file LOOPRUN_ANSWERS.
if [ -s "$LOOPRUN_ANSWERS" ]; then
  echo "answered: $(grep -o '"selected": "[a-z]*"' "$LOOPRUN_ANSWERS")"
  exit 0
fi
cat <<'JSON'
{
  "status": "paused_awaiting_choices",
  "partial_result": {"tables": 3},
  "pending_user_choices": [
    {
      "header": "Database",
      "question": "Which database?",
      "options": [{"id": "pg", "label": "Postgres"}, {"id": "lite", "label": "SQLite"}]
    }
  ]
}
JSON
