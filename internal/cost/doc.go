// Package cost reads the cost of an iteration, in US dollars and tokens, from its command's
// output.
//
//	r, err := cost.New("claude")
//	...
//	r.Line()(line) // of the output, unless it is nil
//	r.Used(usage) // that a transcript in it reports
//	usd, tokens, found := r.Report()
//	r.Reset() // the next iteration begins
//
// Package carrier opens the JSON output of agents and names the numbers of each. Memory use is
// bounded whatever is printed. Reports of several runs in one iteration add up. Tokens are all
// tokens that a model read and wrote, including those from its cache.
//
// # claude
//
// Claude Code with --output-format json or stream-json prints an object whose type is
// "result", with total_cost_usd and usage: input_tokens, output_tokens,
// cache_creation_input_tokens and cache_read_input_tokens, which are disjoint
// (code.claude.com/docs, "Run Claude Code programmatically" and the Agent SDK's cost
// tracking). One process that answers several messages repeats the dollars of all of them in
// every result (anthropics/claude-code issue 83239), and the modelUsage of each model with
// them, while usage is that of one message. So for a result of a session that was seen before,
// only the additional dollars count if its modelUsage contains everything written before plus
// its own usage; otherwise it is from a new process and counts in full.
//
// # codex
//
// Codex CLI with exec --json prints lines of type "thread.started", with a thread_id, and
// "turn.completed", with usage: input_tokens, output_tokens, and cached_input_tokens, which
// are included in the first (openai/codex issues 5276 and 19022). It reports no dollars. Usage
// is the total of the thread, including earlier processes that it resumes (openai/codex issue
// 17539), so only what a thread adds counts; a Reader's knowledge of threads outlives Reset.
// For a thread that is older than the Reader the first report counts in full. Without --json
// the end is a line "tokens used" and one with the number (issue 29272), or both in one line;
// it excludes tokens from the cache.
//
// # gemini
//
// Gemini CLI with --output-format json prints an object with the tokens of each model in
// stats.models.NAME.tokens.total (oneryalcin/gemini-cli-sdk issue 9); with stream-json the
// last line is of type "result" and has stats.total_tokens (google-gemini/gemini-cli issue
// 21833). It reports no dollars.
//
// # opencode
//
// OpenCode's run --format json prints a line of type "step_finish" for each request to the
// model, with its cost in part.cost and its tokens in part.tokens: input, output, reasoning,
// cache.read and cache.write, which are disjoint. Dollars are 0 for a model whose price it
// does not know.
//
// # auto
//
// All of the above: the output itself shows which it is.
//
// # A regular expression
//
// Anything else is a regular expression with a group named usd, or tokens, or both. It is
// applied to each line, without escape sequences, for as many matches as there are. Numbers
// may have thousands separators and end in k, M or B, as in 1,234 and 2.3k.
package cost
