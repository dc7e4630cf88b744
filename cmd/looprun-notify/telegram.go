package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// telegram carries over a bot of Telegram in one chat. People answer with a button, or with a
// reply to the message.
type telegram struct {
	api   string // the address of the bot's methods
	chat  string
	next  int64 // the update from which listen continues
	shown shown
}

const (
	// telegramBody is how long the text of a message may be, in bytes: 4,096 characters.
	telegramBody = 3500
	// telegramWait is how long the server may wait for news.
	telegramWait = 50 * time.Second
)

// newTelegram reads telegram://TOKEN@telegram?chats=CHAT. A host other than telegram is that of
// a Bot API server of one's own.
func newTelegram(u *url.URL) (*telegram, error) {
	key, _ := u.User.Password()
	t := &telegram{chat: option(u, "chats", "channels")}
	base := "https://" + u.Host
	switch {
	case u.Host == "telegram":
		base = "https://api.telegram.org"
	case loopback(u.Hostname()):
		base = "http://" + u.Host
	}
	t.api = base + "/bot" + url.PathEscape(u.User.Username()+":"+key) + "/"
	if u.Host == "" || key == "" || t.chat == "" {
		return nil, errURL
	}
	if strings.Contains(t.chat, ",") {
		return nil, errors.New("answers come from one chat; leave out the others")
	}
	return t, nil
}

// call calls a method of the bot. result may be nil.
func (t *telegram) call(ctx context.Context, method string, in, result any) (why string, err error) {
	out := struct {
		Why    string `json:"description"`
		Result any    `json:"result"`
	}{Result: result}
	err = exchange(ctx, telegramWait+restPatience, http.MethodPost, t.api+method, "", in, &out)
	return out.Why, err
}

type telegramButton struct {
	Text string `json:"text"`
	Data string `json:"callback_data"`
}

type telegramMessage struct {
	ID   int64 `json:"message_id"`
	From struct {
		ID int64 `json:"id"`
	} `json:"from"`
	Chat struct {
		ID int64 `json:"id"`
	} `json:"chat"`
	Text    string           `json:"text"`
	ReplyTo *telegramMessage `json:"reply_to_message"`
}

// place returns where a message is: its number is one of its chat.
func place(chat, message int64) string { return fmt.Sprintf("%d/%d", chat, message) }

func (t *telegram) send(ctx context.Context, m outgoing) error {
	rows := [][]telegramButton{}
	for _, b := range m.Buttons {
		rows = append(rows, []telegramButton{{b.Label, b.Code}})
	}
	in := map[string]any{
		"chat_id": t.chat, "text": cut(m.Title+"\n"+m.Body, telegramBody),
		"reply_markup":         map[string]any{"inline_keyboard": rows},
		"link_preview_options": map[string]any{"is_disabled": true},
	}
	var sent telegramMessage
	if at := t.shown.place(m.ID); at != "" {
		_, number, _ := strings.Cut(at, "/")
		in["message_id"] = json.Number(number)
		why, err := t.call(ctx, "editMessageText", in, &sent)
		if err == nil || strings.Contains(why, "message is not modified") {
			t.shown.put(m, at)
			return nil
		}
		if !strings.Contains(why, "message to edit not found") { // somebody has deleted it
			return err
		}
		delete(in, "message_id")
	}
	if _, err := t.call(ctx, "sendMessage", in, &sent); err != nil {
		return err
	}
	t.shown.put(m, place(sent.Chat.ID, sent.ID))
	return nil
}

func (t *telegram) listen(ctx context.Context, opened func(), heard func(answer)) error {
	for wait := 0; ctx.Err() == nil; wait = int(telegramWait.Seconds()) {
		var news []struct {
			ID      int64           `json:"update_id"`
			Message telegramMessage `json:"message"`
			Pressed *struct {
				ID   string `json:"id"`
				From struct {
					ID int64 `json:"id"`
				} `json:"from"`
				Data string `json:"data"`
			} `json:"callback_query"`
		}
		in := map[string]any{"offset": t.next, "timeout": wait, "limit": 50, "allowed_updates": []string{"message", "callback_query"}}
		if why, err := t.call(ctx, "getUpdates", in, &news); strings.Contains(why, "Conflict") {
			return fmt.Errorf("%w: another program reads what the bot gets", errDeaf)
		} else if err != nil {
			return deaf(err)
		}
		opened()
		for _, of := range news {
			t.next = of.ID + 1
			var a answer
			if p := of.Pressed; p != nil {
				a = answer{Code: p.Data, From: strconv.FormatInt(p.From.ID, 10)}
			} else if to := of.Message.ReplyTo; to != nil {
				a = answer{Code: t.shown.code(place(of.Message.Chat.ID, to.ID)), From: strconv.FormatInt(of.Message.From.ID, 10), Words: of.Message.Text}
				if a.Words == "" {
					a.Lacks = noText
				}
			}
			if a.Code != "" && len(a.Code) <= mostCode {
				heard(a)
			}
			if p := of.Pressed; p != nil {
				_, _ = t.call(ctx, "answerCallbackQuery", map[string]any{"callback_query_id": p.ID}, new(bool)) // the app stops to wait
			}
		}
	}
	return nil
}
