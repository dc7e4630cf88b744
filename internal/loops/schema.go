package loops

import (
	"reflect"

	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/strictjson"
)

// Schema returns the JSON Schema of loops.yaml, generated from the type it is decoded into.
func Schema() []byte {
	types := config.Types
	types.Known = func(t reflect.Type) strictjson.Schema {
		text := strictjson.Schema{"type": types.Text, "pattern": `\S`}
		switch t {
		case reflect.TypeFor[Command]():
			return strictjson.Schema{"anyOf": []any{text, strictjson.Schema{"type": "array", "minItems": 1, "items": strictjson.Schema{"type": "string"}}}}
		case reflect.TypeFor[Size]():
			return strictjson.Schema{"anyOf": []any{strictjson.Schema{"const": 0}, strictjson.Schema{"type": "string", "pattern": `^\s*(0|[0-9]+ *[KMGT]iB)\s*$`}}}
		}
		return config.Types.Known(t)
	}
	const about = "Many loops in one file, for looprun many and for a fleet."
	file := types.Schema(reflect.TypeFor[File]())
	shared, keys := strictjson.Schema{}, config.KeySchemas()
	for _, loop := range []strictjson.Schema{strictjson.At(file, "properties", "defaults"), strictjson.At(file, "properties", "loops", "items")} {
		for _, name := range optionNames() {
			shared[name] = keys[name]
			strictjson.At(loop, "properties")[name] = strictjson.Schema{"$ref": "#/$defs/" + name}
		}
	}
	file["$defs"] = shared
	return strictjson.Document("looprun.dev/loops/v1", "loops.yaml", about, file)
}
