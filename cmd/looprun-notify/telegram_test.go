package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// botAPI is a stand-in for Telegram's Bot API, which has no server for tests. It does what the
// documentation says of the methods that this program uses: messages with buttons, edits that
// must change something, updates that are kept until a later offset confirms them, one reader.
type botAPI struct {
	t    *testing.T
	http *httptest.Server

	mu       sync.Mutex
	messages map[int64]*botMessage
	updates  []map[string]any
	last     int64 // the id of the last message or update
	news     chan struct{}
	reading  bool
	answered int // callback queries
}

type botMessage struct {
	Chat   string `json:"chat_id"`
	ID     int64  `json:"message_id"`
	Text   string `json:"text"`
	Markup struct {
		Keyboard [][]telegramButton `json:"inline_keyboard"`
	} `json:"reply_markup"`
}

const botToken = "123456:abcdefghijklmnopqrstuvwxyz_ABCDEFGH"

func startBotAPI(t *testing.T) *botAPI {
	t.Helper()
	b := &botAPI{t: t, messages: map[int64]*botMessage{}, news: make(chan struct{})}
	b.http = httptest.NewServer(b)
	t.Cleanup(func() { b.http.CloseClientConnections(); b.http.Close() })
	return b
}

func (b *botAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	method, ok := strings.CutPrefix(r.URL.Path, "/bot"+botToken+"/")
	say := func(status int, result any, why string) {
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]any{"ok": status == 200, "result": result, "description": why})
	}
	if !ok {
		say(401, nil, "Unauthorized")
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch method {
	case "sendMessage", "editMessageText":
		var m botMessage
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil || m.Chat != "42" || m.Text == "" || len([]rune(m.Text)) > 4096 {
			say(400, nil, fmt.Sprint("Bad Request: ", err))
			return
		}
		for _, row := range m.Markup.Keyboard {
			for _, k := range row {
				if k.Text == "" || len(k.Data) > 64 {
					say(400, nil, "Bad Request: BUTTON_DATA_INVALID")
					return
				}
			}
		}
		if method == "sendMessage" {
			b.last++
			m.ID = b.last
		} else if before := b.messages[m.ID]; before == nil {
			say(400, nil, "Bad Request: message to edit not found")
			return
		} else if fmt.Sprint(*before) == fmt.Sprint(m) {
			say(400, nil, "Bad Request: message is not modified: specified new message content and reply markup are exactly the same")
			return
		}
		b.messages[m.ID] = &m
		say(200, map[string]any{"message_id": m.ID, "chat": map[string]any{"id": 42}, "text": m.Text}, "")
	case "answerCallbackQuery":
		b.answered++
		say(200, true, "")
	case "getUpdates":
		var in struct{ Offset, Timeout int64 }
		_ = json.NewDecoder(r.Body).Decode(&in)
		if b.reading {
			say(409, nil, "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running")
			return
		}
		b.reading = true
		for late := time.After(time.Duration(in.Timeout) * time.Second); ; {
			list := []any{}
			for _, u := range b.updates {
				if u["update_id"].(int64) >= in.Offset {
					list = append(list, u)
				}
			}
			if over := r.Context().Err() != nil; len(list) > 0 || in.Timeout == 0 || over {
				b.reading = false
				say(200, list, "")
				return
			}
			news := b.news
			b.mu.Unlock()
			select {
			case <-news:
			case <-late:
				in.Timeout = 0
			case <-r.Context().Done():
			}
			b.mu.Lock()
		}
	default:
		say(404, nil, "Not Found")
	}
}

// update gives the bot an update.
func (b *botAPI) update(key string, of map[string]any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last++
	b.updates = append(b.updates, map[string]any{"update_id": b.last, key: of})
	close(b.news)
	b.news = make(chan struct{})
}

const ann, eve = 1001, 1002

// press presses a button, and reply replies to a message, as a person.
func (b *botAPI) press(who int, m botMessage, label string) {
	b.t.Helper()
	for _, row := range m.Markup.Keyboard {
		if row[0].Text == label {
			b.update("callback_query", map[string]any{"id": "q", "from": map[string]any{"id": who}, "data": row[0].Data})
			return
		}
	}
	b.t.Fatalf("there is no button %q: %+v", label, m)
}

func (b *botAPI) reply(who int, m botMessage, text string) { b.replyIn(42, who, m, text) }

// replyIn replies in a chat, to the message of that chat that has m's number. Without a text it
// is a photo.
func (b *botAPI) replyIn(chat, who int, m botMessage, text string) {
	of := map[string]any{
		"message_id": 1, "from": map[string]any{"id": who}, "chat": map[string]any{"id": chat},
		"reply_to_message": map[string]any{"message_id": m.ID, "chat": map[string]any{"id": chat}, "text": m.Text},
	}
	if text != "" {
		of["text"] = text
	} else {
		of["photo"] = []any{map[string]any{"file_id": "f"}}
	}
	b.update("message", of)
}

// shows waits until the chat shows a message that has all the words.
func (b *botAPI) shows(words ...string) botMessage {
	b.t.Helper()
	var all string
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		b.mu.Lock()
		all = ""
		for _, m := range b.messages {
			all += fmt.Sprintf("%+v\n", *m)
			lacks := false
			for _, w := range words {
				lacks = lacks || !strings.Contains(m.Text, w)
			}
			if !lacks {
				found := *m
				b.mu.Unlock()
				return found
			}
		}
		b.mu.Unlock()
	}
	b.t.Fatalf("the chat does not show %q: %s", words, all)
	return botMessage{}
}

// A question comes to a chat of Telegram with a button for each option. Who is not listed answers
// nothing, an option that ends the run is asked about once more, and words in reply are guidance.
func TestAnsweredOverTelegram(t *testing.T) {
	b, h := startBotAPI(t), newHome(t)
	notify := fmt.Sprintf("{url: 'telegram://%s@%s/?chats=42', answers: true, from: [%d]}", botToken, strings.TrimPrefix(b.http.URL, "http://"), ann)
	if code, _, stderr := h.looprun("shop", "--name", "shop", "--max-iterations", "1", "--notify", notify, "-c", fails); code != 102 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	m := b.shows("asks (shop)", "FAIL: login", "Reply with a number, or words for the next iteration")
	if len(m.Markup.Keyboard) < 4 {
		t.Errorf("buttons %+v", m.Markup)
	}
	b.press(eve, m, "Continue +5")
	b.reply(eve, m, "1")
	h.refused("1002 may not answer: from does not list it")
	changed := m
	changed.Markup.Keyboard = [][]telegramButton{{{"Wrong", "." + m.Markup.Keyboard[0][0].Data[1:]}}} // no code has a dot
	b.press(eve, changed, "Wrong")
	h.refused("a code was refused")
	b.press(ann, m, "Accept current")
	sure := b.shows("ends the run. Are you sure?")
	b.mu.Lock()
	for _, of := range b.messages {
		if strings.Contains(of.Text, "did not follow") {
			t.Errorf("whoever may not answer is told something: %s", of.Text)
		}
	}
	b.mu.Unlock()
	b.press(ann, changed, "Wrong")
	b.shows("looprun did not follow an answer")
	b.press(ann, sure, "No")
	b.shows("asks (shop)", "Reply with")
	b.replyIn(43, ann, m, "this is for the neighbour's bot")
	b.reply(ann, m, "")
	b.shows("only text is read", "asks (shop)")
	b.mu.Lock()
	delete(b.messages, m.ID) // somebody deletes it
	b.mu.Unlock()
	b.reply(ann, m, "2 3")
	m = b.shows("“2 3” is not used", "asks (shop)")
	b.reply(ann, m, "use the other table, please")
	over := b.shows("is answered (shop)", "user over Telegram")
	if over.ID != m.ID || len(over.Markup.Keyboard) > 0 {
		t.Errorf("%+v", over)
	}
	next := b.shows("asks (shop)")
	b.press(ann, m, "Continue +5") // too late: it was answered
	b.press(ann, next, "Try different approach")
	b.shows("is answered (shop)", "“Try different approach”, by user over Telegram")
	given := h.answers("shop")
	if len(given) != 2 || !strings.Contains(given[0], `"via":"telegram"`) || !strings.Contains(given[0], `"guidance":"use the other table, please"`) {
		t.Errorf("%q", given)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.answered < 6 {
		t.Errorf("%d of the buttons stopped to wait", b.answered)
	}
}
