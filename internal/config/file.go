package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"syscall"

	"github.com/looprun/looprun/internal/agent"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/inputfile"
	"github.com/looprun/looprun/internal/problem"
	"github.com/looprun/looprun/internal/provenance"
	"github.com/looprun/looprun/internal/strictyaml"
	"github.com/looprun/looprun/internal/xdg"
	"github.com/looprun/looprun/scratchpad"
)

// SystemFile is the file of the machine's administrator. Tests use one of their own.
var SystemFile = "/etc/looprun/looprun.yaml"

const Name = "looprun.yaml"

// Source is a file to be read.
type Source struct {
	Name, path    string
	found, system bool
	optional      bool
	own           bool // the user's
	flag          bool // named with --config
}

// sourcesOf returns the files that apply, highest rank first. The system's file is always
// read: otherwise its enforced values could be avoided.
func sourcesOf(flag string) ([]Source, error) {
	dir, err := CurrentDir()
	if err != nil {
		return nil, err
	}
	system := Source{Name: SystemFile, path: SystemFile, system: true, optional: true}
	if flag == "none" {
		return []Source{system}, nil
	}
	var list []Source
	own := userFile()
	if flag != "" {
		list = append(list, Source{Name: flag, path: filepath.Join(dir, flag), flag: true})
		if filepath.IsAbs(flag) {
			list[0].path = flag
		}
	} else if file := Nearest(dir); file != own {
		list = append(list, Source{Name: SeenFrom(dir, file), path: file, found: true, optional: true})
	}
	if own != "" {
		list = append(list, Source{Name: own, path: own, own: true, optional: true})
	}
	return append(list, system), nil
}

// load reads the files and reports all errors in any of them.
func load(flag string) ([]*File, error) {
	sources, err := sourcesOf(flag)
	if err != nil {
		return nil, err
	}
	var files []*File
	var errs []error
	var problems problem.List
	for _, s := range sources {
		f, err := s.read()
		if ps, ok := errors.AsType[problem.List](err); ok {
			problems = append(problems, ps...)
		} else if err != nil {
			errs = append(errs, err)
		}
		if f != nil {
			files = append(files, f)
		}
	}
	return files, errors.Join(append(errs, problems.Err())...)
}

// CurrentDir returns the folder in which looprun was called.
func CurrentDir() (string, error) {
	dir, err := os.Getwd()
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		err = Usage("the current directory cannot be found: "+errno.Error(), "change to one that is there")
	}
	return dir, err
}

// Nearest returns the nearest looprun.yaml up to the root of the git repository, whoever put
// it there. If there is none, it returns where it could be: at that root, or in the folder
// itself.
func Nearest(start string) string {
	dir := provenance.Root(start, func(dir string) bool { return provenance.Exists(filepath.Join(dir, Name)) })
	return filepath.Join(dir, Name)
}

// userFile returns the user's own file; empty if there is no place for one.
func userFile() string {
	if dir := xdg.Config(); dir != "" {
		return filepath.Join(dir, Name)
	}
	return ""
}

// SeenFrom returns the name of the file for messages.
func SeenFrom(dir, file string) string {
	if rel, err := filepath.Rel(dir, file); err == nil {
		return rel
	}
	return file
}

// File is a looprun.yaml that was read.
type File struct {
	Source
	text   []byte
	doubt  string // why it may be somebody else's; empty: it is not, it was named, or it is the system's
	doc    *strictyaml.Document
	layers []layer
	names  func() []Named // the files that consent covers beside this one
}

// read reads the file; it returns nil for an optional file that does not exist.
func (s Source) read() (*File, error) {
	text, err := s.content()
	if s.optional && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)) {
		return nil, nil
	}
	if refused, ok := errors.AsType[*UsageError](err); ok {
		return nil, refused
	}
	switch {
	case err != nil && s.flag:
		return nil, Usage("--config: "+err.Error(), "name a file that can be read, or none")
	case err != nil && s.own && errors.Is(err, fs.ErrPermission):
		return nil, Usage(err.Error(), "let HOME or XDG_CONFIG_HOME name a folder of this user's, or leave the file out with --config none")
	case err != nil:
		return nil, Unreadable(err)
	}
	f := &File{Source: s, text: text}
	f.names = sync.OnceValue(f.readNamed)
	if s.found || s.own {
		f.doubt = provenance.Doubt(s.path)
	}
	return f, f.decode(Keys())
}

func (s Source) content() ([]byte, error) {
	if s.found {
		if err := s.suspicious(); err != nil {
			return nil, err
		}
	}
	return strictyaml.Read(s.Name)
}

// Unreadable returns the error for a named file that cannot be read, with what to do about it.
func Unreadable(err error) error { return Usage(err.Error(), inputfile.Remedy(err)) }

// suspicious returns an error for a found file that others may have put there.
func (s Source) suspicious() error {
	info, err := os.Lstat(s.path)
	if err != nil {
		return err
	}
	named := "or name it with --config " + s.Name + " if it is yours"
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return Usage(s.Name+" is a symbolic link, and a link that was merely found is not followed", "put the file itself there, "+named)
	case !info.Mode().IsRegular():
		return Usage(s.Name+" is not a file", "remove it, or use --config none")
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0:
		return Usage(fmt.Sprintf("%s was found, and others can write it (%s)", s.Name, info.Mode().Perm()), "chmod go-w "+s.Name+", "+named)
	}
	return nil
}

// rawValue is a value as written, to be parsed as its flag's value is.
type rawValue struct{ value any }

// FromYAML keeps the value.
func (r *rawValue) FromYAML(value any) error {
	r.value = value
	return nil
}

// parts holds the keys that are not flags, with their trust tags as in [Options].
type parts struct {
	Signature  *Signature            `yaml:"signature" trust:"ask" doc:"Your own masks and rules for signatures, and the reports that the command writes."`
	Ladder     *ladderConfig         `yaml:"ladder" trust:"ask" doc:"The escalation ladder: the next rung when attempts fail. The last one is a person's."`
	Hooks      *map[string]string    `yaml:"hooks" trust:"ask" doc:"Commands to run at questions, trips and the end."`
	Agents     *agent.Agents         `yaml:"agents" trust:"ask" doc:"Coding agents of your own, by name, for agent and --agent: how each is started, and what the JSON that it prints means."`
	Assistants *map[string]Assistant `yaml:"assistants" trust:"ask" doc:"Assistants for some questions, by the id of a question, by a guard or by a kind (confirm, select, text): they answer in place of assistant."`
}

// shape returns a struct type with a field for every key, so that the file is decoded as
// strictly as any other. The keys that are not flags come after them, and enforce last.
func shape(keys []Key) reflect.Type {
	tag := func(key, trust string) reflect.StructTag {
		return reflect.StructTag(fmt.Sprintf("yaml:%q trust:%q", key, trust))
	}
	fields := make([]reflect.StructField, 0, len(keys)+4)
	for i, k := range keys {
		fields = append(fields, reflect.StructField{
			Name: fmt.Sprintf("Key%d", i), Type: reflect.TypeFor[*rawValue](), Tag: tag(k.Name, k.tag("trust")),
		})
	}
	fields = append(fields, reflect.VisibleFields(reflect.TypeFor[parts]())...)
	inner := reflect.StructOf(fields)
	return reflect.StructOf(append(fields, reflect.StructField{Name: "Enforce", Type: reflect.PointerTo(inner), Tag: tag("enforce", "")}))
}

// decode decodes the keys and reports all errors.
func (f *File) decode(keys []Key) error {
	into := reflect.New(shape(keys))
	var problems problem.List
	var err error
	f.doc, err = strictyaml.Decode(f.Name, f.text, into.Interface())
	if ps, ok := errors.AsType[problem.List](err); ok {
		problems = ps
	}
	f.layers = append(f.layers, f.layer(keys, into.Elem(), &problems))
	if enforced := into.Elem().FieldByName("Enforce"); !enforced.IsNil() {
		if !f.system {
			problems = append(problems, f.doc.Problem("enforce is for "+SystemFile+" alone", "write its keys without it", "enforce"))
		}
		f.layers = append(f.layers, f.layer(keys, enforced.Elem(), &problems, "enforce"))
	}
	return problems.Err()
}

func (f *File) layer(keys []Key, from reflect.Value, problems *problem.List, under ...any) layer {
	l := layer{file: f, under: under, values: map[string]written{}}
	path := func(steps ...any) []any { return append(append([]any{}, under...), steps...) }
	l.has = keysIn(keys, from)
	for i, k := range keys {
		raw, _ := from.Field(i).Interface().(*rawValue)
		if raw == nil || raw.value == nil {
			continue
		}
		at := slices.IndexFunc(wholeBlocks, func(b block) bool { return b.name == k.Name })
		if given, ok := raw.value.(map[string]any); ok && at >= 0 {
			l.unfold(wholeBlocks[at], keys, given, problems, path)
			continue
		}
		value, wrong := k.read(raw.value, filepath.Dir(f.path))
		for _, w := range wrong {
			*problems = append(*problems, f.doc.Problem(w.text, w.remedy, path(append([]any{k.Name}, w.below...)...)...))
		}
		if len(wrong) > 0 {
			continue
		}
		if why := value.notOwn(); why != "" && !f.mine() {
			*problems = append(*problems, f.doc.Problem(k.Name+": "+why, "remove it here", path(k.Name)...))
		}
		l.values[k.Name] = value
	}
	l.readParts(keys, from, problems, path)
	for _, k := range keys {
		of := k.tag("of")
		if _, ok := l.values[k.Name]; ok && of != "" && !f.doc.Has(path(of)...) {
			*problems = append(*problems, f.doc.Problem(fmt.Sprintf("%s has no effect without %s", k.Name, of), "write both in one file", l.path(k.Name)...))
		}
	}
	return l
}

// mine reports whether only the user or the system can have written the file.
func (f *File) mine() bool {
	return f.doubt == "" && (f.path == userFile() && provenance.Doubt(f.path) == "" || f.path == SystemFile)
}

// keysIn returns the keys that have a value in the decoded file: all of them, so that none is
// considered harmless just because the command does not need it.
func keysIn(keys []Key, from reflect.Value) []givenKey {
	var given []givenKey
	for i := range from.NumField() {
		tag := from.Type().Field(i).Tag
		k := givenKey{Key{Name: tag.Get("yaml")}, tag.Get("trust")}
		if i < len(keys) {
			k.Key = keys[i]
		}
		if k.Name != "enforce" && !from.Field(i).IsNil() {
			given = append(given, k)
		}
	}
	return given
}

// patternProblems returns the errors about patterns, which already contain file and line.
func patternProblems(err error) problem.List {
	return convert.Each(each(err), func(e error) problem.Problem { return problem.Problem{Text: e.Error()} })
}

// StateDir returns the folder in which runs are kept.
func StateDir(flag string) (string, error) {
	if flag != "" {
		return filepath.Abs(flag)
	}
	dir, err := CurrentDir()
	if err != nil {
		return "", err
	}
	return scratchpad.StateDir(dir), nil
}

// TrustedStateDir returns where runs are kept according to the files that need no consent or
// have it; empty if they do not set it.
func TrustedStateDir(flag string) string {
	var c Settings
	files, _ := load(flag) // what is wrong with it is said when it is used
	c.add(files)
	l := c.find("state_dir")
	if l == nil || l.file.found && !trusted(l.file.digest()) {
		return ""
	}
	return l.values["state_dir"].value.String()
}
