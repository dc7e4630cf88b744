package fastjson

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

type code uint64

func (c *code) UnmarshalText(b []byte) error {
	return json.Unmarshal(b, (*uint64)(c))
}

type inner struct {
	Name string   `json:"name"`
	Of   []string `json:"of,omitempty"`
	In   *inner   `json:"in,omitempty"`
	_    int
}

// document has a value of each kind that looprun's own documents have.
type document struct {
	Text   string            `json:"text"`
	Count  int               `json:"count"`
	Most   int64             `json:"most,omitempty"`
	Cost   float64           `json:"cost"`
	Done   bool              `json:"done"`
	Exit   *int              `json:"exit,omitempty"`
	Lists  [][]string        `json:"lists,omitempty"`
	Inner  inner             `json:"inner,omitzero"`
	Parts  []inner           `json:"parts"`
	At     *time.Time        `json:"at,omitempty"`
	Hash   code              `json:"hash"`
	Config json.RawMessage   `json:"config,omitempty"`
	Map    map[string]string `json:"map,omitempty"`
	Bytes  []byte            `json:"bytes,omitempty"`
	Small  int8              `json:"small,omitempty"`
	Any    any               `json:"any,omitempty"`
	Not    string            `json:"-"`
	Plain  string
}

// Exported and wrapped make the document that of a wrapper, as core.RunFinished is one.
type (
	Exported = document
	wrapped  struct{ Exported }
)

var plain = []string{
	`{}`,
	`{"text":"a","count":-12,"most":9223372036854775807,"cost":0.5,"done":true,"exit":0}`,
	`{"text":"a\n\t\"\\\/\r\b\f ü","lists":[["a","b"],[]],"inner":{"name":"x","of":["y"]},"parts":[{"name":""},{}]}`,
	` { "text" : "" , "parts" : [ ] , "at" : "2026-11-23T03:05:00.64Z" , "hash" : "12" , "config" : {"a":[1,{"b":"}"}],"c":null} , "Plain" : "p" } ` + "\n",
	`{"config":"text"}`, `{"config":12}`, `{"config":[]}`, `{"cost":12,"done":false}`,
}

var odd = []string{
	``, ` `, `null`, `[]`, `"a"`, `{`, `}`, `{}}`, `{},`, `{"text"}`, `{"text":}`, `{"text":"a",}`, `{"text":"a"`, `{,}`,
	`{"text":null}`, `{"exit":null}`, `{"at":null}`, `{"config":null}`, `{"hash":null}`, `{"parts":null}`, `{"inner":null}`, `{"done":null}`,
	`{"text":"a","text":"b"}`, `{"parts":[{"name":"a"}],"parts":[{}]}`, `{"count":1,"text":"a"}`, `{"Text":"a"}`, `{"TEXT":"a","text":"b"}`, `{"other":1,"text":"a"}`,
	`{"text":"\u0041"}`, `{"text":"\ud800"}`, `{"text":"\x"}`, `{"text":"\`, "{\"text\":\"\xff\"}", "{\"text\":\"\\n\xff\"}", "{\"text\":\"a\nb\"}", "{\"text\":\"\\n\x00\"}", `{"text":"a`, `{"te\u0078t":"a"}`,
	`{"count":1.0}`, `{"count":1e2}`, `{"count":01}`, `{"count":-}`, `{"count":-0}`, `{"count":+1}`, `{"count":9223372036854775808}`, `{"count":"1"}`, `{"count":1 2}`, `{"count":1x}`, `{"count":tru}`,
	`{"cost":1.}`, `{"cost":.5}`, `{"cost":1e400}`, `{"cost":1e2}`, `{"cost":-0.0}`, `{"cost":0x1}`, `{"cost":Inf}`, `{"cost":NaN}`, `{"cost":1_0}`, `{"cost":00.5}`,
	`{"done":1}`, `{"done":truefalse}`, `{"done":"true"}`, `{"done":True}`,
	`{"parts":{}}`, `{"parts":[,]}`, `{"parts":[{},]}`, `{"parts":[}`, `{"lists":["a"]}`, `{"inner":{"in":{"in":{"name":"a"}}}}`, `{"inner":{"skip":1}}`,
	`{"at":"yesterday"}`, `{"at":12}`, `{"hash":"x"}`, `{"hash":12}`, `{"config":{"a":}}`, `{"config":[}`, `{"config":}`, `{"config":{]}`, `{"config":"\`, `{"config":"`, `{"config":,}`, `{"config":nul}`, `{"config":tru}`, `{"config":{"a":1}`,
	`{"map":{"a":"b"}}`, `{"bytes":"AAEC"}`, `{"bytes":[1]}`, `{"small":12}`, `{"small":400}`, `{"any":{"a":1}}`, `{"Not":"a"}`, `{"-":"a"}`,
}

// same holds what is read against what [json.Unmarshal] reads.
func same(t *testing.T, b []byte, got, want any) {
	t.Helper()
	err, asked := Unmarshal(b, got), json.Unmarshal(b, want)
	if !reflect.DeepEqual(err, asked) || !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n%+v, %v; want\n%+v, %v", b, got, err, want, asked)
	}
}

func TestUnmarshalIsThatOfJSON(t *testing.T) {
	for _, text := range append(plain, odd...) {
		same(t, []byte(text), new(document), new(document))
		same(t, []byte(text), new(wrapped), new(wrapped))
		same(t, []byte(strings.TrimSpace(text)[:len(strings.TrimSpace(text))/2]), new(document), new(document))
	}
	type embedding struct{ inner }
	same(t, []byte(`{"name":"a"}`), new(embedding), new(embedding))
	type pointing struct{ *Exported }
	same(t, []byte(`{"text":"a"}`), new(pointing), new(pointing))
	type named struct {
		Exported `json:"in"`
	}
	same(t, []byte(`{"in":{"text":"a"}}`), new(named), new(named))
	same(t, []byte(`{}`), new(struct{}), new(struct{}))
	type quoted struct {
		N int `json:",string"`
	}
	same(t, []byte(`{"N":"1"}`), new(quoted), new(quoted))
	var a, b []int
	same(t, []byte(`[1,2,3]`), &a, &b)
}

// TestUnmarshalInTheFastWay keeps what is usual from being read twice.
func TestUnmarshalInTheFastWay(t *testing.T) {
	for _, text := range plain {
		for _, into := range []any{new(document), new(wrapped)} {
			v := reflect.ValueOf(into).Elem()
			if r := (&reader{text: []byte(text)}); !r.value(v, planOf(v.Type())) {
				t.Errorf("%s is left to encoding/json from byte %d on", text, r.at)
			}
		}
	}
}

func FuzzUnmarshal(f *testing.F) {
	for _, text := range append(plain, odd...) {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		same(t, b, new(document), new(document))
		same(t, b, new(wrapped), new(wrapped))
	})
}
