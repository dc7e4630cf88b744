package ci

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// summaryLeast is the smallest room, in bytes, in which a report is still useful.
const summaryLeast = 4 << 10

// summarize appends the report to the step's summary page.
func (l *Log) summarize(v Verdict) error {
	if v.Summary == nil {
		return nil
	}
	return l.appendTo("GITHUB_STEP_SUMMARY", func(size int64) ([]byte, error) {
		return summary(v, SummaryLimit-1-int(min(size, SummaryLimit))) // a newline may come first
	})
}

// summary returns the report, as long as the limit allows.
func summary(v Verdict, limit int) ([]byte, error) {
	if limit < summaryLeast {
		return nil, errors.New("it is full")
	}
	var page bytes.Buffer
	err := v.Summary(&page, limit)
	if err == nil && page.Len() > limit {
		err = fmt.Errorf("the report has %d bytes, and there is room for %d", page.Len(), limit)
	}
	return page.Bytes(), err
}

// setOutputs appends the step's outputs, each between delimiters of its own that cannot occur
// in its value.
func (l *Log) setOutputs(v Verdict) error {
	r := v.Result
	failing := []byte("[]")
	if len(v.Failing) > 0 {
		failing, _ = json.Marshal(v.Failing) // texts always encode
	}
	return l.appendTo("GITHUB_OUTPUT", func(int64) ([]byte, error) {
		var page []byte
		for _, o := range []struct{ name, value string }{
			{"status", string(r.Status)},
			{"exit_code", strconv.Itoa(r.ExitCode)},
			{"total_attempts", strconv.Itoa(r.Iterations)},
			{"guard", string(r.Guard)},
			{"decision", r.Decision},
			{"run_dir", v.RunDir},
			{"summary", headline(r) + " " + verdict(r, v.Limit)},
			{"failing", string(failing)},
			{"result", string(v.Document)},
		} {
			delimiter := "looprun_" + l.random()
			if strings.Contains(o.value, delimiter) {
				return nil, fmt.Errorf("the output %s holds its own delimiter", o.name)
			}
			page = fmt.Appendf(page, "%s<<%s\n%s\n%s\n", o.name, delimiter, o.value, delimiter)
		}
		return page, nil
	})
}

// appendTo appends to the file named by one of the runner's variables; if the variable is not
// set, it does nothing. It never creates the file, since the runner already did, and never
// blocks, as opening a pipe would.
func (l *Log) appendTo(variable string, page func(size int64) ([]byte, error)) (err error) {
	name := l.getenv(variable)
	if name == "" {
		return nil
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s was not written: %w", variable, err)
		}
	}()
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", name)
	}
	text, err := page(info.Size())
	if err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	// An earlier program may have left the last line without a newline.
	if size := info.Size(); size > 0 {
		var last [1]byte
		if _, err := f.ReadAt(last[:], size-1); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if last[0] != '\n' {
			text = append([]byte{'\n'}, text...)
		}
	}
	_, err = f.Write(text)
	return err
}
