package report

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/looprun/looprun/internal/browsertest"
)

// The page in a real browser.

type browser struct {
	*browsertest.Browser
	t *testing.T
}

// All in one browser, which takes seconds to start.
func TestBrowser(t *testing.T) {
	b := browsertest.Start(t)
	for _, part := range []struct {
		name string
		run  func(*testing.T, *browser)
	}{
		{"layout", browserLayout},
		{"themes", browserThemes},
		{"reducedmotion", browserReducedMotion},
		{"keyboard", browserKeyboard},
		{"accessibility", browserAccessibility},
		{"compare", browserCompare},
		{"colours", browserColours},
	} {
		t.Run(part.name, func(t *testing.T) { part.run(t, &browser{b.For(t), t}) })
	}
}

// open shows a report.
func (b *browser) open(page []byte, width int) {
	b.t.Helper()
	name := filepath.Join(b.t.TempDir(), "report.html")
	if err := os.WriteFile(name, page, 0o600); err != nil {
		b.t.Fatal(err)
	}
	b.Open("file://"+name, width)
}

func eval[T any](b *browser, expression string) T {
	b.t.Helper()
	return browsertest.Eval[T](b.Browser, expression)
}

// quiet fails when the browser had anything to say about the page, or when the
// page asked for anything but itself.
func (b *browser) quiet() {
	b.t.Helper()
	for _, e := range b.Events {
		switch e.Method {
		case "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded", "Page.javascriptDialogOpening":
			b.t.Errorf("%s: %s", e.Method, e.Params)
		case "Network.requestWillBeSent":
			var p struct{ Request struct{ URL string } }
			if err := json.Unmarshal(e.Params, &p); err != nil || !strings.HasSuffix(p.Request.URL, "/report.html") {
				b.t.Errorf("the page asks for %s", p.Request.URL)
			}
		}
	}
}

// pages are those that every check is made on.
func pages(t *testing.T) map[string][]byte {
	return map[string][]byte{
		"story":   []byte(written(t, story(t).load().HTML)),
		"hostile": []byte(written(t, hostileRun(t).HTML)),
		"large":   []byte(written(t, large(t, 50, 1<<11).HTML)),
		"empty":   []byte(written(t, record(t, nil).load().HTML)),
	}
}

const openAll = `document.querySelectorAll("details").forEach((d) => { d.open = true; })`

// No page scrolls sideways, down to 360 pixels, with everything open; none is
// refused anything by its policy, and hostile text runs nothing.
func browserLayout(t *testing.T, b *browser) {
	for name, page := range pages(t) {
		for _, width := range []int{360, 768, 1280} {
			b.open(page, width)
			eval[any](b, openAll)
			if w := eval[float64](b, `document.documentElement.scrollWidth`); int(w) > width {
				t.Errorf("%s: %v pixels wide in a window of %d; %s", name, w, width, eval[string](b, `[...document.querySelectorAll("body *")]
					.filter((e) => e.getBoundingClientRect().right > innerWidth + 1).slice(0, 3).map((e) => e.outerHTML.slice(0, 80)).join(" | ")`))
			}
			if n := eval[float64](b, `document.scripts.length * 1000 + document.images.length`); n != 1000 {
				t.Errorf("%s: %v scripts and images", name, n)
			}
			if width == 360 {
				b.Screenshot(name + "-360")
			}
		}
		b.quiet()
	}
}

// Both themes are there, and in both of them all text can be read.
func browserThemes(t *testing.T, b *browser) {
	for name, page := range pages(t) {
		backs := map[string]bool{}
		for _, theme := range []string{"light", "dark"} {
			b.Media("prefers-color-scheme="+theme, "prefers-reduced-motion=reduce")
			b.open(page, 1280)
			eval[any](b, openAll)
			backs[eval[string](b, `getComputedStyle(document.body).backgroundColor`)] = true
			for _, bad := range eval[[]string](b, browsertest.Contrasts) {
				t.Errorf("%s, %s: %s", name, theme, bad)
			}
			for _, bad := range b.Violations() {
				t.Errorf("%s, %s: axe finds %s", name, theme, bad)
			}
			b.Screenshot(name + "-" + theme)
		}
		if len(backs) != 2 {
			t.Errorf("%s: both themes look the same", name)
		}
	}
}

// Nothing moves for somebody who does not want that.
func browserReducedMotion(t *testing.T, b *browser) {
	page := []byte(written(t, story(t).load().HTML))
	moves := `document.getAnimations().length || getComputedStyle(document.documentElement).scrollBehavior === "smooth" ||
		[...document.querySelectorAll("*")].some((e) => getComputedStyle(e).transitionDuration !== "0s")`
	for preference, want := range map[string]bool{"reduce": false, "no-preference": true} {
		b.Media("prefers-reduced-motion=" + preference)
		b.open(page, 1280)
		if got := eval[bool](b, `!!(`+moves+`)`); got != want {
			t.Errorf("%s: moves is %v", preference, got)
		}
	}
}

// focused describes what has the focus, and fails when that cannot be seen.
func (b *browser) focused() string {
	b.t.Helper()
	if visible := eval[bool](b, `(() => { const s = getComputedStyle(document.activeElement), r = document.activeElement.getBoundingClientRect();
		return s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 2 && r.left >= 0 && r.width > 0; })()`); !visible {
		b.t.Errorf("the focus on %s cannot be seen", eval[string](b, `document.activeElement.outerHTML.slice(0, 100)`))
	}
	return eval[string](b, `(document.activeElement.getAttribute("aria-label") ?? document.activeElement.innerText).trim()`)
}

// All of it goes with the keyboard alone.
func browserKeyboard(t *testing.T, b *browser) {
	b.Media("prefers-reduced-motion=reduce")
	b.open([]byte(written(t, story(t).load().HTML)), 1280)
	for _, want := range []string{"Timeline", "Decisions", "Iterations", "Compare"} {
		b.Press("Tab")
		if got := b.focused(); got != want {
			t.Errorf("the focus is on %q, want %q", got, want)
		}
	}
	b.Press("Tab") // the timeline is one stop, at its end
	steps := []struct{ key, want string }{
		{"", "✓ 7: Iteration 7, done"},
		{"ArrowLeft", "D 6: Iteration 6, not done"},
		{"ArrowLeft", "C 5: Iteration 5, error"},
		{"ArrowLeft", "After iteration 4: loop detected"},
		{"Home", "A 1: "},
		{"ArrowLeft", "A 1: "},
		{"ArrowRight", "B 2: "},
		{"End", "✓ 7: "},
		{"ArrowRight", "✓ 7: "},
		{"Home", "A 1: "},
	}
	for _, s := range steps {
		if s.key != "" {
			b.Press(s.key)
		}
		if got := b.focused(); !strings.HasPrefix(got, s.want) {
			t.Fatalf("after %q the focus is on %q, want %q", s.key, got, s.want)
		}
	}
	if open := eval[bool](b, `document.getElementById("i1").open`); open {
		t.Error("iteration 1 is open before it is asked for")
	}
	b.Press("Enter")
	if !eval[bool](b, `new Promise((done) => setTimeout(() => done(document.getElementById("i1").open && document.activeElement.closest("details")?.id === "i1"), 100))`) {
		t.Error("Enter on the timeline does not open the iteration")
	}
	b.focused()
	b.Press("Enter")
	if eval[bool](b, `document.getElementById("i1").open`) {
		t.Error("Enter does not close it again")
	}
	b.Press("Tab")
	if got := b.focused(); !strings.Contains(got, "Iteration 2") {
		t.Errorf("behind iteration 1 comes %q", got)
	}
	b.quiet()
}

// axNode is an element as a screen reader has it.
type axNode struct {
	Ignored    bool
	Role, Name struct{ Value any }
	Properties []struct {
		Name  string
		Value struct{ Value any }
	}
}

// What a screen reader says: landmarks, headings, and a name for all that can
// have the focus and for each chart.
func browserAccessibility(t *testing.T, b *browser) {
	b.open([]byte(written(t, story(t).load().HTML)), 1280)
	eval[any](b, openAll)
	var tree struct{ Nodes []axNode }
	b.Call("Accessibility.getFullAXTree", nil, &tree)
	roles, names := map[string]int{}, []string{}
	for _, n := range tree.Nodes {
		if n.Ignored {
			continue
		}
		role, name := fmt.Sprint(n.Role.Value), fmt.Sprint(n.Name.Value)
		roles[role]++
		names = append(names, role+" "+name)
		focusable := slices.ContainsFunc(n.Properties, func(p struct {
			Name  string
			Value struct{ Value any }
		},
		) bool {
			return p.Name == "focusable" && p.Value.Value == true
		})
		if strings.TrimSpace(name) == "" && (focusable || role == "image" || role == "img" || role == "link") && role != "listitem" && role != "generic" {
			t.Errorf("a %s without a name", role)
		}
	}
	for _, role := range []string{"banner", "main", "contentinfo", "navigation", "heading", "table", "combobox", "checkbox", "status"} {
		if roles[role] == 0 {
			t.Errorf("there is no %s; there are %v", role, roles)
		}
	}
	for _, want := range []string{
		"heading make the tests pass", "heading Timeline", "region Timeline", "region Decisions", "region Iterations", "region Output: Iteration 1",
		"columnheader Signature", "combobox From",
	} {
		if !slices.Contains(names, want) {
			t.Errorf("nothing is read as %q", want)
		}
	}
	if !slices.ContainsFunc(names, func(n string) bool {
		return strings.HasSuffix(n, "Failing checks of 7 iterations: first 3, last 0, most 3. 1 of them have no bar: the number is not known.")
	}) {
		t.Errorf("the chart is not described; there are %v", names)
	}
	levels := eval[[]string](b, `[...document.querySelectorAll("h1, h2, h3")].map((h) => h.tagName)`)
	if levels[0] != "H1" || strings.Count(strings.Join(levels, ""), "H1") != 1 {
		t.Errorf("headings %v", levels)
	}
}

// compared is what the comparison shows for two iterations.
func (b *browser) compared(from, to string, numbers bool) []string {
	b.t.Helper()
	return eval[[]string](b, fmt.Sprintf(`(() => {
		const set = (id, key, value) => { const e = document.getElementById(id); e[key] = value; e.dispatchEvent(new Event("change")); };
		set("from", "value", %q); set("to", "value", %q); set("numbers", "checked", %v);
		return [document.getElementById("difference").textContent, ...[...document.getElementById("diff").children].map((e) => e.textContent)];
	})()`, from, to, numbers))
}

func browserCompare(t *testing.T, b *browser) {
	r := record(t, nil)
	long := numberedLines(40)
	outputs := []string{
		"a\nb\nc\n", "a\nB\nc\n", "took 12 ms\n\x1b[31mred <b>\x1b[0m\n", "took 7 ms\nred <b>\n",
		long, strings.Replace(long, "line 000020\n", "other\n", 1), strings.Repeat("same\n", 5000) + "x\n", strings.Repeat("same\n", 5000) + "y\n",
		strings.Repeat("p\nq\n", 300), strings.Repeat("q\nr\n", 300),
	}
	for i, out := range outputs {
		r.iterate(failing(fmt.Sprintf("check%d", i)), out)
	}
	b.open([]byte(written(t, r.load().HTML)), 1280)
	for _, c := range []struct {
		from, to string
		numbers  bool
		want     []string
	}{
		{"i1", "i1", false, []string{"The two outputs are the same."}},
		{"i1", "i2", false, []string{"1 line only in the first, 1 line only in the second.", "  a", "- b", "+ B", "  c"}},
		{"i2", "i1", false, []string{"1 line only in the first, 1 line only in the second.", "  a", "- B", "+ b", "  c"}},
		{"i3", "i4", true, []string{"The two outputs are the same but for numbers."}},
		{"i3", "i4", false, []string{"1 line only in the first, 1 line only in the second.", "- took 12 ms", "+ took 7 ms", "  red <b>"}},
		{"i5", "i6", false, []string{
			"1 line only in the first, 1 line only in the second.", "  … 17 lines the same", "  line 000017", "  line 000018", "  line 000019",
			"- line 000020", "+ other", "  line 000021", "  line 000022", "  line 000023", "  … 16 lines the same",
		}},
	} {
		if got := b.compared(c.from, c.to, c.numbers); !slices.Equal(got, c.want) {
			t.Errorf("%s and %s: %q, want %q", c.from, c.to, got, c.want)
		}
	}
	if got := b.compared("i7", "i8", false); got[0] != "1 line only in the first, 1 line only in the second. Only the last 1500 lines of each are compared." {
		t.Errorf("long outputs: %q", got[0])
	}
	// Of p q p q … and q r q r …, the longest common subsequence is all the q.
	if got := b.compared("i9", "i10", false); got[0] != "300 lines only in the first, 300 lines only in the second." {
		t.Errorf("interleaved outputs: %q", got[0])
	}
	b.quiet()
}

// Bold and the 16 colours arrive; any other colour is the default.
func browserColours(t *testing.T, b *browser) {
	r := record(t, nil)
	r.iterate(failing("auth"), "\x1b[1;31mone\x1b[0m \x1b[38;5;2mtwo\x1b[0m \x1b[38;2;250;200;10;48;2;10;20;30mthree\x1b[0m\n")
	b.open([]byte(written(t, r.load().HTML)), 1280)
	got := eval[[]string](b, `[...document.querySelectorAll("#i1-out span")].map((e) => [e.textContent, getComputedStyle(e).color, getComputedStyle(e).fontWeight].join(" "))`)
	want := []string{"one rgb(255, 139, 135) 700", "two rgb(127, 209, 138) 400"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	b.quiet()
}
