package waiting

import (
	"regexp"
	"sync"
)

// begins is what a message may have in front of it on its line: symbols, a time,
// the key of the JSON text that it is, and a word such as "Error:".
const begins = `(?i)(?:^[^\pL\pN]*(?:\d{4}-\d\d-\d\d[T ][\d:.,]+Z?[^\pL\pN]*)?|\\?"(?:result|message|text|error)\\?"\s*:\s*\\?"[^\pL\pN]*)` +
	`(?:(?:stream |api |fatal |backend )?error\W+){0,2}`

type readyPattern struct {
	name string
	from func() []line
}

// ready is what each ready pattern to wait on stands for. Their order is that of @all.
var ready = []readyPattern{
	{"@claude", sync.OnceValue(func() []line {
		return lines(
			begins+`Claude(?: AI| Code)? usage limit reached`,
			begins+`(?:You['’]ve|You have) (?:hit|reached|exceeded) your (?:[\w-]+ ){0,3}limit\b(?:.*reset|[^\pL]*$|\W+(?:Please )?try again)`,
			`^rate_limit_event rejected\b`,
			begins+`(?:5-hour|session|weekly|usage|opus|sonnet)(?: [\w-]+)? limit reached`,
			begins+`(?:Your |Limits? ).{0,40}limits? will reset (?:at|on|in)\b`,
			begins+`Limits will reset at\b`,
			begins+`You['’]re out of (?:extra )?usage\b`,
			`(?i)API Error\W+(?:(?:Repeated )?529\b|429\b|Request rejected \(429\)|Rate limit reached\b|Server is temporarily limiting requests\b)`,
			`"type\\*"\s*:\s*\\*"(?:overloaded_error|rate_limit_error)\\*"`,
		)
	})},
	{"@codex", sync.OnceValue(func() []line {
		return lines(
			begins+`(?:You['’]ve|You have) hit your usage limit\b`,
			begins+`exceeded retry limit, last status: 429\b`,
			begins+`(?:stream disconnected before completion: )?Rate limit (?:is exceeded|reached for)\b`,
			`"(?:type|code)"\s*:\s*"(?:usage_limit_reached|rate_limit_exceeded|insufficient_quota)"`,
		)
	})},
	{"@gemini", sync.OnceValue(func() []line {
		return lines(
			begins+`(?:Attempt \d+ failed\W+)?You have exhausted your (?:capacity|(?:daily )?quota)\b`,
			begins+`You have reached your (?:daily )?[\w.-]+ quota limit`,
			begins+`Quota exceeded for\b`,
			begins+`(?:Resource has been exhausted|Resource exhausted\. Please try again)`,
			begins+`You exceeded your current quota\b`,
			begins+`The model is overloaded\b`,
			`"status\\?"\s*:\s*\\?"(?:RESOURCE_EXHAUSTED|UNAVAILABLE)\\?"`,
		)
	})},
	{"@opencode", sync.OnceValue(func() []line {
		return lines(`^APIError (?:429|503|529)\b`)
	})},
	{"@http429", sync.OnceValue(func() []line {
		return lines(
			`(?i)\b429 Too Many Requests\b`,
			`(?i)\bHTTP(?:/\d(?:\.\d)?)?(?: status(?: code)?)?(?: error)?\W{1,3}429\b`,
			`(?i)\bstatus(?:[ _-]?code)?\W{1,3}429\b`,
			`(?i)\b(?:server )?(?:returned|responded with|error)(?: an?)?(?: error)?\W{1,3}429\b`,
			`"code\\?"\s*:\s*429\b`,
			`(?i)^[<\s]*retry-after(?:-ms)?\s*:`,
		)
	})},
	{"@network", sync.OnceValue(func() []line {
		return notHere(lines(
			`(?i)\bcould(?: not|n't) resolve host`,
			`(?i)\btemporary failure in name resolution\b`,
			`(?i)\b(?:name or service not known|nodename nor servname provided)\b`,
			`(?i)\bno such host\b`,
			`\b(?:EAI_AGAIN|ENOTFOUND|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|ECONNRESET|ECONNREFUSED)\b`,
			`(?i)\b(?:network is unreachable|no route to host|network is down)\b`,
			`(?i)\b(?:connection (?:refused|timed out|reset by peer)|TLS handshake timeout|i/o timeout)\b`,
			`(?i)\b(?:(?:failed|unable) to|could not|couldn't|cannot) connect to\b`,
			`\b(?:UnknownHostException|NameResolutionError)\b`,
			begins+`(?:Connection error|Request timed out|network error|fetch failed)\b`,
		))
	})},
}

// final is what each ready pattern to stop on stands for: what no later iteration can
// mend by itself.
var final = []readyPattern{
	{"@claude", sync.OnceValue(func() []line {
		return lines(
			begins+`Not logged in\b`,
			begins+`Invalid API key\b`,
			begins+`Credit balance is too low\b`,
			begins+`OAuth (?:access )?token (?:has expired|has been revoked|revoked|expired)`,
			begins+`not logged in or OAuth token expired`,
			begins+`(?:Your|This) (?:account|organization) (?:does not have access to Claude|has been disabled)`,
			`(?i)API Error\W+(?:401|403)\b`,
		)
	})},
	{"@codex", sync.OnceValue(func() []line {
		return lines(
			begins+`Not logged in\b`,
			begins+`(?:unexpected status |exceeded retry limit, last status: )(?:401 Unauthorized|403 Forbidden)`,
			begins+`(?:Incorrect|Invalid) API key\b`,
			begins+`Missing environment variable\b.*_API_KEY\b`,
			begins+`(?:Quota exceeded\. Check your plan|You exceeded your current quota)`,
			begins+`Your (?:access|refresh) token (?:could not be refreshed|has expired)`,
		)
	})},
	{"@gemini", sync.OnceValue(func() []line {
		return lines(
			begins+`Please set an Auth method\b`,
			begins+`Invalid auth method selected\b`,
			begins+`API key (?:not valid|expired)\b`,
			begins+`This API method requires billing to be enabled\b`,
			begins+`Your prepayment credits are depleted\b`,
			`"(?:reason|code|type)\\?"\s*:\s*\\?"(?:API_KEY_INVALID|authentication_error)\\?"`,
		)
	})},
	{"@opencode", sync.OnceValue(func() []line {
		return lines(
			`^APIError (?:401|402|403)\b`,
			`^APIError \d+ (?:You exceeded your current quota|Your credit balance is too low)`,
		)
	})},
}

// here is this machine's own name or address, or a socket file.
var here = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\blocalhost\b|\b127\.\d+\.\d+\.\d+\b|\[?::1\]?|\b0\.0\.0\.0\b|\bunix:|\.sock\b|\bDocker daemon\b`)
})

// line is a pattern that is looked for in a line.
type line struct {
	re    *regexp.Regexp
	ready bool // only in the beginnings of the last lines
	away  bool // not in a line about this machine
}

func lines(exprs ...string) []line {
	var out []line
	for _, e := range exprs {
		out = append(out, line{re: regexp.MustCompile(e), ready: true})
	}
	return out
}

func notHere(list []line) []line {
	for i := range list {
		list[i].away = true
	}
	return list
}
