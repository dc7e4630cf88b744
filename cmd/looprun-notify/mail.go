package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/quotedprintable"
	"net"
	netmail "net/mail"
	"net/smtp"
	"net/textproto"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"
	coded "github.com/emersion/go-message"
	_ "github.com/emersion/go-message/charset" // replies in any character set
	"github.com/emersion/go-message/mail"
)

// mailer carries over e-mail: it sends over SMTP, and reads replies in a mailbox over IMAP. The id
// of a message has the code of a reply, so that only somebody who got the message can reply:
// anybody can write a name into From.
type mailer struct {
	smtp, imap     string // host and port
	user, password string
	from           *netmail.Address
	to             []*netmail.Address
	implicit       bool // the SMTP server expects TLS from the first byte

	since    time.Time // earlier letters are not read
	next     imap.UID  // the first message that listen has not read
	validity uint32    // of next; 0: listen has not begun

	sent map[string]*thread // by the ids of questions; send's alone
}

// thread is what was sent about one question.
type thread struct {
	first string // the id of the first message
	sent  int
	over  bool // it was sent how the question ended; a program that replies to that gets nothing
}

const (
	// aboveLine is the first line of a message. What a reply quotes begins there.
	aboveLine = "Reply above this line."
	// mostLetters is how many letters are sent about one question.
	mostLetters = 20
	// mostMail is how much of a message in the mailbox is read, in bytes.
	mostMail = 128 << 10
	// mailIdles is how long the client waits for news before it asks the server for a sign of
	// life.
	mailIdles = 4 * time.Minute
)

// mailPolls is how long the client waits where the server announces no news. Tests wait less.
var mailPolls = 15 * time.Second

// mailID is an id of a message that this program has sent.
var mailID = regexp.MustCompile(`<looprun\.([\w-]+)\.\w+@`)

// noReply is in place of the code in a message to which no reply is read.
const noReply = "none"

// newMail reads smtp://USER:PASSWORD@HOST:PORT/?from=ADDRESS&to=ADDRESS&imap=HOST:PORT.
func newMail(u *url.URL) (*mailer, error) {
	x := &mailer{user: u.User.Username(), sent: map[string]*thread{}, since: time.Now().Add(-time.Hour)}
	x.password, _ = u.User.Password()
	port := cmp.Or(u.Port(), "25")
	x.smtp, x.imap = net.JoinHostPort(u.Hostname(), port), option(u, "imap")
	encryption := strings.ToLower(option(u, "encryption"))
	x.implicit = encryption == "implicittls" || port == "465" && (encryption == "" || encryption == "auto")
	from, fromErr := addresses(option(u, "from", "fromaddress"))
	to, toErr := addresses(option(u, "to", "toaddresses"))
	switch {
	case u.Hostname() == "" || fromErr != nil || toErr != nil || len(from) != 1:
		return nil, errURL
	case x.imap == "":
		return nil, errors.New("it does not say where the replies arrive; add imap=HOST to the URL")
	case x.user == "" || x.password == "":
		return nil, errors.New("replies are read with a user and a password; write smtp://USER:PASSWORD@HOST")
	case encryption == "none" && !local(x.smtp):
		return nil, errors.New("a password is not sent without encryption; leave out encryption")
	}
	x.from, x.to = from[0], to
	x.from.Name = cmp.Or(x.from.Name, "looprun")
	if _, _, err := net.SplitHostPort(x.imap); err != nil {
		x.imap = net.JoinHostPort(x.imap, "993")
	}
	return x, nil
}

// addresses parses a list of addresses, as it is in a URL.
func addresses(list string) (all []*netmail.Address, err error) {
	for one := range strings.SplitSeq(list, ",") {
		of, err := netmail.ParseAddress(one)
		if err != nil { // a plus sign of the URL has become a blank
			of, err = netmail.ParseAddress(strings.ReplaceAll(strings.TrimSpace(one), " ", "+"))
		}
		if err != nil {
			return nil, err
		}
		all = append(all, of)
	}
	return all, nil
}

// local reports whether host and port are on this machine, where nobody listens in.
func local(address string) bool {
	host, _, _ := net.SplitHostPort(address)
	return loopback(host)
}

func (x *mailer) send(ctx context.Context, m outgoing) error {
	of := x.sent[m.ID]
	if of == nil {
		of = &thread{}
		x.sent[m.ID] = of
	}
	if of.over || of.sent >= mostLetters && !m.Over { // a program may be answering
		return nil
	}
	_, domain, _ := strings.Cut(x.from.Address, "@")
	id := fmt.Sprintf("<looprun.%s.%s@%s>", cmp.Or(m.Reply, noReply), rand.Text(), domain)
	if err := x.post(ctx, x.letter(m, id, of.first)); err != nil {
		return err
	}
	of.first, of.over, of.sent = cmp.Or(of.first, id), m.Over, of.sent+1
	for id, of := range x.sent {
		if of.over && len(x.sent) > mostOver {
			delete(x.sent, id)
		}
	}
	return nil
}

// letter returns the message with that id; first is the one that it continues.
func (x *mailer) letter(m outgoing, id, first string) []byte {
	var to []string
	for _, of := range x.to {
		to = append(to, of.String())
	}
	head := [][2]string{
		{"From", x.from.String()},
		{"To", strings.Join(to, ", ")},
		{"Subject", mime.QEncoding.Encode("utf-8", m.Title)},
		{"Date", time.Now().Format(time.RFC1123Z)},
		{"Message-ID", id},
		{"Auto-Submitted", "auto-generated"}, // RFC 3834: no program replies to it
		{"X-Auto-Response-Suppress", "All"},  // the same for Exchange
		{"MIME-Version", "1.0"},
		{"Content-Type", "text/plain; charset=utf-8"},
		{"Content-Transfer-Encoding", "quoted-printable"},
	}
	if first != "" {
		head = append(head, [2]string{"In-Reply-To", first}, [2]string{"References", first})
	}
	var b bytes.Buffer
	for _, of := range head {
		fmt.Fprintf(&b, "%s: %s\r\n", of[0], of[1])
	}
	b.WriteString("\r\n")
	body := quotedprintable.NewWriter(&b)
	if m.Reply != "" {
		fmt.Fprintf(body, "%s\r\n\r\n", aboveLine)
	}
	_, _ = io.WriteString(body, strings.ReplaceAll(m.Body, "\n", "\r\n")+"\r\n")
	_ = body.Close() // a buffer takes all
	return b.Bytes()
}

// dial connects to a server, with TLS from the first byte if implicit.
func dial(ctx context.Context, address string, implicit bool) (net.Conn, error) {
	to := net.Dialer{Timeout: restPatience}
	if implicit {
		return (&tls.Dialer{NetDialer: &to}).DialContext(ctx, "tcp", address)
	}
	return to.DialContext(ctx, "tcp", address)
}

// post gives a letter to the SMTP server.
func (x *mailer) post(ctx context.Context, letter []byte) error {
	conn, err := dial(ctx, x.smtp, x.implicit)
	if err != nil {
		return errors.New("the mail server could not be reached; check the host in the URL and the network")
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	_ = conn.SetDeadline(time.Now().Add(2 * restPatience))
	host, _, _ := net.SplitHostPort(x.smtp)
	c, err := smtp.NewClient(conn, host)
	if err != nil {
		return errMail(err)
	}
	if can, _ := c.Extension("STARTTLS"); can && !x.implicit && !local(x.smtp) {
		err = c.StartTLS(&tls.Config{ServerName: host})
	}
	if _, encrypted := c.TLSConnectionState(); err == nil && !encrypted && !local(x.smtp) {
		return errors.New("the mail server offers no encryption; use its port with TLS, mostly 465")
	}
	if can, _ := c.Extension("AUTH"); err == nil && can {
		err = c.Auth(smtp.PlainAuth("", x.user, x.password, host))
	}
	if err == nil {
		err = c.Mail(x.from.Address)
	}
	for _, of := range x.to {
		if err == nil {
			err = c.Rcpt(of.Address)
		}
	}
	var to io.WriteCloser
	if err == nil {
		to, err = c.Data()
	}
	if err == nil {
		_, err = to.Write(letter)
		err = errors.Join(err, to.Close())
	}
	if err != nil {
		return errMail(err)
	}
	_ = c.Quit() // the server has the letter
	return nil
}

// errMail describes an error of the SMTP server without its words.
func errMail(err error) error {
	if of, ok := errors.AsType[*textproto.Error](err); ok && of.Code >= 500 {
		return errRefused
	}
	return errors.New("the mail server did not take the message")
}

// deafTo says why replies cannot be read. Messages are sent all the same, since another server
// takes those.
func deafTo(why string) error { return fmt.Errorf("%w: %s", errDeaf, why) }

func (x *mailer) listen(ctx context.Context, opened func(), heard func(answer)) error {
	host, port, _ := net.SplitHostPort(x.imap)
	implicit := port == "993" || port != "143" && !local(x.imap)
	conn, err := dial(ctx, x.imap, implicit)
	if err != nil {
		return deafTo("the IMAP server could not be reached; check imap in the URL and the network")
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	news := make(chan struct{}, 1)
	options := &imapclient.Options{TLSConfig: &tls.Config{ServerName: host}, UnilateralDataHandler: &imapclient.UnilateralDataHandler{
		Mailbox: func(of *imapclient.UnilateralDataMailbox) {
			select {
			case news <- struct{}{}:
			default:
			}
		},
	}}
	// The library waits for some replies without end.
	within := func(do func() error) error {
		late := time.AfterFunc(restPatience, func() { _ = conn.Close() })
		defer late.Stop()
		return do()
	}
	var c *imapclient.Client
	err = within(func() (err error) {
		if implicit || local(x.imap) {
			c = imapclient.New(conn, options)
			return c.WaitGreeting()
		}
		c, err = imapclient.NewStartTLS(conn, options)
		return err
	})
	if err != nil {
		return deafTo("the IMAP server offers no encrypted connection; check imap in the URL")
	}
	defer c.Close()
	if within(func() error { return c.Login(x.user, x.password).Wait() }) != nil {
		return deafTo("the IMAP server does not take the user and the password of the URL")
	}
	if within(func() error { return x.open(c) }) != nil {
		return deafTo("the IMAP server does not open INBOX")
	}
	opened()
	if within(func() error { return x.read(c, heard) }) != nil {
		return deafTo("the IMAP server does not show what has arrived")
	}
	for ctx.Err() == nil && x.await(ctx, c, news, within) == nil && within(func() error { return x.read(c, heard) }) == nil {
	}
	return nil // servers end connections; it is connected again, and that is no news
}

// open opens the mailbox. It may have replies already: somebody may have answered while it could
// not be read.
func (x *mailer) open(c *imapclient.Client) error {
	box, err := c.Select("INBOX", &imap.SelectOptions{ReadOnly: true}).Wait()
	if err != nil || box.UIDValidity == x.validity {
		return err
	}
	recent, err := c.UIDSearch(&imap.SearchCriteria{Since: x.since.AddDate(0, 0, -1)}, nil).Wait()
	if err != nil {
		return err
	}
	x.validity, x.next = box.UIDValidity, max(1, box.UIDNext)
	for _, uid := range recent.AllUIDs() {
		x.next = min(x.next, uid)
	}
	return nil
}

// await waits until there may be news in the mailbox.
func (x *mailer) await(ctx context.Context, c *imapclient.Client, news chan struct{}, within func(func() error) error) error {
	idles := c.Caps().Has(imap.CapIdle)
	pause, idle := mailPolls, (*imapclient.IdleCommand)(nil)
	if idles {
		pause = mailIdles
		if err := within(func() (err error) { idle, err = c.Idle(); return err }); err != nil {
			return err
		}
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-news:
	case <-timer.C:
	case <-ctx.Done():
	case <-c.Closed():
	}
	if idles {
		return within(func() error { return errors.Join(idle.Close(), idle.Wait()) })
	}
	return within(func() error { return c.Noop().Wait() })
}

// read passes on the replies among the messages that have arrived.
func (x *mailer) read(c *imapclient.Client, heard func(answer)) error {
	body := &imap.FetchItemBodySection{Peek: true, Partial: &imap.SectionPartial{Size: mostMail}}
	all := c.Fetch(imap.UIDSet{imap.UIDRange{Start: x.next}}, &imap.FetchOptions{UID: true, InternalDate: true, BodySection: []*imap.FetchItemBodySection{body}})
	defer all.Close()
	for of := all.Next(); of != nil; of = all.Next() {
		var uid imap.UID
		var text []byte
		var at time.Time
		for item := of.Next(); item != nil; item = of.Next() {
			switch item := item.(type) {
			case imapclient.FetchItemDataUID:
				uid = item.UID
			case imapclient.FetchItemDataInternalDate:
				at = item.Time
			case imapclient.FetchItemDataBodySection:
				if item.Literal == nil {
					break
				}
				var err error
				if text, err = io.ReadAll(io.LimitReader(item.Literal, mostMail)); err != nil {
					return err
				}
			}
		}
		x.next = max(x.next, uid+1)
		if a := x.replied(text); a.Code != "" && !at.Before(x.since) {
			heard(a)
		}
	}
	return all.Close()
}

// replied reads a message of the mailbox; without a code it is no answer of a person.
func (x *mailer) replied(raw []byte) (a answer) {
	m, err := mail.CreateReader(bytes.NewReader(raw))
	if m == nil || err != nil && !coded.IsUnknownCharset(err) {
		return a
	}
	h := m.Header
	// Programs reply too: that somebody is away (RFC 3834), or that a message was not delivered.
	for _, sign := range []string{"X-Autoreply", "X-Auto-Reply", "X-Autorespond", "X-Auto-Response-Suppress", "X-Vacation", "List-Id"} {
		if h.Has(sign) {
			return a
		}
	}
	by := strings.ToLower(h.Get("Auto-Submitted"))
	kind, _, _ := h.ContentType()
	switch bulk := strings.ToLower(h.Get("Precedence")); {
	case by != "" && by != "no", kind == "multipart/report", strings.TrimSpace(h.Get("Return-Path")) == "<>",
		bulk == "bulk", bulk == "junk", bulk == "list", bulk == "auto_reply":
		return a
	}
	from, err := h.AddressList("From")
	if err != nil || len(from) != 1 {
		return a
	}
	for _, id := range mailID.FindAllStringSubmatch(h.Get("References")+h.Get("In-Reply-To"), -1) {
		if id[1] != noReply {
			a.Code = id[1]
		}
	}
	a.From, a.Lacks = strings.ToLower(from[0].Address), noText
	for {
		part, err := m.NextPart()
		if part == nil || err != nil && !coded.IsUnknownCharset(err) {
			return a
		}
		head, inline := part.Header.(*mail.InlineHeader)
		if !inline {
			continue
		}
		if kind, _, _ := head.ContentType(); kind == "text/plain" || kind == "" {
			text, err := io.ReadAll(part.Body)
			if err != nil || len(raw) == mostMail { // its end could mean the opposite
				a.Lacks = "it could not be read whole"
				return a
			}
			a.Words, a.More = own(string(text), x.from.Name, x.from.Address)
			if a.Lacks = ""; a.Words == "" {
				a.Lacks = "write above what your program quotes"
			}
			return a
		}
	}
}

// own returns what a person has written above what the reply quotes: the first paragraph, which
// is the answer, and what follows, which may be a signature. name and address are those that are
// replied to. It returns nothing where it is not clear what is quoted.
func own(text, name, address string) (first, more string) {
	var lines []string
	quoted := false
	for line := range strings.Lines(text) {
		bare := strings.TrimRight(line, " \r\n\t\u00a0")
		if strings.TrimRight(line, "\r\n") == "-- " { // RFC 3676: a signature
			break
		}
		quote := strings.HasPrefix(bare, ">")
		quoted = quoted || quote
		if strings.Contains(bare, aboveLine) {
			if !quote { // some programs do not mark what they quote, and begin with its header
				quoted = true
				if i := slices.IndexFunc(lines, func(of string) bool { return strings.Contains(of, address) }); i >= 0 {
					lines = lines[:i]
				}
			}
			break
		}
		switch {
		case quote:
		case quoted && bare != "": // the answer may be anywhere
			return "", ""
		default:
			lines = append(lines, bare)
		}
	}
	trim := func() {
		for len(lines) > 0 && strings.Trim(lines[len(lines)-1], " _-*") == "" {
			lines = lines[:len(lines)-1]
		}
	}
	if trim(); quoted && len(lines) > 0 {
		// A program introduces what it quotes: “On Friday at 4:00, looprun <ADDRESS> wrote:”.
		last := lines[len(lines)-1]
		who := strings.Contains(last, address) || strings.Contains(last, name)
		if when := dated.MatchString(last); who && (when || strings.HasSuffix(last, ":") || strings.HasSuffix(last, "：")) {
			lines = lines[:len(lines)-1]
			if n := len(lines); !when && n > 0 && dated.MatchString(lines[n-1]) { // it was wrapped
				lines = lines[:n-1]
			}
		}
		trim()
	}
	whole := strings.TrimSpace(strings.Join(lines, "\n"))
	if strings.Contains(whole, address) {
		return "", ""
	}
	first, more, _ = strings.Cut(whole, "\n\n")
	return strings.TrimSpace(first), strings.TrimSpace(more)
}

// dated matches a line with a date or a time.
var dated = regexp.MustCompile(`\d:\d\d|\b20\d\d\b`)
