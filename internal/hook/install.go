package hook

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/looprun/looprun/internal/atomicfile"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/inputfile"
	"github.com/looprun/looprun/internal/provenance"
	"github.com/looprun/looprun/internal/strictjson"
)

// Agent is an agent whose hooks are known.
type Agent struct {
	Name string
	// User and Project are the agent's hook files: below the home directory, and below the
	// project.
	User, Project string
	// Local is a file below the project that is not shared with others; empty if there is
	// none.
	Local string
	// Lists has the paths to the lists of hooks that looprun's is in, and Entry is the element
	// that it adds, with CMD for the command. The first list runs at a stop. One for the
	// beginning of a prompt records the state of the work tree; without it every stop is
	// judged.
	Lists [][]string
	Entry json.RawMessage
	// Whole names the embedded text of a file that is all looprun's.
	Whole string
	// Head is the beginning of a newly created file.
	Head string
	// Wants is what else the agent needs from the person; empty means nothing.
	Wants string
}

// Command is what an agent runs at a stop. It is the same in every release: some agents ask
// again when it changes.
const Command = "looprun hook stop"

// quietly is the beginning of a shell command that does nothing if looprun is not installed:
// it was removed, or somebody without it shares the project's file.
const quietly = "! command -v looprun >/dev/null || "

// Agents returns the agents whose hooks are known, as documented by their makers.
var Agents = sync.OnceValue(func() []Agent { return strictjson.Lines[Agent](agentLines) })

//go:embed agents.jsonl
var agentLines []byte

//go:embed opencode.js
var wholeFiles embed.FS

// Find returns the agent of that name, which must be known.
func Find(name string) Agent {
	return Agents()[slices.IndexFunc(Agents(), func(a Agent) bool { return a.Name == name })]
}

// Place is where a hooks file is kept: in the project or below the home directory.
type Place int

// The places.
const (
	OfProject Place = iota
	OfLocal         // below the project, not shared with others
	OfUser
)

// File returns the path of the agent's hooks file; empty if it has none in that place.
func (a Agent) File(in Place) (string, error) {
	below, of := [...]string{a.Project, a.Local, a.User}[in], project
	if in == OfUser {
		of = os.UserHomeDir
	}
	if below == "" {
		return "", nil
	}
	dir, err := of()
	return filepath.Join(dir, filepath.FromSlash(below)), err
}

// entry returns the entry for the agent's file, or the whole file.
func (a Agent) entry() string {
	text := []byte(a.Entry)
	if a.Whole != "" {
		text, _ = wholeFiles.ReadFile(a.Whole) // which is embedded
	}
	return strings.ReplaceAll(string(text), "CMD", Command)
}

// Installed reports whether the file contains looprun's hook. A missing file does not.
func (a Agent) Installed(file string) (bool, error) {
	text, err := read(file)
	if err != nil || text == nil {
		return false, err
	}
	if a.Whole != "" {
		return string(text) == a.entry(), nil
	}
	_, _, entries, err := placeIn(text, a.Lists[0])
	return len(entries) > 0, wrong(file, err)
}

// With returns the file's text with looprun's hook added. It changes nothing else.
func (a Agent) With(text []byte) (_ []byte, err error) {
	if a.Whole != "" {
		if text != nil && string(text) != a.entry() {
			return nil, errors.New("it is not looprun's, and nothing in it is replaced")
		}
		return []byte(a.entry()), nil
	}
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte(cmp.Or(a.Head, "{}") + "\n")
	}
	for _, keys := range a.Lists {
		if text, err = a.put(text, keys); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// put adds the entry to the list at those keys unless it is already there.
func (a Agent) put(text []byte, keys []string) ([]byte, error) {
	inner, depth, entries, err := placeIn(text, keys)
	if err != nil || len(entries) > 0 {
		return text, err
	}
	added, form := a.entry(), "%q:[%s]"
	for _, key := range slices.Backward(keys[depth:]) { // what is not there yet
		added, form = fmt.Sprintf(form, key, added), "%q:{%s}"
	}
	end := inner.end - 1
	at := end
	if in := inner.holds(text); len(in) > 0 { // behind the last one, set out as that
		at = in[len(in)-1].end
		lead := " "
		if behind := string(text[at:end]); strings.Contains(behind, "\n") {
			lead = behind + "  "
		}
		added = "," + lead + added
	}
	return splice(text, at, at, added), nil
}

// Without returns the file's text without looprun's hook, and without the lists and objects
// that this leaves empty. Nil means that nothing is left.
func (a Agent) Without(text []byte) (_ []byte, err error) {
	if a.Whole != "" {
		if string(text) != a.entry() {
			return nil, errors.New("it was changed since; remove it by hand")
		}
		return nil, nil
	}
	for _, keys := range a.Lists {
		if text, err = take(text, keys); err != nil {
			return nil, err
		}
	}
	if rest := strings.TrimSpace(string(text)); rest == "{}" || rest == a.Head {
		return nil, nil
	}
	return text, nil
}

// take removes the entries from the list at those keys.
func take(text []byte, keys []string) ([]byte, error) {
	_, _, entries, err := placeIn(text, keys)
	for _, own := range slices.Backward(entries) {
		text = cut(text, own)
	}
	for depth := len(keys); depth > 0 && err == nil; depth-- {
		at, found := reach(text, keys[:depth])
		if found < depth || len(at.holds(text)) > 0 {
			break
		}
		text = cut(text, at)
	}
	return text, err
}

// Write writes an agent's file after With or Without; nil removes it.
func Write(file string, text []byte) error {
	if text == nil {
		err := os.Remove(file)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return atomicfile.Export(file, text)
}

// Change reads an agent's file and applies change to its text. It writes nothing.
func Change(file string, change func([]byte) ([]byte, error)) (before, after []byte, err error) {
	before, err = read(file)
	if err == nil {
		after, err = change(before)
	}
	return before, after, wrong(file, err)
}

// WriteCheck writes a looprun.yaml with the check where it is read here, unless a run has that
// check already, and returns its name; empty if there was nothing to write. It does not change a
// file with other content.
func WriteCheck(check, has string) (written string, err error) {
	if check == "" {
		return "", nil
	}
	dir, err := config.CurrentDir()
	if err != nil {
		return "", err
	}
	file := config.Nearest(dir)
	switch exists := inputfile.IsFile(file); {
	case exists && has == check:
		return "", nil
	case exists:
		return "", config.Usage(file+" exists, and has another check or none", "write check: "+check+" into it, and leave --check out")
	case strings.ContainsAny(check, "\n\r\x00"):
		return "", config.Usage("--check has more than one line", "write them into a script")
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return "", err
	}
	_, err = f.WriteString("check: '" + strings.ReplaceAll(check, "'", "''") + "'\n")
	return file, errors.Join(err, f.Close())
}

// project returns the work tree's root, or else where looprun was started.
func project() (string, error) {
	dir, err := config.CurrentDir()
	return provenance.Root(dir, func(string) bool { return false }), err
}

func wrong(file string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", file, err)
}

// read returns the file's text; nil if the file does not exist.
func read(file string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

// placeIn follows those keys, which lead to a list of hooks, as far as they exist in a file. It
// returns the innermost value, how many keys lead to it, and looprun's own entries in the list.
func placeIn(text []byte, keys []string) (inner value, depth int, entries []value, err error) {
	if err := json.Unmarshal(text, new(any)); err != nil {
		return inner, 0, nil, fmt.Errorf("it is not JSON that can be changed: %w", err)
	}
	inner, depth = reach(text, keys)
	want := byte('{')
	if depth == len(keys) {
		want = '['
		for _, v := range inner.holds(text) {
			if own := text[v.start:v.end]; bytes.Contains(own, []byte(`"`+Command)) || bytes.Contains(own, []byte(quietly+Command)) {
				entries = append(entries, v)
			}
		}
	}
	if text[inner.start] != want {
		err = fmt.Errorf("%s is not what the agent documents; add the hook by hand", strings.Join(append([]string{"its"}, keys[:depth]...), " "))
	}
	return inner, depth, entries, err
}

// value is a JSON value in a text: its key and its position, in bytes. The comma before it is at
// from; the first of an object or a list, which has none, begins there.
type value struct {
	key              string
	from, start, end int
}

// space is what may be between the parts of JSON.
const space = " \t\r\n"

// reach follows the keys as far as they exist in a text, which is JSON, and returns how many do.
func reach(text []byte, keys []string) (v value, depth int) {
	v = value{start: len(text) - len(bytes.TrimLeft(text, space)), end: len(bytes.TrimRight(text, space))}
	for ; depth < len(keys); depth++ {
		outer := v
		for _, in := range outer.holds(text) {
			if in.key == keys[depth] { // of several the last counts
				v = in
			}
		}
		if v == outer {
			break
		}
	}
	return v, depth
}

// holds returns what an object or a list holds; nothing of another value.
func (v value) holds(text []byte) (in []value) {
	d := json.NewDecoder(bytes.NewReader(text[v.start:v.end]))
	open, _ := d.Token() // the text is JSON
	for d.More() {
		from, key := int(d.InputOffset()), json.Token("")
		if open == json.Delim('{') {
			key, _ = d.Token()
		}
		var raw json.RawMessage
		_ = d.Decode(&raw)
		end := v.start + int(d.InputOffset())
		in = append(in, value{key.(string), v.start + from, end - len(raw), end})
	}
	return in
}

// cut removes a value from a list or an object, with the adjacent comma.
func cut(text []byte, v value) []byte {
	after := bytes.TrimLeft(text[v.end:], space)
	if text[v.from] != ',' && after[0] == ',' { // it is the first of several
		v.end = len(text) - len(after) + 1
	}
	return splice(text, v.from, v.end, "")
}

func splice(text []byte, from, to int, with string) []byte {
	return slices.Concat(text[:from], []byte(with), text[to:])
}
