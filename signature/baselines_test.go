package signature

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"
)

// What others do, to stand beside the score: each gives a key for an output.

// rawKey is the hash of the bytes.
func rawKey(out []byte) string { return fmt.Sprint(xxhash.Sum64(out)) }

var firstPatterns = []*regexp.Regexp{
	regexp.MustCompile(`(?m)^--- FAIL: (\S+)`),
	regexp.MustCompile(`(?m)^FAILED (\S+)`),
	regexp.MustCompile(`(?mi)^\s*(?:not ok|✕|×|✗) (.+)$`),
	regexp.MustCompile(`(?m)\berror(?:\[\w+\]| TS\d+)?: (.+)$`),
	regexp.MustCompile(`(?m)^(\w*Error: .+)$`),
	regexp.MustCompile(`(?mi)\b(?:error|failed|failure|fatal)\b(.*)$`),
}

// firstKey is the first match of a few regular expressions.
func firstKey(out []byte) string {
	for _, re := range firstPatterns {
		if m := re.FindSubmatch(out); m != nil {
			return string(m[1])
		}
	}
	return rawKey(out)
}

var maskPatterns = []*regexp.Regexp{
	regexp.MustCompile(`\x1b\[[0-9;]*[A-Za-z]`),
	regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*`),
	regexp.MustCompile(`[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}`),
	regexp.MustCompile(`0x[0-9a-fA-F]+`),
	regexp.MustCompile(`/tmp/\S+`),
	regexp.MustCompile(`\d+(?:\.\d+)?\s?(?:ms|s|µs)\b`),
	regexp.MustCompile(`\d\d:\d\d:\d\d\S*`),
	regexp.MustCompile(`\b[0-9a-f]{7,}\b`),
	regexp.MustCompile(`[:=(]\d+(?:[:,]\d+)?`),
	regexp.MustCompile(`\d+\.\d+`),
	regexp.MustCompile(`\d{3,}`),
}

func maskedByHand(out []byte) []byte {
	for _, re := range maskPatterns {
		out = re.ReplaceAll(out, []byte("#"))
	}
	return out
}

// maskedKey masks the usual suspects and hashes all lines, whatever their order.
func maskedKey(out []byte) string {
	lines := bytes.Split(maskedByHand(out), []byte("\n"))
	slices.SortFunc(lines, bytes.Compare)
	return rawKey(bytes.Join(lines, []byte("\n")))
}

// similar calls two outputs the same when they share 90 % of their masked lines.
func similar(a, b []byte) bool {
	count := map[string]int{}
	la, lb := bytes.Split(maskedByHand(a), []byte("\n")), bytes.Split(maskedByHand(b), []byte("\n"))
	for _, l := range la {
		count[string(l)]++
	}
	shared := 0
	for _, l := range lb {
		if count[string(l)] > 0 {
			count[string(l)]--
			shared++
		}
	}
	return float64(2*shared) >= 0.9*float64(len(la)+len(lb))
}

// baselineTable scores what others do over the pairs and sequences.
func baselineTable(t *testing.T, dir string, pairs []benchPair, seqs []benchSequence) string {
	t.Helper()
	outputs := map[string][]byte{}
	read := func(file string) []byte {
		if _, ok := outputs[file]; !ok {
			out, err := os.ReadFile(filepath.Join(dir, file))
			if err != nil {
				t.Fatal(err)
			}
			outputs[file] = out
		}
		return outputs[file]
	}
	var b strings.Builder
	for _, c := range []struct {
		name string
		key  func([]byte) string
	}{{"hash of the bytes", rawKey}, {"first regular expression", firstKey}, {"mask and hash", maskedKey}, {"90 % similar lines", nil}} {
		var s score
		for _, p := range pairs {
			same := false
			if c.key == nil {
				same = similar(read(p.A), read(p.B))
			} else {
				same = c.key(read(p.A)) == c.key(read(p.B))
			}
			s.pair(p.Same, same)
		}
		if c.key == nil {
			fmt.Fprintf(&b, "%-24s %s\n", c.name, strings.TrimSuffix(s.String(), "    0/0"))
			continue
		}
		for _, q := range seqs {
			var cycles Cycles
			at, period := 0, 0
			for i, file := range q.Files {
				cycles.Add(Hash(xxhash.Sum64String(c.key(read(file)))))
				if p, ok := cycles.Tripped(3); ok && at == 0 {
					at, period = i+1, p
				}
			}
			s.sequence(q, at, period)
		}
		fmt.Fprintf(&b, "%-24s %s\n", c.name, s)
	}
	return b.String()
}
