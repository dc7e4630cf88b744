package signature

import (
	"bytes"
	"strings"

	"github.com/looprun/looprun/internal/ascii"
)

// maxMeasures bounds how many different measures of one output are kept.
const maxMeasures = 32

// measures holds how far the work got: "migrated 12000 of 40000 rows". Of measures that differ
// only in their numbers, it keeps the one that got farthest.
type measures map[string]measure

type measure struct{ done, text string }

// take reads a line that no rule matches; it returns false if the line measures nothing.
func (ms *measures) take(x *extractor, b []byte) bool {
	i := bytes.Index(b, []byte(" of "))
	if i < 1 || !ascii.Digit(b[i-1]) || !ascii.Digit(ascii.At(b, i+4)) {
		return false
	}
	s, e := i, ascii.Digits(b, i+4)
	for s > 0 && ascii.Digit(b[s-1]) {
		s--
	}
	done, all := strings.TrimLeft(string(b[s:i]), "0"), strings.TrimLeft(string(b[i+4:e]), "0")
	if s > 0 && b[s-1] != ' ' || !less(done, all) || ascii.At(b, e) != 0 && (ascii.At(b, e) != ' ' || !letter(ascii.At(b, e+1))) || len(all) > 9 {
		return false
	}
	if _, kd := unitAt(b, e); kd != plain || keyBefore(b, s) == keyNoise {
		return false
	}
	key := x.masked(b, true)
	if *ms == nil {
		*ms = measures{}
	}
	old, known := (*ms)[key]
	if !known && len(*ms) == maxMeasures || known && !less(old.done, done) {
		return known
	}
	(*ms)[key] = measure{done, string(b[s:e])}
	return true
}

// ofWork reports whether the sizes in a line measure a product, "bundle is 412 kB, limit 300
// kB", rather than a machine's resources.
func ofWork(b []byte) bool {
	return hasAny(b, "imit", "xceed", "udget", "arger than", "aximum") &&
		!hasAny(b, "free", "vailable", "emory", "eap", "rss", "RSS", "used", "left", "need", "wap", "ache")
}

// less compares numbers without leading zeros.
func less(a, b string) bool { return len(a) < len(b) || len(a) == len(b) && a < b }

// lines returns the measures as facts.
func (ms measures) lines() (strict, loose []string) {
	for key, m := range ms {
		strict, loose = append(strict, "progress "+key+" "+m.text), append(loose, "progress "+key)
	}
	return strict, loose
}
