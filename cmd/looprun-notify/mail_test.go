package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"mime"
	"mime/quotedprintable"
	"net"
	netmail "net/mail"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapserver"
	"github.com/emersion/go-imap/v2/imapserver/imapmemserver"
	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// postOffice is a mail server: what is sent over SMTP lies in a mailbox that IMAP shows.
type postOffice struct {
	t          *testing.T
	smtp, imap net.Listener
	bot        *imapmemserver.User // looprun's account; everything arrives here

	closed atomic.Bool // the mailbox

	mu     sync.Mutex
	sent   []letter
	logins int // attempts
}

type letter struct {
	to, subject, id, text string
	header                netmail.Header
}

const botUser, botPassword = "looprun@post.test", "s3cr3t"

func openPostOffice(t *testing.T, caps ...imap.Cap) *postOffice {
	t.Helper()
	o := &postOffice{t: t, bot: imapmemserver.NewUser(botUser, botPassword)}
	if err := o.bot.Create("INBOX", nil); err != nil {
		t.Fatal(err)
	}
	users := imapmemserver.New()
	users.AddUser(o.bot)
	can := imap.CapSet{imap.CapIMAP4rev1: {}}
	for _, of := range caps {
		can[of] = struct{}{}
	}
	quiet := log.New(io.Discard, "", 0)
	imaps := imapserver.New(&imapserver.Options{
		NewSession: func(*imapserver.Conn) (imapserver.Session, *imapserver.GreetingData, error) {
			if o.closed.Load() {
				return nil, nil, errors.New("closed")
			}
			return users.NewSession(), nil, nil
		},
		Caps: can, InsecureAuth: true, Logger: quiet,
	})
	smtps := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &counter{office: o}, nil }))
	smtps.AllowInsecureAuth, smtps.ErrorLog, smtps.Domain = true, quiet, "localhost"
	for _, of := range []struct {
		at    *net.Listener
		serve func(net.Listener) error
	}{{&o.imap, imaps.Serve}, {&o.smtp, smtps.Serve}} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		*of.at = l
		go func() { _ = of.serve(l) }()
	}
	t.Cleanup(func() { _, _ = imaps.Close(), smtps.Close() })
	return o
}

// counter is a session of SMTP.
type counter struct {
	office *postOffice
	to     []string
	knows  bool
}

func (c *counter) AuthMechanisms() []string { return []string{sasl.Plain} }

func (c *counter) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		c.office.mu.Lock()
		c.office.logins++
		c.office.mu.Unlock()
		if c.knows = user == botUser && password == botPassword; !c.knows {
			return errors.New("no such user")
		}
		return nil
	}), nil
}

func (c *counter) Mail(string, *smtp.MailOptions) error {
	if !c.knows {
		return smtp.ErrAuthRequired
	}
	return nil
}
func (c *counter) Rcpt(to string, _ *smtp.RcptOptions) error { c.to = append(c.to, to); return nil }
func (c *counter) Reset()                                    { c.to = nil }
func (c *counter) Logout() error                             { return nil }

func (c *counter) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	m, err := netmail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	text, err := io.ReadAll(quotedprintable.NewReader(m.Body))
	if err != nil {
		return err
	}
	subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	c.office.mu.Lock()
	defer c.office.mu.Unlock()
	c.office.sent = append(c.office.sent, letter{strings.Join(c.to, " "), subject, m.Header.Get("Message-ID"), strings.ReplaceAll(string(text), "\r\n", "\n"), m.Header})
	return err
}

// url returns looprun's address for it.
func (o *postOffice) url() string {
	return fmt.Sprintf("smtp://%s:%s@%s/?from=%s&to=ann@post.test&imap=%s", url.QueryEscape(botUser), botPassword, o.smtp.Addr(), botUser, o.imap.Addr())
}

func mailerFor(t *testing.T, address string) *mailer {
	t.Helper()
	of, err := carrierFor(address)
	if err != nil {
		t.Fatal(err)
	}
	return of.(*mailer)
}

// shows waits for a letter with all the words, after the first seen ones, and returns it and how many there are.
func (o *postOffice) shows(seen int, words ...string) (letter, int) {
	o.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		o.mu.Lock()
		all := slices.Clone(o.sent)
		o.mu.Unlock()
		for _, of := range all[min(seen, len(all)):] {
			if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(of.subject+"\n"+of.text, w) }) {
				return of, len(all)
			}
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.t.Fatalf("no letter has %q: %+v", words, o.sent)
	return letter{}, 0
}

// arrives puts a letter into looprun's mailbox.
func (o *postOffice) arrives(raw string) {
	o.t.Helper()
	raw = strings.ReplaceAll(raw, "\n", "\r\n")
	if _, err := o.bot.Append("INBOX", literal{strings.NewReader(raw), int64(len(raw))}, &imap.AppendOptions{}); err != nil {
		o.t.Fatal(err)
	}
}

type literal struct {
	io.Reader
	size int64
}

func (l literal) Size() int64 { return l.size }

// replies puts a reply into looprun's mailbox. head has further lines of the header.
func (o *postOffice) replies(who string, to letter, head, body string) {
	o.t.Helper()
	if !strings.Contains(head, "Content-Type") {
		head += "Content-Type: text/plain; charset=utf-8\n"
	}
	o.arrives("From: Ann <" + who + ">\nTo: " + botUser + "\nSubject: Re: " + to.subject + "\nMessage-ID: <1@elsewhere>\nIn-Reply-To: " + to.id + "\nReferences: " + to.header.Get("References") + " " + to.id + "\n" + head + "\n" + body)
}

func (o *postOffice) asksOver(h *home, dir, from string) {
	o.t.Helper()
	notify := "{url: '" + o.url() + "', answers: true, from: ['" + from + "']}"
	if code, _, stderr := h.looprun(dir, "--name", dir, "--max-iterations", "1", "--notify", notify, "-c", fails); code != 102 {
		o.t.Fatalf("exit %d: %s", code, stderr)
	}
}

const quoted = "\n\nOn Fri, 27 Nov 2026 at 04:00, looprun <" + botUser + "> wrote:\n> " + aboveLine + "\n>\n> 1. Continue\n"

// A question comes as a letter, and a reply answers it: a number, which is asked about once more
// if it ends the run, or words. Who is not listed, who invents a code, and programs that reply
// answer nothing.
func TestAnsweredByMail(t *testing.T) {
	o, h := openPostOffice(t, imap.CapIdle), newHome(t)
	o.arrives("From: ann@post.test\nSubject: before\nIn-Reply-To: <looprun.old.X@post.test>\n\n1\n")
	o.asksOver(h, "shop", "Ann@post.test")
	m, seen := o.shows(0, "asks (shop)", "FAIL: login", "Reply with a number, or words for the next iteration\n1. Continue", "(ends the run)")
	if !strings.HasPrefix(m.text, aboveLine+"\n") || m.to != "ann@post.test" || m.header.Get("Auto-Submitted") == "" {
		t.Errorf("%+v", m)
	}
	o.replies("eve@post.test", m, "", "1\n")
	h.refused("eve@post.test may not answer: from does not list it")
	o.replies("ann@post.test", letter{id: strings.Replace(m.id, "looprun.", "looprun.x", 1)}, "", "1\n")
	h.refused("a code was refused")
	o.replies("ann@post.test>, Eve <eve@post.test", m, "", "1\n")
	o.replies("ann@post.test", m, "Auto-Submitted: auto-replied\n", "I am away until Monday.\n")
	o.replies("ann@post.test", m, "Precedence: bulk\n", "I am away.\n")
	o.replies("ann@post.test", m, "X-Auto-Response-Suppress: All\n", "I am away.\n")
	o.replies("ann@post.test", m, "Return-Path: <>\n", "I am away.\n")
	o.replies("ann@post.test", m, "Content-Type: multipart/report; boundary=b\n", "--b\nContent-Type: text/plain\n\nIt was not delivered.\n--b--\n")
	o.replies("ann@post.test", m, "Content-Type: text/html\n", "<p>1</p>\n")
	_, seen = o.shows(seen, "The reply is not used: only text is read", "asks (shop)")
	o.replies("ann@post.test", m, "", strings.TrimLeft(quoted, "\n")+"\n1\n")
	_, seen = o.shows(seen, "The reply is not used: write above what your program quotes")
	o.replies("ann@post.test", m, "", "2\nno, wait, 3\n"+quoted)
	_, seen = o.shows(seen, "is not used: reply with a number and nothing else")
	o.replies("ann@post.test", m, "", "Hi,\n\n3\n\nAnn\n"+quoted)
	_, seen = o.shows(seen, "“Hi,” is not used")
	o.replies("ann@post.test", m, "Content-Type: text/plain\nContent-Transfer-Encoding: base64\n", "MQox\n*broken*\n")
	_, seen = o.shows(seen, "it could not be read whole")
	o.replies("ann@post.test", m, "", "1"+strings.Repeat("\n", mostMail))
	_, seen = o.shows(seen, "it could not be read whole")
	o.replies("ann@post.test", m, "", strings.Repeat("word ", 2000)+"\n")
	_, seen = o.shows(seen, "a reply may have 8 KiB")
	accept := strings.Split(m.text[:strings.Index(m.text, ". Accept current")], "\n")
	number := accept[len(accept)-1]
	o.replies("ann@post.test", m, "Content-Type: multipart/alternative; boundary=b\n",
		"--b\nContent-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable\n\n"+number+"=A0\n\nSent from my phone"+quoted+"\n--b\nContent-Type: text/html\n\n<p>2</p>\n--b--\n")
	sure, seen := o.shows(seen, "ends the run. Are you sure? Reply “"+number+" yes”.")
	if sure.header.Get("In-Reply-To") != m.id {
		t.Errorf("it is in no thread: %+v", sure.header)
	}
	o.replies("ann@post.test", sure, "", "no\n"+quoted)
	_, seen = o.shows(seen, "asks (shop)", "Reply with")
	o.replies("ann@post.test", m, "", "use the other table, please\n\nand größere Zeilen\n"+quoted)
	over, seen := o.shows(seen, "is answered (shop)", "user by e-mail")
	next, seen := o.shows(seen, "asks (shop)")
	o.replies("ann@post.test", over, "", "1\n") // too late: it is not told again
	o.replies("ANN@post.test", next, "", "Try different approach\n")
	o.shows(seen, "is answered (shop)", "“Try different approach”, by user by e-mail")
	if _, all := o.shows(0); all != seen+1 { // none came twice
		t.Errorf("%d letters", all)
	}
	given := h.answers("shop")
	if len(given) != 2 || !strings.Contains(given[0], `"via":"smtp"`) || !strings.Contains(given[0], `"guidance":"use the other table, please\n\nand größere Zeilen"`) {
		t.Errorf("%q", given)
	}
}

// A mailbox that cannot be read is told in the letter, which is sent all the same. An answer that
// has arrived meanwhile counts once the mailbox can be read.
func TestTheMailboxCannotBeRead(t *testing.T) {
	o, h := openPostOffice(t, imap.CapIdle), newHome(t)
	o.closed.Store(true)
	o.asksOver(h, "shop", "ann@post.test")
	m, _ := o.shows(0, "asks (shop)", aboveLine+"\n\nAnswering here may not work: answers cannot be read.")
	o.replies("ann@post.test", m, "", "1\n")
	o.closed.Store(false)
	o.shows(0, "is answered (shop)", "user by e-mail")
}

// Where a server announces nothing it is asked. A mailbox that was made anew has new numbers.
func TestAPlainMailbox(t *testing.T) {
	defer func(d time.Duration) { mailPolls = d }(mailPolls)
	mailPolls = time.Millisecond
	o := openPostOffice(t)
	x := mailerFor(t, o.url())
	reply := func(code string) string {
		return "From: ann@post.test\nIn-Reply-To: <looprun." + code + ".X@post.test>\n\nyes\n"
	}
	hears := func(first string) (codes []string, err error) {
		ctx, stop := context.WithTimeout(t.Context(), patience)
		defer stop()
		err = x.listen(ctx, func() { o.arrives(reply(first)) }, func(a answer) {
			if codes = append(codes, a.Code); len(codes) > 1 {
				stop()
			} else {
				o.arrives(reply("second"))
			}
		})
		return codes, err
	}
	for _, age := range []time.Duration{9 * 24 * time.Hour, 2 * time.Hour} {
		old := strings.NewReader(strings.ReplaceAll(reply("old"), "\n", "\r\n"))
		if _, err := o.bot.Append("INBOX", literal{old, old.Size()}, &imap.AppendOptions{Time: time.Now().Add(-age)}); err != nil {
			t.Fatal(err)
		}
	}
	o.arrives(reply("before"))
	if codes, err := hears("first"); err != nil || len(codes) < 2 || codes[0] != "before" || codes[1] != "first" {
		t.Errorf("%q %v", codes, err)
	}
	o.arrives(reply("between"))
	if codes, err := hears("later"); err != nil || !slices.Contains(codes, "between") || !slices.Contains(codes, "later") || slices.Contains(codes, "before") {
		t.Errorf("%q %v", codes, err)
	}
	if err := errors.Join(o.bot.Delete("INBOX"), o.bot.Create("INBOX", nil)); err != nil {
		t.Fatal(err)
	}
	if codes, err := hears("new"); err != nil || len(codes) < 2 || codes[0] != "new" || codes[1] != "second" {
		t.Errorf("%q %v", codes, err)
	}
}

// The password is sent to another machine only with encryption.
func TestThePasswordIsEncrypted(t *testing.T) {
	o := openPostOffice(t, imap.CapIdle)
	_, smtpPort, _ := net.SplitHostPort(o.smtp.Addr().String())
	_, imapPort, _ := net.SplitHostPort(o.imap.Addr().String())
	// This address is no name of this machine, and reaches it.
	x := mailerFor(t, "smtp://"+url.QueryEscape(botUser)+":"+botPassword+"@0.0.0.0:"+smtpPort+"/?from=a@b&to=c@d&imap=0.0.0.0:"+imapPort)
	if err := x.send(t.Context(), outgoing{ID: "1", Title: "t"}); err == nil || !strings.Contains(err.Error(), "the mail server offers no encryption") || o.logins > 0 {
		t.Errorf("%v; %d logins", err, o.logins)
	}
	if err := x.listen(t.Context(), func() { t.Error("it was read") }, nil); !errors.Is(err, errDeaf) || !strings.Contains(err.Error(), "IMAP server") {
		t.Error(err)
	}
	for address, want := range map[string]string{
		"smtp://u:p@host/?from=a@b&to=c@d":                                        "add imap=HOST",
		"smtp://host/?from=a@b&to=c@d&imap=host":                                  "with a user and a password",
		"smtp://u:p@host/?from=a@b&to=c@d&imap=host&encryption=None":              "leave out encryption",
		"smtp://u:p@host/?from=a@b&imap=host":                                     "the URL is not one",
		"smtp://u:p@host/?to=a@b&imap=host":                                       "the URL is not one",
		"smtp://u:p@host/?from=a@b,c@d&to=a@b&imap=host":                          "the URL is not one",
		"smtp://u:p@host:465/?from=Ann%20Smith%20<a@b>&to=c+x@d,%20e@f&imap=host": "",
		"smtp://u:p@localhost/?from=a@b&to=c@d&imap=[::1]&encryption=none":        "",
	} {
		if _, err := carrierFor(address); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", address, err)
		}
	}
	x = mailerFor(t, "smtp://u:p@host/?from=Ann%20Smith%20<a@b>&to=c+x@d,%20e@f&imap=host")
	if got := fmt.Sprint(x.from, x.to); got != `"Ann Smith" <a@b> [<c+x@d> <e@f>]` {
		t.Error(got)
	}
	if _, err := newSender("smtp://u:p@host/?from=a@b&to=c@d&IMAP=host"); err != nil {
		t.Errorf("what only sends refuses the key: %v", err)
	}
}

// What a person writes stands above what is quoted; the first paragraph is the answer.
func TestOwnWords(t *testing.T) {
	const quote = "> " + aboveLine + "\n> 1. Continue\n"
	for text, want := range map[string][2]string{
		"2\r\n":                      {"2", ""},
		"\n 2 \n\nSent from a phone": {"2", "Sent from a phone"},
		"2\n\n-- \nAnn\n":            {"2", ""},
		"2\n\nAm Fr., 27. Nov. 2026 um 04:00 Uhr schrieb looprun\n<bot@post.test>:\n\n" + quote:                                  {"2", ""},
		"2\nOn 11/27/26 04:00, looprun wrote:\n" + quote:                                                                         {"2", ""},
		"2\n________________________________\nFrom: looprun <bot@post.test>\nSent: Friday\n\n" + aboveLine + "\n\n1. Continue\n": {"2", ""},
		"2\nbut only after 12:30, please\nOn 11/27/26 04:00, looprun wrote:\n" + quote:                                           {"2\nbut only after 12:30, please", ""},
		"Please do:\n\na\nb\n\n" + aboveLine + "\nmine\n":                                                                        {"Please do:", "a\nb"},
		"fix these tests at 12:30:\n\na\n":                                                                                       {"fix these tests at 12:30:", "a"},
		"fix these tests at 12:30:\n" + quote:                                                                                    {"fix these tests at 12:30:", ""},
		"use SQLite\n\n-----\nhere is the trace\n":                                                                               {"use SQLite", "-----\nhere is the trace"},
		// Below what is quoted, or between it, the answer is unclear.
		"On Friday, looprun wrote:\n" + quote + "\n2\n":                                            {"", ""},
		"On 11/27/26 04:00, looprun wrote:\n> asks (shop)\n> 3. Cancel\n\n3\n":                     {"", ""},
		"Le 27 nov. 2026 à 04:00, looprun a écrit :\n> asks (shop)\n\n3\n":                         {"", ""},
		"looprun <bot@post.test> je napisao\n" + quote:                                             {"", ""},
		"> an earlier line\n\nuse SQLite\n":                                                        {"", ""},
		"Am Fr., 27. Nov. 2026 um 04:00 Uhr schrieb looprun\n<bot@post.test>:\n" + quote + "\n2\n": {"", ""},
		"2026年11月27日 looprun <bot@post.test>：\n" + quote + "\n2\n":                                 {"", ""},
		"": {"", ""},
	} {
		if first, more := own(text, "looprun", "bot@post.test"); first != want[0] || more != want[1] {
			t.Errorf("%q: %q, %q", text, first, more)
		}
	}
}

// A program that replies to each letter gets only so many of them, and the end once.
func TestManyLetters(t *testing.T) {
	o := openPostOffice(t)
	x := mailerFor(t, o.url())
	for range 2 * mostLetters {
		if err := x.send(t.Context(), outgoing{ID: "1", Title: "asks"}); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		if err := x.send(t.Context(), outgoing{ID: "1", Title: "is answered", Over: true}); err != nil {
			t.Fatal(err)
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if n := len(o.sent); n != mostLetters+1 || o.sent[n-1].subject != "is answered" {
		t.Errorf("%d letters, the last %+v", n, o.sent[n-1])
	}
}
