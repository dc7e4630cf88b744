package dashboard

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/looprun/looprun/internal/eventually"
	"github.com/looprun/looprun/internal/origin"
)

// aBrowser has a key, as a browser makes it.
type aBrowser struct {
	key    *ecdsa.PrivateKey
	public string
}

func newBrowser(t *testing.T) aBrowser {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	public, err := key.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return aBrowser{key, base64.StdEncoding.EncodeToString(public)}
}

// back is what a paired browser sends to a server that has started.
func (b aBrowser) back(t *testing.T, challenge string) string {
	t.Helper()
	hash := sha256.Sum256([]byte(challenge))
	x, y, err := ecdsa.Sign(rand.Reader, b.key, hash[:])
	if err != nil {
		t.Fatal(err)
	}
	signature := make([]byte, 64)
	x.FillBytes(signature[:32])
	y.FillBytes(signature[32:])
	return `{"key": "` + b.public + `", "signature": "` + base64.StdEncoding.EncodeToString(signature) + `"}`
}

// paired is a server that keeps devices, and a browser that the code let in.
func paired(t *testing.T) (v *serving, shown func() string, b aBrowser, token string) {
	t.Helper()
	v, shown = door(t)
	v.devices.dir, v.from = filepath.Join(t.TempDir(), "devices"), origin.Unknown
	b = newBrowser(t)
	v.enter("{}")
	code, token, said := v.enter(`{"code": "`+shown()+`", "key": "`+b.public+`"}`, header("User-Agent", "Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 Chrome/120.0 Mobile Safari/537.36"))
	if code != 200 {
		t.Fatalf("%d %s", code, said)
	}
	return v, shown, b, token
}

func bearer(token string) func(*http.Request) { return header("Authorization", "Bearer "+token) }

// restarted is what comes after a server: other secrets, the same devices.
func (v *serving) restarted() { v.token, v.secret, v.challenge = random(), random(), random() }

// A device that is paired again keeps its name, and each other gets one of its own.
func TestNamesOfDevices(t *testing.T) {
	d, named := &devices{dir: t.TempDir()}, make(chan string)
	go func() { // a name that is sought without end would hang the test
		for _, id := range []string{"a", "a", "b", "c"} {
			name, err := d.pair(id, "chrome", "localhost")
			named <- fmt.Sprint(name, err)
		}
	}()
	for _, want := range []string{"chrome<nil>", "chrome<nil>", "chrome-2<nil>", "chrome-3<nil>"} {
		if got := eventually.Receive(t, "a device has a name", named); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// A paired browser is let in by its key alone after the server was started again. A key that was not
// paired, another's signature, an old one, another address and a process below a run are not.
func TestADeviceComesBack(t *testing.T) {
	v, _, b, token := paired(t)
	before := b.back(t, v.challenge)
	v.restarted()
	w := v.request("GET", "/api/runs", "", bearer(token))
	if w.Code != 401 || !strings.Contains(w.Header().Get("WWW-Authenticate"), v.challenge) {
		t.Fatalf("an old token: %d %v", w.Code, w.Header())
	}
	other := newBrowser(t)
	mixed := strings.Replace(other.back(t, v.challenge), other.public, b.public, 1)
	v.hosts["localhost:9000"] = true
	if err := writeJSON(filepath.Join(v.devices.dir, deviceFile), Device{Host: v.ln.Addr().String()}); err != nil { // no key has this id
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		body string
		from origin.Origin
		host string
		want int
	}{
		"its key":              {b.back(t, v.challenge), origin.Unknown, "", 200},
		"an old signature":     {before, origin.Unknown, "", 401},
		"another key":          {other.back(t, v.challenge), origin.Unknown, "", 401},
		"another's signature":  {mixed, origin.Unknown, "", 401},
		"a key and more":       {strings.Replace(b.back(t, v.challenge), b.public, b.public+"!", 1), origin.Unknown, "", 401},
		"a signature and more": {strings.Replace(b.back(t, v.challenge), `"}`, `!"}`, 1), origin.Unknown, "", 401},
		"a short signature":    {`{"key": "` + b.public + `", "signature": "AAAA"}`, origin.Unknown, "", 401},
		"no signature":         {`{"key": "` + b.public + `"}`, origin.Unknown, "", 200}, // asks for a code
		"no key":               {strings.Replace(b.back(t, v.challenge), b.public, "AAAA", 1), origin.Unknown, "", 401},
		"another address":      {b.back(t, v.challenge), origin.Unknown, "localhost:9000", 401},
		"below a run":          {b.back(t, v.challenge), origin.Inside, "", 403},
	} {
		v.from = c.from
		code, token, said := v.enter(c.body, func(r *http.Request) {
			if c.host != "" {
				r.Host = c.host
			}
		})
		if code != c.want || (token != "") != (name == "its key") {
			t.Errorf("%s: %d %s", name, code, said)
		}
		if token != "" {
			if w := v.request("POST", "/api/runs/"+v.key+"/answer", anAnswer, bearer(token)); w.Code != 200 {
				t.Errorf("its answer: %d %s", w.Code, w.Body)
			}
			v.from = origin.Inside
			if w := v.request("POST", "/api/runs/"+v.key+"/answer", anAnswer, bearer(token)); w.Code != 403 {
				t.Errorf("its token below a run: %d %s", w.Code, w.Body)
			}
		}
	}
}

// What is kept lets nobody in: the files are the user's alone, and have no key and no token. Who
// cannot read the user's own key cannot add a device.
func TestWhatIsKeptOfADevice(t *testing.T) {
	v, _, b, token := paired(t)
	entries, err := os.ReadDir(v.devices.dir)
	if err != nil || len(entries) != 2 {
		t.Fatalf("%v: %v", err, entries)
	}
	key, _ := base64.StdEncoding.DecodeString(b.public)
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(v.devices.dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if info, err := e.Info(); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", e.Name(), err, info.Mode())
		}
		for _, secret := range []string{b.public, string(key), strings.SplitN(token, ".", 2)[1], fmt.Sprintf("%x", key)} {
			if bytes.Contains(text, []byte(secret)) || strings.Contains(e.Name(), secret) {
				t.Errorf("%s: %s", e.Name(), text)
			}
		}
	}
	t.Setenv("XDG_STATE_HOME", t.TempDir()) // with another key
	if code, _, _ := v.enter(b.back(t, v.challenge)); code != 401 {
		t.Errorf("a device under another user's key: %d", code)
	}
}

// A device has a name that can be typed, and is listed with each address from which its key is used:
// a copied key is seen. Revoked, it is not let in, its token is worth nothing, and it does not come
// back by being used.
func TestDevicesAreListedAndRevoked(t *testing.T) {
	v, shown, b, token := paired(t)
	list := func() []Device {
		t.Helper()
		list, err := Devices(v.devices.dir)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	one := list()
	if len(one) != 1 || one[0].Name != "chrome-android" || one[0].Host != v.ln.Addr().String() || len(one[0].Uses) != 1 || one[0].Uses[0].Address != "192.0.2.1" {
		t.Fatalf("%+v", one)
	}
	for _, c := range []struct {
		change func(*http.Request)
		from   string
	}{
		{func(r *http.Request) { r.RemoteAddr = "127.0.0.2:99" }, "127.0.0.2"},
		{func(r *http.Request) {
			r.RemoteAddr = "127.0.0.1:99"
			r.Header.Set("X-Forwarded-For", "1.1.1.1, 100.64.0.7")
		}, "100.64.0.7 through 127.0.0.1"},
		{func(r *http.Request) {
			r.RemoteAddr = "127.0.0.1:99"
			r.Header.Set("X-Forwarded-For", "\x1b[31m")
		}, "127.0.0.1"},
	} {
		if w := v.request("GET", "/api/runs", "", bearer(token), c.change); w.Code != 200 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		if uses := list()[0].Uses; uses[0].Address != c.from {
			t.Errorf("used from %s, listed: %+v", c.from, uses)
		}
	}
	if uses := list()[0].Uses; len(uses) != 4 {
		t.Errorf("%+v", uses)
	}
	id, _, err := keyOf(b.public)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().Add(-time.Hour) // the clock was set back
	v.devices.note(id, "127.0.0.1", now)
	v.devices.note(id, "127.0.0.1", now.Add(noteEvery-1)) // too soon to be written
	if uses := list()[0].Uses; !uses[0].At.Equal(now) || len(uses) != 4 {
		t.Errorf("%+v, want %s", uses, now)
	}

	second := newBrowser(t)
	v.enter("{}")
	if code, _, said := v.enter(`{"code": "`+shown()+`", "key": "`+second.public+`"}`, header("User-Agent", "Android Chrome")); code != 200 {
		t.Fatalf("%d %s", code, said)
	}
	if two := list(); len(two) != 2 || two[0].Name != "chrome-android-2" {
		t.Fatalf("%+v", two)
	}
	if err := Revoke(v.devices.dir, "chrome"); err == nil || !strings.Contains(err.Error(), `no device is called "chrome"`) {
		t.Errorf("%v", err)
	}
	if err := Revoke(v.devices.dir, "chrome-android"); err != nil {
		t.Fatal(err)
	}
	v.devices.note(id, "127.0.0.9", time.Now()) // a request that was under way
	if w := v.request("GET", "/api/runs", "", bearer(token)); w.Code != 401 {
		t.Errorf("its token: %d", w.Code)
	}
	if code, _, _ := v.enter(b.back(t, v.challenge)); code != 401 {
		t.Errorf("its key: %d", code)
	}
	if code, token, _ := v.enter(second.back(t, v.challenge)); code != 200 || token == "" {
		t.Errorf("the other device: %d", code)
	}
	if left := list(); len(left) != 1 || left[0].Name != "chrome-android-2" {
		t.Errorf("%+v", left)
	}
}

// There are no devices where there is no folder for them, and none is where one has just been revoked.
// What cannot be read is said, and lets nobody in; no other is paired beside it.
func TestDevicesThatCannotBeRead(t *testing.T) {
	v, shown, b, _ := paired(t)
	dir := v.devices.dir
	if list, err := Devices(filepath.Join(dir, "none")); len(list) > 0 || err != nil {
		t.Errorf("no folder: %v %v", list, err)
	}
	if list, err := Devices(filepath.Join(v.dir, "journal.jsonl")); err == nil {
		t.Errorf("a file: %v", list)
	}
	if os.Symlink("gone", filepath.Join(dir, "gone"+deviceFile)) == nil {
		if list, err := Devices(dir); len(list) != 1 || err != nil {
			t.Errorf("one that has just been revoked: %v %v", list, err)
		}
	}
	id, _, err := keyOf(b.public)
	if err != nil {
		t.Fatal(err)
	}
	if err := writeJSON(filepath.Join(dir, id+deviceFile), map[string]any{"host": v.ln.Addr().String(), "paired": 5}); err != nil {
		t.Fatal(err)
	}
	if err := Revoke(dir, "chrome-android"); err == nil || !strings.Contains(err.Error(), id+deviceFile+" cannot be read") {
		t.Errorf("it is revoked: %v", err)
	}
	if code, _, _ := v.enter(b.back(t, v.challenge)); code != 401 {
		t.Errorf("it is let in: %d", code)
	}
	v.enter("{}")
	if code, token, said := v.enter(`{"code": "` + shown() + `", "key": "` + newBrowser(t).public + `"}`); code != 200 || !strings.HasPrefix(token, ".") {
		t.Errorf("another is paired: %d %q %s", code, token, said)
	}
}

// Browsers that are paired at once have different names. Devices that have the same name nevertheless
// are revoked together.
func TestDevicesThatArePairedAtOnce(t *testing.T) {
	v := newServing(t, false)
	v.devices.dir = filepath.Join(t.TempDir(), "devices")
	const many = 20
	var all sync.WaitGroup
	for i := range many {
		all.Go(func() {
			if _, err := v.devices.pair(fmt.Sprint(i), "chrome-linux", "localhost"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for i := range 2 * mostUses {
		v.devices.note("0", fmt.Sprint(i), time.Now())
	}
	if n := len(usesOf(v.devices.dir, "0")); n != mostUses {
		t.Errorf("%d addresses are kept", n)
	}
	list, err := Devices(v.devices.dir)
	names := map[string]bool{}
	for _, d := range list {
		names[d.Name] = true
	}
	if err != nil || len(list) != many || len(names) != many {
		t.Fatalf("%v: %d devices with the names %v", err, len(list), names)
	}
	if err := writeJSON(filepath.Join(v.devices.dir, "another"+deviceFile), list[0]); err != nil {
		t.Fatal(err)
	}
	if err := Revoke(v.devices.dir, list[0].Name); err != nil {
		t.Fatal(err)
	}
	if left, err := Devices(v.devices.dir); err != nil || len(left) != many-1 {
		t.Errorf("%v: %d are left", err, len(left))
	}
}

// A browser that cannot have a key, or whose key cannot be kept, is let in until the server ends.
func TestABrowserWithoutAKey(t *testing.T) {
	v, shown, b, _ := paired(t)
	kept, say, warned := v.devices.dir, v.o.Say, false
	v.o.Say = func(line string) {
		say(line)
		warned = warned || strings.HasPrefix(line, "warning: a browser is let in, but not paired")
	}
	t.Chdir(kept) // no device is sought or noted here where none is kept
	for name, c := range map[string]struct {
		key, dir string
		warns    bool
	}{
		"no key":        {"", kept, false},
		"a broken key":  {"AAAA", kept, true},
		"no room":       {newBrowser(t).public, filepath.Join(v.dir, "journal.jsonl", "x"), true},
		"no fixed port": {newBrowser(t).public, "", false},
	} {
		v.devices.dir, warned = c.dir, false
		v.enter("{}")
		code, token, said := v.enter(`{"code": "` + shown() + `", "key": "` + c.key + `"}`)
		if code != 200 || !strings.HasPrefix(token, ".") || v.request("GET", "/api/runs", "", bearer(token)).Code != 200 {
			t.Errorf("%s: %d %q %s", name, code, token, said)
		}
		if warned != c.warns {
			t.Errorf("%s: it warns: %v", name, warned)
		}
	}
	v.devices.dir = ""
	if code, _, _ := v.enter(b.back(t, v.challenge)); code != 401 {
		t.Errorf("a device of another server: %d", code)
	}
	if entries, err := os.ReadDir(kept); len(entries) != 2 || err != nil {
		t.Errorf("%v, %v are kept", entries, err)
	}
}

// Names that a proxy or a forwarded port has are let through when they were given, and only as they
// were given.
func TestHosts(t *testing.T) {
	for _, name := range []string{"", "https://x", "x/", "x:y", "*.example", "a@b", "a b", "x#"} {
		if s, err := Listen(Options{Hosts: []string{name}}); err == nil {
			s.ln.Close()
			t.Errorf("%q is taken", name)
		}
	}
	s, err := Listen(Options{Hosts: []string{"Laptop.example", "localhost:9000"}, Dirs: func() []string { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.ln.Close()
	v := &serving{Server: s, t: t}
	for host, want := range map[string]int{"laptop.example": 200, "localhost:9000": 200, "laptop.example:80": 421, "localhost:9001": 421, "a.laptop.example": 421, s.ln.Addr().String(): 200} {
		if w := v.request("GET", "/", "", func(r *http.Request) { r.Host = host }); w.Code != want {
			t.Errorf("%s: %d", host, w.Code)
		}
	}
}
