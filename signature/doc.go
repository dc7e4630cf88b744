// Package signature determines what a command's output meant: two outputs have the same
// signature exactly when a developer would call them the same failure.
//
//	s := signature.New(signature.Options{Dir: checkout})
//	cmd.Stdout, cmd.Stderr = s.Stdout(), s.Stderr()
//	...
//	sig := s.Sum(exitCode) // test-fail:2-auth,logout
//	s.Reset()              // ready for the next iteration
//
// A Signer reads the streams as they pass. Its memory use is bounded whatever is written, and
// it does not matter how a stream is split into writes. The package knows nothing of loops or
// processes; Cycles finds repeats in a sequence of signatures.
//
// # From bytes to facts
//
// Each stream is decoded (stream.go): UTF-16 is recognised, and text inside JSON is extracted
// (internal/carrier). The text is split into lines (text.go); the part of a line beyond 64 KiB
// is dropped. Escape sequences and redraws are applied (clean.go), so a line is what a
// terminal would show. Lines that start with "looprun: " are looprun's own and are skipped.
//
// The scanner (scan.go, token.go) finds the noise in a line in one pass and hashes the rest.
// Its result for a line holds for every line that differs only in digits and ids (outline.go),
// and is cached there. A line whose hash is known to mean nothing ends here: that is what
// makes long logs cheap. Before that, the margin that collectors and runners put in front of
// every line is cut off (internal/margin); each source that it names is read separately
// (sources.go). For lines that may mean something, the tool's own prefix is removed
// (margin.go: time stamps, pids, levels, "E   ", "# ", "| ") and the rules of rules.yaml
// determine what the rest means. JSON and XML reports are parsed as such, from the stream or
// with Report.
//
// # What decides
//
// Facts are kept as a set: the order of tests, threads and log lines does not matter. Of the
// facts found, the most telling decide:
//
//  1. failing checks, findings of compilers and linters, errors, and the values that
//     belong to them; a finding counts once for each place where it occurs
//  2. errors alone, with the steps that were reached and the few lines that no rule
//     explains and that complain or name a place (leftover.go)
//  3. warnings, if there is nothing else, or along with the above if the tool says that
//     they make it fail
//  4. consequences ("make: *** Error 1") and errors in log lines
//     and, unless there are errors in log lines, the lines of 5
//  5. otherwise the set of different masked lines: all of them if there are at most
//     256, else the last 48. If there is a standard error, its lines and the last 8
//     of the standard output. Sets are the same only if no word differs that is not
//     noise; Diff reports how alike two sets are.
//
// The exit code is always part of it. A passing check has the constant signature Pass.
//
// # Noise
//
// docs/signatures.md describes, with examples, what is masked and which numbers are counts and
// stay. Absolute paths lose their directories: below Options.Dir the rest stays, elsewhere the
// last element.
//
// Whether a word is a random id depends on how its letters follow each other, on where
// letters, capitals and digits change (random.go), and on a key in front of it; never on which
// digits it has. So ids of one shape are either all masked or all kept.
//
// In the loose form every number is masked, including those in names (rdd_42), but not those
// in codes (E501).
package signature
