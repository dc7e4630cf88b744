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

	"gopkg.in/yaml.v3"

	"github.com/looprun/looprun/internal/inputfile"
	"github.com/looprun/looprun/internal/parallel"
	"github.com/looprun/looprun/internal/problem"
	"github.com/looprun/looprun/internal/strictyaml"
	"github.com/looprun/looprun/internal/termsafe"
)

//go:embed builtin/*.yaml
var builtinFiles embed.FS

// pack is the contents of one folder.
type pack struct {
	about     About
	templates []*Template
	messages  *messages
	strays    []string // files that are none of a pack's
}

// aboutFile is the file in a pack that describes it.
const aboutFile = "pack.yaml"

// About describes a pack, as its pack.yaml does.
type About struct {
	Name     string `yaml:"name,required" json:"name,omitempty"`
	Version  string `yaml:"version" json:"version,omitempty"`
	Language string `yaml:"language" json:"language,omitempty"`
}

// String returns the name with the version and the language.
func (a About) String() string {
	text := strings.Join(strings.Fields(a.Name+" "+a.Version), " ")
	if a.Language != "" {
		text += " (" + a.Language + ")"
	}
	return termsafe.Line(text)
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
		list[i], found[i] = t, r.Problems
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
		return &pack{}, problem.List{{File: dir, Text: "the folder of templates cannot be read: " + reason(err), Remedy: "name one that is there"}}
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
	p, problems := loadPack(names, readFile)
	if len(p.templates) == 0 && p.messages == nil && len(problems) == 0 {
		problems = problem.List{{File: dir, Text: "holds no template and no " + messagesFile, Remedy: "a template has the keys guard, header, question and options"}}
	}
	return p, problems
}

// isStray reports whether a file is a mapping without any key that a template needs.
func isStray(data []byte) bool {
	var f map[string]any
	if err := yaml.Unmarshal(data, &f); err != nil || len(f) == 0 {
		return false
	}
	for _, key := range []string{"guard", "header", "question", "options", "extends"} {
		if _, ok := f[key]; ok {
			return false
		}
	}
	return true
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
		var found problem.List
		switch base := strings.TrimSuffix(filepath.Base(name), filepath.Ext(name)) + ".yaml"; {
		case base == messagesFile:
			p.messages, found = parseMessages(name, data)
			problems = append(problems, found...)
			continue
		case base == aboutFile:
			_, err := strictyaml.Decode(name, data, &p.about)
			problems = append(problems, problem.Of(err)...)
			continue
		case len(names) > 1 && isStray(data):
			p.strays = append(p.strays, name)
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
	f, err := inputfile.OpenRegular(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, strictyaml.MaxSize+1))
}

// reason returns the error without the path, which the problem already names.
func reason(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err.Error()
	}
	return err.Error()
}

// Check reports everything that is wrong with the files and folders at those paths. The error
// is a list of problems, each with its file and, where there is one, line and column.
func Check(paths ...string) error {
	_, err := Examine(false, paths...)
	return err
}

// Checked is a file or folder that [Examine] has read.
type Checked struct {
	Path string
	// About is what the pack says of itself; zero without a pack.yaml.
	About About
	// Strays are YAML files of the folder that are no templates and are ignored.
	Strays []string
}

// Examine is [Check] that also says what it has read. With complete, questions and texts that
// a folder leaves to the built-in pack are problems too.
func Examine(complete bool, paths ...string) ([]Checked, error) {
	var checked []Checked
	var problems problem.List
	for _, p := range paths {
		info, err := os.Stat(p)
		folder := err != nil || info.IsDir()
		read := readPack
		if !folder {
			read = func(p string) (*pack, problem.List) { return loadPack([]string{p}, readFile) }
		}
		pack, found := read(p)
		problems = append(problems, found...)
		for _, t := range pack.templates {
			problems = append(problems, t.beyond()...)
		}
		if complete && folder && len(found) == 0 {
			problems = append(problems, pack.missing(p)...)
		}
		checked = append(checked, Checked{p, pack.about, pack.strays})
	}
	return checked, problems.Err()
}

// missing reports the questions and texts that the pack in dir leaves to the built-in one.
func (p *pack) missing(dir string) (problems problem.List) {
	for _, id := range guardIDs() {
		if !slices.ContainsFunc(p.templates, func(t *Template) bool { return t.Guard == id }) {
			problems = append(problems, problem.Problem{File: dir, Text: "no question for the guard " + string(id), Remedy: "looprun template show " + string(id) + " prints the built-in one"})
		}
	}
	for _, m := range Messages() {
		if p.messages == nil || p.messages.texts[m.Key] == "" {
			problems = append(problems, problem.Problem{File: filepath.Join(dir, messagesFile), Text: "the text " + m.Key + " is missing", Remedy: fmt.Sprintf("the built-in one is %q", builtinTexts()[m.Key])})
		}
	}
	return problems
}
