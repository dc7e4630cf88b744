// Package signature says from the output of a command what it meant: two outputs
// have the same signature exactly when a developer would call them the same failure.
//
//	s := signature.New(signature.Options{Dir: checkout})
//	cmd.Stdout, cmd.Stderr = s.Stdout(), s.Stderr()
//	...
//	sig := s.Sum(exitCode) // test-fail:2-auth,logout
//	s.Reset()              // ready for the next iteration
//
// A Signer reads the streams as they pass. Memory is bounded whatever is written, and
// how a stream is cut into writes does not matter. The package knows nothing of loops
// or processes; Cycles watches a sequence of signatures for repeats.
//
// # From bytes to facts
//
// Each stream is decoded (stream.go): UTF-16 is recognised, and JSON that carries text is
// opened (internal/carrier). What it carries is cut into lines (text.go): of a line longer
// than 64 KiB the rest is left out. Escape sequences and redraws are applied
// (clean.go), so a line is what a terminal would show. Lines that start with
// "looprun: " are looprun's own and are left out.
//
// The scanner (scan.go, token.go) finds the noise in a line in one pass and hashes
// what stays. What it found in a line holds for every line that differs from it in
// digits and ids only (outline.go), and is remembered there. A line whose hash is
// known to mean nothing ends here: that is what makes long logs cheap. Before that, what
// collectors and runners put in front of every line is cut off (internal/margin); each
// source that it names is read by itself (sources.go). Of the lines that may mean
// something, what a tool puts in front is taken off (margin.go: time stamps, pids,
// levels, "E   ", "# ", "| ") and the rules of rules.yaml say what the
// rest means; what they said of a line, and its masked form, is remembered for lines that
// come again (recent.go). JSON and XML reports are read as such, from the stream or with Report.
//
// # What decides
//
// Facts are kept as a set: the order of tests, threads and log lines does not matter.
// Of what was found, the most telling decides:
//
//  1. failing checks, findings of compilers and linters, errors, and the values that
//     belong to them; a finding counts once for each place that it is at
//  2. errors alone, with the steps that were reached and the few lines that no rule
//     explains and that complain or name a place (leftover.go)
//  3. warnings, where there is nothing else, or beside the above where the tool says that
//     they fail it
//  4. consequences ("make: *** Error 1") and errors in log lines
//     and, except beside errors in log lines, what 5 says
//  5. otherwise the set of different masked lines: all of them if there are at most
//     256, else the last 48. Where there is a standard error, its lines and the last 8
//     of the standard output. Sets are the same only if no word differs that is not
//     noise; Diff says how alike two sets are.
//
// The exit code is always part of it. A passing check has the constant signature Pass.
//
// # Noise
//
// What is masked, and which numbers are counts and stay, is said, with examples, in
// docs/signatures.md. Absolute paths lose their directories: below Options.Dir the rest
// stays, elsewhere the last element.
//
// Whether a word is a random id depends on how its letters follow each other, on where
// letters, capitals and digits change (random.go), and on a key in front of it; never
// on which digits it has. So ids of one shape are masked all, or none of them.
//
// In the loose form every number is masked, those in names too (rdd_42), but not those of
// codes (E501).
package signature
