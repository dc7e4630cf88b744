package scratchpad

import (
	"reflect"
	"slices"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/internal/documents"
	"github.com/looprun/looprun/internal/strictjson"
)

// ResultSchema is the JSON Schema (2020-12) of result.json. It is made from
// [Verdict], so that it cannot say anything else than what is written; what few values
// a field has is said here.
func ResultSchema() []byte {
	s := documents.Types.Schema(reflect.TypeFor[Verdict]())
	say := func(key, keyword string, value any) {
		s["properties"].(strictjson.Schema)[key].(strictjson.Schema)[keyword] = value
	}
	for _, key := range []string{"exit_code", "iterations", "trips", "tokens", "runtime_seconds", "cost_usd"} {
		say(key, "minimum", 0)
	}
	say("exit_code", "maximum", 255)
	say("status", "enum", []looprun.Status{
		looprun.StatusDone, looprun.StatusAccepted, looprun.StatusCancelled, looprun.StatusPaused, looprun.StatusRejected,
		looprun.StatusTripped, looprun.StatusFailed, looprun.StatusInterrupted,
	})
	say("guard", "enum", slices.Concat([]looprun.GuardID{""}, looprun.GuardIDs(), looprun.ProtocolIDs()))
	say("responder", "enum", []string{
		"", looprun.RespondedByPolicy, looprun.RespondedByAssistant, looprun.RespondedByParent,
		looprun.RespondedByUser, looprun.RespondedByDetached,
	})
	say("warnings", "minItems", 1)
	return strictjson.Document(resultSchema, "result.json", "The verdict on a run: .looprun/RUN/result.json, and the file that --result names.",
		strictjson.Formed(s, resultSchema))
}
