// Command ablate switches off the functions of the packages that read output, one after
// another, and prints what that changes: the signature of a recording of testdata/stuckbench*,
// the facts listed for one, or a test. A function whose absence changes nothing is a rule that
// no known tool needs.
//
//	go run ./tools/ablate [-max PERCENT] [-since REV] [-only REGEXP] [-together] [-no-tests] [-scores]
//
// With -since it measures only the functions with lines that changed since that revision.
// With -max it fails if a larger share of the lines is in functions without effect. With
// -scores it prints how the scores of the sets change, which takes longer. With -together it
// switches all the functions off at once: of two rules for the same thing, neither has an
// effect alone.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// packages are the measured packages; the first has the recordings' test.
var packages = []string{"signature", "internal/margin", "internal/carrier", "internal/datetime"}

// perRun is how long the recordings may take before a switched-off function counts as
// indispensable.
const perRun = 60 * time.Second

// A process that has said nothing for twice as long is ended from outside; so is one that has not
// signed the recordings at all after toStart.
const toStart = 10 * time.Minute

func main() {
	limit := flag.Float64("max", 100, "fail when more percent of the lines have no effect")
	only := flag.String("only", "", "measure only the functions whose \"FILE NAME\" matches this regular expression")
	since := flag.String("since", "", "measure only the functions with lines that changed since this revision")
	together := flag.Bool("together", false, "switch the functions off all at once")
	noTests := flag.Bool("no-tests", false, "do not run the packages' tests")
	scores := flag.Bool("scores", false, "print how the scores change")
	flag.Parse()
	if err := run(*limit, *since, *only, *together, !*noTests, *scores); err != nil {
		fmt.Fprintln(os.Stderr, "ablate:", err)
		os.Exit(1)
	}
}

// function is a function that can be switched off, or several, whose ids + joins.
type function struct {
	id         string
	file, name string
	line       int // its first
	lines      int
	effect     string // empty: none
}

func run(limit float64, since, only string, together, tests, scores bool) error {
	wanted, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	changed, err := changedLines(since)
	if err != nil {
		return err
	}
	if since != "" && len(changed) == 0 {
		fmt.Println("nothing changed in", strings.Join(packages, ", "))
		return nil
	}
	work, err := os.MkdirTemp("", "ablate-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	functions, err := instrument(work)
	if err != nil {
		return err
	}
	var binaries []string
	for i, pkg := range packages {
		bin := filepath.Join(work, fmt.Sprintf("%d.test", i))
		build := exec.Command("go", "test", "-c", "-vet=off", "-overlay", filepath.Join(work, "overlay.json"), "-o", bin, "./"+pkg)
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("build the tests of %s: %w\n%s", pkg, err, out)
		}
		binaries = append(binaries, bin)
	}
	functions = slices.DeleteFunc(functions, func(f *function) bool {
		return !wanted.MatchString(f.file+" "+f.name) || since != "" && !slices.ContainsFunc(changed[f.file], f.has)
	})
	if together && len(functions) > 1 {
		functions = []*function{joined(functions)}
	}
	if err := measure(binaries[0], functions, scores); err != nil {
		return err
	}
	if tests {
		for _, f := range functions {
			if f.effect == "" {
				f.effect = failing(binaries, f.id)
			}
		}
	}
	return report(functions, limit)
}

// changedLines returns the lines of each file of the packages that are not as in a revision; none
// for no revision.
func changedLines(since string) (map[string][]int, error) {
	if since == "" {
		return nil, nil
	}
	diff := exec.Command("git", append([]string{"diff", "-U0", "--no-ext-diff", "--no-color", "--no-prefix", since, "--"}, packages...)...)
	out, err := diff.Output()
	if err != nil {
		return nil, fmt.Errorf("find what changed since %s: %w", since, err)
	}
	changed := map[string][]int{}
	file := ""
	for line := range strings.Lines(string(out)) {
		if name, ok := strings.CutPrefix(line, "+++ "); ok {
			file = strings.TrimSpace(name)
		}
		hunk := regexp.MustCompile(`^@@ \S+ \+(\d+)(?:,(\d+))? @@`).FindStringSubmatch(line)
		if hunk == nil || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			continue
		}
		first, _ := strconv.Atoi(hunk[1]) // the expression matches digits
		n := 1
		if hunk[2] != "" {
			n, _ = strconv.Atoi(hunk[2])
		}
		for i := range n {
			changed[file] = append(changed[file], first+i)
		}
	}
	return changed, nil
}

// has reports whether a line of its file is the function's.
func (f *function) has(line int) bool { return line >= f.line && line < f.line+f.lines }

// joined returns the functions as one.
func joined(functions []*function) *function {
	all := &function{file: fmt.Sprint(len(functions)), name: "functions"}
	var ids []string
	for _, f := range functions {
		ids = append(ids, f.id)
		all.lines += f.lines
	}
	all.id = strings.Join(ids, "+")
	return all
}

// report prints a line for each function, those without effect last.
func report(functions []*function, limit float64) error {
	slices.SortStableFunc(functions, func(a, b *function) int { return strings.Compare(b.effect, a.effect) })
	all, idle := 0, 0
	for _, f := range functions {
		effect := f.effect
		if all += f.lines; effect == "" {
			effect = "nothing"
			idle += f.lines
		}
		fmt.Printf("%4d  %-58s %s\n", f.lines, f.file+" "+f.name, effect)
	}
	share := 100 * float64(idle) / float64(max(1, all))
	fmt.Printf("%d of %d lines in functions have no effect: %.1f %%\n", idle, all, share)
	if share > limit {
		return fmt.Errorf("more than %.1f %% have no effect: a rule stays when a recording or a test needs it", limit)
	}
	return nil
}

// instrument writes copies of the packages' files in which each function returns immediately
// if it is switched off, and an overlay that replaces the originals with them.
func instrument(work string) ([]*function, error) {
	root, err := filepath.Abs(".")
	if err != nil {
		return nil, err
	}
	overlay := map[string]string{}
	put := func(name string, text []byte) error {
		file := filepath.Join(work, fmt.Sprintf("%d.go", len(overlay)))
		overlay[filepath.Join(root, name)] = file
		return os.WriteFile(file, text, 0o600)
	}
	module, err := exec.Command("go", "list", "-m").Output()
	if err != nil {
		return nil, fmt.Errorf("find the module: %w", err)
	}
	importOff := fmt.Sprintf("import %q\n", string(bytes.TrimSpace(module))+"/internal/off")
	var all []*function
	for _, dir := range packages {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			source, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			changed, found, err := switchable(file, source, importOff, len(all))
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
			if err := put(file, changed); err != nil {
				return nil, err
			}
		}
	}
	off := fmt.Sprintf(`package off

import (
	"os"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"
)

// Off has, for each function, whether it is switched off, and Used whether it was called.
var Off, Used [%d]bool

func init() {
	for id := range strings.SplitSeq(os.Getenv("ABLATE_OFF"), "+") {
		if n, err := strconv.Atoi(id); err == nil {
			Off[n] = true
		}
	}
	go func() { // a loop without end may fill the memory long before it is overdue
		used := []metrics.Sample{{Name: "/memory/classes/total:bytes"}}
		for range time.Tick(20 * time.Millisecond) {
			if metrics.Read(used); used[0].Value.Uint64() > 4<<30 {
				os.Exit(3)
			}
		}
	}()
}
`, len(all))
	if err := put("internal/off/off.go", []byte(off)); err != nil {
		return nil, err
	}
	hook := "package signature\n\n" + importOff + "\nfunc init() {\n\tablation = &struct {\n\t\tOff  []bool\n\t\tUsed []bool\n\t}{off.Off[:], off.Used[:]}\n}\n"
	if err := put("signature/ablate_off_test.go", []byte(hook)); err != nil {
		return nil, err
	}
	raw, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		return nil, err
	}
	return all, os.WriteFile(filepath.Join(work, "overlay.json"), raw, 0o600)
}

// switchable returns the source of a file with a switch in each function, except functions
// with type parameters.
func switchable(name string, source []byte, importOff string, id int) ([]byte, []*function, error) {
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, nil, err
	}
	var out bytes.Buffer
	var found []*function
	end := set.Position(parsed.Name.End()).Offset
	out.Write(source[:end])
	out.WriteString("\n\n" + importOff)
	used := end
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil || f.Type.TypeParams != nil || f.Name.Name == "init" {
			continue
		}
		var zeros []string
		if f.Type.Results != nil {
			for _, r := range f.Type.Results.List {
				for range max(1, len(r.Names)) {
					zeros = append(zeros, "*new("+text(set, r.Type)+")")
				}
			}
		}
		receiver := ""
		if f.Recv != nil {
			receiver = strings.Trim(text(set, f.Recv.List[0].Type), "*") + "."
		}
		at := set.Position(f.Body.Lbrace).Offset + 1
		out.Write(source[used:at])
		fmt.Fprintf(&out, " off.Used[%d] = true; if off.Off[%d] { return %s }; ", id, id, strings.Join(zeros, ", "))
		used = at
		found = append(found, &function{id: strconv.Itoa(id), file: name, name: receiver + f.Name.Name, line: set.Position(f.Pos()).Line, lines: set.Position(f.End()).Line - set.Position(f.Pos()).Line + 1})
		id++
	}
	out.Write(source[used:])
	if len(found) == 0 {
		return source, nil, nil
	}
	return out.Bytes(), found, nil
}

func text(set *token.FileSet, n ast.Node) string {
	var b bytes.Buffer
	_ = printer.Fprint(&b, set, n) // a buffer takes it all
	return b.String()
}

// measure signs the recordings without each function and records the differences. A process
// that hangs or panics is restarted for the next function.
func measure(binary string, functions []*function, scores bool) error {
	for rest := functions; len(rest) > 0; {
		var ids []string
		for _, f := range rest {
			ids = append(ids, f.id)
		}
		test := exec.Command(binary, "-test.run", "^TestAblate$", "-test.timeout", "0")
		test.Dir, test.Env = packages[0], append(os.Environ(), "ABLATE_IDS="+strings.Join(ids, " "), "ABLATE_LIMIT="+perRun.String())
		if scores {
			test.Env = append(test.Env, "ABLATE_SCORES=1")
		}
		pipe, err := test.StdoutPipe()
		if err != nil {
			return err
		}
		if err := test.Start(); err != nil {
			return err
		}
		overdue := time.AfterFunc(toStart, func() { _ = test.Process.Kill() })
		done, ready := 0, false
		for lines := bufio.NewScanner(pipe); lines.Scan(); {
			overdue.Reset(2 * perRun)
			result, ok := strings.CutPrefix(lines.Text(), "ablate ")
			if _, effect, found := strings.Cut(result, "\t"); ok && found {
				rest[done].effect = effect
				done++
				fmt.Fprintf(os.Stderr, "\r%d of %d functions", len(functions)-len(rest)+done, len(functions))
			}
			ready = ready || ok
		}
		_ = test.Process.Kill() // a line may have been too long to read on
		_ = test.Wait()         // how it ended shows in what it printed
		overdue.Stop()
		if !ready {
			return fmt.Errorf("the recordings were not signed: run go test -run TestStuckbench ./%s", packages[0])
		}
		if done < len(rest) {
			rest[done].effect = "does not run without it"
			done++
		}
		rest = rest[done:]
	}
	fmt.Fprintln(os.Stderr)
	return nil
}

// failing returns a test that fails without a function, other than those of the sets; empty if
// none does.
func failing(binaries []string, id string) string {
	for i, binary := range binaries {
		ctx, cancel := context.WithTimeout(context.Background(), 2*perRun)
		defer cancel()
		test := exec.CommandContext(ctx, binary, "-test.short", "-test.skip", "^(TestStuckbench|TestCounts)$", "-test.failfast", "-test.timeout", perRun.String())
		test.WaitDelay = time.Second
		test.Dir, test.Env = packages[i], append(os.Environ(), "ABLATE_OFF="+id)
		out, err := test.CombinedOutput()
		if err == nil {
			continue
		}
		name := "does not run"
		if _, after, ok := bytes.Cut(out, []byte("--- FAIL: ")); ok {
			name = string(bytes.Fields(after)[0])
		}
		return "test " + packages[i] + " " + name
	}
	return ""
}
