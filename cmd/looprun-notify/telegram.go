package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
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
	t := &telegram{chat: u.Query().Get("chats")}
	base := "https://" + u.Host
	switch ip := net.ParseIP(u.Hostname()); {
	case u.Host == "telegram":
		base = "https://api.telegram.org"
	case u.Hostname() == "localhost" || ip != nil && ip.IsLoopback():
		base = "http://" + u.Host
	}
	t.api = base + "/bot" + url.PathEscape(u.User.Username()+":"+key) + "/"
	if u.Host == "" || key == "" || t.chat == "" || strings.Contains(t.chat, ",") {
		return nil, errURL
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
	Text    string           `json:"text"`
	ReplyTo *telegramMessage `json:"reply_to_message"`
}

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
	method, place := "sendMessage", t.shown.place(m.ID)
	if place != "" {
		method, in["message_id"] = "editMessageText", json.Number(place)
	}
	var sent telegramMessage
	why, err := t.call(ctx, method, in, &sent)
	if err != nil && !strings.Contains(why, "message is not modified") {
		return err
	}
	if place == "" {
		place = strconv.FormatInt(sent.ID, 10)
	}
	t.shown.put(m, place)
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
		in := map[string]any{"offset": t.next, "timeout": wait, "allowed_updates": []string{"message", "callback_query"}}
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
				_, _ = t.call(ctx, "answerCallbackQuery", map[string]any{"callback_query_id": p.ID}, new(bool)) // the app stops to wait
			} else if to := of.Message.ReplyTo; to != nil {
				a = answer{t.shown.code(strconv.FormatInt(to.ID, 10)), strconv.FormatInt(of.Message.From.ID, 10), of.Message.Text}
			}
			if a.Code != "" && len(a.Code) <= mostCode {
				heard(a)
			}
		}
	}
	return nil
}
