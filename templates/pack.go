package templates

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/looprun/looprun/internal/parallel"
	"github.com/looprun/looprun/internal/problem"
	"github.com/looprun/looprun/internal/strictyaml"
)

//go:embed builtin/*.yaml
var builtinFiles embed.FS

// pack is the contents of one folder.
type pack struct {
	templates []*Template
	messages  *messages
}

// builtinTemplates reads the templates of the built-in pack once, when they are first needed.
// Tests check that the pack is valid.
var builtinTemplates = sync.OnceValues(func() ([]*Template, error) {
	entries, err := builtinFiles.ReadDir("builtin")
	if err != nil {
		return nil, err
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return e.Name() == messagesFile })
	list := make([]*Template, len(entries))
	found := make([]problem.List, len(entries))
	parallel.Each(len(entries), func(i int) {
		name := path.Join("builtin", entries[i].Name())
		data, _ := builtinFiles.ReadFile(name) // it is there
		t, r := readTemplate(name, data)
		list[i], found[i] = t, r.problems
	})
	return list, slices.Concat(found...).Err()
})

// builtinTexts returns the other texts of the built-in pack, also read only once.
var builtinTexts = sync.OnceValue(func() (texts map[string]string) {
	name := path.Join("builtin", messagesFile)
	if data, err := builtinFiles.ReadFile(name); err == nil {
		_, _ = strictyaml.Decode(name, data, &texts)
	}
	return texts
})

// readPack reads a folder. A folder without YAML files is an error.
func readPack(dir string) (*pack, problem.List) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return &pack{}, problem.List{{File: dir, Text: "cannot be read: " + reason(err), Remedy: "name a folder with templates"}}
	}
	var names []string
	for _, e := range entries {
		if isYAML(e.Name()) && !strings.HasPrefix(e.Name(), ".") && !e.IsDir() {
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}
	if len(names) == 0 {
		return &pack{}, problem.List{{File: dir, Text: "holds no *.yaml file", Remedy: "\"looprun template init\" writes a pack to start from"}}
	}
	return loadPack(names, readFile)
}

func isYAML(name string) bool {
	ext := strings.ToLower(filepath.Ext(name))
	return ext == ".yaml" || ext == ".yml"
}

// loadPack reads the files. Two files for the same guard are an error.
func loadPack(names []string, read func(string) ([]byte, error)) (*pack, problem.List) {
	p := &pack{}
	var problems problem.List
	slices.Sort(names)
	for _, name := range names {
		data, err := read(name)
		if err != nil {
			problems = append(problems, problem.Problem{File: name, Text: "cannot be read: " + reason(err)})
			continue
		}
		if filepath.Base(name) == messagesFile {
			var found problem.List
			p.messages, found = parseMessages(name, data)
			problems = append(problems, found...)
			continue
		}
		t, found := parseTemplate(name, data)
		problems = append(problems, found...)
		other := slices.IndexFunc(p.templates, func(o *Template) bool { return o.Guard == t.Guard })
		if other >= 0 && t.Guard != "" {
			problems = append(problems, problem.Problem{
				File: name, Line: t.line, Column: t.column, Text: fmt.Sprintf("%s is for the guard %s too", p.templates[other].File, t.Guard),
				Remedy: "a folder has one template a guard: remove one of the two",
			})
			continue
		}
		p.templates = append(p.templates, t)
	}
	return p, problems
}

// readFile reads a regular file, up to the maximum size that is parsed.
func readFile(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, strictyaml.MaxSize+1))
}

// reason returns the error without the path, which the problem already names.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// Check reports everything that is wrong with the files and folders at those paths. The error
// is a list of problems, each with file, line and column.
func Check(paths ...string) error {
	var problems problem.List
	for _, p := range paths {
		read := readPack
		if info, err := os.Stat(p); err == nil && !info.IsDir() {
			read = func(p string) (*pack, problem.List) { return loadPack([]string{p}, readFile) }
		}
		pack, found := read(p)
		problems = append(problems, found...)
		for _, t := range pack.templates {
			problems = append(problems, t.beyond()...)
		}
	}
	return problems.Err()
}
