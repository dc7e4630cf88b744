package scratchpad

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/cespare/xxhash/v2"

	"github.com/looprun/looprun/core"
)

// A record is one line of the journal. It is at most a page long and does not cross a page
// boundary: appends within a page have never been seen torn.
const (
	pageSize = 4096
	sumField = `,"sum":"`
	sumEnd   = `"}`
	// sumSize is the number of bytes that seal adds: the sum replaces the closing brace, which
	// is added back with a line break.
	sumSize = len(sumField) + 16 + len(sumEnd)
)

var errSum = errors.New("its check sum is wrong")

// header lists the fields that never move to a detail file.
var header = []string{"seq", "time", "type", "elapsed_ms"}

// seal turns a JSON object into a line with its checksum and, if it has one, its mark.
func seal(object []byte, mark string) []byte {
	body := append(object[:len(object)-1], mark...) // in place of the brace
	line := append(body, sumField...)
	line = appendHash(line, xxhash.Sum64(body))
	return append(line, sumEnd+"\n"...)
}

func appendHash(b []byte, h uint64) []byte {
	return hex.AppendEncode(b, binary.BigEndian.AppendUint64(nil, h))
}

// sealed verifies a line without its line break and returns the object without its closing
// brace, as a slice of the line.
func sealed(line []byte) ([]byte, error) {
	n := len(line) - sumSize
	if n < 1 {
		return nil, errSum
	}
	end := append(make([]byte, 0, sumSize), sumField...)
	end = append(appendHash(end, xxhash.Sum64(line[:n])), sumEnd...)
	if !bytes.Equal(line[n:], end) {
		return nil, errSum
	}
	return line[:n:n], nil
}

// recordSize is the maximum size of an object that becomes a line.
var recordSize = pageSize - markSize - sumSize

// encode returns the object to seal for an event and, if not all of it fits, the contents of
// its detail file, which must be written before the line.
func encode(e core.Event) (object, detail []byte, err error) {
	object, err = e.MarshalJSON()
	if err != nil || len(object) <= recordSize {
		return object, nil, err
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(object, &fields); err != nil {
		return nil, nil, err
	}
	return split(e.Seq, fields)
}

// split moves fields to the detail file, largest first, until the rest fits.
func split(seq int64, fields map[string]json.RawMessage) (object, detail []byte, err error) {
	names := beside(fields)
	slices.SortStableFunc(names, func(a, b string) int { return len(fields[b]) - len(fields[a]) })
	moved := map[string]json.RawMessage{}
	for i, name := range names {
		moved[name] = fields[name]
		delete(fields, name)
		detail, _ = json.Marshal(moved) // it was valid before
		fields["detail"], _ = json.Marshal(names[:i+1])
		fields["detail_sum"] = fmt.Appendf(nil, "%q", appendHash(nil, xxhash.Sum64(detail)))
		if object := join(fields); len(object) <= recordSize {
			return object, detail, nil
		}
	}
	return nil, nil, fmt.Errorf("event %d is too large even without its details", seq)
}

const detailDir = "detail"

func detailName(dir string, seq int64) string {
	return filepath.Join(dir, detailDir, strconv.FormatInt(seq, 10)+".json")
}

// beside returns the names of the fields other than the header's, sorted.
func beside(fields map[string]json.RawMessage) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(fields)), func(name string) bool { return slices.Contains(header, name) })
}

// join writes the fields as one object, header fields first.
func join(fields map[string]json.RawMessage) []byte {
	object := []byte{'{'}
	for _, name := range slices.Concat(header, beside(fields)) {
		if len(object) > 1 {
			object = append(object, ',')
		}
		object = strconv.AppendQuote(object, name)
		object = append(object, ':')
		object = append(object, fields[name]...)
	}
	return append(object, '}')
}

// decode parses a line without its line break.
func decode(dir string, line []byte) (core.Event, error) {
	var e core.Event
	body, err := sealed(line)
	if err != nil {
		return e, err
	}
	detail, err := detailOf(dir, body)
	object := slices.Concat(body, []byte("}"))
	if err == nil && detail != nil {
		object, err = merge(object, detail)
	}
	if err != nil {
		return e, err
	}
	err = e.UnmarshalJSON(object) // through json.Unmarshal it would be checked twice
	return e, err
}

// detailOf returns the contents of a record's detail file, or nil if it has none. body is an
// object without its closing brace; a field of the event may contain the same name further
// down.
func detailOf(dir string, body []byte) ([]byte, error) {
	if !bytes.Contains(body, []byte(`"detail_sum":`)) {
		return nil, nil
	}
	var head struct {
		Seq       int64  `json:"seq"`
		DetailSum string `json:"detail_sum"`
	}
	if err := json.Unmarshal(slices.Concat(body, []byte("}")), &head); err != nil || head.DetailSum == "" {
		return nil, err
	}
	name := detailName(dir, head.Seq)
	detail, err := readWithin(dir, name)
	if err != nil {
		return nil, fmt.Errorf("its detail file is missing: %w", err)
	}
	if string(appendHash(nil, xxhash.Sum64(detail))) != head.DetailSum {
		return nil, fmt.Errorf("its detail file %s was changed", name)
	}
	return detail, nil
}

// merge restores the fields of the detail file.
func merge(object, detail []byte) ([]byte, error) {
	fields, moved := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	if err := json.Unmarshal(object, &fields); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(detail, &moved); err != nil {
		return nil, fmt.Errorf("its detail file: %w", err)
	}
	delete(fields, "detail")
	delete(fields, "detail_sum")
	maps.Copy(fields, moved)
	return join(fields), nil
}
