// Package waiting recognises output that means: not now. The usage limit of a coding agent,
// HTTP 429 and a network outage are not failures of the work; the next iteration only has to
// wait, until the time that the output names.
//
//	m, err := waiting.Compile([]string{"@claude", "@network", "mirror is syncing"})
//	...
//	if text, until, ok := m.Match(output, false); ok { … }
//
// A pattern is a regular expression, which is applied to each line as a terminal shows it, or
// one of the ready-made ones:
//
//	@claude   usage, session and weekly limits of Claude Code, and an overloaded API
//	@codex    usage and rate limits of Codex CLI
//	@gemini   quotas and capacity of Gemini CLI
//	@opencode errors of opencode with status 429, 503 and 529, in its transcript
//	@http429  HTTP status 429 and retry-after headers
//	@network  names that do not resolve, connections that fail or time out
//	@all      all of these
//
// # Ready patterns
//
// They examine the first 4 KiB of the last 40 lines that are not blank: a limit ends the
// program that hits it, and a limit that the program waited out itself is further up. The
// agents' patterns require that the message begins its line, preceded at most by symbols and a
// word such as "Error:", or is a text in the agent's JSON, so that a sentence about limits
// does not match. @network ignores lines that name this machine (localhost, 127.0.0.1, ::1):
// if a server that belongs to the work does not answer, that is a failure.
//
// The messages are those that users of these programs quote: Claude Code's "Claude AI usage
// limit reached|1755615600" (anthropics/claude-code issue 6119) and "You've hit your session
// limit · resets 12:50am (America/Los_Angeles)" (74079), "You're out of extra usage" (22603)
// and "API Error: Server is temporarily limiting requests" (65690); Codex CLI's "You've hit
// your usage limit. … or try again in 5 days 22 hours 11 minutes." (openai/codex issue 3899),
// "… at Jul 5th, 2026 8:19 PM." (26668) and "exceeded retry limit, last status: 429 Too Many
// Requests" (10550); Gemini CLI's "You have exhausted your capacity on this model. Your quota
// will reset after 4h28m20s." (google-gemini/gemini-cli issue 25103) and RESOURCE_EXHAUSTED
// (1848).
//
// # What cannot pass
//
// [CompileStop] has other ready patterns, for errors that no later iteration fixes: not logged
// in, an invalid key, no credit. They are matched in the same way.
package waiting
