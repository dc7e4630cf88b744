package main

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/looprun/looprun/ci"
	"github.com/looprun/looprun/internal/problem"
)

// checkReport is the JSON output of the check commands.
type checkReport struct {
	Files    []string     `json:"files"`
	Problems problem.List `json:"problems"`
}

// The JUnit output of the check commands: a test for each file, which fails once for each
// problem.
type (
	junitSuite struct {
		XMLName  xml.Name    `xml:"testsuite"`
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name     string         `xml:"name,attr"`
		Class    string         `xml:"classname,attr"`
		Failures []junitFailure `xml:"failure"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
	}
)

// checked reports the result of checking files in the format of a check command, and returns
// the error. In text, which is for people, it says of each file that it is correct, and what
// more there is to say about it.
func (a *app) checked(format string, files []string, err error, more func(file string) string) error {
	problems := problem.Of(err)
	switch format {
	case "json":
		if files == nil {
			files = []string{}
		}
		return cmp.Or(a.printJSON("check", checkReport{files, append(problem.List{}, problems...)}), err)
	case "github":
		for _, p := range problems {
			file, line := p.File, p.Line
			p.File, p.Line = "", 0
			fmt.Fprintln(a.stdout, ci.ErrorAt(file, line, p.Column, p.Error()))
		}
		return err
	case "junit":
		return cmp.Or(a.printJUnit(files, problems), err)
	}
	if slices.ContainsFunc(problems, func(p problem.Problem) bool { return p.File == "" }) {
		return err // which is not about one of the files
	}
	for _, file := range files {
		in := filepath.Clean(file) + string(filepath.Separator) // if it is a folder of files
		if !slices.ContainsFunc(problems, func(p problem.Problem) bool { return p.File == file || strings.HasPrefix(p.File, in) }) {
			a.say.News("%s is correct%s", file, more(file))
		}
	}
	return err
}

func (a *app) printJUnit(files []string, problems problem.List) error {
	suite := junitSuite{Name: "looprun " + a.line.node.Path(), Failures: len(problems)}
	of := map[string][]junitFailure{}
	for _, file := range files {
		of[file] = nil
	}
	for _, p := range problems {
		if _, named := of[p.File]; !named {
			files = append(files, p.File)
		}
		of[p.File] = append(of[p.File], junitFailure{p.Error()})
	}
	for _, file := range files {
		suite.Cases = append(suite.Cases, junitCase{file, "looprun", of[file]})
	}
	suite.Tests = len(suite.Cases)
	if _, err := fmt.Fprint(a.stdout, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(a.stdout)
	enc.Indent("", "  ")
	if err := enc.Encode(suite); err != nil {
		return err
	}
	_, err := fmt.Fprintln(a.stdout)
	return err
}
