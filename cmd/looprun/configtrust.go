package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/looprun/looprun/internal/atomicfile"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/internal/tty"
)

// riskyKeys are those with which a file could run something, or make what ran
// look as if it had ended otherwise.
var riskyKeys = []string{
	"shell", "check", "debug", "state_dir", "policy", "assistant", "templates", "rules", exitCodesKey, "detached", "stdin", "result",
	"hook_on_question", "hook_on_trip", "hook_on_end", "notify", "redact", "no_redact", "ci_commands",
}

// trustVariable holds the consent that is given from outside.
const trustVariable = "LOOPRUN_TRUST"

// consent refuses a file that was merely found until somebody has agreed to
// this very content. Where only templates are wanted nothing is run or written.
func (a *app) consent(c *configuration) error {
	for _, f := range c.files {
		_, placed := f.layers[0].values["state_dir"]
		risks := f.risks()
		if !f.found || len(risks) == 0 || !c.whole && !(placed && c.wants("state_dir")) {
			continue
		}
		if err := a.consentTo(c, f, risks); err != nil {
			return err
		}
	}
	return nil
}

// risks are the keys that need consent, with their values.
func (f *configFile) risks() []string {
	var risks []string
	for _, l := range f.layers {
		for _, key := range riskyKeys {
			if v, ok := l.values[key]; ok {
				risks = append(risks, key+": "+shownValue(v))
			}
		}
		for _, rung := range l.ladder {
			for _, e := range rung.Experts {
				risks = append(risks, fmt.Sprintf("ladder: expert %s: %s", e.Name, shownValue(e.Command)))
			}
		}
		if l.signature != nil && len(l.signature.Reports) > 0 {
			risks = append(risks, "signature.reports: "+strings.Join(l.signature.Reports, ", "))
		}
	}
	return risks
}

func (a *app) consentTo(c *configuration, f *configFile, risks []string) error {
	if a.consented(c, f) {
		return nil
	}
	if a.canAsk(c) {
		switch yes, err := a.ask(f.name, risks); {
		case yes:
			a.remember(f)
			return nil
		case err == nil:
			return &usageError{f.name + " is not trusted", "use --config none to run without it"}
		}
	}
	line := trustVariable + "=sha256:" + f.digest()
	text := fmt.Sprintf("%s was found, nobody has agreed to it, and it sets %s", f.name, strings.Join(risks, "; "))
	if len(trustGiven()) > 0 {
		text += "; " + trustVariable + " is for another content, or not of the form sha256:HEX"
	}
	return &usageError{text, fmt.Sprintf("read it, then agree once with --trust, or in CI with %s; --config none leaves it out\n  %s looprun %s", line, line, commandLine(a.args))}
}

// consented reports whether the file's content was agreed to: by the variable,
// earlier, or now by --trust, which is recorded.
func (a *app) consented(c *configuration, f *configFile) bool {
	digest := f.digest()
	if slices.Contains(trustGiven(), "sha256:"+digest) || trusted(digest) {
		return true
	}
	if c.text("trust") != "true" {
		return false
	}
	a.remember(f)
	return true
}

// trustGiven are the consents of the variable, each of the form sha256:HEX.
func trustGiven() []string {
	return strings.FieldsFunc(os.Getenv(trustVariable), func(r rune) bool { return r == ',' || r == ' ' })
}

// digest is the name of the file's content, for which consent is given.
func (f *configFile) digest() string {
	sum := sha256.Sum256(f.text)
	return hex.EncodeToString(sum[:])
}

// canAsk reports whether a person is there to be asked.
func (a *app) canAsk(c *configuration) bool {
	return isTerminal(a.stdin) && isTerminal(a.files.stderr) && !inCI() && c.text("non-interactive") != "true"
}

// ask asks the person at the terminal about a file.
func (a *app) ask(name string, risks []string) (bool, error) {
	return a.yes("trust "+termsafe.Line(name)+" with this content?", func() {
		a.say.printf("%s was found, and it sets\n  %s", name, strings.Join(risks, "\n  "))
	})
}

// yes asks the person at the terminal, after showing what it is about. Everything
// but y is no, and so is what was typed before the question could be read.
func (a *app) yes(question string, show func()) (bool, error) {
	t, err := tty.Open(tty.Path)
	if err != nil {
		return false, err
	}
	defer t.Close()
	if !t.Foreground() {
		return false, errors.New("looprun runs in the background of the terminal")
	}
	show()
	// There and back throws away what was typed ahead; keys are read in the
	// ordinary mode, in which Ctrl-C ends looprun.
	if err := errors.Join(t.Raw(), t.Restore()); err != nil {
		return false, err
	}
	if _, err := t.Write([]byte("looprun: " + question + " [y/N] ")); err != nil {
		return false, err
	}
	b := make([]byte, 256)
	n, err := t.Read(b, time.Time{})
	if err != nil || n == 0 {
		return false, nil
	}
	word := strings.ToLower(strings.TrimSpace(string(b[:n])))
	return word == "y" || word == "yes", nil
}

// trustDir is where consent is kept; empty where there is no place for it.
func trustDir() string {
	if dir := xdg("XDG_STATE_HOME", filepath.Join(".local", "state")); dir != "" {
		return filepath.Join(dir, "looprun", "trust")
	}
	return ""
}

// trusted reports whether consent was recorded, in a folder that only the user
// can write to.
func trusted(digest string) bool {
	dir := trustDir()
	if dir == "" || !onlyMine(dir) {
		return false
	}
	info, err := os.Lstat(filepath.Join(dir, digest))
	return err == nil && info.Mode().IsRegular()
}

// remember records consent. Where that fails it holds for this call.
func (a *app) remember(f *configFile) {
	dir := trustDir()
	err := errors.New("there is no home directory")
	if dir != "" {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil && !onlyMine(dir) {
		err = fmt.Errorf("others can write to %s", dir)
	}
	if err == nil {
		err = atomicfile.Write(filepath.Join(dir, f.digest()), []byte(f.path+"\n"), false)
	}
	if err != nil {
		a.say.warn("consent to %s holds this time only; it could not be recorded: %v", f.name, err)
	}
}
