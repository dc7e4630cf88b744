package report

import (
	"encoding/json"
	"io"
	"reflect"

	"github.com/looprun/looprun/internal/documents"
	"github.com/looprun/looprun/internal/strictjson"
)

// JSON writes the report in the form that [Schema] describes. It does not include outputs;
// they are files in the run's directory, named by output_file.
func (r *Report) JSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

// Schema returns the JSON Schema (2020-12) of the output of [Report.JSON]. It is generated
// from the types and their doc tags.
func Schema() []byte {
	s := documents.Types.Schema(reflect.TypeFor[Report]())
	return strictjson.Document(SchemaID, "looprun report", "What happened in a run.", strictjson.Formed(s, SchemaID))
}
