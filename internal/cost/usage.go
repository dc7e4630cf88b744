package cost

import (
	"bytes"
	"slices"
	"strings"

	"github.com/looprun/looprun/internal/carrier"
)

// remembered is the number of sessions remembered.
const remembered = 64

// Used counts the usage that a transcript reports, if its agent's cost is read.
func (r *Reader) Used(u carrier.Usage) {
	if r.agent != Auto && r.agent != u.Agent {
		return
	}
	usd, tokens := u.USD, u.Tokens
	if u.Session != "" || u.Process != "" {
		i := slices.IndexFunc(r.before, func(b carrier.Usage) bool {
			return b.Agent == u.Agent && b.Session == u.Session && b.Process == u.Process
		})
		if i >= 0 {
			usd, tokens = since(r.before[i], u)
			r.before = slices.Delete(r.before, i, i+1)
		}
		r.before = append(r.before, u)
		r.before = slices.Delete(r.before, 0, max(0, len(r.before)-remembered))
	}
	r.add(usd, tokens)
}

// since returns what a report adds to the previous one. In doubt that is all of it: counting
// twice asks somebody too early, counting too little asks too late.
func since(before, now carrier.Usage) (usd, tokens float64) {
	switch {
	case now.USD < before.USD:
	case now.Process == "":
		if now.Tokens >= before.Tokens {
			return now.USD - before.USD, now.Tokens - before.Tokens
		}
	case before.AllWrote > 0 && now.Wrote > 0 && now.AllWrote >= before.AllWrote+now.Wrote:
		return now.USD - before.USD, now.Tokens // the same process
	}
	return now.USD, now.Tokens
}

// forgetProcesses drops the reports of processes, which have ended.
func (r *Reader) forgetProcesses() {
	r.before = slices.DeleteFunc(r.before, func(b carrier.Usage) bool { return b.Process != "" })
}

// tokensUsed reads what Codex prints for people: "tokens used" and a number, on one line or on
// two.
func (r *Reader) tokensUsed(line []byte) {
	if !r.counted && !bytes.Contains(line, []byte("kens used")) {
		return
	}
	text := string(line)
	before, after, ok := strings.Cut(strings.ToLower(text), "tokens used")
	before = strings.TrimSpace(before)
	after = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(after), ":"))
	stamped := strings.HasPrefix(before, "[") && strings.HasSuffix(before, "]")
	value := after
	switch {
	case ok && (before == "" || stamped) && after == "":
		r.counted = true
		return
	case ok && (before == "" || stamped):
	case !ok && r.counted:
		value = strings.TrimSpace(text)
	default:
		r.counted = false
		return
	}
	r.counted = false
	if n, err := number(value); err == nil {
		r.add(0, n)
	}
}
