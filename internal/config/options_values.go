package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/redact"
	"github.com/looprun/looprun/internal/strictyaml"
)

// A limit on the command line is a number of 1 or more, or “off”. Zero is an error: it can
// mean off, or the default.

// CountLimit is a limit that is a whole number.
type CountLimit int

func (l *CountLimit) UnmarshalText(b []byte) error {
	return readLimit(l, b, "a whole number of 1 or more", func(text string) (CountLimit, bool) {
		n, err := strconv.Atoi(text)
		return CountLimit(n), err == nil && n >= 1
	})
}

// DurationLimit is a limit that is a duration.
type DurationLimit time.Duration

func (l *DurationLimit) UnmarshalText(b []byte) error {
	return readLimit(l, b, "a duration such as 90s, 15m or 1d", func(text string) (DurationLimit, bool) {
		d, err := parseDuration(text)
		return DurationLimit(d), err == nil && d >= time.Millisecond
	})
}

// readLimit parses a limit, or off.
func readLimit[L ~int | ~int64 | ~float64](l *L, b []byte, want string, parse func(string) (L, bool)) error {
	text := strings.TrimSpace(string(b))
	v, ok := parse(text)
	switch {
	case text == "off":
		v = core.Off
	case !ok && (text == "0" || text == "0s"):
		return fmt.Errorf("%s would allow nothing; write off to turn it off", text)
	case !ok:
		return fmt.Errorf("%q is not %s; write off to turn it off", text, want)
	}
	*l = v
	return nil
}

// writeLimit writes a limit in the form that readLimit parses.
func writeLimit[L ~int | ~int64 | ~float64](l L, text string) ([]byte, error) {
	if l < 0 {
		text = "off"
	}
	return []byte(text), nil
}

// Often is “6/10” or “off”; empty means the default.
type Often string

func (o *Often) UnmarshalText(b []byte) error {
	_, err := core.ParseOften(string(b))
	*o = Often(strings.TrimSpace(string(b)))
	return err
}

// Weakening is the reaction when less is checked than before; empty means the default.
type Weakening string

func (w *Weakening) UnmarshalText(b []byte) error {
	v, err := core.ParseWeakening(strings.TrimSpace(string(b)))
	*w = Weakening(v)
	return err
}

// Limit returns the parsed limit.
func (o Often) Limit() core.Often {
	limit, _ := core.ParseOften(string(o)) // it was read before; empty is the zero value
	return limit
}

// Duration is a duration that may not be negative; zero means none.
type Duration time.Duration

func (d *Duration) UnmarshalText(b []byte) error {
	v, err := parseDuration(strings.TrimSpace(string(b)))
	if err != nil || v < 0 {
		return fmt.Errorf("%q is not a duration such as 500ms, 90s or 15m", b)
	}
	*d = Duration(v)
	return nil
}

// parseDuration parses a duration in Go's syntax, or one with days and weeks as an [Age].
func parseDuration(text string) (time.Duration, error) {
	if d, err := time.ParseDuration(text); err == nil {
		return d, nil
	}
	var a Age
	err := a.UnmarshalText([]byte(text))
	return time.Duration(a), err
}

// ShellLine is a line for sh -c; the zero value means none. A blank line, or a comment, is
// rejected wherever it comes from, as by [engine.CheckStep].
type ShellLine string

func (l *ShellLine) UnmarshalText(b []byte) error {
	if err := engine.CheckStep(engine.Shell(string(b))); err != nil {
		return err
	}
	*l = ShellLine(b)
	return nil
}

// Decode keeps a line byte for byte, as [AsGiven] does.
func (l *ShellLine) Decode(ctx *kong.DecodeContext) error {
	var text string
	if err := AsGiven(ctx, reflect.ValueOf(&text).Elem()); err != nil {
		return err
	}
	return l.UnmarshalText([]byte(text))
}

// AsGiven keeps a text byte for byte. Kong's own decoding goes through JSON, which replaces
// bytes that are not UTF-8: the result is another path or another shell line. AsGiven rejects
// a blank text if it would be ignored, as marked by the tag blank, and as the name of a run,
// since no name means the latest run.
func AsGiven(ctx *kong.DecodeContext, target reflect.Value) error {
	token, err := ctx.Scan.PopValue("string")
	if err != nil {
		return err
	}
	if text, ok := token.Value.(string); ok {
		target.SetString(text)
		if of := ctx.Value; of != nil && (of.Tag.Get("blank") == "no" || of.Name == "run") && of.Target.Kind() == reflect.String && strings.TrimSpace(text) == "" {
			return SaysNothing(text)
		}
		return nil
	}
	ctx.Scan.PushToken(token)
	return ctx.Scan.PopValueInto("string", target.Addr().Interface())
}

// Span is a duration that has a default if none is given; zero is not allowed.
type Span time.Duration

func (d *Span) UnmarshalText(b []byte) error {
	var v Duration
	if err := v.UnmarshalText(b); err != nil {
		return err
	}
	if v == 0 {
		return fmt.Errorf("%s is too short; write 1ms for almost none, or leave it out for the default", b)
	}
	*d = Span(v)
	return nil
}

// MarshalText writes the form that UnmarshalText parses.
func (d Span) MarshalText() ([]byte, error) { return Duration(d).MarshalText() }

// Or returns the duration, or the default if none is given.
func (d *Span) Or(normal time.Duration) time.Duration {
	if d == nil {
		return normal
	}
	return time.Duration(*d)
}

// Codes is a list of exit codes.
type Codes struct{ engine.Codes }

func (c *Codes) UnmarshalText(b []byte) error {
	parsed, err := engine.ParseCodes(string(b))
	c.Codes = parsed
	return err
}

func (c Codes) MarshalText() ([]byte, error) { return []byte(c.String()), nil }
func (d Duration) MarshalText() ([]byte, error) {
	return []byte(time.Duration(d).String()), nil
}

func (l CountLimit) MarshalText() ([]byte, error)    { return writeLimit(l, strconv.Itoa(int(l))) }
func (l DurationLimit) MarshalText() ([]byte, error) { return writeLimit(l, time.Duration(l).String()) }

func (l TokenLimit) MarshalText() ([]byte, error) {
	return writeLimit(l, strconv.FormatInt(int64(l), 10))
}

func (l MoneyLimit) MarshalText() ([]byte, error) {
	return writeLimit(l, strconv.FormatFloat(float64(l), 'f', -1, 64))
}

// Or returns the limit, or normal if the limit is nil. A negative result means no limit.
func (l *DurationLimit) Or(normal time.Duration) time.Duration {
	if l == nil {
		return normal
	}
	return time.Duration(*l)
}

// MoneyLimit is an amount in US dollars.
type MoneyLimit float64

func (l *MoneyLimit) UnmarshalText(b []byte) error {
	return readLimit(l, b, "an amount in US dollars above 0, such as 2.50", func(text string) (MoneyLimit, bool) {
		v, err := strconv.ParseFloat(strings.TrimPrefix(text, "$"), 64)
		return MoneyLimit(v), err == nil && v > 0 && !math.IsInf(v, 0)
	})
}

// TokenLimit is a number of tokens.
type TokenLimit int64

func (l *TokenLimit) UnmarshalText(b []byte) error {
	return readLimit(l, b, "a number of tokens of 1 or more, such as 500000, 500k or 2M", func(text string) (TokenLimit, bool) {
		digits, factor := text, int64(1)
		for suffix, f := range map[string]int64{"k": 1_000, "K": 1_000, "M": 1_000_000} {
			if rest, ok := strings.CutSuffix(text, suffix); ok {
				digits, factor = rest, f
			}
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		return TokenLimit(n * factor), err == nil && n >= 1 && n <= math.MaxInt64/factor
	})
}

// Age is how long ago something happened: numbers with the units s, m, h, d and w, such as 30d
// or 1w2d. A day has 24 hours.
type Age time.Duration

var ageUnits = map[string]time.Duration{
	"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour,
}

func (a *Age) UnmarshalText(text []byte) error {
	var sum time.Duration
	for rest := string(text); ; {
		digits := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
		if digits < 1 {
			break
		}
		n, err := strconv.ParseInt(rest[:digits], 10, 64)
		unit := ageUnits[rest[digits:digits+1]]
		if err != nil || unit == 0 || n > int64((math.MaxInt64-sum)/unit) {
			break
		}
		sum += time.Duration(n) * unit
		if rest = rest[digits+1:]; rest == "" {
			*a = Age(sum)
			return nil
		}
	}
	return fmt.Errorf("%q is not an age such as 30d, 2w, 12h or 90m", text)
}

// Services is the value of the key notify.
type Services []Service

// Service is a service to notify. Only the scheme of its URL is recorded with a run, because
// the URL contains passwords and tokens.
type Service struct {
	URL string `yaml:"url,required" json:"url" doc:"The address of the service."`
	// Answers means that questions can be answered through the service, and Exclusive that
	// this includes those that only a person may answer.
	Answers   bool `yaml:"answers" json:"answers,omitempty" doc:"Take answers from it; only in your own looprun.yaml, a flag or a variable."`
	Exclusive bool `yaml:"exclusive" json:"exclusive,omitempty" doc:"Take also answers to questions that are for a person only."`
	// From lists who may answer, by the service's own names.
	From []string `yaml:"from" json:"from,omitempty" doc:"Who may answer: Matrix names, Telegram's numbers of people, or e-mail addresses."`
}

// people reports whether a name can be somebody's, by each service that brings answers back; nil:
// it names nobody.
var people = map[string]func(who string) bool{
	core.ViaNtfy: nil,
	core.ViaMatrix: func(who string) bool {
		name, host, _ := strings.Cut(who, ":")
		return len(name) > 1 && name[0] == '@' && host != "" && len(strings.Fields(who)) == 1
	},
	core.ViaTelegram: func(who string) bool { return who != "" && strings.Trim(who, "0123456789") == "" },
	core.ViaMail: func(who string) bool {
		name, host, _ := strings.Cut(who, "@")
		return name != "" && host != "" && len(strings.Fields(who)) == 1
	},
}

// UnmarshalText adds a URL, a service with keys ({url: URL, answers: true}) or a list of those.
// The errors do not quote it.
func (s *Services) UnmarshalText(text []byte) error {
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return SaysNothing("")
	}
	if text[0] != '{' && text[0] != '[' {
		*s = append(*s, Service{URL: string(text)})
		return nil
	}
	if text[0] == '{' {
		text = slices.Concat([]byte("["), text, []byte("]"))
	}
	var list struct {
		Services []Service `yaml:"services"`
	}
	if _, err := strictyaml.Decode("", slices.Concat([]byte("services: "), text), &list); err != nil || len(list.Services) == 0 {
		return &valueProblem{text: "a service with keys cannot be read", remedy: "write {url: URL, answers: true}; the keys are url, answers, exclusive and from"}
	}
	bots := map[string]bool{}
	for i, of := range slices.Concat(*s, list.Services) {
		scheme, rest, _ := strings.Cut(of.URL, "://")
		if bot, _, _ := strings.Cut(rest, "@"); of.Answers && scheme == core.ViaTelegram {
			if bots[bot] {
				return &valueProblem{text: "two services have the same bot, and only one of them would get an answer", remedy: "give each a bot of its own"}
			}
			bots[bot] = true
		}
		if i < len(*s) {
			continue
		}
		named, known := people[scheme]
		for i := range of.From {
			of.From[i] = strings.TrimSpace(of.From[i])
			if scheme == core.ViaMail {
				of.From[i] = strings.ToLower(of.From[i])
			}
		}
		unnamed := func(who string) bool { return !named(who) }
		switch {
		case !of.Answers && (of.Exclusive || of.From != nil):
			return &valueProblem{text: "exclusive and from have no effect without answers", remedy: "write answers: true beside it"}
		case of.Answers && !known:
			return &valueProblem{text: "this service brings no answers back", remedy: "write answers: true only for " + strings.Join(slices.Sorted(maps.Keys(people)), ", ")}
		case of.Answers && named != nil && (len(of.From) == 0 || slices.ContainsFunc(of.From, unnamed)):
			return &valueProblem{text: "it does not say who may answer", remedy: "add from: ['@NAME:HOST'] for Matrix, from: [NUMBER] for Telegram, from: [YOU@HOST] for e-mail"}
		case of.Answers && named == nil && of.From != nil:
			return &valueProblem{text: scheme + " does not tell who answers", remedy: "leave from out: whoever can read the topic can answer"}
		}
	}
	*s = append(*s, list.Services...)
	return nil
}

// UnmarshalJSON reads the recorded form.
func (s *Services) UnmarshalJSON(text []byte) error { return json.Unmarshal(text, (*[]Service)(s)) }

// mayOnlyOwn returns why only the user or the system may set the value.
func (s Services) mayOnlyOwn() string {
	if !s.Answers() {
		return ""
	}
	return "answers is only for your own looprun.yaml, --notify or LOOPRUN_NOTIFY: nobody else says who may answer"
}

// Answers reports whether questions can be answered through one of the services.
func (s Services) Answers() bool {
	return slices.ContainsFunc(s, func(of Service) bool { return of.Answers })
}

// String returns the service as config show prints it.
func (s Service) String() string {
	switch said := strings.Join(append([]string{"answers"}, s.From...), " "); {
	case s.Exclusive:
		return s.URL + " (" + said + ", exclusive)"
	case s.Answers:
		return s.URL + " (" + said + ")"
	}
	return s.URL
}

// MarshalJSON writes the address without its secrets.
func (s Service) MarshalJSON() ([]byte, error) {
	scheme, _, ok := strings.Cut(s.URL, "://")
	if !ok {
		scheme = ""
	}
	return json.Marshal(scheme + "://" + redact.Mask)
}

// UnmarshalJSON reads the recorded form.
func (s *Service) UnmarshalJSON(text []byte) error {
	*s = Service{}
	return json.Unmarshal(text, &s.URL)
}

// Kept reports whether the address is the recorded form of one.
func (s Service) Kept() bool { return strings.HasSuffix(s.URL, "://"+redact.Mask) }

// secrets returns the values that must not be shown: the address, its user and password, and
// the parts of its path and query that are long enough to be a token.
func (s Service) secrets() []string {
	if s.Kept() {
		return nil
	}
	const token = 16
	values := []string{s.URL}
	u, err := url.Parse(s.URL)
	if err != nil {
		return values
	}
	password, _ := u.User.Password()
	values = append(values, u.User.Username(), password)
	parts := strings.Split(u.Path, "/")
	for _, list := range u.Query() {
		parts = append(parts, list...)
	}
	return append(values, convert.Where(parts, func(part string) bool { return len(part) >= token })...)
}
