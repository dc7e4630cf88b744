package config

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"github.com/looprun/looprun/internal/atomicfile"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/plural"
	"github.com/looprun/looprun/internal/provenance"
	"github.com/looprun/looprun/internal/strictyaml"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/internal/tty"
	"github.com/looprun/looprun/internal/xdg"
)

// The trust tags of an option's field: what its key may do in a file that was merely found.
// Only what they allow is used without consent: a field without a tag is treated like
// trustAsk.
const (
	trustSafe  = "safe"  // changes how things look, or what they are called
	trustAsk   = "ask"   // could run, write, answer, hang, or make an end look like another
	trustLower = "lower" // a limit that is off: any limit is lower
	trustUpto  = "upto=" // a limit, and the built-in bound up to which it may be set
)

// asks reports whether the value of a key needs consent in a file that was merely found; own
// is the value in the user's or the system's file, or zero. why gives the reason unless it
// follows from the key.
func (k givenKey) asks(value, own written) (why string, asks bool) {
	if k.trust == trustSafe {
		return "", false
	}
	most, bound, limit := k.most(own)
	if n, ok := value.size(); limit && ok && n <= most {
		return "", false
	}
	if bound != "" {
		why = "above " + bound
	}
	return why, true
}

// most returns how much a limit may allow without consent: the larger of the built-in bound
// and the user's own value. ok is false if the key is not a limit; text is the value as
// written.
func (k givenKey) most(own written) (n float64, text string, ok bool) {
	n, ok = math.Inf(1), k.trust == trustLower
	if bound, is := strings.CutPrefix(k.trust, trustUpto); is {
		text = bound
		var w written
		if w, _ = k.parse(bound); w.value.IsValid() {
			n, ok = w.size()
		}
	}
	if !ok || !own.value.IsValid() {
		return n, text, ok
	}
	mine, ok := own.size()
	if k.trust == trustLower || mine > n {
		n, text = mine, own.text()
	}
	return n, text, ok
}

// size returns how much a limit allows, infinity if it is off; false if the value is not a
// limit.
func (w written) size() (float64, bool) {
	if !w.value.IsValid() {
		return 0, false
	}
	var n float64
	switch v := reflect.Indirect(w.value); v.Interface().(type) {
	case CountLimit, DurationLimit, TokenLimit, Duration: // of the last, zero is none
		n = float64(v.Int())
	case MoneyLimit:
		n = v.Float()
	default:
		return 0, false
	}
	if n <= 0 {
		n = math.Inf(1)
	}
	return n, true
}

// TrustVariable holds consent given from outside.
const TrustVariable = "LOOPRUN_TRUST"

// consent returns an error for a file that was merely found until somebody has consented to
// this exact content.
func (c *Settings) consent() error {
	for _, f := range c.files {
		risks := c.risks(f)
		if !f.needsConsent(risks) || !c.uses(f) {
			continue
		}
		if err := c.consentTo(f, risks); err != nil {
			return err
		}
	}
	return nil
}

// needsConsent reports whether the file may be used only after somebody has consented: because
// of what it sets, or because it, even the user's own file, may be somebody else's.
func (f *File) needsConsent(risks []risk) bool {
	return f.doubt != "" || f.found && len(risks) > 0
}

// uses reports whether the file sets anything that matters for the command. If only templates
// are needed, nothing is run or written.
func (c *Settings) uses(f *File) bool {
	return c.whole || slices.ContainsFunc(f.layers, func(l layer) bool {
		return slices.ContainsFunc(l.has, func(k givenKey) bool {
			return c.wants(k.Name) && (k.Name != "templates" || f.doubt != "")
		})
	})
}

// risk is a key that needs consent, and the value it sets.
type risk struct{ key, text string }

// risks returns the keys of a file that need consent: all of them if the file may be somebody
// else's.
func (c *Settings) risks(f *File) []risk {
	var risks []risk
	for _, l := range f.layers {
		for _, k := range l.has {
			why, asks := k.asks(l.values[k.Name], c.without(f, k.Name))
			if !asks && f.doubt == "" {
				continue
			}
			for _, text := range l.shown(k) {
				if why != "" {
					text += " (" + why + ")"
				}
				risks = append(risks, risk{k.Name, text})
			}
		}
	}
	return risks
}

// without returns the value of a key in the other files; the zero value if there is none.
func (c *Settings) without(f *File, key string) written {
	for _, l := range c.layers {
		if v, ok := l.values[key]; ok && l.file != f {
			return v
		}
	}
	return written{}
}

// shown returns what a key of the layer sets, for a person who is asked for consent.
func (l *layer) shown(k givenKey) []string {
	var texts []string
	show := func(key string, value any) { texts = append(texts, key+": "+oneLine(fmt.Sprint(value))) }
	for _, in := range l.blocks {
		if in.block == k.Name {
			show(in.key, l.values[in.key].text())
		}
	}
	if texts != nil {
		return texts
	}
	switch k.Name {
	case "agents":
		shownAgents(l.agents, show)
	case "assistants":
		shownAssistants(l.assistants, show)
	case "ladder":
		for _, rung := range l.ladder {
			show("ladder", rung.Rung)
			for _, e := range rung.Experts {
				show("ladder: expert "+e.Name, e.Command)
			}
		}
	case "signature":
		s := l.signature
		for key, n := range map[string]int{"mask": len(s.Mask), "ignore": len(s.Ignore), "extract": len(s.Extract)} {
			if n > 0 {
				show("signature."+key, plural.Count(n, "pattern"))
			}
		}
		if len(s.Reports) > 0 {
			show("signature.reports", strings.Join(s.Reports, ", "))
		}
		slices.Sort(texts)
	default:
		if value, ok := l.values[k.Name]; ok {
			texts = append(texts, k.Name+": "+value.text())
		}
	}
	if texts == nil { // a key with nothing below it
		return []string{k.Name}
	}
	return texts
}

func (c *Settings) consentTo(f *File, risks []risk) error {
	for _, n := range f.names() {
		if n.uncovered {
			return Usage(fmt.Sprintf("%s: %s: %s is larger than %d bytes or not a file, so consent cannot cover it", f.Name, n.Key, n.Name, strictyaml.MaxSize), "name another file there, or name this one by a flag")
		}
	}
	if c.consented(f) {
		return nil
	}
	sets := convert.Each(risks, func(r risk) string { return r.text })
	if c.CanAsk() {
		switch yes, err := c.ask(f, sets); {
		case yes:
			f.remember(c.call.Say.Warn)
			return nil
		case err == nil:
			return Usage(f.Name+" is not trusted", "use --config none to run without it")
		}
	}
	doubt := ""
	if f.doubt != "" {
		doubt = " (" + f.doubt + ")"
	}
	text := fmt.Sprintf("%s needs consent%s: it sets %s", f.Name, doubt, cmp.Or(strings.Join(sets, "; "), "nothing"))
	if len(trustGiven()) > 0 {
		text += "; " + TrustVariable + " is for another content, or not of the form sha256:HEX"
	}
	return Usage(text, "review it, then run again with --trust, or with --config none to leave it out\n  in CI: --trust, or "+f.trustLine())
}

// consented reports whether somebody consented to the file's content: through the variable,
// earlier, or now with --trust, which is recorded.
func (c *Settings) consented(f *File) bool {
	digest := f.digest()
	if slices.Contains(trustGiven(), "sha256:"+digest) || trusted(digest) {
		return true
	}
	if !c.call.Files.Trust {
		return false
	}
	f.remember(c.call.Say.Warn)
	return true
}

// trustGiven returns the consents in the variable, each of the form sha256:HEX.
func trustGiven() []string {
	return strings.FieldsFunc(os.Getenv(TrustVariable), func(r rune) bool { return r == ',' || r == ' ' })
}

// doubted returns why the file may be somebody else's, as the beginning of a sentence.
func (f *File) doubted() string {
	if f.doubt == "" {
		return ""
	}
	return f.doubt + ", "
}

// trustLine returns the variable assignment that consents to the file's content.
func (f *File) trustLine() string { return TrustVariable + "=sha256:" + f.digest() }

// digest returns the hash of the content that consent is given for: the file's text, and that
// of the files that it names.
func (f *File) digest() string {
	sum := sha256.New()
	sum.Write(f.text)
	for _, n := range f.names() {
		fmt.Fprintf(sum, "\x00%s\x00%s\x00%s", n.Key, n.name, n.Sum)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// CanAsk reports whether there is a person to ask.
func (c *Settings) CanAsk() bool {
	return console.IsTerminal(c.call.Stdin) && console.IsTerminal(c.call.Stderr) && !console.InCI() && !c.silent()
}

// silent reports whether the command line or the environment prevents asking a person.
func (c *Settings) silent() bool {
	of := c.given["non_interactive"]
	return of != nil && of.value.Bool()
}

// ask asks the person at the terminal for consent to a file.
func (c *Settings) ask(f *File, sets []string) (bool, error) {
	return tty.Confirm("trust "+termsafe.Line(f.Name)+" with this content?", func() {
		c.call.Say.Printf("%s was found, %sand it sets\n  %s", f.Name, f.doubted(), strings.Join(sets, "\n  "))
	})
}

// Needed prints, for each file that runs can find, which of its keys need consent and how to
// give it.
func (c *Settings) Needed(files []*File) {
	var all Settings
	all.add(files)
	for _, f := range files {
		if f.path != userFile() {
			f.found = filepath.Base(f.path) == Name && !f.system
		}
		if f.found {
			f.doubt = provenance.Doubt(f.path)
		}
		if text := f.needs(all.risks(f)); text != "" && c.consented(f) {
			c.call.Say.News("%s; it has yours", text)
		} else if text != "" {
			c.call.Say.News("%s; read it, then agree once with looprun --trust, or in CI with %s", text, f.trustLine())
		}
		if f.needsConsent(all.risks(f)) {
			for _, n := range f.names() {
				c.call.Say.News("consent to %s covers %s (%s): sha256:%s", f.Name, n.Name, n.Key, cmp.Or(n.Sum, "it cannot be read"))
			}
		}
	}
}

// needs describes what in a file needs consent; empty if nothing does.
func (f *File) needs(risks []risk) string {
	var keys []string
	for _, r := range risks {
		line, _ := f.doc.KeyPos(r.key)
		keys = append(keys, fmt.Sprintf("%s (line %d)", r.key, line))
	}
	text := strings.Join(slices.Compact(keys), ", ")
	switch {
	case !f.needsConsent(risks):
		return ""
	case f.doubt != "":
		return fmt.Sprintf("when looprun finds %s, it always needs your consent: %s", f.Name, f.doubt)
	}
	return fmt.Sprintf("when looprun finds %s, it needs your consent for %s", f.Name, text)
}

// Unagreed prints, for each file in use, that it needs consent and how to give it.
func (c *Settings) Unagreed() {
	for _, f := range c.files {
		risks := c.risks(f)
		if !f.needsConsent(risks) || c.consented(f) {
			continue
		}
		what := fmt.Sprintf("for %d of its keys", len(risks))
		if f.doubt != "" {
			what = "(" + f.doubt + ")"
		}
		c.call.Say.News("%s needs your consent %s before it is used; read it, then agree once with looprun --trust", f.Name, what)
	}
}

// trustDir returns where consent is stored; empty if there is no place for it.
func trustDir() string {
	if dir := xdg.State(); dir != "" {
		return filepath.Join(dir, "trust")
	}
	return ""
}

// trusted reports whether consent was recorded in a folder that only the user can write to.
func trusted(digest string) bool {
	dir := trustDir()
	if dir == "" || !onlyMine(dir) {
		return false
	}
	info, err := os.Lstat(filepath.Join(dir, digest))
	return err == nil && info.Mode().IsRegular()
}

// onlyMine reports whether only the user can write to the folder. Modes do not reveal that on
// Windows.
func onlyMine(dir string) bool {
	info, err := os.Lstat(dir)
	return runtime.GOOS == "windows" || err == nil && info.IsDir() && info.Mode().Perm()&0o022 == 0 && provenance.Mine(info)
}

// remember records consent. If that fails, the consent is valid for this call only.
func (f *File) remember(warn func(string, ...any)) {
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
		warn("consent to %s holds this time only; it could not be recorded: %v", f.Name, err)
	}
}

// Agree records consent to a file that looprun has just written for the user.
func Agree(file string, warn func(string, ...any)) error {
	f, err := Source{Name: file, path: file}.read()
	if err == nil {
		f.remember(warn)
	}
	return err
}
