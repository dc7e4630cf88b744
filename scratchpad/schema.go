package scratchpad

import (
	"reflect"
	"slices"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/documents"
	"github.com/looprun/looprun/internal/strictjson"
)

// ResultSchema returns the JSON Schema (2020-12) of result.json. It is generated from
// [Verdict], so it cannot differ from what is written; the allowed values of fields are added
// here.
func ResultSchema() []byte {
	s := documents.Types.Schema(reflect.TypeFor[Verdict]())
	say := func(key, keyword string, value any) {
		s["properties"].(strictjson.Schema)[key].(strictjson.Schema)[keyword] = value
	}
	for _, key := range []string{"exit_code", "iterations", "trips", "tokens", "runtime_seconds", "cost_usd"} {
		say(key, "minimum", 0)
	}
	say("exit_code", "maximum", 255)
	say("status", "enum", append(core.Statuses(), core.StatusSuperseded))
	say("guard", "enum", slices.Concat([]core.GuardID{""}, core.GuardIDs(), core.ProtocolIDs()))
	say("responder", "enum", []string{
		"", core.RespondedByPolicy, core.RespondedByAssistant, core.RespondedByParent,
		core.RespondedByUser, core.RespondedByDetached,
	})
	say("warnings", "minItems", 1)
	return strictjson.Document(resultSchema, "result.json", "The verdict on a run: .looprun/RUN/result.json, and the file that --result names.",
		strictjson.Formed(s, resultSchema))
}
