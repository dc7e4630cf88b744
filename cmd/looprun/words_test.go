package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/looprun/looprun/internal/config"
)

// read is a command line as looprun reads it; words after -- are those of the command.
func read(t *testing.T, args ...string) (*line, error) {
	t.Helper()
	var command []string
	if i := slices.Index(args, "--"); i >= 0 {
		args, command = args[:i], append([]string{}, args[i+1:]...)
	}
	return readLine(testModel(t), args, command)
}

// spelled are the keys of a line, each as -o has it.
func spelled(l *line) string {
	var words []string
	for _, w := range l.given.Words() {
		name, value, _ := strings.Cut(strings.TrimPrefix(w, "--"), "=")
		if k, _, ok := config.Spelled(name); ok && strings.HasPrefix(w, "--") {
			words = append(words, "-o")
			w = k.Name + "=" + value
		}
		words = append(words, w)
	}
	return strings.Join(words, " ")
}

// However a key is spelled it is the same key, and words after -- are nobody's but the
// command's.
func TestKeysAreSpelledInManyWays(t *testing.T) {
	for typed, want := range map[string]string{
		"--done-codes 0,3":                      "-o done_codes=0,3",
		"--done_codes=0,3":                      "-o done_codes=0,3",
		"-o done_codes=0,3":                     "-o done_codes=0,3",
		"-odone_codes=0,3":                      "-o done_codes=0,3",
		"--set done_codes=0,3":                  "-o done_codes=0,3",
		"--no-precheck":                         "-o no_precheck=true",
		"-o precheck=false":                     "-o no_precheck=true",
		"--precheck":                            "-o no_precheck=false",
		"--no-checkpoint":                       "-o checkpoint=false",
		"-o checkpoint":                         "-o checkpoint=true",
		"--stop-on a --stop-on=b -o stop_on=c":  "-o stop_on=a -o stop_on=b -o stop_on=c",
		"--exit-code a=1 -o exit_codes=b=2":     "-o exit_codes=a=1 -o exit_codes=b=2",
		"--max-iterations 3 --max-iterations 4": "-o max_iterations=3 -o max_iterations=4", // the last one counts
		"-ixqc make":                            "-o shell=make -o interactive=true -o passthrough=true -o quiet=true",
		"-cmake":                                "-o shell=make",
		"-q -- x --done-codes 3 -o a=b":         "-o quiet=true",
		"many l.yaml --check x --keep-trees 1h --keep-runs runs=2": "-o check=x -o keep=runs=2",
		"list --color never -n 3 --state-dir d":                    "-o state_dir=d -o color=never",
		"--state-dir d list":                                       "-o state_dir=d",
		"list -o done_codes=3":                                     "-o done_codes=3",
		"resume --max-iterations 20 x":                             "-o max_iterations=20",
		"config show --wait":                                       "-o wait=true",
		"hook install claude --check x":                            "", // the hook's own
		"hook stop --check x":                                      "", // passed on
		"--agent claude list the files":                            "-o agent=claude",
	} {
		l, err := read(t, strings.Split(typed, " ")...)
		if got := spelled(l); got != want || err != nil {
			t.Errorf("%s: %q, %v, want %q", typed, got, err, want)
		}
	}
}

// A command that is described alone has the help that it has among all.
func TestAPartSaysWhatTheWholeSays(t *testing.T) {
	for _, n := range testModel(t).Leaves(true) {
		words := strings.Fields(n.Path())
		grammar, _ := grammarFor(words, false)
		app := modelOf(grammar)
		l, err := readLine(app, append(words, "--help"), nil)
		if err != nil || l.node.Path() != n.Path() || helpOf(l.node, 80) != helpOf(n, 80) {
			t.Errorf("%s: %v, got\n%s", n.Path(), err, helpOf(l.node, 80))
		}
	}
}

// What kong gets is the command, its own flags and its arguments.
func TestWhatKongGets(t *testing.T) {
	for typed, want := range map[string]string{
		"":                                  "run",
		"--check x --dry-run":               "run --dry-run",
		"--agent claude list the files":     "run -- list the files",
		"run --agent claude fix -- --model": "run -- fix",
		"-q list -n5 --color never":         "list --number=5",
		"show --format json x":              "show --format=json -- x",
		"hook stop --as claude --check x":   "hook stop --as=claude --check x",
		"fleet list --help":                 "fleet list --help",
		"--config none many l.yaml -j 2":    "many --config=none --jobs=2 -- l.yaml",
		"ask -- x":                          "ask",
	} {
		l, err := read(t, strings.Fields(typed)...)
		if got := strings.Join(l.words(), " "); got != want || err != nil {
			t.Errorf("%s: %q, %v, want %q", typed, got, err, want)
		}
	}
}

// Whatever word is wrong, the message has it as it was typed, and the way out.
func TestMistakes(t *testing.T) {
	for typed, want := range map[string]string{
		"policy chek":             `"chek" is not a command of looprun policy; did you mean looprun policy check?`,
		"policy chek p.yaml":      `"chek" is not a command of looprun policy; did you mean looprun policy check?`,
		"template nonsense":       `"nonsense" is not a command of looprun template; use one of list, show, init, check, test, preview, schema`,
		"policy schema fact":      `of: "fact" is not known; did you mean "facts"?`,
		"completion bsh":          `shell: "bsh" is not known; did you mean "bash"?`,
		"ask x --to usr":          `--to: "usr" is not known; did you mean "user"?`,
		"show --format ab":        `--format: "ab" is not known; use one of text, json, state, ask-user-question`,
		"--max-runtime -5s":       `--max-runtime: "-5s" looks like a flag; write --max-runtime="-5s" if it is the value`,
		"--check --promise":       `--check: "--promise" looks like a flag; write --check="--promise" if it is the value`,
		"list -n -1":              `-n: "-1" looks like a flag; write -n"-1" if it is the value`,
		"serve --port 99999":      `--port: "99999" is not a port; write a number from 0 to 65535`,
		"list -n x":               `-n: "x" is not a whole number; write one such as 3`,
		"--check":                 `--check has no value; write one after it`,
		"-o":                      `-o has no value; write one after it`,
		"-o done_codes":           `-o done_codes has no value; write -o done_codes=LIST; see looprun help keys done_codes`,
		"-o done_code=3":          `-o done_code=3: "done_code" is not a key that -o can set; did you mean "done_codes"?`,
		"-o ladder=x":             `-o ladder=x: "ladder" is not a key that -o can set; ladder holds other keys: write it in looprun.yaml`,
		"-o passes=1 -o passes=2": `-o passes is given twice; leave one of them out`,
		"--passes 1 --passes 2":   `--passes is given twice; leave one of them out`,
		"--passes 1 -o passes=2":  `--passes and -o passes are the same key; leave one of them out`,
		"--check a -o check=b":    `--check and -o check are the same key; leave one of them out`,
		"-o check=a -o check=b":   `-o check is given twice; leave one of them out`,
		"resume -o done_codes=0":  `-o done_codes: a run keeps its done_codes; leave it out, or start a new run`,
		"resume --done-codes 0":   `unknown flag --done-codes; --done-codes is a flag of run, and a run keeps its done_codes`,
		"list --check x":          `unknown flag --check; --check is a flag of run`,
		"--check x list":          `--check is a flag of run; put it before list; see looprun list --help`,
		"list a b":                `"a" is one word too many; see looprun list --help`,
		"policy check":            `FILE is missing; write looprun policy check FILE`,
		"stop":                    `RUN is missing; write looprun stop RUN, with an id from looprun list or with latest`,
		"many --keep 1h -- x":     `--keep: "1h" is not runs=N, days=N, megabytes=N or off; for work trees write --keep-trees 1h`,
		"--max-iteration 5 -- x":  `unknown flag --max-iteration; did you mean --max-iterations?; a flag of the command itself goes after --`,
		"lsit":                    `"lsit" is not a command of looprun; did you mean looprun list? To run it as a command write looprun -- lsit`,
		"__complet":               `"__complet" is not a command of looprun; write looprun -- __complet`,
	} {
		_, err := read(t, strings.Fields(typed)...)
		if err == nil || err.Error() != want {
			t.Errorf("%s:\n %v, want\n %s", typed, err, want)
		}
	}
}

// Other tools' names and forgotten dashes get the whole line that was meant, which is taken
// when it is typed.
func TestAdviceIsALine(t *testing.T) {
	for _, tt := range []struct {
		typed []string
		line  []string
	}{
		{[]string{"--timeout", "60", "--", "./x"}, []string{"--iteration-timeout", "60s", "--", "./x"}},
		{[]string{"--timeout=5m", "--", "./x"}, []string{"--iteration-timeout", "5m", "--", "./x"}},
		{[]string{"-q", "--retries", "3", "--", "./x"}, []string{"-q", "--retry", "3", "--", "./x"}},
		{[]string{"--max-retries", "3", "--", "./x"}, []string{"--retry", "3", "--", "./x"}},
		{[]string{"--interval", "5", "--", "./x"}, []string{"--delay", "5s", "--", "./x"}},
		{[]string{"--sleep=5s", "--", "./x"}, []string{"--delay", "5s", "--", "./x"}},
		{[]string{"--until", "go test", "--", "./x"}, []string{"--check", "go test", "--", "./x"}},
		{[]string{"--iterations", "5", "--", "./x"}, []string{"--max-iterations", "5", "--", "./x"}},
		{[]string{"-n", "5", "--", "./x"}, []string{"--max-iterations", "5", "--", "./x"}},
		{[]string{"-n5", "--", "./x"}, []string{"--max-iterations", "5", "--", "./x"}},
		{[]string{"go test ./..."}, []string{"-c", "go test ./..."}},
		{[]string{"--check", "npm test", "./fix.sh"}, []string{"--check", "npm test", "--", "./fix.sh"}},
		{[]string{"--check", "npm", "test", "--", "./fix.sh"}, []string{"--check", "npm test", "--", "./fix.sh"}},
		{[]string{"--check", "npm", "test", "--max-errors", "2", "--", "./fix.sh"}, []string{"--check", "npm test", "--max-errors", "2", "--", "./fix.sh"}},
		{[]string{"run", "-c", "go", "test", "./..."}, []string{"run", "-c", "go test ./..."}},
		{[]string{"echo", "hi there", "|", "cat"}, []string{"-c", "echo 'hi there' | cat"}},
		{[]string{"cd", "/tmp"}, []string{"-c", "cd /tmp"}},
		{[]string{"ls"}, []string{"--", "ls"}},
		{[]string{"status"}, []string{"--", "status"}},
		{[]string{"./fix.sh", "-v", "--all"}, []string{"--", "./fix.sh", "-v", "--all"}},
	} {
		_, err := read(t, tt.typed...)
		want := (&line{}).whole(tt.line, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", tt.typed, err, want)
		}
		if _, err := read(t, tt.line...); err != nil {
			t.Errorf("the advice %q is refused: %v", tt.line, err)
		}
	}
	for typed, command := range map[string]string{"status": "list", "ls": "list", "logs": "show", "rm": "prune", "kill": "stop"} {
		if _, err := read(t, typed); err == nil || !strings.Contains(err.Error(), command) {
			t.Errorf("%s: %v, want %s", typed, err, command)
		}
	}
}

// Every key is listed, and explained with an example that it takes.
func TestKeysAreExplained(t *testing.T) {
	list := keysHelp(80)
	for _, k := range config.Keys() {
		text, err := keyHelp(k.Name, 80)
		if err != nil || !strings.Contains(list, "\n"+k.Name+" ") || !strings.Contains(text, firstSentence(k.Help())[:9]) {
			t.Errorf("%s is not explained: %v\n%s", k.Name, err, text)
		}
		l, err := read(t, "-o", k.Name+"="+k.Example())
		if err != nil || k.Example() == "" {
			t.Errorf("the example of %s, %q: %v", k.Name, k.Example(), err)
			continue
		}
		if err := l.given.Parse(); err != nil {
			t.Errorf("the example of %s: %v", k.Name, err)
		}
	}
	if _, err := keyHelp("done_code", 80); err == nil || !strings.Contains(err.Error(), `did you mean "done_codes"?`) {
		t.Errorf("%v", err)
	}
}
