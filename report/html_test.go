package report

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
)

// between is what stands between two texts.
func between(t testing.TB, s, from, to string) string {
	t.Helper()
	_, after, found := strings.Cut(s, from)
	inner, _, ends := strings.Cut(after, to)
	if !found || !ends {
		t.Fatalf("there is no %s … %s", from, to)
	}
	return inner
}

// The policy allows the page's style and script by their hashes, and nothing else.
func TestPolicy(t *testing.T) {
	page := written(t, hostileRun(t).HTML)
	policy := html.UnescapeString(between(t, page, `<meta http-equiv="Content-Security-Policy" content="`, `"`))
	want := fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'",
		digest([]byte(between(t, page, "<style>", "</style>"))), digest([]byte(between(t, page, "<script>", "</script>"))))
	if policy != want {
		t.Errorf("%s\nwant %s", policy, want)
	}
	if strings.Index(page, "<meta http-equiv") > strings.Index(page, "<style>") {
		t.Error("the policy comes after what it is for")
	}
}

// What a page is made of. Text has no bare <, so every < begins a tag.
var (
	allowedTags = strings.Fields("html head meta title style body svg symbol path use line rect nav a header p h1 h2 h3 strong dl div dt dd code main section ol ul li b i span " +
		"figure figcaption details summary table thead tbody tr th td q time pre noscript label select option input footer script")
	allowedAttributes = strings.Fields("lang charset http-equiv content name class width height aria-hidden focusable id viewBox d fill stroke stroke-width stroke-linejoin stroke-linecap " +
		"aria-label aria-labelledby aria-describedby tabindex href title role preserveAspectRatio x x1 x2 y y1 y2 scope open datetime value selected type checked hidden")
	anyTag       = regexp.MustCompile(`<[^>]*>?`)
	wholeTag     = regexp.MustCompile(`^<(/?[a-z][a-z0-9]*)((?:\s+[A-Za-z0-9-]+(?:="[^"]*")?)*)/?>$`)
	anyAttribute = regexp.MustCompile(`([A-Za-z0-9-]+)(?:="([^"]*)")?`)
)

// tags checks every tag of a page and calls f for each attribute.
func tags(t *testing.T, page string, f func(tag, name, value string)) {
	t.Helper()
	for _, raw := range []string{"style", "script"} {
		page = strings.Replace(page, between(t, page, "<"+raw+">", "</"+raw+">"), "", 1)
	}
	page = strings.Replace(page, "<!doctype html>", "", 1)
	for _, tag := range anyTag.FindAllString(page, -1) {
		m := wholeTag.FindStringSubmatch(tag)
		if m == nil || !slices.Contains(allowedTags, strings.TrimPrefix(m[1], "/")) {
			t.Errorf("a tag that the page does not have: %.80q", tag)
			continue
		}
		for _, a := range anyAttribute.FindAllStringSubmatch(m[2], -1) {
			if !slices.Contains(allowedAttributes, a[1]) {
				t.Errorf("an attribute that the page does not have: %.80q", tag)
			}
			f(m[1], a[1], html.UnescapeString(a[2]))
		}
	}
}

// Nothing of the run is markup, and the page asks for nothing from elsewhere.
func TestHTMLInjection(t *testing.T) {
	page := written(t, hostileRun(t).HTML)
	tags(t, page, func(tag, name, value string) {
		if name == "href" && !strings.HasPrefix(value, "#") {
			t.Errorf("%s leads to %s", tag, value)
		}
		if name == "class" && !regexp.MustCompile(`^[a-z0-9 ]*$`).MatchString(value) {
			t.Errorf("a class %q", value)
		}
	})
	for _, bad := range []string{"\x00", "\x1b", "\u202e"} {
		if strings.Contains(page, bad) {
			t.Errorf("%q is in the page", bad)
		}
	}
	if n := strings.Count(page, "alert(1)"); n < 20 {
		t.Errorf("the hostile text stands %d times in the page: it does not try much", n)
	}
	if n := strings.Count(page, "<script"); n != 1 {
		t.Errorf("%d scripts", n)
	}
}

// Every reference within the page leads to one place.
func TestHTMLReferences(t *testing.T) {
	for name, r := range map[string]*Report{"story": story(t).load(), "hostile": hostileRun(t)} {
		ids, refs := map[string]int{}, []string{}
		tags(t, written(t, r.HTML), func(_, name, value string) {
			switch name {
			case "id":
				ids[value]++
			case "href":
				refs = append(refs, value[1:])
			case "aria-labelledby", "aria-describedby":
				refs = append(refs, value)
			}
		})
		for id, n := range ids {
			if n != 1 {
				t.Errorf("%s: %d elements are called %s", name, n, id)
			}
		}
		for _, ref := range refs {
			if ids[ref] == 0 {
				t.Errorf("%s: nothing is called %s", name, ref)
			}
		}
		if len(refs) < 10 {
			t.Errorf("%s: %d references", name, len(refs))
		}
	}
}

// large is a run of n iterations that each print so many bytes in many colours.
func large(t testing.TB, n, bytes int) *Report {
	t.Helper()
	var b strings.Builder
	for i := 0; b.Len() < bytes; i++ {
		fmt.Fprintf(&b, "\x1b[38;2;%d;%d;%dm\"<%d>\" & 'so' + on\x1b[0m\n", i%256, i/7%256, i/31%256, i)
	}
	r := record(t, func(d *core.RunStarted) { d.Limits.Iterations = core.Off })
	for i := range n {
		r.iterate(failing(fmt.Sprintf("check%d", i%7)), b.String())
	}
	return r.load()
}

// A page of 50 iterations stays under 1 MiB however much they print, shows all
// of them, and of each output both ends.
func TestHTMLSize(t *testing.T) {
	page := written(t, large(t, 50, 1<<20).HTML)
	if len(page) >= 1<<20 || len(page) < 1<<19 {
		t.Errorf("%d bytes", len(page))
	}
	if n := strings.Count(page, "are left out here; more is in output/"); n != 50 {
		t.Errorf("%d outputs say what they leave out", n)
	}
	if n := strings.Count(page, "&lt;0&gt;"); n < 50 {
		t.Errorf("%d outputs show their first line", n)
	}
}

// A small output is whole: what it leaves of its share is for the others.
func TestHTMLSharesTheRoom(t *testing.T) {
	r := record(t, nil)
	for range 3 {
		r.iterate(failing("auth"), "short\n")
	}
	r.iterate(failing("auth"), "x")
	r.iterate(failing("auth"), numberedLines(20_000))
	page := written(t, r.load().HTML)
	if !strings.Contains(page, "1 byte<") || strings.Contains(page, "1 bytes") {
		t.Error("the page has not counted one byte")
	}
	if n := strings.Count(page, "short\n"); n != 3 {
		t.Errorf("%d short outputs are whole", n)
	}
	if n := strings.Count(page, "line 0"); n*12 < outputMost*9/10 {
		t.Errorf("%d bytes of the long output", n*12)
	}
}

// With more iterations than there is room for, it shows the last ones and says so.
func TestHTMLOfManyIterations(t *testing.T) {
	page := written(t, large(t, 320, 1<<14).HTML)
	if len(page) >= 1<<20 {
		t.Errorf("%d bytes", len(page))
	}
	if !strings.Contains(page, "Not on this page: ") || !strings.Contains(page, `id="i320"`) || strings.Contains(page, `id="i120"`) || !strings.Contains(page, `id="i121"`) {
		t.Error("it does not show the last 200 iterations, as it has room for, or not say what it leaves out")
	}
}

// Iterations that printed nothing need no room for their output.
func TestHTMLOfManySilentIterations(t *testing.T) {
	r := record(t, func(d *core.RunStarted) { d.Limits.Iterations = core.Off })
	for range 301 {
		r.iterate(core.IterationFinished{Outcome: core.OutcomeNotDone, ExitCode: 1, DurationMS: 1}, "")
	}
	page := written(t, r.load().HTML)
	if n := strings.Count(page, `<details class="iteration"`); n != 300 || !strings.Contains(page, "Not on this page: 1 earlier iteration;") {
		t.Errorf("%d iterations are shown", n)
	}
}

// Long texts in all that a run can have many of do not break the limit.
func TestHTMLOfLongTexts(t *testing.T) {
	if testing.Short() {
		t.Skip("TestHTMLSize and TestHTMLOfManyIterations bound the page too")
	}
	long := strings.Repeat("\"+", 900)
	r := record(t, nil)
	for i := range 60 {
		d := failing(long + fmt.Sprint(i))
		d.Excerpt, d.Detail = long, long
		r.iterate(d, long)
		r.add(core.GuardTripped{Trip: core.Trip{Guard: core.LoopDetected, Iteration: i + 1, Reason: long}})
		r.add(core.QuestionAsked{Question: core.Question{ID: fmt.Sprint(i), Guard: core.LoopDetected, Text: long}})
		for range 20 {
			r.add(core.AnswerInvalid{QuestionID: fmt.Sprint(i), Responder: "policy", Reason: long})
			r.add(core.VerifyFinished{Command: long})
		}
		r.add(core.QuestionClosed{QuestionID: fmt.Sprint(i), Reason: long})
		r.add(core.RunPaused{Reason: long})
		r.add(core.RunResumed{})
	}
	report := r.load()
	if page := written(t, report.HTML); len(page) >= 1<<20 || !strings.Contains(page, "Not on this page: ") {
		t.Errorf("%d bytes", len(page))
	}
	if page := markdown(t, report); len(page) > MarkdownLimit {
		t.Errorf("%d bytes of Markdown", len(page))
	}
}

func TestHTMLOfARunWithoutIterations(t *testing.T) {
	page := written(t, record(t, nil).load().HTML)
	if !strings.Contains(page, "No iteration has ended.") || strings.Contains(page, `id="compare"`) {
		t.Error(page)
	}
	tags(t, page, func(_, _, _ string) {})
}

// The error is said when the directory is gone, and no page is written.
func TestHTMLWithoutItsDirectory(t *testing.T) {
	r := story(t).load()
	r.dir += "-gone"
	var b strings.Builder
	if err := r.HTML(&b); err == nil || b.Len() > 0 {
		t.Errorf("%v, %d bytes", err, b.Len())
	}
}

// An output that is gone is said to be, and what the journal has of it is shown.
func TestHTMLWithoutAnOutput(t *testing.T) {
	r := story(t)
	report := r.load()
	if err := os.Remove(filepath.Join(r.run.Dir, "output", "0001.log")); err != nil {
		t.Fatal(err)
	}
	page := written(t, report.HTML)
	for _, want := range []string{"output/0001.log cannot be read: ", "<pre class=\"out\">\n--- FAIL: auth\n--- FAIL: login\n--- FAIL: logout</pre>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// Who answered, and why, stands on the page, and where the trip was.
func TestHTMLTellsWhoAndWhy(t *testing.T) {
	page := html.UnescapeString(written(t, story(t).load().HTML))
	for _, want := range []string{
		`loop detected: The same failure came 3 times. How to proceed? (no progress tripped too)`, "2 tests fail\n  auth  got 401", `after iteration 4`,
		`<span class="tag strong">Try different approach</span> by policy (policy.yaml:3): <q>Use *sha256*.</q> (Once more, in another way.)`,
		`<span class="tag">not taken</span> assistant: it printed no JSON`, `<code>make smoke</code> exit 0`,
		`Try a different approach than previous iterations`, `run paused: the machine goes down`, `Loop detected started over.`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// The same run makes the same page, byte for byte.
func TestHTMLIsDeterministic(t *testing.T) {
	r := hostileRun(t)
	first := written(t, r.HTML)
	if again := written(t, r.HTML); again != first {
		t.Error("the page changed")
	}
}
