// Package cost reads what an iteration cost, in US dollars and tokens, out of
// what its command printed.
//
//	r, err := cost.New("claude")
//	...
//	r.Line()(line) // of the output, unless it is nil
//	r.Used(usage) // that a transcript in it reports
//	usd, tokens, found := r.Report()
//	r.Reset() // the next iteration begins
//
// What agents print in JSON is opened by the package carrier, which names the numbers of
// each. Memory is bounded whatever is printed. Reports of several runs in one iteration
// add up. Tokens are all that a model read and wrote, what came from its cache included.
//
// # claude
//
// Claude Code with --output-format json or stream-json prints an object whose
// type is "result", with total_cost_usd and usage: input_tokens, output_tokens,
// cache_creation_input_tokens and cache_read_input_tokens, which are disjoint
// (code.claude.com/docs, "Run Claude Code programmatically" and the Agent SDK's
// cost tracking). One process that answers several messages restates the dollars
// of all of them in every result (anthropics/claude-code issue 83239), and the
// modelUsage of each model with them, while usage is that of one message. So of a
// result of a session that was seen before only those dollars count that it adds, where
// its modelUsage holds all that was written before and its own usage on top; else
// it is a process of its own and counts whole.
//
// # codex
//
// Codex CLI with exec --json prints lines of type "thread.started", with a
// thread_id, and "turn.completed", with usage: input_tokens, output_tokens, and
// cached_input_tokens, which are among the first (openai/codex issues 5276 and
// 19022). It reports no dollars. Usage is the total of the thread, that of
// earlier processes which it resumes included (openai/codex issue 17539), so
// only what a thread adds counts; what a Reader knows of threads outlives Reset.
// Of a thread that is older than the Reader the first report counts whole.
// Without --json the end is a line "tokens used" and one with the number
// (issue 29272), or both in one line; it leaves out what came from the cache.
//
// # gemini
//
// Gemini CLI with --output-format json prints an object with the tokens of each
// model in stats.models.NAME.tokens.total (oneryalcin/gemini-cli-sdk issue 9);
// with stream-json the last line is of type "result" and has stats.total_tokens
// (google-gemini/gemini-cli issue 21833). It reports no dollars.
//
// # opencode
//
// OpenCode's run --format json prints a line of type "step_finish" for each request to
// the model, with what it cost in part.cost and its tokens in part.tokens: input, output,
// reasoning, cache.read and cache.write, which are disjoint. Dollars are 0 for a model
// whose price it does not know.
//
// # auto
//
// All of the above: what is printed says which it is.
//
// # A regular expression
//
// Anything else is a regular expression with a group named usd, or tokens, or
// both. It is looked for in each line, without escape sequences, as often as it
// matches. Numbers may have thousands separators and end in k, M or B, as in
// 1,234 and 2.3k.
package cost
