package cost

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// agents knows what coding agents print.
type agents struct {
	reader                          *Reader
	claude, codex, gemini, opencode bool

	// sessions are Claude's of this iteration, the last one last.
	sessions []session
	// threads are Codex's, the last one last. They outlive an iteration.
	threads []thread
	current string // the thread that goes on
	step    string // OpenCode's last
	counted bool   // the line before said "tokens used"
}

// remembered is how many sessions and threads are.
const remembered = 64

type session struct {
	id     string
	usd    float64
	tokens map[string]float64 // of each model, the tokens written
}

type thread struct {
	id     string
	tokens float64
}

func (a *agents) reset() { a.sessions, a.current, a.step, a.counted = nil, "", "", false }

// printed is everything that is read of any agent's objects.
type printed struct {
	Type    string   `json:"type"`
	Session string   `json:"session_id"`
	USD     *float64 `json:"total_cost_usd"`
	Usage   *struct {
		Input         float64 `json:"input_tokens"`
		Output        float64 `json:"output_tokens"`
		CacheCreation float64 `json:"cache_creation_input_tokens"`
		CacheRead     float64 `json:"cache_read_input_tokens"`
	} `json:"usage"`
	ModelUsage map[string]struct {
		Output float64 `json:"outputTokens"`
	} `json:"modelUsage"`
	Thread string `json:"thread_id"`
	Part   *struct {
		ID     string   `json:"id"`
		Cost   *float64 `json:"cost"`
		Tokens struct {
			Input     float64 `json:"input"`
			Output    float64 `json:"output"`
			Reasoning float64 `json:"reasoning"`
			Cache     struct {
				Read  float64 `json:"read"`
				Write float64 `json:"write"`
			} `json:"cache"`
		} `json:"tokens"`
	} `json:"part"`
	Stats *struct {
		Total  *float64 `json:"total_tokens"`
		Models map[string]struct {
			Tokens struct {
				Total float64 `json:"total"`
			} `json:"tokens"`
		} `json:"models"`
	} `json:"stats"`
}

// Most objects are none of these: what they hold says so before they are read.
var marks = [][]byte{[]byte(`"result"`), []byte(`"turn.completed"`), []byte(`"thread.started"`), []byte(`"stats"`), []byte(`"step_finish"`)}

func marked(text []byte) bool {
	return slices.ContainsFunc(marks, func(m []byte) bool { return bytes.Contains(text, m) })
}

// object reads one object.
func (a *agents) object(text []byte) {
	if !marked(text) {
		return
	}
	var p printed
	if err := json.Unmarshal(text, &p); err != nil {
		if kindOf(text) != "" {
			a.reader.fault("a result cannot be read: %v", err)
		}
		return
	}
	switch {
	case p.Type == "result" && a.claude && (p.USD != nil || p.Usage != nil):
		a.result(p)
	case p.Type == "thread.started" && a.codex:
		a.current = p.Thread
	case p.Type == "turn.completed" && a.codex && p.Usage != nil:
		a.turn(p.Usage.Input + p.Usage.Output)
	case p.Type == "step_finish" && a.opencode && p.Part != nil && p.Part.Cost != nil:
		a.opencodeStep(p)
	case (p.Type == "result" || p.Type == "") && a.gemini && p.Stats != nil:
		a.stats(p)
	}
}

// kindOf is the type that an object says it is of, if that is one that reports.
func kindOf(text []byte) string {
	var p struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(text, &p); err != nil || p.Type != "result" && p.Type != "turn.completed" {
		return ""
	}
	return p.Type
}

// tooLong is told of an object that was not kept whole.
func (a *agents) tooLong(head []byte) {
	if a.claude && bytes.Contains(head, []byte(`"type":"result"`)) {
		a.reader.fault("a result is longer than the %d bytes that are read", maxObject)
	}
}

// result counts one of Claude's.
func (a *agents) result(p printed) {
	var usd, tokens, written float64
	if p.USD != nil {
		usd = *p.USD
	}
	if u := p.Usage; u != nil {
		tokens, written = u.Input+u.Output+u.CacheCreation+u.CacheRead, u.Output
	}
	now := session{id: p.Session, usd: usd, tokens: map[string]float64{}}
	for model, u := range p.ModelUsage {
		now.tokens[model] = u.Output
	}
	i := slices.IndexFunc(a.sessions, func(s session) bool { return s.id == p.Session })
	if i >= 0 && p.Session != "" {
		if before := a.sessions[i]; now.restates(before, written) {
			usd -= before.usd
		}
		a.sessions = slices.Delete(a.sessions, i, i+1)
	}
	a.sessions = append(a.sessions, now)
	if len(a.sessions) > remembered {
		a.sessions = slices.Delete(a.sessions, 0, 1)
	}
	a.reader.add(usd, tokens)
}

// restates reports whether the result holds what the one before it reported,
// with what was written since on top. In doubt it does not: to count twice asks
// somebody too early, to count too little asks too late.
func (s session) restates(before session, written float64) bool {
	if len(before.tokens) == 0 || s.usd < before.usd || written <= 0 {
		return false
	}
	var was, is float64
	for model, n := range before.tokens {
		was += n
		if s.tokens[model] < n {
			return false
		}
	}
	for _, n := range s.tokens {
		is += n
	}
	return is >= was+written
}

// turn counts one of Codex's, whose usage is the thread's total.
func (a *agents) turn(total float64) {
	added := total
	i := slices.IndexFunc(a.threads, func(t thread) bool { return t.id == a.current })
	if i >= 0 && a.current != "" {
		if before := a.threads[i].tokens; total >= before {
			added = total - before
		}
		a.threads = slices.Delete(a.threads, i, i+1)
	}
	if a.reader.add(0, added); a.current == "" {
		return
	}
	a.threads = append(a.threads, thread{a.current, total})
	if len(a.threads) > remembered {
		a.threads = slices.Delete(a.threads, 0, 1)
	}
}

// opencodeStep counts one of OpenCode's, once.
func (a *agents) opencodeStep(p printed) {
	if p.Part.ID != "" && p.Part.ID == a.step {
		return
	}
	a.step = p.Part.ID
	t := p.Part.Tokens
	a.reader.add(*p.Part.Cost, t.Input+t.Output+t.Reasoning+t.Cache.Read+t.Cache.Write)
}

// stats counts one of Gemini's.
func (a *agents) stats(p printed) {
	total, found := 0.0, false
	if p.Stats.Total != nil {
		total, found = *p.Stats.Total, true
	} else {
		for _, m := range p.Stats.Models {
			total += m.Tokens.Total
			found = true
		}
	}
	if found {
		a.reader.add(0, total)
	}
}

// line reads what Codex prints for people: "tokens used" and a number, on one
// line or on two.
func (a *agents) line(line []byte) {
	text := string(line)
	before, after, ok := strings.Cut(strings.ToLower(text), "tokens used")
	before = strings.TrimSpace(before)
	after = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(after), ":"))
	stamped := strings.HasPrefix(before, "[") && strings.HasSuffix(before, "]")
	value := after
	switch {
	case ok && (before == "" || stamped) && after == "":
		a.counted = true
		return
	case ok && (before == "" || stamped):
	case !ok && a.counted:
		value = strings.TrimSpace(text)
	default:
		a.counted = false
		return
	}
	a.counted = false
	if n, err := number(value); err == nil {
		a.reader.add(0, n)
	}
}
