package main

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/nicholas-fedor/shoutrrr/pkg/router"
	"github.com/nicholas-fedor/shoutrrr/pkg/types"
)

// open returns the sender for a URL's service. It does not pass on the library's errors, since
// they quote the URL.
func open(raw string) (send func(ctx context.Context, title, body string) error, err error) {
	defer func() {
		if recover() != nil { // a library's mistake is no end of a run
			send, err = nil, errURL
		}
	}()
	to, rerr := new(router.ServiceRouter).Locate(withoutOwn(raw))
	switch {
	case errors.Is(rerr, router.ErrUnknownService):
		return nil, errors.New("there is no such service; https://shoutrrr.nickfedor.com lists them")
	case rerr != nil:
		return nil, errURL
	}
	return func(ctx context.Context, title, body string) error {
		sent := make(chan error, 1)
		go func() { sent <- deliver(ctx, to, title, body) }()
		select {
		case err := <-sent:
			return err
		case <-ctx.Done(): // not every service looks at it
			return errLate
		}
	}, nil
}

// withoutOwn returns the URL without what only [newMail] knows.
func withoutOwn(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "smtp" {
		return raw
	}
	query := u.Query()
	for key := range query {
		if strings.EqualFold(key, "imap") {
			query.Del(key)
			u.RawQuery = query.Encode()
		}
	}
	return u.String()
}

// errURL means that no service accepts the URL.
var errURL = errors.New("the URL is not one that this service takes; https://shoutrrr.nickfedor.com describes the form")

// errLate means that the context ended first.
var errLate = errors.New("the service did not answer in time; try again when it can be reached")

// deliver sends the message and describes errors in looprun's own words.
func deliver(ctx context.Context, to types.Service, title, body string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errors.New("the library failed inside; check the URL, or use a hook")
		}
	}()
	params := types.Params{}
	params.SetTitle(title)
	if with, ok := to.(types.ContextSender); ok {
		err = with.SendContext(ctx, body, &params)
	} else {
		err = to.Send(body, &params)
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return errLate
	}
	if _, ok := errors.AsType[*url.Error](err); ok {
		return errors.New("the service could not be reached; check the host in the URL and the network")
	}
	return errors.New("the service did not take the message; check the rest of the URL")
}
