package completion_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/alecthomas/kong"

	"github.com/looprun/looprun/internal/completion"
)

// grammar is a command line with one of everything.
type grammar struct {
	Go struct {
		Dry   bool     `short:"n" help:"Only look."`
		Shell string   `short:"c" placeholder:"LINE" help:"A line."`
		File  string   `placeholder:"FILE|none" help:"A file."`
		Dir   string   `placeholder:"DIR" help:"A folder."`
		Many  []string `enum:"red,green,blue" default:"red" help:"Colours."`
		Each  []string `placeholder:"DIR" sep:"none" help:"Folders."`
		Mode  string   `enum:",fast,slow" default:"" help:"How."`
		Codes []string `placeholder:"KEY=N" help:"Codes."`
		Late  string   `placeholder:"MODE[,KEY=MODE]" help:"Later."`
		Quiet bool     `hidden:"" help:"Nobody sees it."`
	} `cmd:"" default:"withargs" help:"Go."`
	Show struct {
		Run    string `arg:"" optional:"" name:"run" help:"Which."`
		Format string `enum:"text,json" default:"text" help:"How."`
	} `cmd:"" help:"Show."`
	Answer struct {
		Words  []string `arg:"" optional:"" name:"run option" help:"What."`
		Option string   `placeholder:"ID" help:"An option."`
		Other  string   `placeholder:"ID" help:"Some other id."`
	} `cmd:"" help:"Answer."`
	Policy struct {
		Check struct {
			File string `arg:"" help:"Which."`
		} `cmd:"" help:"Check."`
		Test struct {
			Guard string `placeholder:"ID" help:"Which."`
			Kind  string `complete:"a|b|dirs" help:"Which."`
		} `cmd:"" help:"Test."`
	} `cmd:"" help:"Policies."`
	Secret struct{} `cmd:"" hidden:"" help:"Nobody sees it."`

	Color string `enum:"auto,always,never" default:"auto" help:"Colour."`
}

func model(t testing.TB) *kong.Application {
	t.Helper()
	p, err := kong.New(&grammar{}, kong.Name("prog"))
	if err != nil {
		t.Fatal(err)
	}
	return p.Model
}

// complete completes the last of the words. Of those before it, names of commands come first,
// then flags, then arguments; a flag without = waits for the last word.
func complete(app *kong.Application, words []string, lookup completion.Lookup) completion.Reply {
	last, waiting := len(words)-1, ""
	at := completion.Place{Command: app.Node, Flags: map[string][]string{}, Word: words[last]}
	for _, word := range words[:last] {
		i := slices.IndexFunc(at.Command.Children, func(n *kong.Node) bool { return n.Name == word })
		name, value, joined := strings.Cut(word, "=")
		switch name = strings.TrimPrefix(name, "--"); {
		case i >= 0:
			at.Command = at.Command.Children[i]
		case joined:
			at.Flags[name] = append(at.Flags[name], value)
		case name != word:
			waiting = name
		default:
			at.Args = append(at.Args, word)
		}
	}
	return completion.Complete(app, nil, at, waiting, lookup)
}

// lookup says what it was asked: for what, the arguments and the flags before.
var lookup = func() completion.Lookup {
	all := completion.Lookup{}
	for _, name := range []string{"KEY=N", "MODE[,KEY=MODE]", "key of MODE[,KEY=MODE]", "RUN", "RUN OPTION", "option ID", "guard ID"} {
		all[name] = func(at completion.Place) []completion.Candidate {
			return []completion.Candidate{{Value: fmt.Sprintf("<%s of %s%v%v>", name, at.Command.Name, at.Args, at.Flags["format"])}}
		}
	}
	return all
}()

func TestComplete(t *testing.T) {
	for _, tt := range []struct {
		typed string // its words are separated by blanks; the last is completed
		want  string
	}{
		{"", "words: go show answer policy"},
		{"s", "words: show"},
		{"policy ", "words: check test"},
		{"policy t", "words: test"},
		{"policy nonsense ", "words:"},
		{"--co", "words: --codes --color"},
		{"show --", "words: --format --help --color"},
		{"--color ", "words: auto always never"},
		{"--color a", "words: auto always"},
		{"--color=a", "words --color=: auto always"},
		{"--color=auto --c", "words: --codes"},
		{"--codes=a=1 --c", "words: --codes --color"},
		{"--many ", "words: red green blue"},
		{"--many red,", "words red,: green blue"},
		{"--many=red,g", "words --many=red,: green"},
		{"--mode ", "words: fast slow"},
		{"--file ", "files: none"},
		{"--file x", "files:"},
		{"--file=", "files --file=: none"},
		{"--dir ", "dirs:"},
		{"--each a,b", "dirs:"},
		{"--shell ", "words:"},
		{"-c", "words:"},
		{"--codes ", "words: <KEY=N of prog[][]>"},
		{"--late ", "words: <MODE[,KEY=MODE] of prog[][]>"},
		{"--late deny,", "words deny,: <key of MODE[,KEY=MODE] of prog[][]>"},
		{"--late=deny,x=", "words --late=deny,x=: <MODE[,KEY=MODE] of prog[][]>"},
		{"show ", "words: <RUN of show[][]>"},
		{"show --format=json ", "words: <RUN of show[][json]>"},
		{"show x ", "words:"},
		{"answer ", "words: <RUN OPTION of answer[][]>"},
		{"answer 3f ", "words: <RUN OPTION of answer[3f][]>"},
		{"answer --option ", "words: <option ID of answer[][]>"},
		{"answer --other ", "words:"},
		{"policy test --guard ", "words: <guard ID of test[][]>"},
		{"policy test --kind ", "dirs: a b"},
		{"policy check ", "files:"},
		{"go ", "words: --"},
		{"--nonsense=", "words:"},
		{"--dry=", "words:"},
	} {
		r := complete(model(t), strings.Split(tt.typed, " "), lookup)
		got := string(r.Mode)
		if r.Prefix != "" {
			got += " " + r.Prefix
		}
		got += ":"
		for _, c := range r.Candidates {
			got += " " + c.Value
		}
		if got != tt.want {
			t.Errorf("%q: %s, want %s", tt.typed, got, tt.want)
		}
	}
}

func TestDescriptionsComeFromTheHelp(t *testing.T) {
	r := complete(model(t), []string{"pol"}, nil)
	if len(r.Candidates) != 1 || r.Candidates[0].Help != "Policies." {
		t.Errorf("%+v", r.Candidates)
	}
}

func TestWrite(t *testing.T) {
	r := completion.Reply{Mode: completion.Words, Prefix: "--a=", Candidates: []completion.Candidate{
		{Value: "x y", Help: "o\x1b]0;x\x07ne\ntwo"}, {Value: "a\nb"}, {Value: "a\tb"}, {Value: "\x1b[31mred"}, {Value: ""}, {Value: "ok"},
	}}
	for _, tt := range []struct {
		shell  completion.Shell
		quoted bool
		mode   completion.Mode
		want   string
	}{
		{completion.Bash, false, completion.Words, "words\n--a=\n--a=x\\ y\n--a=ok\n"},
		{completion.Bash, true, completion.Words, "words\n--a=\n--a=ok\n"},
		{completion.Bash, false, completion.Files, "files\n--a=\n--a=ok\n"},
		{completion.Zsh, false, completion.Words, "words\n--a=\nx y\tone\nok\n"},
		{completion.Fish, true, completion.Words, "words\n--a=\n--a=x y\tone\n--a=ok\n"},
	} {
		r.Mode = tt.mode
		var b bytes.Buffer
		if err := r.Write(&b, tt.shell, tt.quoted); err != nil {
			t.Fatal(err)
		}
		if b.String() != tt.want {
			t.Errorf("%s quoted %v: %q, want %q", tt.shell, tt.quoted, b.String(), tt.want)
		}
	}
}

func TestTyped(t *testing.T) {
	for _, tt := range []struct {
		word, want string
		quoted     bool
	}{
		{`plain`, "plain", false},
		{`a\ b`, "a b", false},
		{`'a b'`, "a b", false},
		{`'a\b'`, `a\b`, false},
		{`"a\"b\$c\d"`, `a"b$c\d`, false},
		{`"a`, "a", true},
		{`'a"`, `a"`, true},
		{`a"b"'c'd`, "abcd", false},
		{`$(x)`, "$(x)", false},
		{`~/x`, "~/x", false},
		{`a\`, "a", false},
	} {
		got, quoted := completion.Bash.Typed([]string{tt.word, tt.word})
		if got[0] != tt.want || got[1] != tt.want || quoted != tt.quoted {
			t.Errorf("%s: %q %v, want %q %v", tt.word, got, quoted, tt.want, tt.quoted)
		}
	}
	got, quoted := completion.Fish.Typed([]string{`a\b`, `'c d`})
	if !slices.Equal(got, []string{`a\b`, "c d"}) || !quoted {
		t.Errorf("fish: %q %v", got, quoted)
	}
	got, quoted = completion.Zsh.Typed([]string{`a\b`, `'c d`})
	if !slices.Equal(got, []string{`a\b`, "'c d"}) || quoted {
		t.Errorf("zsh: %q %v", got, quoted)
	}
}

func TestWriteScript(t *testing.T) {
	for _, s := range []completion.Shell{completion.Bash, completion.Zsh, completion.Fish} {
		var b bytes.Buffer
		if err := completion.WriteScript(&b, s, "other"); err != nil {
			t.Fatal(err)
		}
		if text := b.String(); strings.Contains(text, "PROGRAM") || !strings.Contains(text, "command other __complete --shell "+string(s)) {
			t.Errorf("%s:\n%s", s, text)
		}
	}
	if err := completion.WriteScript(&bytes.Buffer{}, "tcsh", "other"); err == nil || !strings.Contains(err.Error(), "bash, zsh and fish") {
		t.Errorf("tcsh: %v", err)
	}
	if err := completion.WriteScript(&bytes.Buffer{}, completion.Bash, "$(x)"); err == nil {
		t.Error("a program's name reached the script")
	}
}

// FuzzWrite: whatever a candidate is, the reply has one line for it at most, none
// of it a control character, and what bash gets of it is read as that very text.
func FuzzWrite(f *testing.F) {
	for _, seed := range []string{"plain", "a b", "$(x)", "`x`", "a\nb", "é", "\x1b[0m", `\`, "'\"", "\xff"} {
		f.Add(seed, seed, "--a=")
	}
	f.Fuzz(func(t *testing.T, value, help, prefix string) {
		r := completion.Reply{Mode: completion.Words, Candidates: []completion.Candidate{{Value: value, Help: help}}}
		for _, shell := range []completion.Shell{completion.Bash, completion.Zsh, completion.Fish} {
			var b bytes.Buffer
			if err := r.Write(&b, shell, false); err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(b.String(), "\n")
			if len(lines) > 4 || lines[len(lines)-1] != "" || strings.ContainsAny(b.String(), "\x1b\r\x00\x07") {
				t.Fatalf("%s: %q", shell, b.String())
			}
			if len(lines) == 3 {
				continue
			}
			word, _, _ := strings.Cut(lines[2], "\t")
			if shell == completion.Bash {
				words, open := shell.Typed([]string{word})
				if word = words[0]; open {
					t.Fatalf("%q opens a quote", lines[2])
				}
			}
			if word != value {
				t.Fatalf("%s: %q became %q", shell, value, lines[2])
			}
		}
	})
}

// FuzzComplete: whatever was typed, every candidate goes on with it.
func FuzzComplete(f *testing.F) {
	for _, seed := range []string{"", "policy test --guard ", "--color=a", "--many=red,g", "--=", "-", "--", "-é"} {
		f.Add(seed)
	}
	app := model(f)
	f.Fuzz(func(t *testing.T, typed string) {
		words := strings.Split(typed, " ")
		last := words[len(words)-1]
		r := complete(app, words, nil)
		if !strings.HasPrefix(last, r.Prefix) {
			t.Fatalf("prefix %q of %q", r.Prefix, last)
		}
		for _, c := range r.Candidates {
			if !strings.HasPrefix(r.Prefix+c.Value, last) && utf8.ValidString(last) {
				t.Fatalf("%q does not go on with %q", c.Value, last)
			}
		}
	})
}
