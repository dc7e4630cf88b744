package templates

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/looprun/looprun/internal/strictyaml"
)

// report collects the problems of one file.
type report struct{ strictyaml.Report }

// visible reports characters that are invisible, or that change how others look.
func (r *report) visible(text string, path ...any) {
	hidden := func(c rune) bool { return !unicode.IsGraphic(c) && !strings.ContainsRune("\n\t\u200d", c) }
	if i := strings.IndexFunc(text, hidden); i >= 0 {
		r.Value(fmt.Sprintf("%q holds the control character %+q", path[len(path)-1], []rune(text[i:])[0]), "remove it", path...)
	}
}

// faults reports problems with the wording at the path.
func (r *report) faults(faults []fault, path ...any) {
	for _, f := range faults {
		r.In(f.offset, f.text, f.remedy, path...)
	}
}
