package session

import (
	"fmt"
	"io"
	"math/rand"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/lines"
	"github.com/looprun/looprun/scratchpad"
)

// listeners are what reads the two streams with every reader switched on.
func listeners(t *testing.T, dir string) *outputFacts {
	t.Helper()
	h := &outputFacts{s: &Session{
		app: &Program{Say: &console.Observer{Messages: console.Messages{W: io.Discard}}}, run: &scratchpad.Run{Dir: dir},
		executor: &engine.Executor{Judge: &engine.Judge{Promise: true}},
	}}
	for _, c := range h.both() {
		var err error
		if *c, err = scannersOf(&config.Options{Signals: "text", CostFrom: "auto"}); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// The readers of the two streams have no memory in common that reading changes: a
// reader that is added to scanners belongs to one stream, or this fails.
func TestStreamsShareNoReader(t *testing.T) {
	h := listeners(t, t.TempDir())
	for _, c := range h.both() {
		for line := range strings.Lines("{\"a\": 1}\n```looprun-rejection\n{}\n```\nLOOPRUN_DONE\n{\"st") { // so that buffers are there
			c.Line([]byte(line), false)
		}
	}
	var seen [2]map[uintptr]string
	for i, c := range h.both() {
		seen[i] = map[uintptr]string{}
		reach(reflect.ValueOf(c), "scanners", seen[i])
	}
	if len(seen[0]) < 5 {
		t.Fatalf("only %v is looked at", seen[0])
	}
	for p, path := range seen[0] {
		if other, ok := seen[1][p]; ok {
			t.Errorf("standard output's %s is standard error's %s", path, other)
		}
	}
}

// reach notes all memory that a value holds, but for what nobody changes.
func reach(v reflect.Value, path string, seen map[uintptr]string) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		if v.IsNil() || v.Type() == reflect.TypeFor[*regexp.Regexp]() || v.Kind() == reflect.Slice && v.Cap() == 0 {
			return
		}
		if _, ok := seen[v.Pointer()]; ok {
			return
		}
		seen[v.Pointer()] = path
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			reach(v.Elem(), path, seen)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			reach(v.Field(i), path+"."+v.Type().Field(i).Name, seen)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			reach(v.Index(i), fmt.Sprintf("%s[%d]", path, i), seen)
		}
	}
}

// What a command says counts, however its two streams are cut and mixed: what is
// heard is what is heard of each stream alone, standard output's first.
func TestHeardOfMixedStreams(t *testing.T) {
	documents := []string{
		"{\"status\": \"paused_awaiting_choices\",\n \"pending_user_choices\": [{\"question\": \"Which db?\",\n \"options\": [{\"label\": \"A\"}, {\"label\": \"B\"}]}]}\n",
		"{\"status\": \"paused_awaiting_choices\", \"pending_user_choices\": []}\n",
		"```looprun-rejection\n{\"reason_type\": \"BLOCKER\",\n \"reason_summary\": \"The registry is down.\"}\n```\n",
		"~~~looprun-rejection\nno JSON\n~~~\n",
		"SEEKING_CLARIFICATION: auth-12\nQuestion: Must old tokens stay valid?\n",
		"LOOPRUN_DONE\n", "LOOPRUN_COST\nUSD: x\n",
		"{\"type\": \"result\", \"total_cost_usd\": 9.5,\n\"usage\": {\"input_tokens\": 10, \"output_tokens\": 20}}\n",
		"tokens used\n1,234\n",
		"12:00 INFO a line of the log\n", "a line that is not ended", "{\"a\": [\n",
	}
	dir := t.TempDir()
	for seed := range int64(500) {
		rnd := rand.New(rand.NewSource(seed))
		var text [2]string
		for i := range text {
			for range rnd.Intn(4) {
				text[i] += documents[rnd.Intn(len(documents))]
			}
		}
		alone := listeners(t, dir)
		var want core.IterationResult
		for i, c := range alone.both() {
			shown := lines.Shown{To: c.Line}
			_, _ = shown.Write([]byte(text[i]))
			shown.End()
		}
		alone.said(&want)
		mixed := listeners(t, dir)
		shown := [2]lines.Shown{{To: mixed.streams.Stdout.Line}, {To: mixed.streams.Stderr.Line}}
		for rest := text; rest[0]+rest[1] != ""; {
			i := rnd.Intn(2)
			n := min(len(rest[i]), rnd.Intn(40))
			_, _ = shown[i].Write([]byte(rest[i][:n]))
			rest[i] = rest[i][n:]
		}
		shown[0].End()
		shown[1].End()
		var got core.IterationResult
		mixed.said(&got)
		if !reflect.DeepEqual(got, want) || mixed.saidDone() != alone.saidDone() {
			t.Fatalf("seed %d, of %q:\n%+v, want\n%+v", seed, text, got.Said, want.Said)
		}
	}
}
