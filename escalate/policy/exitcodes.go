package policy

import (
	"fmt"
	"maps"
	"slices"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/nearest"
)

// checkExitCodes reports keys that name no status or guard, numbers that are not exit codes,
// and 0 for a status that must not look like success.
func checkExitCodes(r *report, codes map[string]int, known Known) {
	guards := known.guards()
	names := append(convert.Strings(core.Statuses()), convert.Strings(guards)...)
	for _, key := range slices.Sorted(maps.Keys(codes)) {
		path := []any{"exit_codes", key}
		code := codes[key]
		switch {
		case !slices.Contains(names, key):
			r.Key("unknown status or guard "+quote(key), nearest.DidYouMean(key, names), path...)
		case code < 0 || code > 255:
			r.Value(fmt.Sprintf("%d is not an exit code", code), "use 0 to 255", path...)
		case code == 0 && !core.Status(key).MayExitZero():
			r.Value(key+" cannot exit with 0, because the work is not done and nobody accepted it",
				"use a code from 1 to 255; only done and accepted can be 0", path...)
		}
	}
}
