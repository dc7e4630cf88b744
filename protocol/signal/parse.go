package signal

import "fmt"

// Parse parses one signal as JSON, as it arrives over the socket, with or without the key
// schema, which is [SchemaID]. Unknown and repeated keys, a second document, more than
// [MaxSize] bytes and everything that [Signal.Validate] rejects are errors. Texts are trimmed
// and made safe to show.
func Parse(data []byte) (Signal, error) {
	if len(data) > MaxSize {
		return Signal{}, fmt.Errorf("the signal has %d bytes; shorten it to at most %d", len(data), MaxSize)
	}
	var s Signal
	if ps := documentShape().Read(data, &s); len(ps) > 0 {
		return Signal{}, ps
	}
	s.tidy()
	if err := s.Validate(); err != nil {
		return Signal{}, err
	}
	return s, nil
}
