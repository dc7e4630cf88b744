package dashboard

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/looprun/looprun/internal/atomicfile"
	"github.com/looprun/looprun/internal/origin"
	"github.com/looprun/looprun/scratchpad"
)

// Device is a browser that stays paired after looprun serve has ended. It has a key of its own,
// of which only a keyed hash is kept.
type Device struct {
	Name   string    `json:"name"`
	Host   string    `json:"host"` // of the address at which it was paired; its key works only there
	Paired time.Time `json:"paired"`
	Uses   []Use     `json:"-"` // one for each address, the latest first

	id string
}

// Use is the latest use of a device from an address.
type Use struct {
	Address string    `json:"address"`
	At      time.Time `json:"at"`
}

// devices keeps each device in a file of a directory, under its id. What is known of its use is in
// a second file, which means nothing without the first: a device that was revoked while it was in
// use does not come back, and no lock is needed.
type devices struct {
	dir string // empty: none is kept

	mu sync.Mutex // of the names, and of the uses
}

const (
	deviceFile = ".device"
	usesFile   = ".uses"
	mostUses   = 8           // addresses of a device that are kept
	noteEvery  = time.Minute // how old the time of a device's latest use may become
)

// keyOf returns a browser's public key, a point of P-256 in the form in which the page sends it, and
// the id of the device that has it.
func keyOf(text string) (id string, key *ecdsa.PublicKey, err error) {
	b, err := base64.StdEncoding.DecodeString(text)
	if err == nil {
		key, err = ecdsa.ParseUncompressedPublicKey(elliptic.P256(), b)
	}
	if err == nil {
		id, err = scratchpad.Keyed(append([]byte("looprun device\n"), b...))
	}
	return id, key, err
}

// signed reports whether a signature, in the form in which the page sends it, is the key's over a
// text.
func signed(key *ecdsa.PublicKey, signature, text string) bool {
	b, err := base64.StdEncoding.DecodeString(signature)
	hash := sha256.Sum256([]byte(text))
	return err == nil && len(b) == 64 && ecdsa.Verify(key, hash[:], new(big.Int).SetBytes(b[:32]), new(big.Int).SetBytes(b[32:]))
}

// pairing is the code that lets the next browser in. There is one at a time. It ends after a
// while, with its first use, and with too many wrong ones.
type pairing struct {
	mu    sync.Mutex
	code  *origin.Word
	until time.Time
}

const codeFor = 2 * time.Minute

var errShown = errors.New("the last code has not ended")

// begin makes a code. It fails while the last one has not ended, or was guessed at too often.
func (p *pairing) begin(now time.Time) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case !now.Before(p.until):
		p.code, p.until = new(origin.Word), now.Add(codeFor)
		return p.code.Make(), nil
	case p.code.Spent():
		return "", origin.ErrTries
	}
	return "", errShown
}

// check uses up the code. It fails with an error of [origin.Word.Check].
func (p *pairing) check(code string, now time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !now.Before(p.until) {
		return origin.ErrNoWord
	}
	err := p.code.Check(strings.ToUpper(strings.TrimSpace(code)))
	if err == nil {
		p.code, p.until = nil, time.Time{}
	}
	return err
}

// knows reports whether a device is paired, at that host.
func (d *devices) knows(id, host string) bool {
	one, err := readDevice(d.dir, id)
	return d.dir != "" && err == nil && one.Host == host
}

// pair keeps a device, under the name or one that begins with it, and returns that name.
func (d *devices) pair(id, name, host string) (string, error) {
	d.mu.Lock() // two at once would get the same name
	defer d.mu.Unlock()
	if err := os.MkdirAll(d.dir, 0o700); err != nil {
		return "", err
	}
	others, err := Devices(d.dir)
	if err != nil {
		return "", err
	}
	one := Device{Name: name, Host: host, Paired: time.Now()}
	for n := 2; slices.ContainsFunc(others, func(o Device) bool { return o.Name == one.Name && o.id != id }); n++ {
		one.Name = fmt.Sprintf("%s-%d", name, n)
	}
	return one.Name, writeJSON(filepath.Join(d.dir, id+deviceFile), one)
}

// note keeps from where a device is used, and when.
func (d *devices) note(id, address string, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	uses := usesOf(d.dir, id)
	if len(uses) > 0 && uses[0].Address == address && now.Sub(uses[0].At).Abs() < noteEvery { // or the clock was set back
		return
	}
	uses = slices.DeleteFunc(uses, func(u Use) bool { return u.Address == address })
	uses = append([]Use{{address, now}}, uses...)
	_ = writeJSON(filepath.Join(d.dir, id+usesFile), uses[:min(len(uses), mostUses)]) // otherwise the next use is written
}

func writeJSON(name string, v any) error {
	b, _ := json.Marshal(v) // texts and times of now always encode
	return atomicfile.Write(name, b, false)
}

func readJSON(name string, v any) error {
	b, err := os.ReadFile(name)
	return cmp.Or(err, json.Unmarshal(b, v))
}

func readDevice(dir, id string) (one Device, err error) {
	one.id = id
	err = readJSON(filepath.Join(dir, id+deviceFile), &one)
	return one, err
}

func usesOf(dir, id string) (uses []Use) {
	_ = readJSON(filepath.Join(dir, id+usesFile), &uses) // a damaged list begins again
	return uses
}

// Devices returns the paired devices that a directory keeps, the latest used first.
func Devices(dir string) ([]Device, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var list []Device
	for _, e := range entries {
		id := strings.TrimSuffix(e.Name(), deviceFile)
		one, err := readDevice(dir, id)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it is no device, or has just been revoked
		} else if err != nil {
			return nil, fmt.Errorf("%s cannot be read; remove it, and pair the device again: %w", filepath.Join(dir, e.Name()), err)
		}
		if one.Uses = usesOf(dir, id); len(one.Uses) == 0 {
			one.Uses = []Use{{At: one.Paired}}
		}
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, b Device) int { return cmp.Or(b.Uses[0].At.Compare(a.Uses[0].At), cmp.Compare(a.Name, b.Name)) })
	return list, nil
}

// Revoke removes the paired device of that name; all of them, if servers that paired at the same
// moment gave several the same. Pages that it has open end.
func Revoke(dir, name string) error {
	list, err := Devices(dir)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(d Device) bool { return d.Name != name })
	if len(list) == 0 {
		return fmt.Errorf("no device is called %q; looprun serve --devices lists them", name)
	}
	for _, d := range list {
		at := filepath.Join(dir, d.id)
		err = errors.Join(err, os.Remove(at+deviceFile))
		_ = os.Remove(at + usesFile) // it means nothing any more
	}
	return err
}

// nameOf names the browser of a request, by words that are easy to type.
func nameOf(r *http.Request) string {
	name := []string{}
	for _, known := range [][][2]string{
		{{"Edg", "edge"}, {"OPR/", "opera"}, {"Firefox/", "firefox"}, {"FxiOS", "firefox"}, {"Chrom", "chrome"}, {"CriOS", "chrome"}, {"Safari/", "safari"}, {"", "browser"}},
		{{"Android", "android"}, {"iPhone", "iphone"}, {"iPad", "ipad"}, {"Windows", "windows"}, {"Mac OS", "mac"}, {"Linux", "linux"}, {"", "unknown"}},
	} {
		i := slices.IndexFunc(known, func(k [2]string) bool { return strings.Contains(r.UserAgent(), k[0]) })
		name = append(name, known[i][1])
	}
	return strings.Join(name, "-")
}

// addressOf returns where a request comes from. A proxy on this machine says for whom it asks.
func addressOf(r *http.Request) string {
	from, _, _ := net.SplitHostPort(r.RemoteAddr)
	for_ := strings.Split(r.Header.Get("X-Forwarded-For"), ",")
	if behind, err := netip.ParseAddr(strings.TrimSpace(for_[len(for_)-1])); err == nil {
		return behind.String() + " through " + from
	}
	return from
}
