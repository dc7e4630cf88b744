package strictjson

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

func wrapped(s Shape) Shape {
	return Shape{Form: Object, Fields: []Field{Optional("v", s), Optional("version", Shape{Form: Any})}}
}

func TestRead(t *testing.T) {
	list := Shape{Form: List, Least: 2, Most: 3, TooFew: "name two", Items: &Shape{Form: Text}}
	for _, c := range []struct {
		shape     Shape
		in, wants string // the problem, empty for none
	}{
		{Shape{Form: Text}, `{"v":"a\u0000"}`, ""},
		{Shape{Form: Text, NoNUL: true}, `{"v":"a\u0000"}`, "v: it contains a NUL character; leave that out"},
		{Shape{Form: Text}, `{"v":7}`, "v: it has to be a text, not 7"},
		{Shape{Form: Text}, `{"v":null}`, "v: it has to be a text, not null"},
		{Shape{Form: Text, Nullable: true}, `{"v":null}`, ""},
		{Shape{Form: Text, Lenient: true}, `{"v":null}`, ""},
		{Shape{Form: Text, Filled: true}, `{"v":"\u200b\n"}`, "v: it is blank; write what a person is to read"},
		{Shape{Form: Text, Most: 2}, `{"v":"äöü"}`, "v: it has 3 characters; 2 are allowed"},
		{Shape{Form: Text, Words: []string{"one", "two", ""}}, `{"v":"tow"}`, `v: "tow" is not known here; did you mean "two"?`},
		{Shape{Form: Text, Words: []string{"one", ""}}, `{"v":"zzzzzz"}`, `v: "zzzzzz" is not known here; it has to be one`},
		{Shape{Form: Text, Words: []string{"one", ""}}, `{"v":""}`, ""},
		{Shape{Form: Text, Words: []string{"one", "two"}}, `{"v":1}`, "v: it has to be a text, not 1; use one of one, two"},
		{Shape{Form: Bool}, `{"v":"true"}`, "v: it has to be true or false, not a text"},
		{Shape{Form: Number}, `{"v":2.5}`, ""},
		{Shape{Form: Number}, `{"v":1e999}`, "v: it has to be a number, not 1e999"},
		{Shape{Form: Number}, `{"v":null}`, "v: it has to be a number, not null"},
		{Shape{Form: Integer}, `{"v":-2}`, ""},
		{Shape{Form: Integer}, `{"v":2.5}`, "v: it has to be a whole number, not 2.5"},
		{Shape{Form: Integer}, `{"v":null}`, "v: it has to be a whole number, not null"},
		{list, `{"v":["a","b"]}`, ""},
		{list, `{"v":[]}`, "v: it is empty; name two"},
		{list, `{"v":["a"]}`, "v: it has 1 element; at least 2 are needed"},
		{list, `{"v":["a","b","c","d"]}`, "v: it has 4 elements; at most 3 are allowed"},
		{list, `{"v":["a",null,3]}`, "v[1]: it has to be a text, not null\nv[2]: it has to be a text, not 3"},
		{list, `{"v":{}}`, "v: it has to be a list, not an object"},
		{Shape{Form: Text}, `{"V":"a"}`, `V: the key is not known; did you mean "v"?`},
		{Shape{Form: Text}, `{"zzz":"a","v":"b","\u0076":"c"}`, "zzz: the key is not known; use one of v, version\nv: the key is there twice; leave one of them out"},
		{Shape{Form: Text}, ` [] `, "the document has to be an object, not a list"},
		{Shape{Form: Text}, " \n", "the document is empty; give a JSON object"},
		{Shape{Form: Text}, "\"\xff\"", "the document is not UTF-8; write it in that encoding"},
		{Shape{Form: Text}, "{\n\"v\":", "the document is not valid JSON: line 2: it ends too early"},
		{Shape{Form: Text}, "{}\n\n{}", "the document is not valid JSON: line 3: there is more after its end; give one JSON object and nothing else"},
	} {
		var got any
		ps := wrapped(c.shape).Read([]byte(c.in), &got)
		if text := ps.Error(); text != c.wants {
			t.Errorf("%s: got  %s\nwant %s", c.in, text, c.wants)
		}
	}
}

func TestReadLeavesOutWhatIsWrong(t *testing.T) {
	var got struct {
		V       *string         `json:"v"`
		Version json.RawMessage `json:"version"`
	}
	ps := wrapped(Shape{Form: Text}).Read([]byte(`{"v":1,"version":{"a":[1]}}`), &got)
	if len(ps) != 1 || got.V != nil || string(got.Version) != `{"a":[1]}` {
		t.Errorf("%v %+v", ps, got)
	}
	s := Shape{Form: Object, Fields: []Field{Required("a", Shape{Form: Text, About: "Say it."}), Required("b", Shape{Form: Bool})}}
	if text := s.Read([]byte(`{"b":"x"}`), new(any)).Error(); text != "b: it has to be true or false, not a text\na: it is missing; Say it." {
		t.Error(text)
	}
}

func TestSchema(t *testing.T) {
	s := Shape{Form: Object, About: "All.", Fields: []Field{
		Required("a", Shape{Form: Text, Nullable: true, Filled: true, Most: 3}),
		Optional("b", Shape{Form: Text, Lenient: true, Words: []string{"x"}, Also: Schema{"type": nil, "minLength": 1}}),
		Optional("c", Shape{Form: List, Least: 1, Items: &Shape{Form: Integer}}),
	}}
	want := `{"additionalProperties":false,"description":"All.","properties":{"a":{"maxLength":3,"pattern":"\\S","type":["string","null"]},` +
		`"b":{"enum":["x"],"minLength":1},"c":{"items":{"type":"integer"},"minItems":1,"type":"array"}},"required":["a"],"type":"object"}`
	if got, err := json.Marshal(s.Schema()); err != nil || string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	var document map[string]any
	if err := json.Unmarshal(s.Document("id", "title"), &document); err != nil || document["$id"] != "https://id" || document["title"] != "title" {
		t.Errorf("%v %v", document, err)
	}
}

// FuzzRead: what a shape takes is read as the decoder of the standard library reads
// it, and nothing that it refuses goes without a problem.
func FuzzRead(f *testing.F) {
	s := Shape{Form: Object, Fields: []Field{
		Required("a", Shape{Form: Text}), Optional("n", Shape{Form: Number}), Optional("i", Shape{Form: Integer, Nullable: true}),
		Optional("l", Shape{Form: List, Items: &Shape{Form: Object, Fields: []Field{Optional("b", Shape{Form: Bool})}}}),
	}}
	for _, seed := range []string{`{"a":"x"}`, `{"a":"x","n":1e3,"i":null,"l":[{"b":true},{}]}`, `{"a":"x","a":"y"}`, `{"A":"x"}`, `{"a":1}`, `[`, "\ufeff{}", `{"a":"\ud800"}`} {
		f.Add([]byte(seed))
	}
	type document struct {
		A string
		N float64
		I *int64
		L []struct{ B bool }
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var got, want document
		ps := s.Read(data, &got)
		if len(ps) > 0 {
			if strings.TrimSpace(ps.Error()) == "" {
				t.Error("a problem without words")
			}
			return
		}
		if err := json.Unmarshal(data, &want); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %+v, want %+v, %v", data, got, want, err)
		}
	})
}

func TestRepeated(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]string{
		`{"a":1,"b":[{"a":2}],"c":{"a":3}}`: "",
		`{"a":1,"a":1}`:                     "a",
		`{"a":[0,{"s":1,"ſ":2}]}`:           "a[1].ſ",
		`[[{"k":1}],[{"k":1,"K":2}]]`:       "[1][0].K",
		`"a"`:                               "",
	} {
		if got := Repeated([]byte(data)); got != want {
			t.Errorf("%s: got %q, want %q", data, got, want)
		}
	}
}

// A schema of a type has the keys that the type is written with: embedded ones too, those
// of the outer first, and none that is not written.
func TestSchemaOfAType(t *testing.T) {
	type inner struct {
		A string `json:"a"`
		B []int  `json:"b,omitempty"`
	}
	type outer struct {
		inner
		A       int             `json:"a,omitzero" doc:"Of the outer."`
		C       map[string]any  `json:"c"`
		D       *inner          `json:"d,omitempty"`
		When    time.Time       `json:"when"`
		Raw     json.RawMessage `json:"raw"`
		Skipped int             `json:"-"`
		hidden  int
	}
	_ = outer{}.hidden
	want := `{"additionalProperties":false,"properties":{"a":{"description":"Of the outer.","type":"integer"},"b":{"items":{"type":"integer"},"type":["array","null"]},` +
		`"c":{"additionalProperties":{},"type":["object","null"]},"d":{"additionalProperties":false,"properties":{"a":{"type":"string"},"b":{"items":{"type":"integer"},"type":["array","null"]}},"required":["a"],"type":"object"},` +
		`"raw":{},"when":{"format":"date-time","type":"string"}},"required":["c","when","raw"],"type":"object"}`
	if got, err := json.Marshal(Types{Tag: "json", Null: true}.Schema(reflect.TypeFor[outer]())); err != nil || string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
