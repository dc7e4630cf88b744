package carrier

import "sync"

// Known is the table of what is known. It holds for the versions that the recordings in
// testdata are of.
var Known = sync.OnceValue(func() *Table { return NewTable(shapes()...) })

const claudeTokens = "usage.input_tokens&usage.output_tokens&usage.cache_creation_input_tokens&usage.cache_read_input_tokens"

// shapes are the carriers that are known. Agents come first: an object of theirs has
// more that tells it from others.
func shapes() []Shape {
	return []Shape{
		// Cursor, agent -p --output-format json|stream-json: much like Claude Code, which
		// it comes before since it has more marks.
		{
			Agent: "cursor", When: Match{"type": "assistant", "session_id": "*", "timestamp_ms": "*", "model_call_id": "-"}, Each: "message.content",
			Read: []Reading{{When: Match{"type": "text"}, Said: "text", Piece: true}},
		},
		{
			Agent: "cursor", When: Match{"type": "assistant", "session_id": "*", "uuid": "-", "parent_tool_use_id": "-", "message.model": "-"}, Each: "message.content",
			Read: []Reading{{When: Match{"type": "text"}, Said: "text"}},
		},
		{
			Agent: "cursor", When: Match{"type": "tool_call", "session_id": "*", "tool_call": "*"},
			Read: []Reading{
				{When: Match{"subtype": "started"}, ID: "call_id", Name: "tool_call.*", Input: "tool_call.*.args", Ends: true},
				{
					When: Match{"subtype": "completed"}, ID: "call_id", Name: "tool_call.*", Input: "tool_call.*.args",
					Output: "tool_call.*.result.*.stdout&tool_call.*.result.*.stderr&tool_call.*.result.*.content&tool_call.*.result.*.message",
					Broken: Match{"tool_call.*.result.success": "-"},
				},
			},
		},
		{Agent: "cursor", When: Match{"type": "thinking", "session_id": "*"}, Read: []Reading{{Noise: "text"}}},
		{
			Agent: "cursor", When: Match{"type": "result", "session_id": "*", "request_id": "*"},
			Read: []Reading{
				{When: Match{"is_error": "true"}, Printed: "result", Turn: Failed, Last: "result", Trouble: "result"},
				{Said: "result", Turn: Done, Last: "result"},
			},
		},

		// Claude Code, claude -p --output-format json|stream-json, with partial messages too.
		{
			Agent: "claude", When: Match{"type": "assistant", "session_id": "*", "error": "*"}, Each: "message.content",
			Read: []Reading{{When: Match{"type": "text"}, Printed: "text", Trouble: "text"}},
		},
		{
			Agent: "claude", When: Match{"type": "assistant", "session_id": "*", "parent_tool_use_id": "-"}, Each: "message.content",
			Read: []Reading{
				{When: Match{"type": "text"}, Said: "text"},
				{When: Match{"type": "thinking"}, Noise: "thinking"},
				{When: Match{"type": "tool_use|server_tool_use|mcp_tool_use"}, ID: "id", Name: "name", Input: "input"},
			},
		},
		{
			Agent: "claude", When: Match{"type": "assistant", "session_id": "*"}, Each: "message.content",
			Read: []Reading{
				{When: Match{"type": "text"}, Noise: "text"},
				{When: Match{"type": "tool_use"}, ID: "id", Name: "name", Input: "input"},
			},
		},
		{
			Agent: "claude", When: Match{"type": "user", "session_id": "*", "message": "*"}, Each: "message.content",
			Read: []Reading{
				{When: Match{"type": "tool_result"}, ID: "tool_use_id", Name: "name", Output: "content", Broken: Match{"is_error": "true"}},
				{When: Match{"type": "text"}, Noise: "text"},
				{When: Match{"type": "-"}, Noise: "."},
			},
		},
		{
			Agent: "claude", When: Match{"type": "stream_event", "session_id": "*", "parent_tool_use_id": "-"},
			Read: []Reading{
				{When: Match{"event.delta.type": "text_delta"}, Said: "event.delta.text", Piece: true},
				{When: Match{"event.type": "content_block_stop|message_stop"}, Ends: true},
				{},
			},
		},
		{
			Agent: "claude", When: Match{"type": "result", "session_id": "*", "subtype": "*"},
			Read: []Reading{
				{When: Match{"is_error": "true"}, Printed: "result|errors", Turn: Failed, Last: "result|errors|subtype", Trouble: "result|errors|subtype", Session: "session_id", USD: "total_cost_usd", Tokens: claudeTokens},
				{When: Match{"subtype": "error*"}, Printed: "result|errors|subtype", Turn: Failed, Last: "result|errors|subtype", Session: "session_id", USD: "total_cost_usd", Tokens: claudeTokens},
				{Said: "result", Turn: Done, Last: "result", Session: "session_id", USD: "total_cost_usd", Tokens: claudeTokens},
			},
		},
		{
			Agent: "claude", When: Match{"type": "rate_limit_event", "session_id": "*"},
			Read: []Reading{{
				When:    Match{"rate_limit_info.status": "rejected"},
				Trouble: "type&rate_limit_info.status&rate_limit_info.rateLimitType", Until: "rate_limit_info.resetsAt",
			}},
		},
		{
			Agent: "claude", When: Match{"type": "system", "session_id": "*"},
			Read: []Reading{
				{When: Match{"subtype": "api_retry"}, Trouble: "subtype&error_status&error"},
				{When: Match{"subtype": "permission_denied"}, Refused: "tool_name", Last: "message"},
			},
		},
		{Agent: "claude", When: Match{"session_id": "*", "uuid": "*", "type": "*"}}, // what else there is, and will be

		// Codex CLI, codex exec --json.
		{
			Agent: "codex", When: Match{"type": "item.started|item.updated|item.completed", "item.type": "*"},
			Read: []Reading{
				{When: Match{"type": "item.started", "item.type": "command_execution"}, ID: "item.id", Name: "item.type", Input: "item.command"},
				{When: Match{"type": "item.started|item.updated"}},
				{When: Match{"item.type": "agent_message"}, Said: "item.text|item.message"},
				{When: Match{"item.type": "reasoning"}, Noise: "item.text"},
				{When: Match{"item.type": "command_execution", "item.status": "declined"}, Refused: "item.command", Last: "item.aggregated_output"},
				{
					When: Match{"item.type": "command_execution"}, ID: "item.id", Name: "item.type", Input: "item.command",
					Output: "item.aggregated_output", Broken: Match{"item.status": "failed"},
				},
				{
					When: Match{"item.type": "mcp_tool_call"}, ID: "item.id", Name: "item.tool", Input: "item.arguments",
					Output: "item.result.content|item.error.message", Broken: Match{"item.status": "failed"},
				},
				{When: Match{"item.type": "error"}, Printed: "item.message", Trouble: "item.message"},
			},
		},
		{
			Agent: "codex", When: Match{"type": "turn.completed", "usage": "*"},
			Read: []Reading{{Turn: Done, Tokens: "usage.input_tokens&usage.output_tokens"}},
		},
		{
			Agent: "codex", When: Match{"type": "turn.failed", "error": "*"},
			Read: []Reading{{Printed: "error.message", Turn: Failed, Last: "error.message", Trouble: "error.message"}},
		},
		{Agent: "codex", When: Match{"type": "thread.started", "thread_id": "*"}},
		{Agent: "codex", When: Match{"type": "turn.started"}},

		// Gemini CLI, gemini -p --output-format json|stream-json.
		{
			Agent: "gemini", When: Match{"type": "message", "timestamp": "*", "role": "*"},
			Read: []Reading{
				{When: Match{"role": "assistant", "delta": "true"}, Said: "content", Piece: true},
				{When: Match{"role": "assistant"}, Said: "content"},
				{Noise: "content", Ends: true},
			},
		},
		{
			Agent: "gemini", When: Match{"type": "tool_use", "tool_id": "*", "tool_name": "*"},
			Read: []Reading{{ID: "tool_id", Name: "tool_name", Input: "parameters", Ends: true}},
		},
		{
			Agent: "gemini", When: Match{"type": "tool_result", "tool_id": "*", "error.type": "tool_not_registered|policy_violation"},
			Read: []Reading{{
				ID: "tool_id", Name: "tool_name", Output: "output|error.message", Broken: Match{"status": "error"}, Ends: true,
				Refused: "error.type", Last: "error.message",
			}},
		},
		{
			Agent: "gemini", When: Match{"type": "tool_result", "tool_id": "*", "status": "*"},
			Read: []Reading{{ID: "tool_id", Name: "tool_name", Output: "output|error.message", Broken: Match{"status": "error"}, Ends: true}},
		},
		{
			Agent: "gemini", When: Match{"type": "result", "timestamp": "*", "status": "*"},
			Read: []Reading{
				{When: Match{"status": "success"}, Turn: Done, Tokens: "stats.total_tokens", Ends: true},
				{Ends: true, Printed: "error.message", Turn: Failed, Last: "error.message", Trouble: "error.message", Tokens: "stats.total_tokens"},
			},
		},
		{Agent: "gemini", When: Match{"type": "init", "timestamp": "*", "session_id": "*"}},
		{
			Agent: "gemini", When: Match{"session_id": "*", "error.message": "*", "type": "-"}, Begins: "session_id|error",
			Read: []Reading{{Printed: "error.message", Turn: Failed, Last: "error.message", Trouble: "error.message", Tokens: "stats.models.*.tokens.total"}},
		},
		{
			Agent: "gemini", When: Match{"response": "*", "stats.models": "*", "type": "-"}, Begins: "session_id|response|stats",
			Read: []Reading{{Said: "response", Turn: Done, Last: "response", Tokens: "stats.models.*.tokens.total"}},
		},

		// opencode run --format json.
		{
			Agent: "opencode", When: Match{"type": "text", "sessionID": "*", "part": "*"},
			Read: []Reading{{Said: "part.text"}},
		},
		{
			Agent: "opencode", When: Match{"type": "reasoning", "sessionID": "*", "part": "*"},
			Read: []Reading{{Noise: "part.text"}},
		},
		{
			Agent: "opencode", When: Match{"type": "tool_use", "sessionID": "*", "part.state.error": "The user rejected permission*"},
			Read: []Reading{{
				ID: "part.callID", Name: "part.tool", Input: "part.state.input", Output: "part.state.error",
				Broken: Match{"part.state.status": "error"}, Refused: "part.tool", Last: "part.state.error",
			}},
		},
		{
			Agent: "opencode", When: Match{"type": "tool_use", "sessionID": "*", "part": "*"},
			Read: []Reading{{
				ID: "part.callID", Name: "part.tool", Input: "part.state.input", Output: "part.state.output|part.state.error",
				Broken: Match{"part.state.status": "error"},
			}},
		},
		{
			Agent: "opencode", When: Match{"type": "step_finish", "sessionID": "*", "part": "*"},
			Read: []Reading{
				{When: Match{"part.reason": "tool-calls"}, Session: "sessionID", USD: "part.cost", Tokens: "part.tokens.total"},
				{Turn: Done, Session: "sessionID", USD: "part.cost", Tokens: "part.tokens.total"},
			},
		},
		{
			Agent: "opencode", When: Match{"type": "error", "sessionID": "*", "error": "*"},
			Read: []Reading{{
				Printed: "error.data.message|error.message|error.name", Turn: Failed,
				Last: "error.data.message|error.message|error.name", Trouble: "error.data.message|error.message|error.name",
			}},
		},
		{Agent: "opencode", When: Match{"type": "*", "sessionID": "*", "part": "*"}},

		// Copilot CLI, copilot -p --output-format json.
		{
			Agent: "copilot", When: Match{"type": "assistant.message", "data": "*"},
			Read: []Reading{
				{When: Match{"data.parentToolCallId": "*"}, Noise: "data.content"},
				{Said: "data.content"},
			},
		},
		{
			Agent: "copilot", When: Match{"type": "assistant.message_delta", "data": "*"},
			Read: []Reading{{When: Match{"data.parentToolCallId": "-"}, Said: "data.deltaContent", Piece: true}},
		},
		{
			Agent: "copilot", When: Match{"type": "tool.execution_start", "data": "*"},
			Read: []Reading{{ID: "data.toolCallId", Name: "data.toolName", Input: "data.arguments", Ends: true}},
		},
		{
			Agent: "copilot", When: Match{"type": "tool.execution_complete", "data": "*"},
			Read: []Reading{{
				ID: "data.toolCallId", Name: "data.toolName", Output: "data.result.content|data.error.message",
				Broken: Match{"data.success": "false"},
			}},
		},
		{
			Agent: "copilot", When: Match{"type": "session.error", "data": "*"},
			Read: []Reading{{Printed: "data.message", Trouble: "data.message"}},
		},
		{
			Agent: "copilot", When: Match{"type": "result", "sessionId": "*", "exitCode": "*"},
			Read: []Reading{
				{When: Match{"exitCode": "0"}, Turn: Done, Session: "sessionId"},
				{Turn: Failed, Session: "sessionId"},
			},
		},
		{
			Agent: "copilot", When: Match{"type": "user.message|assistant.reasoning|system.message", "data": "*"},
			Read: []Reading{{Noise: "data.content"}},
		},
		{Agent: "copilot", When: Match{"type": "session.*|assistant.*|tool.*|hook.*|subagent.*|abort", "data": "*", "timestamp": "*"}},

		// Errors come last, since they have little that tells them from those of others.
		{
			Agent: "codex", When: Match{"type": "error", "message": "*", "severity": "-"}, Follows: true,
			Read: []Reading{{Printed: "message", Trouble: "message"}},
		},
		{
			Agent: "gemini", When: Match{"type": "error", "timestamp": "*", "severity": "*", "message": "*"},
			Read: []Reading{{Printed: "message", Trouble: "message"}},
		},

		// What collectors wrap around lines.
		{When: Match{"log": "*", "stream": "stdout|stderr"}, Read: []Reading{{Printed: "log", Source: "kubernetes.pod_name|container_name"}}},
		{When: Match{"log": "*", "time": "*", "stream": "-", "level": "-"}, Read: []Reading{{Printed: "log", Line: true}}},
		{
			When: Match{"MESSAGE": "*", "__REALTIME_TIMESTAMP": "*"},
			Read: []Reading{{Printed: "MESSAGE", Line: true, Source: "_SYSTEMD_UNIT|SYSLOG_IDENTIFIER|_COMM"}},
		},
		{
			When: Match{"textPayload": "*", "timestamp": "*"},
			Read: []Reading{{Printed: "textPayload", Line: true, Source: "resource.labels.container_name|resource.labels.job_name|logName"}},
		},
		{When: Match{"line": "*", "labels": "*", "timestamp": "*"}, Read: []Reading{{Printed: "line", Line: true, Source: "labels.app|labels.pod|labels.job"}}},
		{When: Match{"Log": "*", "TimeStamp": "*"}, Read: []Reading{{Printed: "Log", Line: true}}},
		{When: Match{"message": "*", "timestamp": "*", "ingestionTime": "*"}, Read: []Reading{{Printed: "message", Line: true, Source: "logStreamName"}}},
		{When: Match{"log": "*", "container_name": "*"}, Read: []Reading{{Printed: "log", Line: true, Source: "container_name"}}},
		{When: Match{"message": "*", "@timestamp": "*", "level": "-", "log.level": "-"}, Read: []Reading{{Printed: "message", Line: true, Source: "container.name|host.name"}}},
		{When: Match{"log": "*", "kubernetes": "*"}, Read: []Reading{{Printed: "log", Line: true, Source: "kubernetes.pod_name"}}},
		{When: Match{"message": "*", "kubernetes": "*", "level": "-"}, Read: []Reading{{Printed: "message", Line: true, Source: "kubernetes.pod_name|kubernetes.pod.name"}}},
		{When: Match{"message": "*", "source_type": "*", "timestamp": "*"}, Read: []Reading{{Printed: "message", Line: true, Source: "container_name|host"}}},
		{When: Match{"event": "*", "Source": "*", "sourcetype": "*"}, Read: []Reading{{Printed: "event", Line: true}}},
	}
}
