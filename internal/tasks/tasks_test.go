package tasks

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestParse(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"boxes":                    {"# Plan\n\n- [x] one\n  - [ ] two **bold**\n* [X] three\n1. [ ] four\r\n> - [ ] five\n- [y] no\n- [1] no\n- [](no)\nx - [ ] no\n", "x one|o two **bold**|x three|o four|o five"},
		"other marks":              {"- [x] one\n- [~] two\n- [-] three\n- [/] four\n- [] five\n- [✓] six\n", "x one|o two|o three|o four|o five|o six"},
		"code":                     {"```md\n- [ ] not this\n~~~\n- [ ] nor this\n```\n- [x] this\n", "x this"},
		"code in code":             {"- [x] this\n````md\n```go\n- [ ] not this\n```\n- [ ] nor this\n````\n- [ ] that\n", "x this|o that"},
		"code of `md`":             {"~~~ `md`\n- [ ] not this\n~~~\n- [x] this\n", "x this"},
		"code in a line":           {"- [x] this\n```go test``` passes\n- [ ] that\n", "x this|o that"},
		"code, open":               {"- [x] this\n```\n- [ ] that\n", "! a block of code in it does not end; write ``` after it"},
		"code, open (~)":           {"- [x] this\n~~~~ md\n~~~\n- [ ] that\n", "! a block of code in it does not end; write ~~~~ after it"},
		"code of an item":          {"- [x] one\n- ```sh\n  make\n  ```\n- [ ] two\n- ```sh\n  - [ ] not this\n  ```\n- [ ] three\n", "x one|o two|o three"},
		"a blank line in code":     {"- ```\n \n  - [ ] not this\n  ```\n- [x] this\n", "x this"},
		"code with a beginning":    {"```\n```go\n- [ ] not this\n```\n- [x] this\n", "x this"},
		"code of an item, open":    {"1. [x] one\n   ```\n   make\n2. [ ] two\n   ```\n   make\n3. [x] three\n", "x one|o two|x three"},
		"code of a quotation":      {"> ```\n> - [ ] not this\n> ```\n- [x] this\n", "x this"},
		"code behind a tab":        {"1.\t[x] one\n\n\t```\n\tmake\n\t- [ ] not this\n\t```\n\n2.\t[ ] two\n", "x one|o two"},
		"a tab in code":            {"1.\t[x] one\n\n    ```\n\t- [ ] not this\n    ```\n", "x one"},
		"an item in code":          {"```\n- ```\n- [ ] not this\n```\n- [x] this\n", "x this"},
		"a list that is unclear":   {`{"a":[{"title":"one","done":true}],"b":[{"title":"two","done":"no"}]}`, "! it has several lists of tasks; keep one of them in a file"},
		"an entry without one":     {`{"stories":[{"title":"one","passes":true},{"title":"two"}],"tags":["x"],"people":[{"name":"a"}]}`, "! stories: entry 2 has no flag that says done; give it one of done, passes, completed, complete"},
		"tasks of a task":          {`[{"title":"one","done":true,"subtasks":[{"title":"x","done":true},{"title":"y","done":false}]},{"title":"two","done":true,"files":["a"],"subtasks":[{"done":true}]},{"title":"three","done":false,"subtasks":[{"done":true}]}]`, "o one|x two|o three"},
		"unclear ones of a task":   {`[{"title":"one","done":true,"subtasks":[{"done":"no"}]}]`, "! subtasks of entry 1: entry 1 has no flag that says done; give it one of done, passes, completed, complete"},
		"a list further in":        {`{"prd":{"stories":[{"title":"one","passes":false}]}}`, "o one"},
		"a second one further in":  {`{"prd":{"stories":[{"title":"one","passes":false}]},"tasks":[{"done":true}]}`, "! it has several lists of tasks; keep one of them in a file"},
		"without a text":           {"- [x] one\n- [ ]\n- [ ] \n- [~]\n", "x one|o task 2|o task 3|o task 4"},
		"without a blank":          {"- [x] one\n-[ ] two\n- [ ]three\n* [x]four\n", "x one|o two|o three|x four"},
		"with more blanks":         {"- [x] one\n- [  ] two\n- [ x] three\n- [X ] four\n", "x one|o two|x three|x four"},
		"without a marker":         {"- [x] one\n[ ] two\n[x] three\n[~] no\n[] no\nsee [ ] no\n[x](no)\n[ ]: no\n[ ]four\n", "x one|o two|x three|o four"},
		"with other markers":       {"- [x] one\n• [ ] two\n(3) [ ] three\n- **[ ]** four\n", "x one|o two|o three|o four"},
		"old lines":                {"- [x] one\r- [ ] two\r", "x one|o two"},
		"links":                    {"- [x] one\n- [ ](no)\n- [x][no]\n- [x]: no\n- []string\n- [~]no\n", "x one"},
		"two flags":                {`[{"title":"one","done":true,"passes":false},{"title":"two","done":true,"passes":true},{"title":"three","done":false,"passes":true}]`, "o one|x two|o three"},
		"a list":                   {`[{"title":"one","done":true},{"title":" ","task":"two","done":false},{"done":false}]`, "x one|o two|o task 3"},
		"a PRD":                    {`{"project":"p","userStories":[{"id":"US-1","title":"one","passes":false}],"tags":["a"]}`, "o one"},
		"control codes":            {"- [ ] red\u202e\n- [x] a\x1b[31m\n", "! line 2 of it has the control character U+001B; remove it, and save the file as UTF-8"},
		"a NUL":                    {"- [x] one\n\x00- [ ] two\n", "! line 2 of it has the control character U+0000; remove it, and save the file as UTF-8"},
		"other ends of lines":      {"- [x] one\u2028- [ ] two\u2029- [ ] three\u0085- [ ] four\f- [ ] five\v- [ ] six", "x one|o two|o three|o four|o five|o six"},
		"other blanks":             {"- [x] one\n\u00a0- [ ] two\n\u200b- [ ] three\n-\u2003[\u00a0] four\n", "x one|o two|o three|o four"},
		"a doubled key":            {`[{"title":"one","done":false,"done":true}]`, "! [0].done is in it twice; leave one of them out"},
		"a doubled key further in": {`{"a":{"stories":[{"passes":true,"Passes":false}]}}`, "! a.stories[0].Passes is in it twice; leave one of them out"},
		"none":                     {"nothing to do\n", "! it has no task: neither a checkbox (- [ ] …) nor a JSON list with a flag done"},
		"empty":                    {"", "! it has no task: neither a checkbox (- [ ] …) nor a JSON list with a flag done"},
		"an empty list":            {"[]", "! it has no task: neither a checkbox (- [ ] …) nor a JSON list with a flag done"},
		"no flag":                  {`[{"title":"one"}]`, "! entry 1 has no flag that says done; give it one of done, passes, completed, complete"},
		"a flag in text":           {`[{"title":"one","done":"true"}]`, "! entry 1 has no flag that says done; give it one of done, passes, completed, complete"},
		"a list over lines":        {"[\n  {\"title\": \"one\", \"done\": false}\n]\n", "o one"},
		"a broken object":          {`{"title":`, "! it is not JSON: unexpected end of JSON input"},
		"broken":                   {`[{"title":`, "! it is not JSON: unexpected end of JSON input"},
		"two lists":                {`{"a":[{"done":true}],"b":[{"done":false}]}`, "! it has several lists of tasks; keep one of them in a file"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := parse([]byte(c.in))
			list := p.list
			var got []string
			for _, t := range list {
				mark := "o"
				if t.Done {
					mark = "x"
				}
				got = append(got, mark+" "+t.Text)
			}
			if err != nil {
				got = append(got, "! "+err.Error())
			}
			if text := strings.Join(got, "|"); text != c.want {
				t.Errorf("%s\nwant\n%s", text, c.want)
			}
		})
	}
}

func TestReadIsBounded(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"long": "- [x] x\n" + strings.Repeat("y\n", maxBytes/2) + "- [ ] behind it\n", "many": strings.Repeat("- [x] x\n", maxTasks+1)} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if list, err := Open(file); err == nil {
			t.Errorf("%s: %d tasks were read", name, len(list))
		}
	}
	if _, err := Open(dir); err == nil {
		t.Error("a folder is read")
	}
}

// Whatever is in a file, each task is one line without control codes, and what is read
// as done by one reading is so by another.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"- [ ] a\n", `[{"done":true}]`, "```\n- [ ] a", "- [~] a\n````\n```\n````\n", "{\"x\":[{\"passes\":false,\"title\":\"\\n\"}]}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := parse(b)
		list := p.list
		again, _ := parse(b)
		if (err == nil) == (len(list) == 0) || fmt.Sprint(list) != fmt.Sprint(again.list) {
			t.Errorf("%q: %v, %v, then %v", b, list, err, again.list)
		}
		for _, one := range list {
			if utf8.RuneCountInString(one.Text) > maxText || strings.ContainsAny(one.Text, "\n\r\x1b") {
				t.Errorf("%q", one.Text)
			}
		}
	})
}
