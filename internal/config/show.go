package config

import (
	"cmp"
	"encoding"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/protocol/ladder"
)

// Shown is an option in the form that config show prints.
type Shown struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	// Origin is a flag, the name of a variable, file:line, or default.
	Origin   string `json:"origin"`
	Enforced bool   `json:"enforced,omitempty"`
}

// WriteShown writes options as a table.
func WriteShown(to io.Writer, rows []Shown) error {
	w := tabwriter.NewWriter(to, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "OPTION\tVALUE\tFROM")
	for _, r := range rows {
		if r.Enforced {
			r.Origin += " (enforced)"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", r.Key, cmp.Or(termsafe.Line(r.Value), "-"), termsafe.Line(r.Origin))
	}
	return w.Flush()
}

// Show returns every key with its value and the value's origin.
func (c *Settings) Show(o *Options) []Shown {
	computed := o.computed()
	var rows []Shown
	for _, k := range Keys() {
		value := c.value(k)
		if f := reflect.ValueOf(o).Elem().FieldByName(k.field.Name); f.IsValid() && f.Type() == k.field.Type {
			value = f
		}
		r := Shown{Key: k.Name, Value: valueText(value), Origin: "default"}
		source := c.source(k)
		switch {
		case source != nil:
			r.Origin, r.Enforced = source.at(k.Name), source.enforced()
		case c.by(k) != "":
			r.Origin = c.by(k)
		default:
			r.Origin = cmp.Or(c.presetOrigin(k), c.agentOrigin(k), r.Origin)
			r.Value = cmp.Or(computed[k.Name], r.Value)
		}
		if k.Name == exitCodesKey {
			all := map[string]int{}
			maps.Copy(all, o.ConfigExitCodes)
			maps.Copy(all, o.ExitCode)
			r.Value = valueText(reflect.ValueOf(all))
		}
		rows = append(rows, r)
	}
	part := func(key string, text func(*layer) string) {
		for _, l := range c.layers {
			if value := text(&l); value != "" {
				rows = append(rows, Shown{Key: key, Value: value, Origin: l.at(key), Enforced: l.enforced()})
				return
			}
		}
	}
	part("signature", func(l *layer) string {
		if s := l.signature; s != nil {
			return fmt.Sprintf("%d mask, %d ignore, %d extract, %d reports", len(s.Mask), len(s.Ignore), len(s.Extract), len(s.Reports))
		}
		return ""
	})
	part("ladder", func(l *layer) string {
		return strings.Join(convert.Each(l.ladder, func(r ladder.Rung) string { return string(r.Rung) }), ", ")
	})
	part("assistants", func(l *layer) string { return strings.Join(slices.Sorted(maps.Keys(l.assistants)), ", ") })
	part("agents", func(l *layer) string { return strings.Join(slices.Sorted(maps.Keys(l.agents)), ", ") })
	return rows
}

// computed returns the values of unset options whose default is not a constant of the flag.
func (o *Options) computed() map[string]string {
	mode, _ := o.Detached.MarshalText() // it never fails
	values := map[string]string{"kill_after": o.GracePeriod().String(), "detached": cmp.Or(string(mode), DetachedModes[0])}
	if dir, err := StateDir(o.StateDir); err == nil {
		values["state_dir"] = dir
	}
	if o.KeepRuns == (Keep{}) {
		keep, _ := DefaultKeep.MarshalText() // it never fails
		values["keep"] = string(keep)
	}
	values["non_interactive"] = fmt.Sprint(o.Silent() != "")
	values["delay"] = valueText(reflect.ValueOf(Duration(o.Delays().Base)))
	l, caps, err := o.Limits()
	if err != nil { // it is reported; the limits are what was given
		return values
	}
	for key, n := range map[string]int{
		"max_iterations": l.Iterations, "loop_threshold": l.Loop, "max_errors": l.Errors, "cap_iterations": caps.Iterations,
	} {
		values[key] = valueText(reflect.ValueOf(CountLimit(n)))
	}
	values["max_runtime"] = valueText(reflect.ValueOf(DurationLimit(l.Runtime)))
	values["cap_runtime"] = valueText(reflect.ValueOf(DurationLimit(caps.Runtime)))
	if caps.Cost > 0 {
		values["cap_cost"] = valueText(reflect.ValueOf(MoneyLimit(caps.Cost)))
	}
	if caps.Tokens > 0 {
		values["cap_tokens"] = valueText(reflect.ValueOf(TokenLimit(caps.Tokens)))
	}
	return values
}

// valueText returns an option as a user would write it.
func valueText(v reflect.Value) string {
	given := v.Kind() == reflect.Pointer // where it points to something
	if given {
		if v.IsNil() {
			return ""
		}
		v = v.Elem()
	}
	switch of := v.Interface().(type) {
	case Duration, DurationLimit:
		if v.IsZero() && !given {
			return ""
		}
	case []string:
		return strings.Join(of, ", ")
	case map[string]int:
		if len(of) == 0 {
			return ""
		}
		return codesText(of)
	}
	if m, ok := v.Interface().(encoding.TextMarshaler); ok {
		text, _ := m.MarshalText() // it never fails
		return string(text)
	}
	return fmt.Sprint(v.Interface())
}
