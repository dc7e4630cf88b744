// Package fastjson reads the JSON that looprun itself has written, in a third of the time
// that [json.Unmarshal] takes: names as they are declared, in their order. Decision 0025
// says why.
package fastjson

import (
	"bytes"
	"encoding"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/looprun/looprun/internal/ascii"
)

// Unmarshal reads a document into the zero value that into points to. What is in any way
// unusual is left to [json.Unmarshal], so that value and error are always its.
func Unmarshal(b []byte, into any) error {
	v := reflect.ValueOf(into).Elem()
	r := reader{text: b}
	if r.value(v, planOf(v.Type())) && r.next() == 0 && r.at == len(b) {
		return nil
	}
	v.SetZero()
	return json.Unmarshal(b, into)
}

// plan is how values of a type are read.
type plan struct {
	form
	fields []field // of a structure
	elem   *plan   // of a wrapper, a list or a pointer
}

type field struct {
	name  string
	index int
	plan  *plan
}

type form byte

const (
	unusual form = iota
	itself       // it reads its JSON
	textual      // it reads its text
	text
	integer
	decimal
	truth
	structure
	wrapper // of another structure, and nothing else
	list
	pointer
)

var plans sync.Map // of *plan, by reflect.Type

func planOf(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	p := newPlan(t, map[reflect.Type]bool{})
	plans.Store(t, p)
	return p
}

// newPlan leaves types that hold themselves to [json.Unmarshal].
func newPlan(t reflect.Type, within map[reflect.Type]bool) *plan {
	to := reflect.PointerTo(t)
	switch {
	case within[t]:
		return &plan{}
	case to.Implements(reflect.TypeFor[json.Unmarshaler]()):
		return &plan{form: itself}
	case to.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return &plan{form: textual}
	}
	within[t] = true
	defer delete(within, t)
	switch t.Kind() {
	case reflect.String:
		return &plan{form: text}
	case reflect.Int, reflect.Int64:
		return &plan{form: integer}
	case reflect.Float64:
		return &plan{form: decimal}
	case reflect.Bool:
		return &plan{form: truth}
	case reflect.Slice:
		if t.Elem().Kind() != reflect.Uint8 { // bytes are no list there
			return &plan{form: list, elem: newPlan(t.Elem(), within)}
		}
	case reflect.Pointer:
		return &plan{form: pointer, elem: newPlan(t.Elem(), within)}
	case reflect.Struct:
		return structurePlan(t, within)
	}
	return &plan{}
}

func structurePlan(t reflect.Type, within map[reflect.Type]bool) *plan {
	if t.NumField() == 1 {
		if f := t.Field(0); f.Anonymous && f.IsExported() && f.Tag == "" {
			if inner := newPlan(f.Type, within); inner.form == structure {
				return &plan{form: wrapper, elem: inner}
			}
		}
	}
	p := &plan{form: structure}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous || strings.Contains(options, "string"):
			return &plan{}
		case !f.IsExported() || name == "-":
			continue
		case name == "":
			name = f.Name
		}
		p.fields = append(p.fields, field{name, i, newPlan(f.Type, within)})
	}
	return p
}

// reader reads a document. Its methods are false where it has to be read in the slow way.
type reader struct {
	text []byte
	at   int
}

// next is the next byte that is no white space; zero: there is none.
func (r *reader) next() byte {
	for ; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

func (r *reader) take(c byte) bool {
	if r.next() != c {
		return false
	}
	r.at++
	return true
}

func (r *reader) value(v reflect.Value, p *plan) bool {
	switch p.form {
	case itself:
		raw, ok := r.raw()
		return ok && v.Addr().Interface().(json.Unmarshaler).UnmarshalJSON(raw) == nil
	case textual:
		b, ok := r.string()
		return ok && v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText(b) == nil
	case text:
		b, ok := r.string()
		v.SetString(string(b))
		return ok
	case integer:
		n, err := strconv.ParseInt(string(r.number()), 10, 64)
		v.SetInt(n)
		return err == nil && !v.OverflowInt(n)
	case decimal:
		n, err := strconv.ParseFloat(string(r.number()), 64)
		v.SetFloat(n)
		return err == nil
	case truth:
		raw := string(r.word())
		v.SetBool(raw == "true")
		return raw == "true" || raw == "false"
	case structure:
		return r.structure(v, p)
	case wrapper:
		return r.structure(v.Field(0), p.elem)
	case list:
		return r.list(v, p)
	case pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return r.value(v.Elem(), p.elem)
	}
	return false
}

func (r *reader) structure(v reflect.Value, p *plan) bool {
	if !r.take('{') {
		return false
	}
	if r.take('}') {
		return true
	}
	for n := 0; ; n++ {
		name, ok := r.string()
		for ok && n < len(p.fields) && p.fields[n].name != string(name) {
			n++
		}
		if !ok || n == len(p.fields) || !r.take(':') || !r.value(v.Field(p.fields[n].index), p.fields[n].plan) {
			return false
		}
		if !r.take(',') {
			return r.take('}')
		}
	}
}

func (r *reader) list(v reflect.Value, p *plan) bool {
	if !r.take('[') {
		return false
	}
	if r.take(']') {
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		return true
	}
	for n := 0; ; n++ {
		if n == v.Cap() {
			v.Grow(4)
		}
		v.SetLen(n + 1)
		if !r.value(v.Index(n), p.elem) {
			return false
		}
		if !r.take(',') {
			return r.take(']')
		}
	}
}

// string is the content of a string.
func (r *reader) string() ([]byte, bool) {
	if !r.take('"') {
		return nil, false
	}
	plain := true
	for i := r.at; i < len(r.text); i++ {
		switch c := r.text[i]; {
		case c == '"':
			b := r.text[r.at:i]
			r.at = i + 1
			return b, plain || utf8.Valid(b)
		case c == '\\':
			return r.escaped(i)
		case c < ' ':
			return nil, false
		case c >= utf8.RuneSelf:
			plain = false
		}
	}
	return nil, false
}

// escaped is the content of a string with its first escape at i.
func (r *reader) escaped(i int) ([]byte, bool) {
	b := append(make([]byte, 0, i-r.at+64), r.text[r.at:i]...)
	for ; i < len(r.text); i++ {
		switch c := r.text[i]; {
		case c == '"':
			r.at = i + 1
			return b, utf8.Valid(b)
		case c < ' ':
			return nil, false
		case c != '\\':
			b = append(b, c)
		default:
			const marks, meant = `nt"\/rbf`, "\n\t\"\\/\r\b\f"
			i++
			n := -1
			if i < len(r.text) {
				n = strings.IndexByte(marks, r.text[i])
			}
			if n < 0 { // \u and what is none
				return nil, false
			}
			b = append(b, meant[n])
		}
	}
	return nil, false
}

// word is what stands up to the next mark.
func (r *reader) word() []byte {
	r.next()
	from := r.at
	for r.at < len(r.text) && strings.IndexByte(",]} \t\r\n", r.text[r.at]) < 0 {
		r.at++
	}
	return r.text[from:r.at]
}

// number is a number in its plainest form; empty: it is in another.
func (r *reader) number() []byte {
	w := r.word()
	digits, fraction, split := bytes.Cut(bytes.TrimPrefix(w, []byte{'-'}), []byte{'.'})
	if !natural(digits) || len(digits) > 1 && digits[0] == '0' || split && !natural(fraction) {
		return nil
	}
	return w
}

func natural(b []byte) bool { return len(b) > 0 && ascii.Digits(b, 0) == len(b) }

// raw is a value as it is written, but for null, which is not always the value's own matter.
func (r *reader) raw() ([]byte, bool) {
	null := r.next() == 'n'
	from, depth := r.at, 0
	for r.at < len(r.text) && !null {
		switch r.text[r.at] {
		case '"':
			r.at++
			for r.at < len(r.text) && r.text[r.at] != '"' {
				if r.text[r.at] == '\\' {
					r.at++
				}
				r.at++
			}
			r.at++
		case '{', '[':
			depth++
			r.at++
		case '}', ']':
			depth--
			r.at++
		case ',', ':':
			r.at++
		default:
			r.word()
		}
		if depth == 0 {
			r.at = min(r.at, len(r.text))
			raw := r.text[from:r.at]
			return raw, json.Valid(raw)
		}
	}
	return nil, false
}
