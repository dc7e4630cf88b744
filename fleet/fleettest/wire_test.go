//go:build server

package fleettest

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"google.golang.org/protobuf/proto"

	"github.com/looprun/looprun/fleet"
)

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string // its certificate
}

func newAuthority(t *testing.T) *authority {
	a := &authority{}
	a.cert = &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	pair, _ := a.sign(t, a.cert)
	a.file = pair
	return a
}

// sign makes a certificate and its key, and returns the files with them.
func (a *authority) sign(t *testing.T, c *x509.Certificate) (cert, key string) {
	t.Helper()
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if a.key == nil {
		a.key = own
	}
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	der, err := x509.CreateCertificate(rand.Reader, c, a.cert, &own.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(own)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for name, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

func (a *authority) client(t *testing.T) (cert, key string) {
	return a.sign(t, &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "worker"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
}

// outside is an address of this machine that is not the loopback interface's, so that the
// programs take it for another machine.
func outside(t *testing.T) net.IP {
	t.Helper()
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && !n.IP.IsLoopback() {
			return n.IP
		}
	}
	t.Skip("this machine has the loopback interface alone")
	return nil
}

// door is where the server is reached from outside: by TLS alone.
func door(t *testing.T, a *authority, clients tls.ClientAuthType) net.Listener {
	t.Helper()
	ip := outside(t)
	cert, key := a.sign(t, &x509.Certificate{SerialNumber: big.NewInt(3), Subject: pkix.Name{CommonName: "server"}, IPAddresses: []net.IP{ip}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	known := x509.NewCertPool()
	text, err := os.ReadFile(a.file)
	if err != nil || !known.AppendCertsFromPEM(text) {
		t.Fatal(a.file, err)
	}
	l, err := tls.Listen("tcp", net.JoinHostPort(ip.String(), "0"), &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: clients, ClientCAs: known, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// outer is a fleet that is reached from outside.
type outer struct {
	t    *testing.T
	args []string
}

// says runs a command of looprun-fleet and returns what it says, and whether it succeeded.
func (o *outer) says(args ...string) (string, bool) {
	o.t.Helper()
	name, rest := args[0], args[1:]
	out, err := exec.Command(program(o.t, "looprun-fleet"), append(append([]string{name}, o.args...), rest...)...).CombinedOutput()
	return strings.TrimSpace(string(out)), err == nil
}

// lives makes the namespace, starts a worker, and runs loops with a word that is for
// nobody else. It returns the id of one that is done.
func (o *outer) lives(word string) string {
	o.t.Helper()
	if out, ok := o.says("init"); !ok {
		o.t.Fatal(out)
	}
	dir := o.t.TempDir()
	allow := filepath.Join(dir, "allow.yaml")
	if err := os.WriteFile(allow, []byte("commands: [\"echo "+word+"\"]\n"), 0o600); err != nil {
		o.t.Fatal(err)
	}
	worker := append([]string{"worker", "--name", "outer", "--root", filepath.Join(dir, "root")}, o.args...)
	if out, err := exec.Command(program(o.t, "looprun-fleet"), worker...).CombinedOutput(); err == nil || !strings.Contains(string(out), "--allow") {
		o.t.Errorf("a worker without a list: %v: %s", err, out)
	}
	worker = append(worker, "--allow", allow)
	o.keepsKeys(worker)
	start(o.t, "runs up to", "looprun-fleet", worker...)
	id, ok := o.says("submit", "--name", "in the open", "--", "echo", word)
	if !ok {
		o.t.Fatal(id)
	}
	id = strings.Fields(id)[0]
	if out, ok := o.says("wait", id); !ok {
		o.t.Error(out)
	}
	if out, _ := o.says("logs", id, "-n", "1"); out != word {
		o.t.Errorf("logs: %q", out)
	}
	other, _ := o.says("submit", "--", "id")
	if out, ok := o.says("wait", strings.Fields(other)[0]); ok {
		o.t.Errorf("a command that is not in the list has run: %s", out)
	}
	return id
}

// keepsKeys holds that a worker does not become a user that can read one of its keys, or own it.
func (o *outer) keepsKeys(worker []string) {
	o.t.Helper()
	if os.Getuid() != 0 {
		return
	}
	root := filepath.Join(o.t.TempDir(), "root")
	for i, flag := range o.args {
		if !strings.HasSuffix(flag, "key-file") && flag != "--tls-key" {
			continue
		}
		name := o.args[i+1]
		forAll(o.t, filepath.Dir(name))
		for owner, mode := range map[int]os.FileMode{65534: 0, 0: 0o644} {
			if err := errors.Join(os.Chown(name, owner, 0), os.Chmod(name, mode)); err != nil {
				o.t.Fatal(err)
			}
			want := fmt.Sprintf("looprun-fleet: --user nobody: it can read %s; chown root %[1]s and chmod 600 %[1]s\n", name)
			if owner == 0 && flag == "--key-file" {
				want = fmt.Sprintf("looprun-fleet: %s can be read by others (mode 0644); run chmod 600 on it\n", name)
			}
			if said := turnedAway(o.t, 0, "looprun-fleet", append(worker[:len(worker):len(worker)], "--user", "nobody", "--root", root)...); said != want {
				o.t.Errorf("%s: %q, not %q", flag, said, want)
			}
		}
		if err := errors.Join(os.Chown(name, 0, 0), os.Chmod(name, 0o600)); err != nil {
			o.t.Fatal(err)
		}
	}
}

// kept is what the server has of a loop.
func kept(t *testing.T, namespace, id string) []byte {
	t.Helper()
	f, err := (&fleet.Server{Address: server.address, Namespace: namespace}).Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d, err := f.Client().DescribeWorkflowExecution(t.Context(), id, "")
	if err != nil {
		t.Fatal(err)
	}
	all, err := proto.Marshal(d)
	for it := f.Client().GetWorkflowHistory(t.Context(), id, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); err == nil && it.HasNext(); {
		e, each := it.Next()
		if each != nil {
			t.Fatal(each)
		}
		all, err = proto.MarshalOptions{}.MarshalAppend(all, e)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// With mutual TLS the fleet is reached by those with a certificate alone, and the server
// has no word of what loops run and print.
func TestMutualTLS(t *testing.T) {
	newYard(t) // the server
	a, strangers := newAuthority(t), newAuthority(t)
	l := door(t, a, tls.RequireAndVerifyClientCert)
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", server.address)
			if err != nil {
				_ = from.Close()
				continue
			}
			go func() { _, _ = io.Copy(to, from); _ = to.Close() }()
			go func() { _, _ = io.Copy(from, to); _ = from.Close() }()
		}
	}()
	at, key := []string{"--address", l.Addr().String(), "--namespace", "tls"}, filepath.Join(t.TempDir(), "team.key")
	cert, private := a.client(t)
	strange, strangePrivate := strangers.client(t)
	const word = "a-word-of-nobody-else"
	id := (&outer{t, append(at, "--tls-cert", cert, "--tls-key", private, "--tls-ca", a.file, "--key-file", key)}).lives(word)
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"nothing":                     {nil, "--key-file"},
		"no certificate":              {[]string{"--key-file", key}, "you have no credentials"},
		"a certificate of a stranger": {[]string{"--key-file", key, "--tls-ca", a.file, "--tls-cert", strange, "--tls-key", strangePrivate}, "cannot be reached"},
		"a server of a stranger":      {[]string{"--key-file", key, "--tls-ca", strangers.file, "--tls-cert", cert, "--tls-key", private}, "certificate"},
		"another name":                {[]string{"--key-file", key, "--tls-ca", a.file, "--tls-cert", cert, "--tls-key", private, "--tls-server-name", "else.example.com"}, "certificate"},
	} {
		if out, ok := (&outer{t, append(at[:len(at):len(at)], c.args...)}).says("list"); ok || !strings.Contains(out, c.want) {
			t.Errorf("%s: %v: %s", name, ok, out)
		}
	}
	has := kept(t, "tls", id)
	if bytes.Contains(has, []byte(word)) || bytes.Contains(has, []byte("looprun-gzip")) || !bytes.Contains(has, []byte("looprun-aes-gcm")) || !bytes.Contains(has, []byte("in the open")) {
		t.Errorf("the server has %q", has)
	}
	other := filepath.Join(t.TempDir(), "other.key")
	(&outer{t, append(at[:len(at):len(at)], "--tls-cert", cert, "--tls-key", private, "--tls-ca", a.file, "--key-file", other)}).says("init")
	if out, _ := (&outer{t, append(at[:len(at):len(at)], "--tls-cert", cert, "--tls-key", private, "--tls-ca", a.file, "--key-file", other)}).says("show", "in the open"); !strings.Contains(out, "another key") {
		t.Errorf("with another key: %s", out)
	}
}

// With an API key the fleet is reached by those who have it alone.
func TestAnAPIKey(t *testing.T) {
	newYard(t) // the server
	a := newAuthority(t)
	l := door(t, a, tls.NoClientCert)
	to, _ := url.Parse("http://" + server.address)
	plain := new(http.Protocols)
	plain.SetUnencryptedHTTP2(true)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }, Transport: &http.Transport{Protocols: plain}, FlushInterval: -1}
	var refused atomic.Int64
	s := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer the-api-key" {
			refused.Add(1)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		proxy.ServeHTTP(w, r)
	})}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close() })
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	at := []string{"--address", l.Addr().String(), "--namespace", "api", "--tls-ca", a.file, "--key-file", filepath.Join(dir, "team.key")}
	(&outer{t, append(at[:len(at):len(at)], "--api-key-file", file("right", "the-api-key\n"))}).lives("a-word-behind-a-key")
	if n := refused.Load(); n != 0 {
		t.Errorf("%d calls came without the key", n)
	}
	if out, ok := (&outer{t, append(at[:len(at):len(at)], "--api-key-file", file("wrong", "another"))}).says("list"); ok || refused.Load() == 0 {
		t.Errorf("with another key: %s", out)
	}
	if out, ok := (&outer{t, append(at[:len(at):len(at)], "--api-key-file", file("empty", "\n"))}).says("list"); ok || !strings.Contains(out, "is empty") {
		t.Errorf("with an empty file: %s", out)
	}
}
