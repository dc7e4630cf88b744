// Package project examines a folder in which looprun is to be used, to find how it is tested,
// and holds the files that set looprun up for it.
package project

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/looprun/looprun/internal/atomicfile"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/inputfile"
	"github.com/looprun/looprun/internal/lazy"
	"github.com/looprun/looprun/scratchpad"
)

// The names of the files that init writes, other than looprun.yaml.
const (
	PolicyName   = "looprun.policy.yaml"
	schemaDir    = scratchpad.StateDirName + "/" + scratchpad.SchemasName
	ConfigSchema = schemaDir + "/looprun.schema.json"
	PolicySchema = schemaDir + "/looprun.policy.schema.json"
	IgnoreName   = scratchpad.StateDirName + "/.gitignore"
)

// Setup is the data from which the files are written.
type Setup struct {
	Check      string
	Verify     string // exits 0 when a partial result can be used; empty: none is known
	Found      string // what it was found by
	Iterations string
	Policy     bool
}

// Choose selects the project.
func (s *Setup) Choose(p Project) { s.Check, s.Verify, s.Found = p.Check, p.verify, p.File }

// Project is a recognised kind of project.
type Project struct {
	Kind string
	File string // what it was recognised by
	// Check determines that the work is done, and verify, which may be empty, that a partial
	// result is usable.
	Check, verify string
}

// Detect recognises the projects in a folder, in init's order of preference. No content of
// their files becomes part of a command.
func Detect(dir string) []Project {
	var list []Project
	for _, find := range []func(folder) (Project, bool){findGo, findNpm, findCargo, findPytest, findMake} {
		if p, ok := find(folder(dir)); ok {
			list = append(list, p)
		}
	}
	return list
}

// folder is where to look for the project.
type folder string

func (d folder) has(name string) bool { return inputfile.IsFile(filepath.Join(string(d), name)) }

// first returns the first of the files that exists.
func (d folder) first(names ...string) string {
	for _, name := range names {
		if d.has(name) {
			return name
		}
	}
	return ""
}

// manifestLimit is how much of a project's file is examined, in bytes.
const manifestLimit = 1 << 20

// text returns the file's text as far as it can be read, up to manifestLimit.
func (d folder) text(name string) string {
	f, err := inputfile.OpenRegular(filepath.Join(string(d), name))
	if err != nil {
		return ""
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, manifestLimit))
	return string(b)
}

func findGo(d folder) (Project, bool) {
	return Project{"go", "go.mod", "go test ./...", "go build ./..."}, d.has("go.mod")
}

func findCargo(d folder) (Project, bool) {
	return Project{"cargo", "Cargo.toml", "cargo test", "cargo check"}, d.has("Cargo.toml")
}

// findNpm requires a test script other than the one that npm init creates. The lock file
// determines which program the project is used with.
func findNpm(d folder) (Project, bool) {
	var manifest struct {
		Scripts map[string]string `json:"scripts"`
	}
	if json.Unmarshal([]byte(d.text("package.json")), &manifest) != nil {
		return Project{}, false
	}
	test := manifest.Scripts["test"]
	if strings.TrimSpace(test) == "" || strings.Contains(test, "no test specified") {
		return Project{}, false
	}
	tool := "npm"
	switch {
	case d.has("pnpm-lock.yaml"):
		tool = "pnpm"
	case d.has("yarn.lock"):
		tool = "yarn"
	case d.first("bun.lock", "bun.lockb") != "":
		tool = "bun"
	}
	p := Project{Kind: "npm", File: "package.json", Check: tool + " run test"}
	if tool == "npm" || tool == "pnpm" || tool == "yarn" {
		p.Check = tool + " test"
	}
	if strings.TrimSpace(manifest.Scripts["build"]) != "" {
		p.verify = tool + " run build"
	}
	return p, true
}

// findPytest requires a pytest setting, or a file that pytest would collect.
func findPytest(d folder) (Project, bool) {
	found := d.first("pytest.ini", ".pytest.ini")
	for _, in := range []struct{ name, mark string }{{"pyproject.toml", "pytest"}, {"setup.cfg", "[tool:pytest]"}, {"tox.ini", "[pytest]"}} {
		if found == "" && strings.Contains(d.text(in.name), in.mark) {
			found = in.name
		}
	}
	for _, pattern := range []string{"tests/test_*.py", "tests/*_test.py", "test/test_*.py", "test/*_test.py", "test_*.py", "*_test.py", "tests/*/test_*.py"} {
		if found != "" {
			break
		}
		// Search below the folder, since its own name may contain pattern characters.
		if names, err := fs.Glob(os.DirFS(string(d)), pattern); err == nil && len(names) > 0 {
			found = names[0]
		}
	}
	run := "pytest"
	switch {
	case d.has("uv.lock"):
		run = "uv run pytest"
	case d.has("poetry.lock"):
		run = "poetry run pytest"
	}
	return Project{"pytest", found, run, run + " --collect-only -q"}, found != ""
}

// findMake requires a target named test.
func findMake(d folder) (Project, bool) {
	name := d.first("GNUmakefile", "makefile", "Makefile")
	text := d.text(name)
	p := Project{Kind: "make", File: name, Check: "make test"}
	if hasTarget(text, "build") {
		p.verify = "make build"
	}
	return p, name != "" && hasTarget(text, "test")
}

// hasTarget reports whether the makefile has a rule for the target, alone or among others. An
// assignment such as test := 1 does not count.
func hasTarget(makefile, target string) bool {
	rule := regexp.MustCompile(`(?m)^(?:[^\s:=#][^:=#\n]*[ \t])?` + regexp.QuoteMeta(target) + `(?:[ \t][^:=#\n]*)?::?(?:[^:=\n]|$)`)
	return rule.MatchString(strings.ReplaceAll(makefile, "\r\n", "\n"))
}

// IgnoreText keeps the runs out of git but the schemas in it, so that a clone has them too,
// without a network.
const IgnoreText = "*\n!/.gitignore\n!/schemas/\n!/schemas/**\n"

// ConfigText returns the text of looprun.yaml.
func (s Setup) ConfigText() []byte {
	var b bytes.Buffer
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# yaml-language-server: $schema=%s", ConfigSchema)
	line("")
	line("# Defaults for \"looprun -- COMMAND\" in this folder and below. Each key is a flag")
	line("# of looprun run; flags and the variables LOOPRUN_... beat this file.")
	line("# \"looprun config check\" says what is wrong with it, and \"looprun config show\"")
	line("# where each value comes from.")
	line("")
	line("# It is done when this shell line exits with 0.%s", foundBy(s.Found))
	line("check: %s", yamlText(s.Check))
	line("")
	line("# The command to run, if none is given after --.")
	line("# shell: ./fix.sh")
	line("")
	line("# What stops it: the limit of iterations, of time, of equal failures")
	line("# and of errors in a row. off turns a guard off.")
	line("max_iterations: %s", s.Iterations)
	line("max_runtime: 15m")
	line("loop_threshold: 3")
	line("max_errors: 3")
	line("")
	line("# Ends an iteration that hangs.")
	line("# iteration_timeout: 10m")
	if s.Policy {
		line("")
		line("# Answers in place of a person. In CI, name it with --policy %s", PolicyName)
		line("# or LOOPRUN_POLICY; here it would answer before you are asked, too.")
		line("# policy: %s", PolicyName)
	}
	return b.Bytes()
}

func foundBy(file string) string {
	if file == "" {
		return ""
	}
	return " (" + file + ")"
}

// PolicyText returns the text of the policy, which is careful and includes its own tests.
func (s Setup) PolicyText() []byte {
	accept, test := "", ""
	if s.Verify != "" {
		accept = fmt.Sprintf(policyAccept, yamlText(s.Verify))
		test = policyAcceptTest
	}
	return fmt.Appendf(nil, policyFrame, PolicySchema, PolicyName, PolicyName, accept, test)
}

const policyFrame = `# yaml-language-server: $schema=%s

# Answers looprun's questions in CI, where nobody else does:
#
#   looprun --policy %s -- ./fix.sh
#
# The first rule that matches answers. "looprun policy check %s"
# runs the tests at the end; "looprun policy schema facts" lists what a condition
# can mention.
version: 1

rules:
  # A limit is reached and the work moves: some more of it, twice at most.
  - guard: [max_iterations, max_runtime]
    when: improved && continues < 2
    answer: continue
    reason: Fewer checks fail than at the last trip, so the run continues.

%s  # Whatever else it is, a person has to look.
  - guard: "*"
    answer: cancel
    reason: No rule of this policy lets the run go on.

# What all the rules together may add to one run.
budget:
  continues: 2
  iterations: 10
  runtime: 20m

# When no rule matches, the run ends with the exit code of its guard.
detached: deny

tests:
  - name: goes on while it gets better
    facts: {guard: max_iterations, improved: true, continues: 1}
    expect: continue
  - name: goes on twice and no more
    facts: {guard: max_iterations, improved: true, continues: 2}
    expect: cancel
%s  - name: gives up when the same failure comes back
    facts: {guard: loop_detected, improved: true}
    expect: cancel
  - name: gives up on errors
    facts: {guard: consecutive_errors, errors: 3}
    expect: cancel
`

const policyAccept = `  # A limit is reached, and the result is still usable.
  - guard: [max_iterations, max_runtime]
    answer: accept
    verify: %s
    reason: The checks do not all pass, but the project still builds, so the partial result is kept for review.

`

const policyAcceptTest = `  - name: keeps what holds together
    facts: {guard: max_runtime}
    verify: pass
    expect: accept
`

// harmless matches lines that YAML reads as text and nothing else.
var harmless = lazy.Regexp(`^[A-Za-z][A-Za-z0-9_./-]* [A-Za-z0-9_./ =-]*[A-Za-z0-9_./=-]$`)

// yamlText returns one line of text as a value in YAML.
func yamlText(s string) string {
	if harmless().MatchString(s) {
		return s
	}
	return strconv.Quote(s) // its escapes are those of YAML
}

// File is a file to write. An existing file stays if it has the same content. It also stays
// with other content, unless that is the content that the file may replace, or everything may
// be replaced.
type File struct {
	Name     string // from the folder, with slashes
	Data     []byte
	Replaces []byte
}

// fileMode keeps others from writing: looprun rejects a looprun.yaml that they can write to.
const fileMode = 0o644

// writing is a set of files being written.
type writing struct {
	dir    string
	needed []neededFile
	undo   []func() error
	done   []string
}

type neededFile struct {
	name   string
	data   []byte
	backup string // where what is there goes; empty: nothing is
	drop   bool   // the backup is for nobody
}

// Write writes all the files or none, and returns what it did. A process that is killed in
// between leaves only whole files, and looprun.yaml, which comes last, only with all the
// others.
func Write(dir string, files []File, force bool) (done []string, err error) {
	w := &writing{dir: dir}
	if err := w.choose(files, force); err != nil {
		return nil, err
	}
	for _, f := range w.needed {
		if err := w.place(f); err != nil {
			err = fmt.Errorf("nothing was written: %w", err)
			for _, undo := range slices.Backward(w.undo) {
				err = errors.Join(err, undo())
			}
			return nil, err
		}
	}
	for _, f := range w.needed {
		if f.drop {
			_ = os.Remove(f.backup) // it says what every such file says
		}
	}
	return w.done, nil
}

// choose finds obstacles before anything changes, and the files to write.
func (w *writing) choose(files []File, force bool) error {
	var taken []string
	for _, f := range files {
		needed := neededFile{name: filepath.Join(w.dir, filepath.FromSlash(f.Name)), data: f.Data, drop: f.Replaces != nil}
		there, err := w.there(f)
		switch {
		case err != nil:
			return err
		case there == nil:
			needed.drop = false
		case bytes.Equal(there, f.Data):
			continue
		case f.Replaces != nil && !bytes.Equal(there, f.Replaces): // a list of what git ignores: the user's own stays
			continue
		default:
			needed.backup = freeBackup(needed.name)
			if f.Replaces == nil {
				taken = append(taken, f.Name)
			}
		}
		w.needed = append(w.needed, needed)
	}
	if len(taken) > 0 && !force {
		return config.Usage(strings.Join(taken, ", ")+" is there already, and nothing was written", "move it away, or use --force, which keeps it with .bak at its end")
	}
	return nil
}

// there returns the current content of a file, or nil if it does not exist. A link, a folder
// or a pipe is always an obstacle.
func (w *writing) there(f File) ([]byte, error) {
	name := w.dir
	for part := range strings.SplitSeq(f.Name, "/") {
		name = filepath.Join(name, part)
		info, err := os.Lstat(name)
		switch last := name == filepath.Join(w.dir, filepath.FromSlash(f.Name)); {
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil
		case err != nil:
			return nil, fmt.Errorf("nothing was written: %w", err)
		case last && !info.Mode().IsRegular(), !last && !info.IsDir():
			return nil, config.Usage(name+" is in the way, and nothing was written", "move it away")
		}
	}
	f2, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("nothing was written: %w", err)
	}
	if f2 == nil {
		f2 = []byte{}
	}
	return f2, nil
}

// makeDir creates missing folders. Those for runs are accessible only to their owner.
func (w *writing) makeDir(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := w.makeDir(filepath.Dir(dir)); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("%w; make the folder writable", err)
	}
	w.undo = append(w.undo, func() error { return os.Remove(dir) })
	return nil
}

// place writes a file. It does not overwrite one that has appeared there in the meantime.
func (w *writing) place(f neededFile) error {
	if err := w.makeDir(filepath.Dir(f.name)); err != nil {
		return err
	}
	what := "wrote "
	if f.backup != "" {
		if err := os.Rename(f.name, f.backup); err != nil {
			return err
		}
		w.undo = append(w.undo, func() error { return os.Rename(f.backup, f.name) })
		what = "replaced "
	}
	if _, err := os.Lstat(f.name); !errors.Is(err, fs.ErrNotExist) {
		return cmp.Or(err, fmt.Errorf("%s: %w", f.name, fs.ErrExist))
	}
	if err := atomicfile.Write(f.name, f.data, true); err != nil {
		return fmt.Errorf("%w; make the folder writable", err)
	}
	w.undo = append(w.undo, func() error { return os.Remove(f.name) })
	what += config.SeenFrom(w.dir, f.name)
	if f.backup != "" && !f.drop {
		what += ", which is kept as " + config.SeenFrom(w.dir, f.backup)
	}
	w.done = append(w.done, what)
	return os.Chmod(f.name, fileMode)
}

// freeBackup returns an unused name next to the file.
func freeBackup(name string) string {
	for n := 1; ; n++ {
		backup := name + ".bak"
		if n > 1 {
			backup = fmt.Sprintf("%s.bak%d", name, n)
		}
		if _, err := os.Lstat(backup); errors.Is(err, fs.ErrNotExist) {
			return backup
		}
	}
}
