package signature

import (
	"fmt"
	"math/rand"
	"os"
	"regexp"
	"strings"
	"testing"
)

const (
	smalls = "abcdefghijklmnopqrstuvwxyz"
	bigs   = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	base10 = "0123456789"
	base62 = smalls + bigs + base10
	base32 = bigs + "234567"
	hex16  = base10 + "abcdef"
	podSet = "bcdfghjklmnpqrstvwxz2456789"
)

func drawn(rnd *rand.Rand, alphabet string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[rnd.Intn(len(alphabet))]
	}
	return string(b)
}

// Ids of one shape are masked all, or none of them.
func TestIDsOfOneShape(t *testing.T) {
	id := func(alphabet string, n int) func(*rand.Rand) string {
		return func(rnd *rand.Rand) string { return drawn(rnd, alphabet, n) }
	}
	shapes := []struct {
		name   string
		masked bool
		line   string
		id     func(*rand.Rand) string
	}{
		{"base62 of 8", false, "error: cannot find %s in the store", id(base62, 8)},
		{"base62 of 12", true, "error: cannot find %s in the store", id(base62, 12)},
		{"base62 of 16", true, "error: cannot find %s in the store", id(base62, 16)},
		{"base62 of 20", true, "error: wrong discount for cart %s: 0", id(base62, 20)},
		{"base62 of 24", true, "error: expected '%s' to be gone", id(base62, 24)},
		{"base62 of 32", true, "error: cannot find %s in the store", id(base62, 32)},
		{"capitals and digits of 16", true, "error: api error AccessDenied, %s", id(bigs+base10, 16)},
		{"base32 of 16", true, "error: cannot find %s in the store", id(base32, 16)},
		{"base32 of 26", true, "error: cannot find %s in the store", id(base32, 26)},
		{"small letters and digits of 25", true, "error: cannot find %s in the store", id(smalls+base10, 25)},
		{"base58 of 22", true, "error: cannot find %s in the store", id("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", 22)},
		{"nanoid", true, "error: cannot find user %s", id(base62+"_", 21)},
		{"hex of 7", true, "error: could not apply %s... topic", id(hex16, 7)},
		{"hex of 8", true, "error: cannot find %s in the store", id(hex16, 8)},
		{"hex of 12", true, "error: cannot find %s in the store", id(hex16, 12)},
		{"hex of 40", true, "error: cannot find %s in the store", id(hex16, 40)},
		{"base62 of 11 as a ref", true, "error: expected [ { ref: '%s', …(2) } ] to be empty", id(base62, 11)},
		{"base62 of 8 as an id", true, "error: no such booking, id: %s", id(base62, 8)},
		{"base62 of 8 as a token", true, `error: {:token => "%s"} is not there`, id(base62, 8)},
		{"request id", true, "error: access denied, RequestID: %s", id(bigs+base10, 16)},
		{"request id with a prefix", true, "error: overloaded (%s)", func(rnd *rand.Rand) string { return "req_011C" + drawn(rnd, base62, 20) }},
		{"call id", true, "error: no result for call_%s", id(base62, 24)},
		{"short call id", true, "error: no result for call_%s", id(base62, 7)},
		{"pod", true, `error: pod "api-%s" is not ready`, func(rnd *rand.Rand) string { return drawn(rnd, podSet, 9) + "-" + drawn(rnd, podSet, 5) }},
		{"pod with a longer hash", true, "error: api-%s is not ready", func(rnd *rand.Rand) string { return drawn(rnd, podSet, 10) + "-" + drawn(rnd, podSet, 5) }},
		{"pod of a daemon set", true, "error: pod/node-exporter-%s is not ready", id(podSet, 5)},
	}
	for _, s := range shapes {
		rnd := rand.New(rand.NewSource(1))
		facts := map[string]int{}
		for range 30 {
			facts[sign(fmt.Sprintf(s.line, s.id(rnd))+"\n", 1).Facts[0]]++
		}
		if s.masked && len(facts) != 1 || !s.masked && len(facts) != 30 {
			t.Errorf("%s: masked: want %v for all, got %d different facts: %v", s.name, s.masked, len(facts), facts)
		}
	}
}

// Names that people give stay, whatever they consist of.
func TestNamesStay(t *testing.T) {
	sc := &scanner{}
	for _, s := range []string{
		"SIOCGIFHWADDR", "SetsockoptIPv6Mreq", "ECDSAWithP256AndSHA256", "chacha20poly1305", "http2ErrNoCachedConn", "getElementsByTagNameNS",
		"XMLHttpRequest", "ERR_PNPM_OUTDATED_LOCKFILE", "E_WOULDBLOCK", "PGRST116", "SQLSTATE 42P01", "x86_64", "IPv4Addr", "utf8mb4", "base64url",
		"id: SC2086", "id: login-button", "ref: main", "ref=v1.2.3", "id: user42", "rule id: no-undef", "token: undefined", "call_count", "run_tests", "request_timeout",
		"foo-http2-https", "web-grpcs", "test-mysql-https", "pod/web-0", "Verzeichnisstruktur", "Zeichenkettenkonstante", "nichtvorhanden", "wyszczególnienie",
	} {
		if got := string(sc.text(nil, []byte(s), false)); got != s {
			t.Errorf("%s is masked: %s", s, got)
		}
	}
}

// No name of a test, a file, a package or an error code in the recordings is masked.
func TestRecordedNamesStay(t *testing.T) {
	dir := benchDir
	if d := os.Getenv("STUCKBENCH_DIR"); d != "" {
		dir = d
	}
	names := map[string]bool{}
	file := regexp.MustCompile(`[\w./-]*[a-z_]\.(?:go|py|rs|js|ts|tsx|c|h|cpp|java|rb|php|sh|bats|ex|exs|lua|pl|t|tcl|hs|feature|ya?ml|json|toml|tf)\b|\b(?:E|TS|SC|CS|F|W|C|D)\d{3,5}\b|\berror\[E\d+\]`)
	for _, r := range loadBench(t, dir).recordings {
		for _, n := range r.Failing {
			names[n] = true
		}
		for _, m := range file.FindAllString(string(r.data), -1) {
			names[m[strings.LastIndexByte(m, '/')+1:]] = true
		}
	}
	if len(names) < 50 {
		t.Fatalf("%d names: this tests too little", len(names))
	}
	sc := &scanner{}
	for n := range names {
		if got := string(sc.name(nil, []byte(n), false)); got != n {
			t.Errorf("%s is masked: %s", n, got)
		}
	}
}

// The pieces of an id that dashes set off are part of it, as in the ids of nanoid.
func TestPiecesOfAnID(t *testing.T) {
	for a, b := range map[string]string{
		"error: session V1StGXR8Z5jdHi6B-myT8 expired": "error: session q7LkP2wXz9NbVt4R-Xk2d expired",
		"error: session V1StGXR8Z5jdHi6B-mXyT expired": "error: session q7LkP2wXz9NbVt4R-QkZd expired",
		"error: upload 8Kd-V1StGXR8Z5jdHi6Bq failed":   "error: upload w4Q-q7LkP2wXz9NbVt4Rm failed",
	} {
		if one, other := sign(a+"\n", 1), sign(b+"\n", 1); one.Hash != other.Hash {
			t.Errorf("%q and %q", one.Facts, other.Facts)
		}
	}
}
