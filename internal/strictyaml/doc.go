// Package strictyaml reads small configuration files and takes nothing on
// trust: an unknown or repeated key, a value of the wrong kind, a second
// document, an empty or an oversized file are problems, and all of them are
// reported together, each with its line, its column and a remedy.
//
// Fields are matched by their yaml tag, or by the field's name in lower case.
// The tag takes two options: "inline" for an embedded struct whose keys stand
// on the same level, and "required" for a key that has to be there.
//
// A field can be a string, a bool, a number, a [time.Duration] (written as
// "10m"), a type with UnmarshalText, a type with [Unmarshaler], a struct, a
// pointer, a slice, a map with text keys, or any. A string takes every scalar
// as it is written; all other kinds want their own.
//
// A number is written in decimal: 010, 0x10 and 1_000, of which not everybody reads
// the same, are problems where a number is wanted, and where any is taken.
//
// A key without a value is a problem, as are anchors, aliases, merge keys and
// tags of one's own: what a file says is to be read where it says it.
package strictyaml
