package signature

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/looprun/looprun/internal/ascii"
	"github.com/looprun/looprun/internal/lines"
)

// findings reads test and lint reports in JSON by the members of their objects: a verdict and
// a name make a failing check, a message and a place a finding. So it need not know any
// reporter by name.
type findings struct {
	x    *extractor
	text []byte // text of a test's output that is not a whole line yet
	line []byte // the line that the document began with, while it is read
}

// jsonObject handles one object that has ended.
func (fi *findings) jsonObject(r *jsonReader, o *object) {
	if out, action := o.get("Output"), o.get("Action"); action != "" {
		fi.x.s.checks.event(action, o.get("Package"), o.get("Test"))
		if out != "" {
			fi.output(out)
		}
		return
	}
	parent := enclosing(r)
	if parent != nil && lift(o, parent) {
		return
	}
	if fi.entry(o) {
		return
	}
	fi.count(o)
	if fi.check(r, o) {
		return
	}
	fi.finding(r, o)
	fi.answer(o)
}

// The members in which structured loggers put the parts of an entry. If a level has two forms
// the first one counts: besides its name, Monolog has a number of its own.
var (
	levelKeys  = []string{"level_name", "level", "lvl", "levelname", "log.level", "LogLevel", "@l"}
	timeKeys   = []string{"time", "ts", "timestamp", "@timestamp", "date", "datetime", "asctime", "Timestamp", "@t", "instant"}
	entryKeys  = []string{"msg", "message", "event", "@m", "@mt", "Message"}
	reasonKeys = []string{"error", "err", "error.message", "failureMessage", "exception", "exc_info", "error.stack_trace", "stack_trace", "stack", "@x", "Exception"}
)

// entry handles an entry of a structured log. The failure is its message and its reason:
// without the reason every failure to start would be the same.
func (fi *findings) entry(o *object) (taken bool) {
	if o.get(timeKeys...) == "" {
		return false
	}
	level := o.get(levelKeys...)
	taken = level != ""
	if !taken && o.get(lineKeys...) == "" { // a finding has a severity too
		level = o.get("severity")
	}
	switch strings.ToLower(level) {
	case "error", "err", "fatal", "critical", "crit", "panic", "dpanic", "alert", "emerg", "emergency", "severe":
	case "50", "60": // pino and bunyan
		if o.get("pid") == "" {
			return taken
		}
	default:
		return taken
	}
	text, reason := filledIn(o.get(entryKeys...), o), thrown(o.get(reasonKeys...))
	if text == "" || strings.HasPrefix(reason, text) {
		text, reason = reason, ""
	}
	if reason != "" && !strings.Contains(text, reason) {
		text += ": " + reason
	}
	fi.x.add(fact{kind: factLog, rule: "json-log"}, []byte(text))
	for _, why := range reasonsIn(fi.line) {
		if !strings.Contains(text, why) {
			fi.x.add(fact{kind: factLog, rule: "json-log"}, []byte(why))
		}
	}
	return true
}

// filledIn fills in a message template with the members of its entry.
func filledIn(text string, o *object) string {
	if strings.IndexByte(text, '{') < 0 {
		return text
	}
	for _, f := range o.fields {
		text = strings.ReplaceAll(text, "{"+f.key+"}", f.value)
	}
	return text
}

// reasonsIn returns the texts below the members of an entry that name an error, however they
// are nested.
func reasonsIn(line []byte) (all []string) {
	var entry map[string]any
	if json.Unmarshal(line, &entry) != nil {
		return nil // not on one line
	}
	var walk func(key string, v any, names bool)
	walk = func(key string, v any, names bool) {
		own := namesError(key)
		names = names || own
		switch v := v.(type) {
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(v)) {
				walk(k, v[k], names)
			}
		case []any:
			for _, one := range v {
				walk(key, one, names && !namesFrames(key))
			}
		case float64:
			if names && hasWord(key, "code", "status") {
				all = append(all, fmt.Sprintf("%s: %v", key, v))
			}
		case string:
			if v = thrown(v); names && v != "" {
				if !own {
					v = key + ": " + v
				}
				all = append(all, v)
			}
		}
	}
	walk("", entry, false)
	return all
}

// namesError reports whether a member name refers to an error: one of its words does.
func namesError(key string) bool {
	return hasWord(key, "error", "err", "errors", "exception", "exc", "cause", "causes", "reason", "thrown", "failure")
}

// namesFrames reports whether a member name refers to a trace.
func namesFrames(key string) bool {
	return hasWord(key, "stack", "stacktrace", "trace", "traceback", "frames", "backtrace")
}

// hasWord reports whether a name contains one of the words: err.cause, errorMessage,
// ERROR_CODE.
func hasWord(name string, words ...string) bool {
	from := 0
	for i := range len(name) + 1 {
		ends := i == len(name) || !letter(name[i])
		if ends || i > from && name[i]-'A' < 26 && name[i-1]-'a' < 26 {
			if i > from && slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, name[from:i]) }) {
				return true
			}
			if from = i; ends {
				from++
			}
		}
	}
	return false
}

// thrown returns the line of a stack trace that names what was thrown: the last of Python's,
// the first of others', with its cause.
func thrown(trace string) string {
	trace = strings.TrimSpace(trace)
	if strings.HasPrefix(trace, "Traceback ") {
		return trace[strings.LastIndexByte(trace, '\n')+1:]
	}
	text, rest, _ := strings.Cut(trace, "\n")
	text = strings.TrimSpace(text)
	for line := range strings.Lines(rest) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "Caused by: ") {
			text += " " + line
		}
	}
	return text
}

// answer handles the error in a server's response.
func (fi *findings) answer(o *object) {
	msg := o.get("message", "detail", "error_description", "failureMessage", "title", "reason")
	status := o.get("status", "statusCode", "code")
	bad := len(status) == 3 && (status[0] == '4' || status[0] == '5') || o.key == "error" || o.key == "errors" || o.get("error") != "" && o.get("error") != "false"
	if msg == "" || !bad || o.get(lineKeys...) != "" {
		return
	}
	first, _, _ := strings.Cut(msg, "\n")
	if why := thrown(o.get("error", "err")); why != "" && why != "true" && !strings.Contains(first, why) {
		first += ": " + why
	}
	fi.x.add(fact{kind: factError, rule: "json-error"}, []byte(first))
}

// enclosing returns the object that contains the one that is ending, looking through arrays.
func enclosing(r *jsonReader) *object {
	for i := len(r.stack) - 2; i >= 0; i-- {
		if !r.stack[i].array {
			return &r.stack[i]
		}
	}
	return nil
}

// lift moves an object's information about its parent into the parent: places, error messages
// and codes. It reports whether the object means nothing by itself.
func lift(o, parent *object) bool {
	switch strings.ToLower(o.key) {
	case "location", "locations", "physicallocation", "artifactlocation", "region", "start", "range", "loc", "pos", "position", "span", "spans", "primary_location", "begin", "lines", "labels", "extent", "end":
		if o.key == "end" {
			return true
		}
		for _, k := range fileKeys {
			if v := o.get(k); v != "" && parent.get(fileKeys...) == "" {
				parent.set("file", v)
			}
		}
		if v := o.get(lineKeys...); v != "" && parent.get(lineKeys...) == "" {
			parent.set("line", v)
		}
		if v := o.get("column", "startColumn", "col", "column_start", "offset"); v != "" {
			parent.set("column", v)
		}
		return true
	case "err", "error", "exception", "failure", "call", "crash", "detail", "errors":
		if v := o.get("message", "msg", "longrepr"); v != "" && o.get(lineKeys...) == "" {
			parent.set("failureMessage", v)
			return true
		}
	case "time", "timestamp", "datetime", "instant", "level": // of an entry of a log, set out
		if v := o.get("name", "repr", "timestamp", "epochSecond", "$date"); v != "" {
			parent.set(o.key, v)
			return true
		}
	case "fields", "context", "log": // of an entry of a log
		for _, k := range [...]string{"message", "error", "failureMessage", "level"} {
			if v := o.get(k); v != "" && parent.get(k) == "" {
				parent.set(k, v)
			}
		}
		return parent.get(levelKeys...) != "" && parent.get(timeKeys...) != ""
	case "message":
		if v := o.get("text", "body"); v != "" && o.get("level") == "" {
			parent.set("message", v)
			return true
		}
	case "code", "rule", "check":
		if v := o.get("code", "id", "name", "value"); v != "" {
			parent.set("code", v)
			return true
		}
	}
	return false
}

var (
	fileKeys = []string{"file", "filePath", "path", "uri", "filename", "fileName", "file_name", "Filename", "file_path", "FilePath", "sourceFile"}
	lineKeys = []string{"line", "startLine", "row", "line_start", "lineNumber", "Line", "begin", "start_line", "LineNumber"}
)

// failed reports whether a verdict means a failure.
func failed(v string) bool {
	switch strings.ToLower(v) {
	case "failed", "fail", "failure", "error", "errored", "broken", "timedout", "timeout", "not ok", "unexpected", "crashed":
		return true
	}
	return false
}

func (fi *findings) check(r *jsonReader, o *object) bool {
	name := o.get("fullName", "fullTitle", "full_description", "nodeid", "full_name", "title", "displayName", "testName", "name", "test", "description", "id")
	if name == "" {
		return false
	}
	verdict := failed(o.get("status", "outcome", "result", "state", "verdict", "Outcome"))
	if n := len(r.stack) - 2; n >= 0 && r.stack[n].array {
		verdict = verdict || failed(r.stack[n].get("0")) // ["fail",{"title":…}]
	}
	for _, k := range [...]string{"ok", "passed", "success"} {
		verdict = verdict || o.get(k) == "false"
	}
	msg := o.get("failureMessage", "longrepr", "err", "error")
	if !verdict && (o.key != "failures" || msg == "" && o.get("message") == "") {
		return false
	}
	fi.failing("json-check", name)
	if msg == "" {
		msg = o.get("message")
	}
	fi.lines(msg)
	return true
}

// failing adds a failing check, or a file of them, by its name.
func (fi *findings) failing(rule, name string) (text string) {
	x, kind, b := fi.x, factCheck, []byte(name)
	if sourceFile(b) {
		kind, b = factSuite, []byte(x.place(b))
	}
	text, loose := x.names(b)
	x.close()
	x.keep(fact{kind: kind, text: text, loose: loose, name: text, rule: rule, raw: clip([]byte(name))}, 0)
	return text
}

// found adds a finding.
func (fi *findings) found(rule string, kind factKind, file, code, msg, line, column string) {
	msg, _, _ = strings.Cut(msg, "\n")
	place := fi.x.place([]byte(file))
	text, loose := fi.x.texts([]byte(msg))
	fi.x.keep(fact{
		kind: kind, text: joined(place, code, text), loose: joined(place, code, loose),
		name: code, file: place, rule: rule, raw: joined(place, code, msg),
	}, placed(place, []byte(line), []byte(column)))
}

func (fi *findings) finding(r *jsonReader, o *object) {
	msg := o.get("message", "Text", "text", "msg", "description", "reason")
	if msg == "" || o.get("rendered") == "" && o.get(lineKeys...) == "" {
		return
	}
	file := o.get(fileKeys...)
	for i := len(r.stack) - 1; i >= 0 && file == ""; i-- {
		file = r.stack[i].get(fileKeys...)
	}
	code := o.get("ruleId", "code", "rule", "symbol", "message-id", "check_name", "check_id", "FromLinter", "rule_id", "category", "id")
	kind := factDiag
	switch strings.ToLower(o.get("severity", "level", "type", "Severity", "kind")) {
	case "warning", "warn", "1":
		kind = factWarn
		if code != "" {
			kind = factDiag
		}
	case "note", "info", "hint", "help", "failure-note", "information":
		if code == "" {
			return // says more about another finding
		}
	}
	fi.found("json-finding", kind, file, code, msg, o.get(lineKeys...), o.get("column", "col", "Column", "startColumn", "column_start"))
}

// lines reads an error message in a report as if it had been printed.
func (fi *findings) lines(msg string) {
	for n := 0; n < 80 && msg != ""; n++ {
		var line string
		line, msg, _ = strings.Cut(msg, "\n")
		fi.x.plainLine([]byte(line))
	}
}

// output handles a part of a test's output inside a report.
func (fi *findings) output(s string) {
	for s != "" {
		line, rest, whole := strings.Cut(s, "\n")
		if len(fi.text) < lines.Max {
			fi.text = append(fi.text, line...)
		}
		if !whole {
			return
		}
		fi.x.s.checks.goPart(trim(fi.text))
		fi.x.plainLine(fi.text)
		fi.text, s = fi.text[:0], rest
	}
}

// count reads the counts in a summary object.
func (fi *findings) count(o *object) {
	var c byClass
	skipped := 0
	for _, f := range o.fields {
		n := ascii.Digits([]byte(f.value), 0)
		if n == 0 || n != len(f.value) || n > 7 {
			continue
		}
		v := number7([]byte(f.value)) + 1
		switch f.key {
		case "numPendingTests", "numTodoTests", "pending":
			skipped += v - 1
		case "numFailedTests", "failures", "failed", "failure_count", "failureCount", "fail", "unexpected":
			c[countFailed] = v
		case "errors", "error":
			c[countErrored] = v
		case "numPassedTests", "passes", "passed", "pass", "expected":
			c[countPassed] = v
		case "numTotalTests", "tests", "total", "example_count", "test_count", "testCount":
			c[countTotal] = v
		}
	}
	if c[countTotal] > 0 && (o.get("numTotalTests") != "" || o.key == "stats" && c[countPassed] > 0) { // jest's and vitest's, and mocha's
		fi.x.s.checks.reported.add(c[countTotal]-1-skipped, skipped)
	}
	if c[countTotal] > 0 || c[countFailed] > 0 && c[countPassed] > 0 {
		fi.x.counts.merge(c)
	}
}
