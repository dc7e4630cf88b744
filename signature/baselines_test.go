package signature

import (
	"bytes"
	"fmt"
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

// TestBaselines prints with -v what others do over the sets.
func TestBaselines(t *testing.T) {
	if !testing.Verbose() || testing.Short() {
		t.Skip("it only prints")
	}
	for _, set := range benchDirs {
		t.Log(baselineTable(loadBench(t, "../testdata/"+set.dir)))
	}
}

// baselineTable scores what others do over the pairs and sequences.
func baselineTable(b *bench) string {
	var sb strings.Builder
	fmt.Fprintf(&sb, "\n%-32s %6s %6s %7s %s\n", b.dir, "prec", "recall", "F1", "sequences")
	outputs := map[string][]byte{}
	for _, r := range b.recordings {
		outputs[r.File] = r.data
	}
	for _, c := range []struct {
		name string
		key  func([]byte) string
	}{{"hash of the bytes", rawKey}, {"first regular expression", firstKey}, {"mask and hash", maskedKey}} {
		keys := map[string]Hash{}
		for file, out := range outputs {
			keys[file] = Hash(xxhash.Sum64String(c.key(out)))
		}
		var s score
		for _, p := range b.pairs {
			s.pair(p.Same, keys[p.A] == keys[p.B])
		}
		for _, q := range b.sequences {
			var hs []Hash
			for _, file := range q.Files {
				hs = append(hs, keys[file])
			}
			at, period := firstTrip(hs, 3)
			s.sequence(q, at, period)
		}
		fmt.Fprintf(&sb, "%-32s %s\n", c.name, s)
	}
	var s score
	for _, p := range b.pairs {
		s.pair(p.Same, similar(outputs[p.A], outputs[p.B]))
	}
	fmt.Fprintf(&sb, "%-32s %s\n", "90 % similar lines", s)
	return sb.String()
}
