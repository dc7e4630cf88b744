package main

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// secret stands in every URL of the tests; nothing may show it.
const secret = "s3cr3t"

func TestLabelShowsNothingButTheService(t *testing.T) {
	for raw, want := range map[string]string{
		"ntfy://user:" + secret + "@host/topic":        "ntfy (URL 3)",
		"generic+https://host/?token=" + secret:        "generic (URL 3)",
		secret:                                         "URL 3",
		secret + "://x":                                "URL 3",
		"://" + secret:                                 "URL 3",
		"https:" + secret:                              "URL 3",
		"SECRET://x":                                   "URL 3",
		"abcdefghijklmnopqrstu://" + secret:            "URL 3",
		"abcdefghijklmnopqrst://" + secret:             "abcdefghijklmnopqrst (URL 3)",
		"a b://" + secret:                              "URL 3",
		"\x1b[31mred://" + secret:                      "URL 3",
		"slack+" + secret + "://token:" + secret + "@": "slack (URL 3)",
	} {
		if got := label(raw, 2); got != want || strings.Contains(got, secret) {
			t.Errorf("%q is shown as %q, want %q", raw, got, want)
		}
	}
}

func TestNotifyGoesToAllAndNamesThoseThatFail(t *testing.T) {
	var got [3]string
	s := &sender{}
	for i, name := range []string{"one", "two", "three"} {
		s.services = append(s.services, service{name, func(_ context.Context, title, body string) error {
			got[i] = title + "|" + body
			if i == 1 {
				return errors.New("no")
			}
			return nil
		}})
	}
	err := s.notify(t.Context(), "t", "b")
	if err == nil || err.Error() != "two: no" {
		t.Errorf("%v", err)
	}
	if got != [3]string{"t|b", "t|b", "t|b"} {
		t.Errorf("%q", got)
	}
	if err := new(sender).notify(t.Context(), "t", "b"); err != nil {
		t.Errorf("no services: %v", err)
	}
}
