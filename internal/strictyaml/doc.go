// Package strictyaml reads small configuration files and validates everything: an unknown or
// repeated key, a value of the wrong kind, a second document, an empty or an oversized file
// are problems, and all of them are reported together, each with its line, its column and a
// remedy.
//
// Fields are matched by their yaml tag, or by the field's name in lower case. The tag accepts
// three options: "inline" for an embedded struct whose keys are on the same level, "required"
// for a key that must be present, and "others" for a field of type [Others].
//
// A field can be a string, a bool, a number, a [time.Duration] (written as "10m"), a type with
// UnmarshalText, a type with [Unmarshaler], a struct, a pointer, a slice, a map with text
// keys, or any. A string accepts every scalar as it is written; all other kinds require their
// own.
//
// A number is written in decimal: 010, 0x10 and 1_000, which are not read the same everywhere,
// are problems where a number is required, and where any is accepted.
//
// A key without a value is a problem, as are anchors, aliases, merge keys and custom tags: the
// file must mean what it shows at each place.
package strictyaml
