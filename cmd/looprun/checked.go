package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/looprun/looprun/ci"
	"github.com/looprun/looprun/internal/junit"
	"github.com/looprun/looprun/internal/problem"
)

// checkReport is the JSON output of the check commands.
type checkReport struct {
	Files    []string     `json:"files"`
	Problems problem.List `json:"problems"`
}

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

// printJUnit prints a test for each file, which fails once for each of its problems.
func (a *app) printJUnit(files []string, problems problem.List) error {
	suite := junit.Suite{Name: "looprun " + a.line.node.Path(), Time: junit.Seconds(0)}
	of := map[string][]junit.Result{}
	for _, file := range files {
		of[file] = nil
	}
	for _, p := range problems {
		if _, named := of[p.File]; !named {
			files = append(files, p.File)
		}
		of[p.File] = append(of[p.File], junit.Result{Message: p.Error(), Type: "problem"})
	}
	for _, file := range files {
		suite.Cases = append(suite.Cases, junit.Case{Name: file, Class: "looprun", Time: junit.Seconds(0), Failures: of[file]})
	}
	return suite.Write(a.stdout)
}
