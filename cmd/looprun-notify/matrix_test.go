package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// matrixRoom is a room with a bot, ann who may answer, and eve who may not.
func matrixRoom(t *testing.T) (h *home, bot, ann, eve *matrixClient, s *matrixServer) {
	t.Helper()
	h = newHome(t)
	server, s := startMatrix(t)
	bot, ann, eve = newMatrixClient(t, server, "bot"), newMatrixClient(t, server, "ann"), newMatrixClient(t, server, "eve")
	bot.meet(ann, eve)
	return h, bot, ann, eve, s
}

const fails = "echo 'FAIL: login'; env >>env; exit 1"

// asksOver starts a run of two iterations that asks in the room.
func (h *home) asksOver(bot, ann *matrixClient, dir, command string) {
	h.t.Helper()
	at := strings.TrimPrefix(bot.server, "http://")
	args := []string{"--name", dir, "--max-iterations", "2", "--notify", "{url: 'matrix://:" + bot.token + "@" + at + "/?rooms=" + bot.in + "&disableTLS=yes', answers: true, from: ['" + ann.name + "']}", "-c", command}
	if code, _, stderr := h.looprun(dir, args...); code != 102 {
		h.t.Fatalf("exit %d: %s", code, stderr)
	}
}

func (h *home) refused(what string) {
	h.t.Helper()
	h.eventually("it is refused: "+what, func() bool {
		log, _ := os.ReadFile(filepath.Join(h.dir, ".local/state/looprun/courier/log"))
		return strings.Contains(string(log), what)
	})
}

// A question comes to a Matrix room. Words in reply are guidance, a reaction chooses an option, a
// number that ends the run is asked about once more. Who is not listed answers nothing.
func TestAnsweredOverMatrix(t *testing.T) {
	h, bot, ann, eve, _ := matrixRoom(t)
	h.asksOver(bot, ann, "shop", fails)
	host, _ := os.Hostname()
	first, text := ann.shows("", "asks (shop)", "2 of 2 iterations are used", "FAIL: login", filepath.Join(h.dir, "shop")+" on "+host,
		"Reply with a number, or words for the next iteration\n1. Continue", "Accept current (ends the run)")
	if strings.Contains(text, "accept: Accept") {
		t.Error(text)
	}
	eve.reply(first, "1")
	h.refused(eve.name + " may not answer: from does not list it")
	eve.reply(first, strings.Repeat("<", 60_000)) // longer than what is read, escaped
	ann.reply(first, strings.Repeat("a ", 5_000))
	ann.shows(first, "a reply may have 8 KiB")
	ann.react(first, "👍") // no choice
	ann.send("m.room.message", map[string]any{"msgtype": "m.notice", "body": "a robot says so", "m.relates_to": inReply(first)})
	ann.send("m.room.message", map[string]any{"msgtype": "m.image", "body": "a screenshot.png", "m.relates_to": inReply(first)})
	ann.shows(first, "only text is read")
	ann.send("m.room.message", map[string]any{"msgtype": "m.text", "body": "1"}) // no reply to it
	ann.reply(first, "> <@bot> the question\n\nuse the other table, please")
	ann.shows(first, "is answered (shop)", "user over Matrix")
	second, _ := ann.shows("", "asks (shop)")
	if second == first {
		t.Error("the next question has no message of its own")
	}
	given := h.answers("shop")
	if len(given) != 1 || !strings.Contains(given[0], `"via":"matrix"`) || !strings.Contains(given[0], `"person":true`) ||
		!strings.Contains(given[0], `"guidance":"use the other table, please"`) || !strings.Contains(given[0], "by "+ann.name) {
		t.Errorf("%q", given)
	}

	ann.react(second, "1️⃣")
	ann.shows(second, "is answered (shop)")
	third, text := ann.shows("", "asks (shop)")
	number := func(label string) string {
		for line := range strings.Lines(text) {
			if n, rest, _ := strings.Cut(line, ". "); strings.HasPrefix(rest, label) {
				return n
			}
		}
		t.Fatalf("there is no %q: %s", label, text)
		return ""
	}
	accept := number("Accept current")
	ann.reply(third, accept+" yes") // nobody has asked yet whether it is sure
	ann.shows(third, "ends the run. Are you sure? Reply “"+accept+" yes”.")
	ann.reply(third, "accept the rest later")
	ann.shows(third, "“accept the rest later” is not used", "Are you sure?")
	ann.reply(third, accept+" no!")
	ann.shows(third, strings.Join(strings.SplitAfter(text, "\n")[:2], "")) // as it was
	ann.reply(third, "accepted")                                           // words that may mean an option
	ann.shows(third, "could mean")
	ann.reply(third, accept+". Accept current (ends the run)")
	ann.shows(third, "Are you sure?")
	if list := h.answers("shop"); len(list) != 2 {
		t.Errorf("%q", list)
	}
	ann.reply(third, accept+" yes!")
	h.eventually("the run is accepted", func() bool { return h.runs("shop")[0].Status == "accepted" })
	ann.reply(first, "1") // used up
	if list := h.answers("shop"); len(list) != 3 {
		t.Errorf("%q", list)
	}
	_ = filepath.WalkDir(filepath.Join(h.dir, "shop"), func(name string, d os.DirEntry, err error) error {
		text, _ := os.ReadFile(name)
		for _, secret := range []string{bot.token, strings.TrimPrefix(bot.server, "http://"), bot.in} {
			if err != nil || bytes.Contains(text, []byte(secret)) {
				t.Errorf("%s has %s: %v", name, secret, err)
			}
		}
		return nil
	})
}

// What is answered at the terminal is followed up in the room; a question for a person only takes
// no answer there; and a server that fails for a while costs nothing but time.
func TestMatrixHasRules(t *testing.T) {
	h, bot, ann, _, s := matrixRoom(t)
	if s != nil {
		s.mu.Lock()
		s.refuse = []int{500, 429, 503}
		s.mu.Unlock()
	}
	h.asksOver(bot, ann, "shop", fails)
	event, _ := ann.shows("", "asks (shop)")
	if code, _, stderr := h.looprun("shop", "answer", h.runs("shop")[0].ID, "accept"); code != 0 {
		t.Fatal(stderr)
	}
	if after, _ := ann.shows("", "is answered (shop)", "by user at"); after != event {
		t.Error("it is said in another message")
	}
	h.asksOver(bot, ann, "only", filepath.Join(h.bin, "looprun")+" ask --exclusive --option a --option b 'Which one?'")
	event, text := ann.shows("", "asks (only)", "cannot be answered here")
	if strings.Contains(text, "Reply with") {
		t.Error(text)
	}
	ann.reply(event, "1")
	h.asksOver(bot, ann, "next", fails)
	ann.shows("", "asks (next)")
	if list := h.answers("only"); len(list) > 0 {
		t.Errorf("%q", list)
	}
}

// The address may have a room's alias, as the library takes it.
func TestAnAliasOfARoom(t *testing.T) {
	for query, want := range map[string]string{
		"room=%23a:host": "#a:host", "rooms=a:host": "#a:host", "Rooms=!r:host": "!r:host",
	} {
		of, err := carrierFor("matrix://:token@host/?" + query)
		if m, _ := of.(*matrix); err != nil || m.name != want {
			t.Errorf("%s: %+v %v", query, of, err)
		}
	}
}

// An address that only sends is refused before the run, and one that the courier gets is told.
func TestAnAddressThatBringsNoAnswers(t *testing.T) {
	const address = "matrix://:s3cr3t@host/?rooms=!a:host,!b:host"
	h := newHome(t)
	code, stdout, stderr := h.looprun("shop", "--notify", "{url: '"+address+"', answers: true, from: ['@ann:host']}", "-c", "echo ran")
	if code != 125 || stdout != "" || !strings.Contains(stderr, "--notify: matrix: answers come from one room") || strings.Contains(stderr, "s3cr3t") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
	var out bytes.Buffer
	if err := carry(strings.NewReader(`{"url": "`+address+`"}`), &out); err == nil || !strings.Contains(out.String(), `{"problem":"answers come from one room`) {
		t.Errorf("%v: %s", err, &out)
	}
}

// Only what the library takes for a yes turns encryption off.
func TestTheTokenIsEncrypted(t *testing.T) {
	for value, want := range map[string]string{"No": "https", "false": "https", "": "https", "0": "https", "Yes": "http", "true": "http", "1": "http", "y": "http"} {
		of, err := carrierFor("matrix://:token@host/?rooms=!r:host&disableTLS=" + value)
		if m, _ := of.(*matrix); err != nil || m.server.Scheme != want {
			t.Errorf("matrix %q: %+v %v", value, of, err)
		}
		of, err = carrierFor("ntfy://:token@host/topic?disableTLS=" + value)
		if n, _ := of.(*ntfy); err != nil || n.server.Scheme != want {
			t.Errorf("ntfy %q: %+v %v", value, of, err)
		}
	}
}

// What the server does not show, or shows in a reply that is too long, is told, and what comes
// after it is read.
func TestAFullRoom(t *testing.T) {
	server, s := startMatrix(t)
	if s == nil {
		t.Skip("a real server limits how much one may say")
	}
	bot, ann := newMatrixClient(t, server, "bot"), newMatrixClient(t, server, "ann")
	bot.meet(ann)
	of, err := carrierFor("matrix://:" + bot.token + "@" + strings.TrimPrefix(server, "http://") + "/?rooms=" + bot.in + "&disableTLS=yes")
	if err != nil {
		t.Fatal(err)
	}
	if err := of.send(t.Context(), outgoing{ID: "q", Title: "question", Reply: "code"}); err != nil {
		t.Fatal(err)
	}
	var all []answer
	listens := func() error {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		return of.listen(ctx, cancel, func(a answer) { all = append(all, a) })
	}
	if err := listens(); err != nil {
		t.Fatal(err)
	}
	event, _ := ann.shows("", "question")
	for range 101 {
		ann.reply(event, "1")
	}
	if err := listens(); !errors.Is(err, errMissed) || len(all) != 100 {
		t.Errorf("%d answers, %v", len(all), err)
	}
	for range 90 {
		ann.reply(event, strings.Repeat("a", 100_000))
	}
	if err := listens(); !errors.Is(err, errLong) {
		t.Error(err)
	}
	if err := listens(); err != nil { // it begins anew
		t.Error(err)
	}
	ann.reply(event, "2")
	if err := listens(); err != nil || len(all) != 101 || all[100].Words != "2" || all[100].Code != "code" {
		t.Errorf("%d answers, %v", len(all), err)
	}
}

// What is over is remembered for a while, and not for the courier's life.
func TestWhatIsOverIsForgotten(t *testing.T) {
	var s shown
	s.put(outgoing{ID: "waits", Reply: "c"}, "p")
	for i := range 3 * mostOver {
		m := outgoing{ID: fmt.Sprint(i), Reply: "r"}
		s.put(m, "p"+m.ID)
		m.Reply, m.Over = "", true
		s.put(m, "p"+m.ID)
		s.put(m, "p"+m.ID)
	}
	if len(s.at) != mostOver+1 || len(s.reply) != mostOver+1 || s.code("p") != "c" || s.code(fmt.Sprint("p", 3*mostOver-1)) != "r" {
		t.Errorf("%d places, %d replies", len(s.at), len(s.reply))
	}
}

// In an encrypted room nothing can be read, and the message says so; also in one that is encrypted
// while a question waits there, by somebody who may.
func TestAnEncryptedRoom(t *testing.T) {
	h, bot, ann, _, _ := matrixRoom(t)
	bot.do(http.MethodPut, "rooms/"+bot.in+"/state/m.room.encryption/", map[string]any{"algorithm": "m.megolm.v1.aes-sha2"}, new(any))
	h.asksOver(bot, ann, "shop", fails)
	ann.shows("", "asks (shop)", "Answering here may not work: answers cannot be read.")
	h.refused("the room is encrypted")

	h, bot, ann, eve, _ := matrixRoom(t)
	h.asksOver(bot, ann, "shop", fails)
	event, _ := ann.shows("", "asks (shop)")
	eve.send("m.room.encryption", map[string]any{"algorithm": "m.megolm.v1.aes-sha2"}) // this is no state
	ann.reply(event, "1 2")
	ann.shows(event, "“1 2” is not used")
	bot.do(http.MethodPut, "rooms/"+bot.in+"/state/m.room.encryption/", map[string]any{"algorithm": "m.megolm.v1.aes-sha2"}, new(any))
	h.refused("the room is encrypted")
}
