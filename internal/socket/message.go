package socket

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// Error is an error reply. A handler returns one to choose the code.
type Error struct {
	Code string `json:"code"` // one word, for programs
	Text string `json:"text"` // what, and what to do about it, for people
}

func (e *Error) Error() string { return e.Text }

// The codes of this package; handlers have further ones.
const (
	CodeMalformed = "malformed" // the line is no JSON object with a type
	CodeTooLong   = "too_long"  // the line is above the limit; the connection ends
	CodeRefused   = "refused"   // the client is another user's; the connection ends
	CodeBusy      = "busy"      // too many clients; the connection ends
	CodeClosed    = "closed"    // the run has ended; the connection ends
	CodeFailed    = "failed"    // the handler failed
)

var closed = &Error{CodeClosed, "the run has ended"}

// The causes with which a handler's context ends.
var (
	// ErrClientGone means that nobody waits for the reply any more.
	ErrClientGone = errors.New("the client is gone")
	// ErrClosed means that the server is closing.
	ErrClosed = errors.New("the run has ended")
)

// messageType returns the "type" of a line, which must be a JSON object in UTF-8. Keys are
// compared exactly; if one is repeated, the last counts.
func messageType(line []byte) (string, error) {
	if !utf8.Valid(line) {
		return "", errors.New("it is not UTF-8")
	}
	var members map[string]json.RawMessage
	var kind string
	_ = json.Unmarshal(line, &members)
	_ = json.Unmarshal(members["type"], &kind)
	if kind == "" {
		return "", errors.New(`it is not one JSON object with a text under "type"`)
	}
	return kind, nil
}

// response is the line that a client receives in reply.
type response struct {
	OK    bool            `json:"ok"`
	Reply json.RawMessage `json:"reply,omitempty"`
	Error *Error          `json:"error,omitempty"`
}

func success(reply any) ([]byte, error) {
	data, err := json.Marshal(reply)
	if err != nil {
		return nil, fmt.Errorf("the reply cannot be encoded: %w", err)
	}
	line, err := json.Marshal(response{OK: true, Reply: data})
	return append(line, '\n'), err
}

func failure(e *Error) []byte {
	line, _ := json.Marshal(response{Error: e}) // two texts always encode
	return append(line, '\n')
}
