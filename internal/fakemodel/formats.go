package fakemodel

import (
	"fmt"
	"net/http"
	"time"
)

// The cost of each reply, in tokens.
const (
	inputTokens  = 1000
	outputTokens = 100
)

type anthropic struct{}

func (anthropic) asks(request object) (work, fresh bool) {
	return tools(request), !said(request["messages"], "role", "assistant")
}

func (anthropic) aside(object) Step { return Step{Text: "ok"} }

func (anthropic) write(w http.ResponseWriter, request object, s Step, id string) {
	content, stop := object{"type": "text", "text": s.Text}, "end_turn"
	opening, delta := object{"type": "text", "text": ""}, object{"type": "text_delta", "text": s.Text}
	if s.Tool != "" {
		content, stop = object{"type": "tool_use", "id": "toolu_" + id, "name": s.Tool, "input": s.Input}, "tool_use"
		opening = object{"type": "tool_use", "id": "toolu_" + id, "name": s.Tool, "input": object{}}
		delta = object{"type": "input_json_delta", "partial_json": text(s.Input)}
	}
	message := object{
		"id": "msg_" + id, "type": "message", "role": "assistant", "model": request["model"],
		"content": array{content}, "stop_reason": stop, "stop_sequence": nil,
		"usage": object{"input_tokens": inputTokens, "output_tokens": outputTokens, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0},
	}
	if request["stream"] != true {
		reply(w, message)
		return
	}
	message["content"], message["stop_reason"] = array{}, nil
	event(w, "message_start", object{"type": "message_start", "message": message})
	event(w, "content_block_start", object{"type": "content_block_start", "index": 0, "content_block": opening})
	event(w, "content_block_delta", object{"type": "content_block_delta", "index": 0, "delta": delta})
	event(w, "content_block_stop", object{"type": "content_block_stop", "index": 0})
	event(w, "message_delta", object{"type": "message_delta", "delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": object{"output_tokens": outputTokens}})
	event(w, "message_stop", object{"type": "message_stop"})
}

type responses struct{}

func (responses) asks(request object) (work, fresh bool) {
	input := request["input"]
	return true, !said(input, "role", "assistant") && !said(input, "type", "function_call") && !said(input, "type", "custom_tool_call")
}

func (responses) aside(object) Step { return Step{} }

func (responses) write(w http.ResponseWriter, request object, s Step, id string) {
	item := object{
		"type": "message", "id": "msg_" + id, "role": "assistant", "status": "completed",
		"content": array{object{"type": "output_text", "text": s.Text, "annotations": array{}}},
	}
	if s.Tool != "" {
		item = object{"type": "function_call", "id": "fc_" + id, "call_id": "call_" + id, "name": s.Tool, "arguments": text(s.Input), "status": "completed"}
	}
	response := object{"id": "resp_" + id, "object": "response", "status": "in_progress", "model": request["model"], "output": array{}}
	event(w, "response.created", object{"type": "response.created", "response": response})
	event(w, "response.output_item.added", object{"type": "response.output_item.added", "output_index": 0, "item": item})
	event(w, "response.output_item.done", object{"type": "response.output_item.done", "output_index": 0, "item": item})
	response["status"], response["output"] = "completed", array{item}
	response["usage"] = object{
		"input_tokens": inputTokens, "input_tokens_details": object{"cached_tokens": 0},
		"output_tokens": outputTokens, "output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": inputTokens + outputTokens,
	}
	event(w, "response.completed", object{"type": "response.completed", "response": response})
}

type chat struct{}

func (chat) asks(request object) (work, fresh bool) {
	return tools(request), !said(request["messages"], "role", "assistant")
}

func (chat) aside(object) Step { return Step{Text: "ok"} }

func (chat) write(w http.ResponseWriter, request object, s Step, id string) {
	delta, finish := object{"role": "assistant", "content": s.Text}, "stop"
	if s.Tool != "" {
		call := object{"index": 0, "id": "call_" + id, "type": "function", "function": object{"name": s.Tool, "arguments": text(s.Input)}}
		delta, finish = object{"role": "assistant", "tool_calls": array{call}}, "tool_calls"
	}
	usage := object{"prompt_tokens": inputTokens, "completion_tokens": outputTokens, "total_tokens": inputTokens + outputTokens}
	whole := object{"id": "chat_" + id, "created": time.Now().Unix(), "model": request["model"], "usage": usage}
	if request["stream"] != true {
		whole["object"], whole["choices"] = "chat.completion", array{object{"index": 0, "message": delta, "finish_reason": finish}}
		reply(w, whole)
		return
	}
	chunk := func(delta object, finish any) object {
		return object{
			"id": whole["id"], "object": "chat.completion.chunk", "created": whole["created"], "model": request["model"],
			"choices": array{object{"index": 0, "delta": delta, "finish_reason": finish}},
		}
	}
	event(w, "", chunk(delta, nil))
	last := chunk(object{}, finish)
	last["usage"] = usage
	event(w, "", last)
	_, _ = fmt.Fprint(w, "data: [DONE]\n\n")
}

type gemini struct{ stream bool }

func (gemini) asks(request object) (work, fresh bool) {
	return tools(request), !said(request["contents"], "role", "model")
}

// aside answers Gemini CLI's initial question: which model the task needs.
func (gemini) aside(request object) Step {
	config, _ := request["generationConfig"].(object)
	if config["responseMimeType"] == "application/json" {
		return Step{Text: `{"reasoning":"x","next_speaker":"user","model_choice":"pro","complexity_reasoning":"x","complexity_score":50}`}
	}
	return Step{Text: "ok"}
}

func (g gemini) write(w http.ResponseWriter, _ object, s Step, _ string) {
	part := object{"text": s.Text}
	if s.Tool != "" {
		part = object{"functionCall": object{"name": s.Tool, "args": s.Input}}
	}
	whole := object{
		"candidates":    array{object{"content": object{"role": "model", "parts": array{part}}, "finishReason": "STOP", "index": 0}},
		"usageMetadata": object{"promptTokenCount": inputTokens, "candidatesTokenCount": outputTokens, "totalTokenCount": inputTokens + outputTokens},
		"modelVersion":  "fake",
	}
	if g.stream {
		event(w, "", whole)
		return
	}
	reply(w, whole)
}
