package dashboard

import (
	"cmp"
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
	"strconv"
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
	m.HandleFunc("GET /report/{ticket}", s.report)
	m.Handle("GET /api/runs", s.authorized(s.list))
	m.Handle("GET /api/runs/{key}", s.ofRun(s.run))
	m.Handle("GET /api/runs/{key}/output/{iteration}", s.ofIteration(s.output))
	if s.o.Diff != nil {
		m.Handle("GET /api/runs/{key}/diff/{iteration}", s.ofIteration(s.diff))
	}
	m.HandleFunc("GET /log/{ticket}", s.saveLog)
	m.Handle("GET /api/runs/{key}/log/{iteration}", s.ofIteration(s.log))
	m.Handle("POST /api/runs/{key}/log/{iteration}", s.ofIteration(s.logTicket))
	m.Handle("GET /api/runs/{key}/explain", s.ofRun(s.explain))
	m.Handle("POST /api/runs/{key}/report", s.ofRun(s.reportTicket))
	m.Handle("GET /api/stream", s.authorized(s.stream))
	m.HandleFunc("POST /api/enter", s.enter)
	if s.o.Actions != nil {
		m.Handle("POST /api/runs/{key}/answer", s.writes(s.answer))
		m.Handle("POST /api/runs/{key}/order", s.writes(s.order))
		m.Handle("POST /api/runs/{key}/resume", s.writes(s.resume))
	}
	for _, once := range []string{"/report/{ticket}", "/log/{ticket}"} {
		m.HandleFunc("HEAD "+once, notHead)
	}
	return compressing(s.walled(http.NewCrossOriginProtection().Handler(m)))
}

// notHead rejects a request for the headers alone: a ticket would be gone, and nothing sent for it.
func notHead(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Allow", http.MethodGet)
	w.WriteHeader(http.StatusMethodNotAllowed)
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

// connection is the key of a request's connection in its context.
type connection struct{}

// authorized admits requests with a token. The token is in a header, which no link and no form
// of another page can send.
func (s *Server) authorized(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.admits(r) {
			s.unauthorized(w, "this browser is not let in")
			return
		}
		if c, ok := r.Context().Value(connection{}).(*boundedConn); ok {
			c.keep()
		}
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

// writes handles requests that change a run. It rejects clients below a run.
func (s *Server) writes(next func(http.ResponseWriter, *http.Request, *row)) http.Handler {
	return s.ofRun(func(w http.ResponseWriter, r *http.Request, run *row) {
		if s.who(r) == origin.Inside {
			http.Error(w, fromARun, http.StatusForbidden)
			return
		}
		next(w, r, run)
	})
}

// enter lets a browser in that no run has started: with the token of the address, with a code, or
// with the key of a device that is paired. It gives the browser a token, and pairs its key. With
// none of them it shows a code on the terminal.
func (s *Server) enter(w http.ResponseWriter, r *http.Request) {
	var given struct{ Token, Code, Key, Signature string }
	if !read(w, r, "request", formOf(&given), &given) {
		return
	}
	from, now := s.who(r), time.Now()
	switch {
	case from == origin.Inside:
		http.Error(w, fromARun, http.StatusForbidden)
	case given.Code != "":
		switch err := s.code.check(given.Code, now); {
		case err == nil:
			s.letIn(w, r, given.Key)
		case errors.Is(err, origin.ErrTries):
			s.unauthorized(w, "too many wrong codes; after two minutes you can have another shown")
		case errors.Is(err, origin.ErrNoWord):
			s.unauthorized(w, "there is no such code any more; have another shown")
		default:
			s.unauthorized(w, "wrong code; the terminal of looprun serve shows the right one")
		}
	case given.Signature != "":
		key := decoded(given.Key)
		device, err := idOf(key)
		if err != nil || !s.devices.knows(device, r.Host) || !signed(key, decoded(given.Signature), s.challenge) {
			s.unauthorized(w, "this browser is not paired")
			return
		}
		say(w, "token", s.tokenOf(device))
	case given.Token != "":
		once := subtle.ConstantTimeCompare([]byte(given.Token), []byte(s.token)) != 1
		switch {
		case from == origin.Unknown && (once || !s.shown):
			s.unauthorized(w, "looprun cannot tell whether this browser was started by a run, so it needs a code")
		case once && s.entries.take(given.Token, now) == "":
			s.unauthorized(w, "this address works no more; open the one that looprun serve printed, or have a code shown")
		default:
			if once {
				s.entered()
			}
			s.letIn(w, r, given.Key)
		}
	case !s.o.Terminal:
		s.unauthorized(w, "this looprun serve has no terminal to show a code on; pair this browser with one that has, at the same port")
	default:
		said := "The terminal shows a code already. It ends two minutes after it was shown."
		if code := s.code.begin(now); code != "" {
			s.o.Say(nameOf(r) + " asks to be let in; the code is " + code + ", for two minutes")
			said = "The terminal shows it, for two minutes."
		}
		say(w, "said", said)
	}
}

// letIn gives a browser a token, and pairs it if it has a key and this server keeps devices.
func (s *Server) letIn(w http.ResponseWriter, r *http.Request, key string) {
	device := ""
	if s.devices.dir != "" && key != "" {
		id, err := idOf(decoded(key))
		if err == nil {
			err = s.pair(id, r)
		}
		if err == nil {
			device = id
		} else {
			s.o.Say("warning: a browser is let in, but not paired: " + err.Error())
		}
	}
	say(w, "token", s.tokenOf(device))
}

func (s *Server) pair(id string, r *http.Request) error {
	name, err := s.devices.pair(id, nameOf(r), r.Host)
	if err == nil {
		s.devices.note(id, addressOf(r), time.Now())
		s.o.Say(name + " is paired; looprun serve --revoke " + name + " ends that")
	}
	return err
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
	return func(w http.ResponseWriter, _ *http.Request) {
		if b, err := read(name); !failed(w, err, http.StatusInternalServerError) {
			w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
			_, _ = w.Write(b)
		}
	}
}

// smallReply is the size in bytes below which a reply fits a packet, so it is not compressed.
const smallReply = 1400

// failed reports whether there is an error, which it sends with that status.
func failed(w http.ResponseWriter, err error, status int) bool {
	if err != nil {
		http.Error(w, err.Error(), status)
	}
	return err != nil
}

// reply writes a JSON document, unless it could not be made.
func reply(w http.ResponseWriter, v any, err error) {
	b, wrong := json.Marshal(v)
	if failed(w, cmp.Or(err, wrong), http.StatusInternalServerError) {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if len(b) < smallReply {
		w.Header().Set("Content-Length", strconv.Itoa(len(b)+1))
	}
	_, _ = w.Write(append(b, '\n'))
}

// say replies with one text.
func say(w http.ResponseWriter, key, text string) { reply(w, map[string]string{key: text}, nil) }

// listLimit is how many runs a reply lists; searching finds the others.
const listLimit = 200

func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	s.runs.refresh(s.o.Every)
	q := r.URL.Query()
	l, err := s.runs.list(q.Get("search"), q.Get("filter"), q["open"], listLimit)
	if !failed(w, err, http.StatusBadRequest) {
		reply(w, l, nil)
	}
}

// reportTicket creates an address at which the full report can be opened once.
func (s *Server) reportTicket(w http.ResponseWriter, r *http.Request, run *row) {
	if readNothing(w, r) {
		s.ticket(w, &s.reports, "/report/", run.dir)
	}
}

// ticket sends an address, which begins with at, that can be opened once.
func (s *Server) ticket(w http.ResponseWriter, of *tickets, at, what string) {
	ticket := of.issue(what, time.Now())
	if ticket == "" {
		http.Error(w, "too many were asked for; wait a minute", http.StatusTooManyRequests)
		return
	}
	say(w, "path", at+ticket)
}

func (s *Server) report(w http.ResponseWriter, r *http.Request) {
	dir := s.reports.take(r.PathValue("ticket"), time.Now())
	if dir == "" {
		http.Error(w, "this address works once, for a minute; open the report from the page again", http.StatusNotFound)
		return
	}
	rep, err := report.Load(dir)
	if failed(w, err, http.StatusInternalServerError) {
		return
	}
	// The document contains its own policy; the sandbox separates it from this server.
	w.Header().Set("Content-Security-Policy", "sandbox allow-scripts; frame-ancestors 'none'")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = rep.HTML(w)
}

func (s *Server) explain(w http.ResponseWriter, r *http.Request, run *row) {
	if s.o.Explain == nil {
		http.NotFound(w, r)
		return
	}
	text, err := s.o.Explain(run.dir)
	reply(w, map[string]string{"text": text}, err)
}

// read decodes a JSON document of bounded size and known form into v. If it cannot, it sends the
// error response, which names what cannot be read, and returns false.
func read(w http.ResponseWriter, r *http.Request, what string, form strictjson.Shape, v any) bool {
	err := errors.New("the body is not application/json")
	if kind, _, wrong := mime.ParseMediaType(r.Header.Get("Content-Type")); wrong == nil && kind == "application/json" {
		var b []byte
		if b, err = io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody)); err == nil {
			if ps := form.Read(b, v); len(ps) > 0 {
				err = ps
			}
		}
	}
	if err != nil {
		err = fmt.Errorf("the %s cannot be read: %w", what, err)
	}
	return !failed(w, err, http.StatusBadRequest)
}

// formOf returns the form of the value that v points to.
func formOf(v any) strictjson.Shape { return strictjson.Of(v, strictjson.Shape{}) }

// readNothing reads a request that says nothing.
func readNothing(w http.ResponseWriter, r *http.Request) bool {
	var nothing struct{}
	return read(w, r, "request", formOf(&nothing), &nothing)
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, run *row) {
	var given ask.ShortAnswer
	form := ask.ShortAnswerShape()
	question := &form.Fields[slices.Index(form.Names(), "question")] // the one that the page shows
	if *question = strictjson.Required("question", strictjson.Shape{Form: strictjson.Text}); !read(w, r, "answer", form, &given) {
		return
	}
	said, err := s.o.Actions.Answer(r.Context(), run.dir, given)
	s.done(w, said, err)
}

func (s *Server) order(w http.ResponseWriter, r *http.Request, run *row) {
	var given struct {
		Order core.Order `is:"required words=say|pause|stop"`
		Words string
	}
	if !read(w, r, "order", formOf(&given), &given) {
		return
	}
	said, err := s.o.Actions.Order(r.Context(), run.dir, given.Order, given.Words)
	s.done(w, said, err)
}

func (s *Server) resume(w http.ResponseWriter, r *http.Request, run *row) {
	if !readNothing(w, r) {
		return
	}
	said, err := s.o.Actions.Resume(r.Context(), run.dir)
	s.done(w, said, err)
}

// done sends the result of an action, and refreshes the runs.
func (s *Server) done(w http.ResponseWriter, said string, err error) {
	if failed(w, err, http.StatusConflict) {
		return
	}
	if s.runs.refresh(0) {
		s.bell.ring()
	}
	say(w, "said", said)
}
