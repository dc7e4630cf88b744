// Package waiting recognises output that says: not now. The usage limit of a
// coding agent, HTTP 429 and a network that is down are no failures of the work;
// the next iteration only has to wait, until the moment that the output names.
//
//	m, err := waiting.Compile([]string{"@claude", "@network", "mirror is syncing"})
//	...
//	if text, until, ok := m.Match(output, false); ok { … }
//
// A pattern is a regular expression, which is looked for in each line, as a
// terminal shows it, or one of the ready ones:
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
// They look at the first 4 KiB of the last 40 lines that are not blank: a limit
// ends the program that meets it, and one that the program waited out itself is
// further up. Those of agents want the message to begin its line, after symbols
// and a word such as "Error:" at most, or to be a text in the agent's JSON, so
// that a sentence about limits is none. @network leaves out lines that name this
// machine (localhost, 127.0.0.1, ::1): a server of the work's own that does not
// answer is a failure.
//
// The messages are those that users of these programs quote: Claude Code's "Claude
// AI usage limit reached|1755615600" (anthropics/claude-code issue 6119) and
// "You've hit your session limit · resets 12:50am (America/Los_Angeles)" (74079),
// "You're out of extra usage" (22603) and "API Error: Server is temporarily
// limiting requests" (65690); Codex CLI's "You've hit your usage limit. … or try
// again in 5 days 22 hours 11 minutes." (openai/codex issue 3899), "… at Jul 5th,
// 2026 8:19 PM." (26668) and "exceeded retry limit, last status: 429 Too Many
// Requests" (10550); Gemini CLI's "You have exhausted your capacity on this model.
// Your quota will reset after 4h28m20s." (google-gemini/gemini-cli issue 25103)
// and RESOURCE_EXHAUSTED (1848).
//
// # What cannot pass
//
// [CompileStop] has other ready patterns, of messages that no later iteration mends: not
// logged in, an invalid key, no credit. They are looked for in the same way.
package waiting
