// Package junit writes JUnit files, in the form in which Maven Surefire reports a test's reruns.
package junit

import (
	"encoding/xml"
	"fmt"
	"io"
)

// Suite is a test suite. [Suite.Write] counts its cases. The fields are in the order of the
// schema, which uses only sequences.
type Suite struct {
	XMLName    xml.Name   `xml:"testsuite"`
	Name       string     `xml:"name,attr"`
	Time       string     `xml:"time,attr"` // see [Seconds]
	Timestamp  string     `xml:"timestamp,attr,omitempty"`
	Tests      int        `xml:"tests,attr"`
	Errors     int        `xml:"errors,attr"`
	Skipped    int        `xml:"skipped,attr"`
	Failures   int        `xml:"failures,attr"`
	Properties []Property `xml:"properties>property,omitempty"`
	Cases      []Case     `xml:"testcase"`
}

// Property is a name with a value.
type Property struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

// Case is a test. It passes if it has neither failures nor an error, and was not skipped.
type Case struct {
	Name     string   `xml:"name,attr"`
	Class    string   `xml:"classname,attr"`
	Time     string   `xml:"time,attr"`
	File     string   `xml:"file,attr,omitempty"`
	Line     int      `xml:"line,attr,omitempty"`
	Failures []Result `xml:"failure"`
	Skipped  *Skipped `xml:"skipped"`
	Error    *Result  `xml:"error"`
	Output   string   `xml:"system-out,omitempty"`
}

// Result is the outcome of a test.
type Result struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// Skipped is why a test has no outcome.
type Skipped struct {
	Message string `xml:"message,attr"`
}

// Seconds formats a duration as Surefire does, with three decimals.
func Seconds(s float64) string { return fmt.Sprintf("%.3f", max(0, s)) }

// Write writes the suite as a file, with its cases counted.
func (s Suite) Write(w io.Writer) error {
	s.Tests = len(s.Cases)
	for i := range s.Cases {
		c := &s.Cases[i]
		switch {
		case c.Error != nil:
			s.Errors++
		case len(c.Failures) > 0:
			s.Failures++
		case c.Skipped != nil:
			s.Skipped++
		}
	}
	text, err := xml.MarshalIndent(struct {
		XMLName xml.Name `xml:"testsuites"`
		Suite   Suite
	}{Suite: s}, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	return err
}
