package many

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/loops"
	"github.com/looprun/looprun/scratchpad"
)

// A loop works in the repository that it names, or in the one that the user is in, from the
// commit that it names; whatever it cannot have is refused before anything runs.
func TestWhatAPlanHolds(t *testing.T) {
	m := batchOfOne(t)
	top := m.l.Repository
	first := m.l.Base
	for _, dir := range []string{"sub", "at"} {
		if err := os.Mkdir(filepath.Join(top, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(top, "sub", "g"), "y")
	gitIn(t, top, "add", "-A")
	gitIn(t, top, "commit", "-q", "-m", "two")
	second := gitIn(t, top, "rev-parse", "HEAD")
	write(t, filepath.Join(top, "env"), "SECRET=1")
	words := loops.Command{Words: []string{"true"}}
	for name, c := range map[string]struct {
		loop loops.Loop
		base string
		argv string
		says string // the error; empty: none
	}{
		"here":                 {loops.Loop{Command: words}, second, "true", ""},
		"by its path":          {loops.Loop{Command: words, Repo: top}, second, "true", ""},
		"from the file":        {loops.Loop{Command: words, Repo: "."}, second, "true", ""},
		"a commit":             {loops.Loop{Command: words, Ref: first}, first, "true", ""},
		"a folder":             {loops.Loop{Command: words, Dir: "sub"}, second, "true", ""},
		"a file":               {loops.Loop{Command: words, Copy: []string{"env"}}, second, "true", ""},
		"a shell line":         {loops.Loop{Command: loops.Command{Shell: "make a"}}, second, "make a", ""},
		"a URL":                {loops.Loop{Command: words, Repo: "https://example.com/a.git"}, "", "", "is not on this machine"},
		"an address":           {loops.Loop{Command: words, Repo: "git@example.com:a.git"}, "", "", "is not on this machine"},
		"no repository":        {loops.Loop{Command: words, Repo: t.TempDir()}, "", "", "works on git repositories"},
		"no commit":            {loops.Loop{Command: words, Ref: "nowhere"}, "", "", "commit something"},
		"no folder":            {loops.Loop{Command: words, Dir: "nowhere"}, "", "", `dir "nowhere" is not a folder`},
		"a file as its folder": {loops.Loop{Command: words, Dir: "f"}, "", "", `dir "f" is not a folder`},
		"a bad option":         {loops.Loop{Command: words, Options: loops.Options{"max_iterations": "many"}}, "", "", "max_iterations"},
		"no such file":         {loops.Loop{Command: words, Copy: []string{"nothing"}}, "", "", "copy: "},
		"a folder as a file":   {loops.Loop{Command: words, Copy: []string{"sub"}}, "", "", "copy: sub is not a regular file"},
	} {
		c.loop.Name = "a"
		p, left, err := Make(t.Context(), Order{Loops: []loops.Loop{c.loop}, From: top, Here: filepath.Join(top, "sub"), State: t.TempDir(), Trees: t.TempDir()})
		if c.says != "" {
			text := ""
			if err != nil {
				text = err.Error()
			}
			if !strings.Contains(text, c.says) || !strings.HasPrefix(text, "loop a: ") {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		l := p.Loops[0]
		if l.Repository != top || l.Base != c.base || l.Dir != c.loop.Dir || l.Command[len(l.Command)-1] != c.argv || !slices.Equal(left[top], []string{"env"}) {
			t.Errorf("%s: %+v, %q", name, l, left)
		}
	}
	for _, trees := range []string{top, filepath.Join(top, "at")} {
		_, _, err := Make(t.Context(), Order{Loops: []loops.Loop{{Name: "a", Command: words}}, Here: top, State: t.TempDir(), Trees: trees})
		if err == nil || !strings.Contains(err.Error(), "within the repository") {
			t.Errorf("trees in %s: %v", trees, err)
		}
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(filepath.Join(top, "sub"), link); err != nil {
		t.Skip(err)
	}
	here := func(trees string) (*Plan, error) {
		p, _, err := Make(t.Context(), Order{Loops: []loops.Loop{{Name: "a", Command: words}}, Here: top, State: t.TempDir(), Trees: trees})
		return p, err
	}
	for trees, says := range map[string]string{link: "within the repository", filepath.Join(top, "f", "trees"): "--trees: "} {
		if _, err := here(trees); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("trees in %s: %v", trees, err)
		}
	}
	path := os.Getenv("PATH")
	for _, call := range []string{"status --porcelain", "ls-tree"} {
		gitThat(t, `case "$*" in *"`+call+`"*) exit 128; esac`)
		if p, err := here(t.TempDir()); err == nil {
			t.Errorf("%s fails: %+v", call, p)
		}
		t.Setenv("PATH", path)
	}
	p, err := here("")
	if home := os.Getenv("XDG_STATE_HOME"); err != nil || p.Trees != filepath.Join(home, "looprun", "trees") {
		t.Errorf("%+v, %v", p, err)
	}
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("HOME", "")
	if p, err := here(""); err == nil || !strings.Contains(err.Error(), "no home directory") {
		t.Errorf("%+v, %v", p, err)
	}
}

// The flags of the runs are tried before anything runs, each set of them once, and not all of a
// large matrix; what looprun says of them is the error.
func TestTheRunsAreTried(t *testing.T) {
	m := batchOfOne(t)
	said := filepath.Join(t.TempDir(), "said")
	self := program(t, `echo "$*" >>'`+said+`'
case "$*" in *--bad*) printf 'looprun: no such flag: --bad\nlooprun: see help\nlooprun:   looprun run\n' >&2; exit 125; esac`)
	try := func(ctx context.Context, trust bool, flags ...string) (tried []string, err error) {
		m.p.Loops = nil
		for _, flag := range flags {
			m.p.Loops = append(m.p.Loops, Loop{Name: "a", Repository: m.l.Repository, Flags: []string{flag}, Command: []string{"true"}})
		}
		_ = os.Remove(said)
		err = (&Batch{Plan: m.p, Self: self}).Try(ctx, trust)
		text, _ := os.ReadFile(said)
		return strings.Split(strings.TrimSpace(string(text)), "\n"), err
	}
	const line = "run --dry-run --state-dir STATE --detached defer --color never --name=a"
	want := func(flags string) string { return strings.ReplaceAll(line, "STATE", m.p.State) + flags + " -- true" }
	if tried, err := try(t.Context(), false, "--a", "--b", "--a"); err != nil || !slices.Equal(tried, []string{want(" --a"), want(" --b")}) {
		t.Errorf("%q, %v", tried, err)
	}
	if tried, err := try(t.Context(), true, "--a"); err != nil || !slices.Equal(tried, []string{want(" --trust --a")}) {
		t.Errorf("%q, %v", tried, err)
	}
	if tried, err := try(t.Context(), false, "--bad", "--a"); err == nil || err.Error() != "loop a: no such flag: --bad\nsee help" || len(tried) != 1 {
		t.Errorf("%q, %v", tried, err)
	}
	var many []string
	for i := range 52 {
		many = append(many, "--"+strconv.Itoa(i))
	}
	if tried, err := try(t.Context(), false, many...); err != nil || len(tried) != 50 {
		t.Errorf("%d are tried, %v", len(tried), err)
	}
	ctx, interrupt := context.WithCancelCause(t.Context())
	interrupt(errors.New("enough"))
	if _, err := try(ctx, false, "--bad"); err == nil || err.Error() != "enough" {
		t.Errorf("it is interrupted: %v", err)
	}
}

// A work tree has the files of the submodules whose repositories are here, or none is made.
func TestSubmodulesOfATree(t *testing.T) {
	m := batchOfOne(t)
	top := m.l.Repository
	if there, missing, err := submodules(t.Context(), top, m.l.Base); there != nil || missing != nil || err != nil {
		t.Errorf("%+v, %q, %v", there, missing, err)
	}
	from := batchOfOne(t).l.Repository
	for _, name := range []string{"one", "two", "gone", "a=b", "x"} {
		gitIn(t, top, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "--name", name, from, "at "+name)
	}
	modules := filepath.Join(top, ".git", "modules")
	if err := errors.Join(os.RemoveAll(filepath.Join(modules, "gone")), os.Rename(filepath.Join(modules, "x"), filepath.Join(top, ".git", "x"))); err != nil {
		t.Fatal(err)
	}
	gitIn(t, top, "config", "--file", ".gitmodules", "--rename-section", "submodule.x", "submodule.../x")
	gitIn(t, top, "add", ".gitmodules")
	gitIn(t, top, "commit", "-q", "-m", "two")
	m.l.Base = gitIn(t, top, "rev-parse", "HEAD")
	there, missing, err := submodules(t.Context(), top, m.l.Base)
	if err != nil || len(there) != 2 || there[0].name != "one" || there[1].name != "two" || !slices.Equal(missing, []string{"at a=b", "at gone", "at x"}) {
		t.Errorf("%+v, %q, %v", there, missing, err)
	}
	if err := m.repo.fetch(t.Context(), m.p.ID, []string{m.l.Base}); err != nil {
		t.Fatal(err)
	}
	path := os.Getenv("PATH")
	for _, call := range []string{"ls-tree", "--git-common-dir", "submodule.one.url"} {
		gitThat(t, `case "$*" in *"`+call+`"*) exit 128; esac`)
		if err := m.repo.add(t.Context(), m.l); err == nil {
			t.Errorf("%s fails, and the tree is made", call)
		}
		t.Setenv("PATH", path)
	}
	if err := m.repo.add(t.Context(), m.l); err != nil || !remains(t, filepath.Join(m.l.Tree, "at one", "f")) || !remains(t, filepath.Join(m.l.Tree, "at two", "f")) || remains(t, filepath.Join(m.l.Tree, "at x", "f")) {
		t.Error(err)
	}
}

// The lines of a command are the items: each once, and none of a command that failed.
func TestItems(t *testing.T) {
	for line, c := range map[string]struct{ items, says string }{
		`printf 'a\n\n b \na\nc'`:                   {"a b c", ""},
		`echo a; echo broken >&2; exit 3`:           {"", "failed with 3: broken"},
		`echo a; exit 3`:                            {"", "failed with 3;"},
		`echo a; kill -9 $$`:                        {"", "failed with 137"},
		`true`:                                      {"", "printed nothing"},
		`head -c 1048570 /dev/zero | tr '\0' a`:     {strings.Repeat("a", 1048570), ""},
		`yes aaaaaaaaaaaaaaaaaaaa | head -n 100000`: {"", "more than 1 MiB"},
	} {
		got, err := items(config.ShellLine(line))
		if strings.Join(got, " ") != c.items || (err != nil) != (c.says != "") || err != nil && !strings.Contains(err.Error()+";", c.says) {
			t.Errorf("%s: %.60q, %v", line, got, err)
		}
	}
}

// Each combination of values is a loop, and a key counts once.
func TestLoopsOfALine(t *testing.T) {
	one := loops.Loop{Command: loops.Command{Words: []string{"true"}}}
	for _, c := range []struct {
		each   config.ShellLine
		matrix []string
		loops  int
		ok     bool
	}{
		{"", nil, 1, true},
		{"", []string{"a=1,2"}, 2, true},
		{"seq 3", []string{"a=1,2"}, 6, true},
		{"", []string{"a=1", "a=2"}, 0, false},
		{"", []string{"a b=1"}, 0, false},
		{"false", nil, 0, false},
	} {
		o := Order{Here: "/here"}
		if err := o.FromLine(one, c.each, c.matrix); (err == nil) != c.ok || len(o.Loops) != c.loops || c.ok && o.From != "/here" {
			t.Errorf("%s, %q: %d loops, %v", c.each, c.matrix, len(o.Loops), err)
		}
	}
}

// What a file says of the batch goes before what it had; what it does not say stays.
func TestLimitsOfAFile(t *testing.T) {
	const loop = "loops: [{name: a, command: [\"true\"]}]\n"
	before := Limits{Jobs: 1, Cost: 2, Tokens: 3, MinFree: 4, Keep: 5, Wait: 6}
	for text, want := range map[string]Limits{
		loop: before,
		"jobs: 7\ntotal_cost: 8\ntotal_tokens: 9\nmin_free: 1GiB\nkeep_trees: 2h\n" + loop: {Jobs: 7, Cost: 8, Tokens: 9, MinFree: 1 << 30, Keep: 2 * time.Hour, Wait: 6},
		"total_cost: off\ntotal_tokens: off\n" + loop:                                      {Jobs: 1, MinFree: 4, Keep: 5, Wait: 6},
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "loops.yaml"), text)
		o := Order{Limits: before}
		if err := o.FromFile(filepath.Join(dir, "loops.yaml")); err != nil || o.Limits != want || len(o.Loops) != 1 || o.From != dir {
			t.Errorf("%s%+v, %v", text, o, err)
		}
	}
	if err := new(Order).FromFile(filepath.Join(t.TempDir(), "nothing")); err == nil {
		t.Error("there is no file")
	}
}

// A secret anywhere in a plan makes it incomplete, whatever comes after it.
func TestEachPartOfAPlanIsMasked(t *testing.T) {
	const secret = "hunter2"
	for name, l := range map[string]Loop{
		"flags":   {Name: "a", Flags: []string{secret, "b"}, Command: []string{"c"}, Setup: "d", Env: map[string]string{"E": "e"}},
		"command": {Name: "a", Command: []string{secret, "c"}, Setup: "d", Env: map[string]string{"E": "e"}},
		"setup":   {Name: "a", Command: []string{"c"}, Setup: secret, Env: map[string]string{"E": "e"}},
		"env":     {Name: "a", Command: []string{"c"}, Setup: "d", Env: map[string]string{"E": secret}},
		"":        {Name: "a", Command: []string{"c"}, Setup: "d", Env: map[string]string{"E": "e"}},
	} {
		p := &Plan{Schema: planSchema, ID: "20260102-030405-0001", State: t.TempDir(), Trees: t.TempDir(), Loops: []Loop{l}}
		p.Loops[0].Tree = p.treeOf(0)
		if err := p.write(func(s string) string { return strings.ReplaceAll(s, secret, "***") }); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(p.dir(), planName))
		again, readErr := Read(p.State, p.ID)
		if err != nil || readErr != nil || strings.Contains(string(text), secret) || again.Masked != (name != "") {
			t.Errorf("%s: masked %v: %v, %v", name, again.Masked, err, readErr)
		}
	}
}

// A plan is found by a part of its id that only it has, or as the latest, and read only where it
// is what looprun wrote there.
func TestWhichPlanIsFound(t *testing.T) {
	state := t.TempDir()
	if _, err := Find(state, ""); err == nil || !strings.Contains(err.Error(), "nothing to resume") {
		t.Errorf("none: %v", err)
	}
	write(t, folder(state), "")
	if _, err := Find(state, ""); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("a file: %v", err)
	}
	_ = os.Remove(folder(state))
	for _, id := range []string{"20260102-030405-0001", "20260102-030405-0002"} {
		p := &Plan{Schema: planSchema, ID: id, State: state, Trees: t.TempDir()}
		if err := p.write(nil); err != nil {
			t.Fatal(err)
		}
	}
	for text, want := range map[string]string{
		"": "20260102-030405-0002", "-0001": "20260102-030405-0001",
		"nowhere": "!nothing in", "2026": "!fits 2 of them",
	} {
		p, err := Find(state, text)
		if says, wrong := strings.CutPrefix(want, "!"); wrong && (err == nil || !strings.Contains(err.Error(), says)) || !wrong && (err != nil || p.ID != want || p.State != state) {
			t.Errorf("%q: %+v, %v", text, p, err)
		}
	}
	name := filepath.Join(folder(state), "20260102-030405-0002", planName)
	for text, says := range map[string]string{
		"{": "cannot be read",
		`{"schema":"another","id":"20260102-030405-0002"}`:                                   "another looprun",
		`{"schema":"` + planSchema + `"}`:                                                    "another looprun",
		`{"schema":"` + planSchema + `","id":"20260102-030405-0002","loops":[{"tree":"/"}]}`: "where looprun makes none",
		"": "killed before it began",
	} {
		if write(t, name, text); text == "" {
			_ = os.Remove(name)
		}
		if _, err := Find(state, ""); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A plan is carried out by one looprun at a time.
func TestAPlanIsTakenOnce(t *testing.T) {
	p := &Plan{Schema: planSchema, ID: "20260102-030405-0001", State: t.TempDir(), Trees: t.TempDir()}
	release, err := p.Begin(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Take(); err == nil || !strings.Contains(err.Error(), "is active") || !p.Active() {
		t.Errorf("%v, active %v", err, p.Active())
	}
	if err := release(); err != nil || p.Active() {
		t.Errorf("%v, active %v", err, p.Active())
	}
	p.Cost = math.NaN()
	if _, err := p.Begin(nil); err == nil || p.Active() {
		t.Errorf("it cannot be written: %v", err)
	}
	if err := (&Verdict{Cost: p.Cost}).Write(p, "", "", ""); err == nil {
		t.Error("its result cannot be written")
	}
}

// Each file that is not committed is named; one that has another name now is two.
func TestWhatNoLoopSees(t *testing.T) {
	top := batchOfOne(t).l.Repository
	write(t, filepath.Join(top, "first.txt"), "a\nb\nc\n")
	gitIn(t, top, "add", "-A")
	gitIn(t, top, "commit", "-q", "-m", "two")
	gitIn(t, top, "mv", "first.txt", "second.txt")
	if names, err := changes(t.Context(), top); err != nil || !slices.Equal(names, []string{"first.txt", "second.txt"}) {
		t.Errorf("%q, %v", names, err)
	}
}

// The name of a tree has the letters and digits of its loop's name.
func TestSlug(t *testing.T) {
	for name, want := range map[string]string{
		"Fix IT": "fix-it", "--a--b--": "a-b", "ä": "", "a/../b": "a-b", strings.Repeat("a", 99): strings.Repeat("a", 30), strings.Repeat("a", 29) + "--b": strings.Repeat("a", 29),
		"zaAZ09": "zaaz09", "--" + strings.Repeat("a", 99): strings.Repeat("a", 30),
	} {
		if got := slug(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// The folder of a repository begins with the repository's name.
func TestTheFolderOfARepository(t *testing.T) {
	if web, other := repositoryKey("/a/web"), repositoryKey("/b/web"); len(web) != len("web-")+12 || !strings.HasPrefix(web, "web-") || web == other {
		t.Errorf("%q, %q", web, other)
	}
	if root := repositoryKey("/"); len(root) != 12 || strings.HasPrefix(root, "-") {
		t.Errorf("%q", root)
	}
}

// The mirror is packed when it has many loose objects, and not before.
func TestAMirrorIsPacked(t *testing.T) {
	m := batchOfOne(t)
	gitIn(t, m.l.Repository, "commit", "-q", "--allow-empty", "-m", "two")
	commit := gitIn(t, m.l.Repository, "rev-parse", "HEAD")
	objects := filepath.Join(m.repo.mirror, "objects")
	counted := filepath.Join(objects, "17")
	_ = os.Mkdir(counted, 0o700)
	for n := range 28 {
		loose, _ := os.ReadDir(counted)
		if err := m.repo.fetch(within(t), m.p.ID, []string{m.l.Base}); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(objects, commit[:2], commit[2:])); (err == nil) != (len(loose) <= 26) {
			t.Errorf("with %d: %v", len(loose), err)
		}
		write(t, filepath.Join(counted, strings.Repeat("0", 11+n)+strings.Repeat("1", 27-n)), "")
	}
}

// A folder that another looprun holds is waited for, but not after an interrupt.
func TestHoldWaits(t *testing.T) {
	dir := t.TempDir()
	release, err := scratchpad.Hold(dir)
	if err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	if _, err := hold(ctx, dir); err == nil {
		t.Error("it was held twice")
	}
	r := &repository{mirror: filepath.Join(dir, "mirror.git")}
	if err := r.place(ctx, filepath.Join(dir, "tree"), "HEAD"); err == nil {
		t.Error("a tree was made meanwhile")
	}
	if err := r.fetch(ctx, "b", nil); err == nil || remains(t, r.mirror) {
		t.Errorf("a mirror was made meanwhile: %v", err)
	}
	time.AfterFunc(time.Millisecond, func() { _ = release() })
	again, err := hold(within(t), dir)
	if err != nil {
		t.Fatal(err)
	}
	_ = again()
}

// Copied files are never committed, and each is named once.
func TestCopiedFilesAreExcluded(t *testing.T) {
	m := batchOfOne(t)
	for range 2 {
		if err := m.repo.exclude([]string{"a*b", "d/[e]"}); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(filepath.Join(m.repo.mirror, "info", "exclude"))
	if err != nil || strings.Count(string(text), "/a\\*b\n") != 1 || strings.Count(string(text), "/d/\\[e]\n") != 1 {
		t.Errorf("%s, %v", text, err)
	}
}

// A tree is ready after its setup, and only as long as it is there.
func TestWhichTreeIsReady(t *testing.T) {
	tree := filepath.Join(t.TempDir(), "tree")
	for _, c := range []struct {
		tree, mark, want bool
	}{{true, true, true}, {true, false, false}, {false, true, false}} {
		_ = os.RemoveAll(tree)
		_ = os.Remove(tree + readySuffix)
		if c.tree {
			if err := os.Mkdir(tree, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if c.mark {
			write(t, tree+readySuffix, "")
		}
		if got := ready(tree); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// What a killed git left is removed, and nothing else.
func TestLocksAreRemoved(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "heads.lock", "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "heads.lock", "main.lock"), "")
	write(t, filepath.Join(dir, "heads.lock", "main"), "")
	unlock(dir)
	unlock(filepath.Join(dir, "nowhere"))
	names, err := filepath.Glob(filepath.Join(dir, "heads.lock", "*"))
	if err != nil || len(names) != 2 || filepath.Base(names[0]) != "main" {
		t.Errorf("%q, %v", names, err)
	}
}
