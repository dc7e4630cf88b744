package config

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/nearest"
)

// Block is a key of looprun.yaml that contains other keys, so it has no flag.
type Block struct{ Name, About string }

// Blocks returns all blocks.
func Blocks() []Block {
	return []Block{
		{"hooks", "Commands to run at questions, trips and the end: on_question, on_trip, on_end."},
		{"assistants", "Assistants for some questions, by the id of a question, by a guard or by a kind."},
		{"signature", "Your own masks and rules for signatures, and the reports that the command writes."},
		{"ladder", "The escalation ladder: the next rung when attempts fail (looprun help ladder)."},
		{"agents", "Coding agents of your own, by name, for --agent."},
		{"enforce", "Only in " + SystemFile + ": keys that no other source can change."},
	}
}

// NearestKey suggests the key that an unknown word was probably meant to be; empty if none is
// near.
func NearestKey(word string) string {
	names := convert.Each(Keys(), func(k Key) string { return k.Name })
	for _, b := range Blocks() {
		if b.Name == word {
			return word + " holds other keys: write it in looprun.yaml"
		}
	}
	return nearest.DidYouMean(strings.ReplaceAll(word, "-", "_"), names)
}

// Takes describes which values the key accepts.
func (k Key) Takes() string {
	text := cmp.Or(kinds()[k.kind()].takes, "a text")
	switch {
	case k.Words() != nil:
		text = strings.Join(k.Words(), ", ")
	case k.tag("value") == "path" && k.tag("words") == "":
		text = "a path; in looprun.yaml relative to the file"
	case k.tag("value") == "pattern":
		text = "a regular expression"
	case k.Name == exitCodesKey:
		text = "KEY=N, where KEY is a status or a guard"
	}
	if k.Repeats() {
		text += "; several are allowed"
	}
	return text
}

// Trust describes what a looprun.yaml that was merely found may do with the key.
func (k Key) Trust() string {
	trust := k.tag("trust")
	bound, upto := strings.CutPrefix(trust, trustUpto)
	switch {
	case trust == trustSafe:
		return "a looprun.yaml that was found needs no consent for it"
	case trust == trustLower:
		return "a looprun.yaml that was found needs no consent to lower it"
	case upto:
		return "a looprun.yaml that was found needs no consent up to " + bound
	}
	return "a looprun.yaml that was found needs your consent for it"
}

// YAML returns the key with a value in the form of looprun.yaml.
func (k Key) YAML(value string) string {
	switch {
	case k.Name == exitCodesKey || k.isWords() && strings.Contains(value, "="):
		name, of, _ := strings.Cut(value, "=")
		return fmt.Sprintf("%s: {%s: %s}", k.Name, name, of)
	case k.Repeats():
		return fmt.Sprintf("%s: [%s]", k.Name, quotedYAML(value))
	}
	return k.Name + ": " + quotedYAML(value)
}

// quotedYAML quotes a value that YAML would read as something else.
func quotedYAML(value string) string {
	if strings.ContainsAny(value, "*&!|>%@`#,[]{}:'\"") {
		return "'" + strings.ReplaceAll(value, "'", "''") + "'"
	}
	return value
}
