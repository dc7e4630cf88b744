// Package courier carries questions of runs to people's phones, and the answers back, without a
// port that anybody could connect to. One courier serves all runs of a user. It is a process of
// its own, since a run that waits for an answer has usually exited.
//
// A run hands its question over on the courier's socket ([Carry]). A looprun-notify for each
// service sends the message and listens. What comes back must be a code that the courier has
// made for this run, question, option and sender; then `looprun answer` gives the answer.
package courier

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/ask"
	"github.com/looprun/looprun/internal/atomicfile"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/helper"
	"github.com/looprun/looprun/internal/origin"
	"github.com/looprun/looprun/internal/program"
	"github.com/looprun/looprun/internal/socket"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/scratchpad"
)

const socketFile = "socket" // holds the path of the courier's socket

const (
	// lookEvery is how often the courier looks whether a question was answered elsewhere.
	lookEvery = time.Second
	// lingers is how long the courier still explains a late answer. It ends when no run has
	// been live, and its last question over, for that long.
	lingers = 10 * time.Minute
	// mostButtons is how many buttons a message has.
	mostButtons = 3
	// mostClients is how many runs can be live at once.
	mostClients = 1 << 14
	// givesWithin is how long looprun may take to give an answer and resume the run.
	givesWithin = 2 * time.Minute
	// mostMessage is the size of a message on the socket, in bytes; most of it is an environment.
	mostMessage = 8 << 20
	// mostRefused is how many wrong codes are logged.
	mostRefused = 20
)

// Courier is the courier of one user.
type Courier struct {
	looprun string
	stderr  *os.File
	secret  secret
	began   time.Time
	done    chan struct{}
	stop    func()

	mu        sync.Mutex
	links     map[string]*link // by URL
	questions map[string]*carried
	live      int       // runs that may still ask
	idle      time.Time // since when there was nothing to do
	refused   int
}

// carried is a question under way.
type carried struct {
	Question
	run   string
	asked core.Question
	to    map[*link]Service

	first int    // of the choices that the message offers
	sure  string // the option that is asked about once more; empty: none
	note  string // what looprun said about the last answer
	busy  bool   // an answer is being given
	over  string // how it ended; empty: it waits
	did   string // what looprun did in place of asking
	ended time.Time
	seen  scratchpad.Stamp // the journal as it was read last
}

func (q *carried) on(l *link) bool { return q.to[l].URL != "" }

// Run serves all runs of the user until nothing has waited for a while, or until another
// courier is found to be running.
func Run(looprun string) error {
	if err := origin.Admit(os.Getpid()); err != nil {
		return fmt.Errorf("the courier cannot be started: %w", err)
	}
	dir, err := folder()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	release, err := scratchpad.Hold(dir)
	if errors.Is(err, scratchpad.ErrLocked) {
		return nil
	} else if err != nil {
		return err
	}
	defer func() { _ = release() }()
	_ = os.Stderr.Truncate(0) // the log of the last courier; a terminal refuses
	left, _ := filepath.Glob(filepath.Join(dir, socket.DirPattern))
	for _, of := range left { // of a courier that was killed
		_ = os.RemoveAll(of)
	}
	c := &Courier{looprun: looprun, stderr: os.Stderr, began: time.Now(), done: make(chan struct{}), links: map[string]*link{}, questions: map[string]*carried{}}
	c.stop = sync.OnceFunc(func() { close(c.done) })
	if _, err := rand.Read(c.secret[:]); err != nil {
		return err
	}
	server, err := socket.Listen(socket.Options{Handle: c.handle, Dir: dir, Lasting: true, MaxMessage: mostMessage, MaxClients: mostClients, Trouble: func(text string) { c.log("%s", text) }})
	if err != nil {
		return err
	}
	defer server.Close()
	name := filepath.Join(dir, socketFile)
	if err := atomicfile.Write(name, []byte(server.Path()+"\n"), false); err != nil {
		return err
	}
	defer os.Remove(name)
	c.watch()
	return nil
}

func (c *Courier) log(format string, args ...any) {
	fmt.Fprintf(c.stderr, "%s %s\n", time.Now().Format(time.DateTime), fmt.Sprintf(format, args...))
}

// handle handles a message of another looprun, never one of a run's own command: that could
// name a service of its own, and answer itself.
func (c *Courier) handle(ctx context.Context, peer socket.Peer, kind string, body json.RawMessage) (any, error) {
	if kind == kindHere {
		return c.here(), nil
	}
	if origin.Admit(peer.PID) != nil {
		return nil, errors.New("a run inside another one cannot be answered from afar: the outer one asks")
	}
	switch kind {
	case kindCarry:
		var q Question
		if err := json.Unmarshal(body, &q); err != nil {
			return nil, err
		}
		return nil, c.carry(q)
	case kindStay:
		c.count(1)
		defer c.count(-1)
		<-ctx.Done()
		return nil, nil
	case kindStop:
		c.stop()
		return nil, nil
	}
	return nil, fmt.Errorf("unknown message type %q", kind)
}

// here returns what the services did not take. The courier stays until the caller has connected
// again.
func (c *Courier) here() (reply hereReply) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.idle = time.Now()
	for _, l := range c.links {
		if l.problem != "" {
			reply.Problem = l.via() + ": " + l.problem
		}
	}
	return reply
}

func (c *Courier) count(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.live += n
	c.idle = time.Now()
}

// carry takes over a question and sends it.
func (c *Courier) carry(q Question) error {
	state, _, err := scratchpad.Load(q.Dir)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(state.Answerable(), func(of core.Question) bool { return of.ID == q.ID })
	if i < 0 {
		return nil // it was answered meanwhile
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	key := q.Dir + "\x00" + q.ID
	if earlier := c.questions[key]; earlier != nil && earlier.over == "" {
		return nil
	}
	of := &carried{Question: q, run: state.RunID, asked: state.Answerable()[i], to: map[*link]Service{}}
	for _, to := range q.Services {
		l := c.links[to.URL]
		if l == nil {
			l = &link{url: to.URL, send: make(chan outgoing, 1000)}
			c.links[to.URL] = l
			go c.keep(l)
		}
		of.to[l] = to
	}
	c.questions[key] = of
	c.tell(of)
	return nil
}

// tell sends the message of a question as it stands now.
func (c *Courier) tell(q *carried) {
	for l := range q.to {
		l.tell(c.message(q, l))
	}
}

// answerable returns what the service may answer, and whether it may with words.
func (q *carried) answerable(l *link) (list []choice, words bool) {
	to := q.to[l]
	if (q.asked.Exclusive || q.asked.Mandatory) && !to.Exclusive {
		return nil, false
	}
	return choices(q.asked), len(to.From) > 0
}

// message returns the message about a question for one service.
func (c *Courier) message(q *carried, l *link) outgoing {
	m := outgoing{ID: c.secret.code(q.run, q.ID, "", "message", l.url), Title: q.Title, Body: q.Body, Over: q.over != ""}
	list, words := q.answerable(l)
	buttons := list
	if q.asked.Multi {
		buttons = nil
	}
	tap := func(of choice) button { return button{of.label, c.code(q, l, of.option, stepTap)} }
	sure := slices.IndexFunc(list, func(of choice) bool { return of.option == q.sure })
	switch {
	case m.Over:
		m.Title, m.Body = strings.Replace(q.Title, "asks", q.did, 1), q.over
	case sure >= 0:
		really := "Are you sure?"
		if words {
			really += fmt.Sprintf(" Reply “%d yes”.", sure+1)
			m.Body = numbered(m.Body, q.asked, list)
		}
		m.Body = fmt.Sprintf("“%s” ends the run. %s\n%s", list[sure].label, really, m.Body)
		m.Buttons = []button{
			{"Yes: " + list[sure].label, c.code(q, l, list[sure].option, stepSure)},
			{"No", c.code(q, l, "", stepMore)},
		}
	case words:
		m.Body = numbered(m.Body, q.asked, list)
		m.Buttons = convert.Each(buttons, tap)
	case len(buttons) == 0:
		m.Body += "\nIt cannot be answered here."
	default:
		from := min(q.first, len(list)-1)
		upto := min(from+mostButtons, len(list))
		more := len(list) > mostButtons
		if more {
			upto = min(from+mostButtons-1, len(list))
		}
		m.Buttons = convert.Each(list[from:upto], tap)
		if more {
			m.Buttons = append(m.Buttons, button{"More…", c.code(q, l, "", stepMore)})
		}
	}
	if words && !m.Over {
		m.Reply = c.code(q, l, "", stepReply)
	}
	if q.note != "" && !m.Over {
		m.Body = q.note + "\n" + m.Body
	}
	return m
}

func (c *Courier) code(q *carried, l *link, option, step string) string {
	return c.secret.code(q.run, q.ID, option, step, l.url)
}

// hear handles what a service has brought.
func (c *Courier) hear(l *link, m incoming) {
	c.mu.Lock()
	defer c.mu.Unlock()
	q, of, step := c.meant(l, m.Code)
	why := "a code was refused"
	if q != nil && !q.to[l].allows(m.From) {
		q, why = nil, termsafe.Line(m.From)+" may not answer: from does not list it"
	}
	var answer ask.ShortAnswer
	if q != nil {
		answer = ask.ShortAnswer{Question: q.ID, Option: of.option}
	}
	note := ""
	if step == stepReply && q != nil {
		answer, of, step = replyWith(q.asked, q.sure, m.Words, m.More)
		switch {
		case m.Lacks != "":
			note = "The reply is not used: " + m.Lacks
		case m.Reaction && (step == "" || answer.Text != nil):
			return
		case step == "" && q.sure != "":
			note = fmt.Sprintf("“%s” is not used: reply as below, or with another number.", termsafe.Short(m.Words, 60))
		case step == "":
			note = fmt.Sprintf("“%s” is not used: reply with a number and nothing else, or with more words.", termsafe.Short(m.Words, 60))
		}
	}
	switch {
	case q == nil:
		if c.refused++; c.refused <= mostRefused {
			c.log("%s: %s", l.via(), why)
		}
		if !l.refused && c.mayAnswer(l, m.From) {
			l.refused = true // the code says nothing of its message, and somebody may be guessing
			l.tell(outgoing{
				ID: c.secret.code("", "", "", "refused", l.url), Title: "looprun did not follow an answer", Over: true,
				Body: "Its question is over, or came before looprun’s courier was started anew at " + c.began.Format(time.TimeOnly) + ". What still waits can be answered with looprun answer.",
			})
		}
	case q.over != "":
		l.tell(c.message(q, l))
	case q.busy: // the same answer again, or another one: the first counts
	case note != "":
		q.note = note
		c.tell(q)
	case step == stepMore:
		if q.sure == "" {
			q.first += mostButtons - 1
		}
		if list, _ := q.answerable(l); q.first >= len(list) {
			q.first = 0
		}
		q.sure, q.note = "", ""
		c.tell(q)
	case of.ends && step == stepTap:
		q.sure, q.note = of.option, ""
		c.tell(q)
	default:
		q.busy = true
		go c.give(q, l, m.From, answer)
	}
}

// mayAnswer reports whether somebody may answer one of the questions that the service has.
func (c *Courier) mayAnswer(l *link, from string) bool {
	for _, q := range c.questions {
		if q.on(l) && q.to[l].allows(from) {
			return true
		}
	}
	return false
}

// meant returns the question and the step that a code is for; nil if it is for none.
func (c *Courier) meant(l *link, code string) (q *carried, of choice, step string) {
	is := func(q *carried, option, step string) bool {
		return hmac.Equal([]byte(code), []byte(c.code(q, l, option, step)))
	}
	for _, q := range c.questions {
		if !q.on(l) {
			continue
		}
		if is(q, "", stepMore) {
			return q, choice{}, stepMore
		}
		list, words := q.answerable(l)
		if words && is(q, "", stepReply) {
			return q, choice{}, stepReply
		}
		for _, of := range list {
			for _, step := range []string{stepTap, stepSure} {
				if is(q, of.option, step) {
					return q, of, step
				}
			}
		}
	}
	return nil, choice{}, ""
}

// give gives the answer, as everybody does, and says in the message what came of it.
func (c *Courier) give(q *carried, l *link, from string, answer ask.ShortAnswer) {
	by := program.Looprun{Path: c.looprun, Via: l.via(), Reason: strings.TrimSuffix("answered over "+l.via()+" by "+from, " by "), Env: append(helper.Environ(q.Env), q.again())}
	ctx, cancel := context.WithTimeout(context.Background(), givesWithin)
	defer cancel()
	said, err := by.Answer(ctx, q.Dir, answer)
	if err != nil {
		said = err.Error()
		c.log("%s: %s: %s", l.via(), q.run, said)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	q.busy, q.sure, q.note = false, "", said
	q.seen = scratchpad.Stamp{}
	c.look(q)
	if q.over == "" {
		c.tell(q)
	}
}

// watch follows the questions until the courier ends.
func (c *Courier) watch() {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	c.count(0)
	for {
		select {
		case <-c.done:
			return
		case <-tick.C:
		}
		c.mu.Lock()
		for key, q := range c.questions {
			if q.over == "" && !q.busy {
				c.look(q)
			}
			if q.over != "" && time.Since(q.ended) > lingers {
				delete(c.questions, key)
			}
		}
		if len(c.questions) > 0 || c.live > 0 {
			c.idle = time.Now()
		}
		if time.Since(c.idle) > lingers {
			c.stop()
		}
		c.mu.Unlock()
	}
}

// look ends a question that waits no more, whoever answered it.
func (c *Courier) look(q *carried) {
	seen := scratchpad.StampOf(q.Dir)
	if seen == q.seen && seen != (scratchpad.Stamp{}) {
		return
	}
	q.seen = seen
	state, _, err := scratchpad.Load(q.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		q.did, q.over = "has stopped asking", "The run is gone."
	case err != nil: // perhaps it is being written
		q.seen = scratchpad.Stamp{}
		return
	default:
		if slices.ContainsFunc(state.Answerable(), func(of core.Question) bool { return of.ID == q.ID }) {
			return
		}
		q.did, q.over = settled(state, q)
	}
	q.ended, q.sure = time.Now(), ""
	c.tell(q)
}

// settled says how a question ended, in the title and in the text.
func settled(s *core.State, q *carried) (did, text string) {
	for _, a := range slices.Backward(s.Answered) {
		if a.QuestionID == q.ID {
			text = fmt.Sprintf("“%s”, by %s at %s.", q.asked.Labels(a.Answer), a.Who(), a.Time.Local().Format(time.TimeOnly))
			if q.note != "" {
				text += "\n" + q.note
			}
			return "is answered", text
		}
	}
	return "has stopped asking", "Nobody answered, and it waits no more."
}
