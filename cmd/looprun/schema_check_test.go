package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/escalate/policy"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/session"
	"github.com/looprun/looprun/templates"
)

// The schemas are checked with a validator that is not looprun's: an editor has
// one of its own, too (docs/decisions/0010).

// validator is a schema as the independent validator has it. What is below a
// pointer of a schema is one, too: config#/properties/signature.
func validator(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	compiler.Lock()
	defer compiler.Unlock()
	if compiler.Compiler == nil {
		c := jsonschema.NewCompiler()
		c.AssertFormat()
		for kind, text := range writtenSchemas(t) {
			doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
			if err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
			if err := c.AddResource("test:///"+kind, doc); err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
		}
		compiler.Compiler = c
	}
	s, err := compiler.Compile("test:///" + name)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return s
}

// compiler is for all tests: it knows what it has compiled.
var compiler struct {
	sync.Mutex
	*jsonschema.Compiler
}

// writtenSchemas are all schemas by name, as looprun schema prints them.
func writtenSchemas(t *testing.T) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, s := range schemas() {
		var text bytes.Buffer
		if err := s.write(&text); err != nil {
			t.Fatal(err)
		}
		all[s.name] = text.Bytes()
	}
	return all
}

// yamlValue is what a YAML file says, as an editor's validator gets it.
func yamlValue(text []byte) (any, error) {
	var v any
	err := yaml.Unmarshal(text, &v)
	return v, err
}

// The four kinds of files that people write, and messages.yaml, as looprun
// itself reads them.
var readers = map[string]func(file string) error{
	"config": func(file string) error {
		_, err := config.Check(file, "", func(o *config.Options) error {
			_, err := session.New(&session.Program{Say: &console.Observer{Messages: console.Messages{W: io.Discard}}}, o)
			return err
		})
		return err
	},
	"policy": func(file string) error {
		set, err := builtinTemplates()
		if err != nil {
			return err
		}
		p, err := policy.Load(set.Known(), file)
		if err != nil {
			return err
		}
		_, err = p.RunTests()
		return err
	},
	"template": func(file string) error { return templates.Check(file) },
	"messages": func(file string) error { return templates.Check(file) },
}

var builtinTemplates = sync.OnceValues(func() (*templates.Set, error) { return templates.Load() })

// fileNames are what a file of each kind is called.
var fileNames = map[string]string{"config": "looprun.yaml", "policy": "policy.yaml", "template": "question.yaml", "messages": "messages.yaml"}

// refusals are what the schema and looprun say against a file of that kind; nil
// for nothing.
func refusals(t *testing.T, schema *jsonschema.Schema, kind string, text []byte) (bySchema, byReader error) {
	t.Helper()
	v, err := yamlValue(text)
	if err != nil {
		bySchema = fmt.Errorf("it is no YAML: %w", err)
	} else {
		bySchema = schema.Validate(v)
	}
	file := filepath.Join(t.TempDir(), fileNames[kind])
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return bySchema, readers[kind](file)
}

// Each schema is one by the metaschema of its draft, and each default is a value
// that it allows.
func TestSchemasAreSchemas(t *testing.T) {
	t.Parallel()
	meta, err := jsonschema.NewCompiler().Compile("https://json-schema.org/draft/2020-12/schema")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range writtenSchemas(t) {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		root := doc.(map[string]any)
		if text, _ := root["description"].(string); text == "" {
			t.Errorf("%s has no description", name)
		}
		// A reply's schema goes to interfaces of models, which take no dialect.
		if name != "assistant-reply" && root["$schema"] != "https://json-schema.org/draft/2020-12/schema" {
			t.Errorf("%s is of the dialect %v", name, root["$schema"])
		}
		if err := meta.Validate(doc); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		defaults := 0
		eachProperty(root, "", func(path string, s map[string]any) {
			d, ok := s["default"]
			if !ok {
				return
			}
			defaults++
			if err := validator(t, name+"#"+path).Validate(d); err != nil {
				t.Errorf("%s: the default of %s: %v", name, path, err)
			}
		})
		if name == "config" && defaults < 40 {
			t.Errorf("%s has %d defaults", name, defaults)
		}
	}
}

// eachProperty calls f for each property that an editor completes, with its JSON
// pointer. Conditions are not looked into: they repeat properties.
func eachProperty(s map[string]any, path string, f func(path string, s map[string]any)) {
	for _, keyword := range []string{"properties", "$defs"} {
		below, _ := s[keyword].(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(below)) {
			p, ok := below[key].(map[string]any)
			if !ok {
				continue
			}
			at := path + "/" + keyword + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
			if keyword == "properties" {
				f(at, p)
			}
			eachProperty(p, at, f)
		}
	}
	for _, keyword := range []string{"items", "additionalProperties"} {
		if below, ok := s[keyword].(map[string]any); ok {
			eachProperty(below, path+"/"+keyword, f)
		}
	}
}

// Editors show what a key is for, of all that is not looprun's own to write.
func TestSchemasDescribeEveryKey(t *testing.T) {
	all := writtenSchemas(t)
	for _, s := range schemas() {
		if s.prints {
			delete(all, s.name)
		}
	}
	for name, text := range all {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		eachProperty(doc.(map[string]any), "", func(path string, s map[string]any) {
			n++
			text, _ := s["description"].(string)
			if _, refers := s["$ref"]; strings.TrimSpace(text) == "" && !refers {
				t.Errorf("%s: %s has no description", name, path)
			}
		})
		if n == 0 {
			t.Errorf("%s has no properties", name)
		}
	}
}

// A validator that takes everything would prove nothing.
func TestTheValidatorRefuses(t *testing.T) {
	var wrong *jsonschema.ValidationError
	for _, name := range []string{"config", "policy", "template", "messages", "result"} {
		if err := validator(t, name).Validate(map[string]any{"no such key": 1}); !errors.As(err, &wrong) {
			t.Errorf("%s takes an unknown key: %v", name, err)
		}
	}
}

// fits says what of a document, or of a list of them, is against its schema.
func fits(schema *jsonschema.Schema, text []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	list, many := v.([]any)
	if !many {
		list = []any{v}
	}
	for i, one := range list {
		if err := schema.Validate(one); err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
	}
	return nil
}

// journalsFit says which line of a journal below the folder is against the schema. What is
// damaged, torn or was taken apart is none, nor is what a test wrote itself.
func journalsFit(schema *jsonschema.Schema, dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*", "journal.jsonl"))
	if err != nil {
		return err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for line := range bytes.Lines(text) {
			var e core.Event
			if bytes.Contains(line, []byte(`"detail_sum":`)) || !bytes.Contains(line, []byte(`"sum":`)) || e.UnmarshalJSON(line) != nil {
				continue
			}
			if err := fits(schema, line); err != nil {
				return fmt.Errorf("%s: %.300s: %w", file, line, err)
			}
		}
	}
	return nil
}
