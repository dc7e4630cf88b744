package dashboard

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/ask"
	"github.com/looprun/looprun/internal/origin"
	"github.com/looprun/looprun/internal/strictjson"
	"github.com/looprun/looprun/report"
)

//go:embed static
var static embed.FS

// Handler handles a browser's requests. It can be tested without a port.
func (s *Server) Handler() http.Handler {
	m := http.NewServeMux()
	own := func(name string) ([]byte, error) { return static.ReadFile("static/" + name) }
	m.HandleFunc("GET /{$}", file("index.html", own))
	for _, name := range []string{"page.js", "page.css", "icon.svg", "icon.png", "worker.js", "manifest.json"} {
		m.HandleFunc("GET /"+name, file(name, own))
	}
	m.HandleFunc("GET /report.css", file("report.css", func(string) ([]byte, error) { return report.Stylesheet() }))
	m.HandleFunc("GET /once/{ticket}", s.once)
	m.Handle("GET /api/runs", s.authorized(s.list))
	m.Handle("GET /api/runs/{key}", s.ofRun(s.run))
	m.Handle("GET /api/runs/{key}/output/{iteration}", s.ofIteration(s.output))
	m.Handle("GET /api/runs/{key}/diff/{iteration}", s.ofIteration(s.diff))
	m.Handle("GET /api/runs/{key}/log/{iteration}", s.ofIteration(s.log))
	m.Handle("POST /api/runs/{key}/log/{iteration}", s.ofIteration(s.logTicket))
	m.Handle("GET /api/runs/{key}/explain", s.ofRun(s.explain))
	m.Handle("POST /api/runs/{key}/report", s.ofRun(s.reportTicket))
	m.Handle("GET /api/stream", s.authorized(s.stream))
	m.Handle("GET /api/batches/{key}/overlaps", s.authorized(s.overlaps))
	m.HandleFunc("POST /api/enter", s.enter)
	if s.o.Actions != nil {
		answer := ask.ShortAnswerShape()
		question := &answer.Fields[slices.Index(answer.Names(), "question")] // the one that the page shows
		*question = strictjson.Required("question", strictjson.Shape{Form: strictjson.Text})
		m.Handle("POST /api/runs/{key}/answer", action(s, answer, s.o.Actions.Answer))
		m.Handle("POST /api/runs/{key}/order", action(s, formOf(new(order)), func(ctx context.Context, dir string, o order) (string, error) {
			return s.o.Actions.Order(ctx, dir, o.Order, o.Words)
		}))
		m.Handle("POST /api/runs/{key}/resume", action(s, formOf(&struct{}{}), func(ctx context.Context, dir string, _ struct{}) (string, error) {
			return s.o.Actions.Resume(ctx, dir)
		}))
	}
	return s.walled(http.NewCrossOriginProtection().Handler(m))
}

// pagePolicy allows only this server's own files: no code and no style within a document.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types looprun"

// walled admits requests that address this server by its own name. Any other name may have
// been pointed here by an attacker, and the browser would take this server for the attacker's
// own.
func (s *Server) walled(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", pagePolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if !s.hosts[r.Host] {
			http.Error(w, "this address is not looprun's; open the one that looprun serve printed", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// connection is the key of a request's connection, a [net.Conn], in its context.
type connection struct{}

// authorized admits requests with a token. The token is in a header, which no link and no form
// of another page can send.
func (s *Server) authorized(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.admits(r) {
			s.unauthorized(w, "this browser is not let in")
			return
		}
		c, _ := r.Context().Value(connection{}).(net.Conn)
		s.conns.keep(c)
		next(w, r)
	})
}

// admits reports whether a request has a token, and the device that it was given to is still
// paired.
func (s *Server) admits(r *http.Request) bool {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	device, _, _ := strings.Cut(token, ".")
	if !ok || !hmac.Equal([]byte(token), []byte(s.tokenOf(device))) || device != "" && !s.devices.knows(device, r.Host) {
		return false
	}
	if device != "" {
		s.devices.note(device, addressOf(r), time.Now())
	}
	return true
}

// tokenOf returns what a browser sends with each request until the server ends. Without a device
// the token cannot be revoked.
func (s *Server) tokenOf(device string) string {
	h := hmac.New(sha256.New, []byte(s.secret))
	h.Write([]byte(device))
	return device + "." + base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

// unauthorized tells the page to sign the challenge with its key, or to prompt for a code.
func (s *Server) unauthorized(w http.ResponseWriter, why string) {
	w.Header().Set("WWW-Authenticate", `Bearer challenge="`+s.challenge+`"`)
	http.Error(w, why, http.StatusUnauthorized)
}

// clientOf returns the origin of a request: whether it comes from below a run.
func clientOf(r *http.Request) origin.Origin {
	client, err := netip.ParseAddrPort(r.RemoteAddr)
	own, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if err != nil || !ok {
		return origin.Unknown
	}
	return origin.Connection(client, own.AddrPort())
}

// fromARun is said to a client below a run.
const fromARun = "a run's own command cannot do this; do it in a browser that no run has started"

// order is what a run is told to do.
type order struct {
	Order core.Order `is:"required words=say|pause|stop"`
	Words string
}

// action handles requests to do something with a run, which a document of that form describes. It
// rejects clients below a run, and refreshes the runs.
func action[T any](s *Server, form strictjson.Shape, do func(context.Context, string, T) (string, error)) http.Handler {
	return s.ofRun(func(w http.ResponseWriter, r *http.Request, run *row) {
		var given T
		switch {
		case s.who(r) == origin.Inside:
			http.Error(w, fromARun, http.StatusForbidden)
			return
		case !read(w, r, form, &given):
			return
		}
		said, err := do(context.WithoutCancel(r.Context()), run.dir, given) // it is not half done when the page is closed
		if failed(w, err, http.StatusConflict) {
			return
		}
		s.runs.refresh(0)
		s.bell.ring()
		say(w, r, "said", said)
	})
}

// enter lets a browser in that no run has started: with the token of the address, with a code, or
// with the key of a device that is paired. It gives the browser a token, and pairs its key. With
// none of them it shows a code on the terminal.
func (s *Server) enter(w http.ResponseWriter, r *http.Request) {
	var given struct{ Token, Code, Key, Signature string }
	if !read(w, r, formOf(&given), &given) {
		return
	}
	from, now := s.who(r), time.Now()
	switch {
	case from == origin.Inside:
		http.Error(w, fromARun, http.StatusForbidden)
	case given.Code != "":
		if err := s.code.check(given.Code, now); err != nil {
			s.unauthorized(w, refusals[err])
			return
		}
		s.letIn(w, r, given.Key)
	case given.Signature != "":
		device, key, err := keyOf(given.Key)
		if err != nil || !s.devices.knows(device, r.Host) || !signed(key, given.Signature, s.challenge) {
			s.unauthorized(w, "this browser is not paired")
			return
		}
		say(w, r, "token", s.tokenOf(device))
	case given.Token != "":
		address := subtle.ConstantTimeCompare([]byte(given.Token), []byte(s.token)) == 1
		if from == origin.Unknown && !(address && s.shown) {
			s.unauthorized(w, "looprun cannot tell whether this browser was started by a run, so it needs a code")
			return
		}
		if !address {
			entered := s.entries.take(given.Token, now)
			if entered == nil {
				s.unauthorized(w, "this address works no more; open the one that looprun serve printed, or have a code shown")
				return
			}
			entered(w, r)
		}
		s.letIn(w, r, given.Key)
	case !s.o.Terminal:
		s.unauthorized(w, "this looprun serve has no terminal to show a code on; pair this browser with one that has, at the same port")
	default:
		code, err := s.code.begin(now)
		if err == nil {
			s.o.Say(nameOf(r) + " asks to be let in; the code is " + code + ", for two minutes")
		}
		say(w, r, "said", cmp.Or(refusals[err], "The terminal shows it, for two minutes."))
	}
}

// refusals are what is said of a code that is not taken, or not shown.
var refusals = map[error]string{
	errShown:         "The terminal shows a code already. It ends two minutes after it was shown.",
	origin.ErrTries:  "too many wrong codes; after two minutes you can have another shown",
	origin.ErrNoWord: "there is no such code any more; have another shown",
	origin.ErrWrong:  "wrong code; the terminal of looprun serve shows the right one",
}

// letIn gives a browser a token, and pairs it if it has a key and this server keeps devices.
func (s *Server) letIn(w http.ResponseWriter, r *http.Request, key string) {
	device := ""
	if s.devices.dir != "" && key != "" {
		id, _, err := keyOf(key)
		name := ""
		if err == nil {
			name, err = s.devices.pair(id, nameOf(r), r.Host)
		}
		if err != nil {
			s.o.Say("warning: a browser is let in, but not paired: " + err.Error())
		} else {
			device = id
			s.devices.note(id, addressOf(r), time.Now())
			s.o.Say(name + " is paired; looprun serve --revoke " + name + " ends that")
		}
	}
	say(w, r, "token", s.tokenOf(device))
}

// ofRun handles requests about one run: no path in a request reaches the disk.
func (s *Server) ofRun(next func(http.ResponseWriter, *http.Request, *row)) http.Handler {
	return s.authorized(func(w http.ResponseWriter, r *http.Request) {
		found := s.find(r.PathValue("key"))
		if found == nil {
			http.Error(w, "there is no such run; it may have been removed", http.StatusNotFound)
			return
		}
		next(w, r, found)
	})
}

// find returns the run that an address names, including one that has just begun, or nil.
func (s *Server) find(key string) *row {
	if found := s.runs.find(key); found != nil {
		return found
	}
	s.runs.refresh(0)
	return s.runs.find(key)
}

func file(name string, read func(string) ([]byte, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if b, err := read(name); !failed(w, err, http.StatusInternalServerError) {
			send(w, r, mime.TypeByExtension(path.Ext(name)), b)
		}
	}
}

// failed reports whether there is an error, which it sends with that status.
func failed(w http.ResponseWriter, err error, status int) bool {
	if err != nil {
		http.Error(w, err.Error(), status)
	}
	return err != nil
}

// reply sends a JSON document, unless it could not be made.
func reply(w http.ResponseWriter, r *http.Request, v any, err error) {
	b, wrong := json.Marshal(v)
	if !failed(w, cmp.Or(err, wrong), http.StatusInternalServerError) {
		send(w, r, "application/json", append(b, '\n'))
	}
}

// say replies with one text.
func say(w http.ResponseWriter, r *http.Request, key, text string) {
	reply(w, r, map[string]string{key: text}, nil)
}

// listLimit is how many runs a reply lists; searching finds the others.
const listLimit = 200

func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	s.runs.refresh(refreshEvery)
	q := r.URL.Query()
	l, err := s.runs.list(q.Get("search"), q.Get("filter"), q["open"], listLimit)
	if !failed(w, err, http.StatusBadRequest) {
		reply(w, r, l, nil)
	}
}

// reportTicket creates an address at which the full report can be opened once.
func (s *Server) reportTicket(w http.ResponseWriter, r *http.Request, run *row) {
	var nothing struct{}
	if read(w, r, formOf(&nothing), &nothing) {
		s.ticket(w, r, func(w http.ResponseWriter, r *http.Request) { sendReport(w, r, run.dir) })
	}
}

func sendReport(w http.ResponseWriter, r *http.Request, dir string) {
	var page bytes.Buffer
	rep, err := report.Load(dir)
	if err == nil {
		err = rep.HTML(&page)
	}
	if failed(w, err, http.StatusInternalServerError) {
		return
	}
	// The document contains its own policy; the sandbox separates it from this server.
	w.Header().Set("Content-Security-Policy", "sandbox allow-scripts; frame-ancestors 'none'")
	send(w, r, "text/html; charset=utf-8", page.Bytes())
}

// ticket sends an address at which something can be opened once.
func (s *Server) ticket(w http.ResponseWriter, r *http.Request, open http.HandlerFunc) {
	ticket := s.opens.issue(open, time.Now())
	if ticket == "" {
		http.Error(w, "too many were asked for; wait a minute", http.StatusTooManyRequests)
		return
	}
	say(w, r, "path", "/once/"+ticket)
}

// once opens what a ticket is for. It rejects a request for the headers alone: the ticket would be
// gone, and nothing sent for it.
func (s *Server) once(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		w.Header().Set("Allow", http.MethodGet)
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	open := s.opens.take(r.PathValue("ticket"), time.Now())
	if open == nil {
		http.Error(w, "this address works once, for a minute; open it from the page again", http.StatusNotFound)
		return
	}
	open(w, r)
}

func (s *Server) explain(w http.ResponseWriter, r *http.Request, run *row) {
	text, err := s.o.Explain(run.dir)
	reply(w, r, map[string]string{"text": text}, err)
}

// read decodes a JSON document of bounded size and known form into v. If it cannot, it sends the
// error response, which names what cannot be read, and returns false.
func read(w http.ResponseWriter, r *http.Request, form strictjson.Shape, v any) bool {
	err := errors.New("the body is not application/json")
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind == "application/json" {
		var b []byte
		if b, err = io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody)); err == nil {
			if ps := form.Read(b, v); len(ps) > 0 {
				err = ps
			}
		}
	}
	if err != nil {
		err = fmt.Errorf("the request cannot be read: %w", err)
	}
	return !failed(w, err, http.StatusBadRequest)
}

// formOf returns the form of the value that v points to.
func formOf(v any) strictjson.Shape { return strictjson.Of(v, strictjson.Shape{}) }
