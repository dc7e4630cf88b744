package report

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"sync"
)

//go:embed page
var pageFiles embed.FS

// PageLimit is the maximum size of an HTML page, in bytes. To stay within it a page shows
// less: first less of each output, then fewer iterations and trips.
const PageLimit = 1<<20 - 1

// Bounds of a page.
const (
	outputLeast  = 2 << 10 // bytes of HTML for each output, else fewer iterations
	outputMost   = 64 << 10
	pageTries    = 3 // to make the outputs fit, else fewer iterations
	pageTrips    = 50
	pageProse    = 600
	pageGuidance = 2000
)

// HTML writes the report as one self-contained page: it needs no network, no fonts and no
// other file. It is at most [PageLimit] bytes long. Its policy (Content-Security-Policy)
// allows its own style and script by their hashes and nothing else. The error is that of w, or
// reports that the run's directory is gone.
func (r *Report) HTML(w io.Writer) error {
	for _, n := range []int{300, 200, 100, 50, 20, 5, 0} {
		b, err := r.page(n)
		if err != nil {
			return err
		}
		if b != nil {
			_, err = w.Write(b)
			return err
		}
	}
	return fmt.Errorf("the page of run %s would be larger than %d bytes", r.RunID, PageLimit)
}

// page returns the page with the last n iterations and trips, or nil if it is too large.
func (r *Report) page(n int) ([]byte, error) {
	m := r.model(n)
	bare, err := m.render()
	if err != nil {
		return nil, err
	}
	room, least := PageLimit-len(bare), 0
	for _, it := range m.Iterations {
		if it.OutputFile != "" {
			least += outputLeast
		}
	}
	for try := 0; try < pageTries && room >= least; try++ {
		if err := m.outputs(r.dir, room); err != nil {
			return nil, err
		}
		b, err := m.render()
		if err != nil {
			return nil, err
		}
		over := len(b) - PageLimit
		if over <= 0 {
			return b, nil
		}
		room -= over + over/8 // what is around the outputs varies
	}
	return nil, nil
}

// outputs reads the outputs, smallest first: the others share the room that they do not use.
func (m *model) outputs(dir string, room int) error {
	if dir == "" { // of FromEvents
		return nil
	}
	files, err := openOutputs(dir)
	if err != nil {
		return err
	}
	defer files.Close()
	m.Comparable = nil
	var with []*pageIteration
	for i := range m.Iterations {
		if it := &m.Iterations[i]; it.OutputFile != "" {
			it.raw = files.size(it.OutputFile)
			with = append(with, it)
		}
	}
	slices.SortStableFunc(with, func(a, b *pageIteration) int {
		return int(min(a.raw, readHead+readTail) - min(b.raw, readHead+readTail))
	})
	for i, it := range with {
		it.Output = files.show(it.OutputFile, min(outputMost, room/(len(with)-i)))
		room -= it.Output.size
	}
	for i := range m.Iterations {
		if it := &m.Iterations[i]; it.Output != nil && it.Output.Lines() {
			m.Comparable = append(m.Comparable, it)
		}
	}
	m.choose()
	return nil
}

// choose selects what is compared initially: the last output and the latest earlier one with
// another signature, or else just the previous one.
func (m *model) choose() {
	n := len(m.Comparable)
	if n < 2 {
		return
	}
	m.To, m.From = m.Comparable[n-1].ID, m.Comparable[n-2].ID
	for i := n - 2; i >= 0; i-- {
		if m.Comparable[i].Letter != m.Comparable[n-1].Letter {
			m.From = m.Comparable[i].ID
			return
		}
	}
}

var pageTemplate = sync.OnceValues(func() (*template.Template, error) {
	return template.ParseFS(pageFiles, "page/*.tmpl")
})

// render fills in the template, which escapes all text of the run. Only this package's own
// files are inserted unescaped.
func (m *model) render() ([]byte, error) {
	t, err := pageTemplate()
	if err != nil {
		return nil, err
	}
	style, _ := pageFiles.ReadFile("page/page.css") // it is in the program, as the next is
	script, _ := pageFiles.ReadFile("page/page.js")
	m.Style, m.Script = template.CSS(style), template.JS(script)
	m.Policy = fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'", digest(style), digest(script))
	var b bytes.Buffer
	err = t.ExecuteTemplate(&b, "page.tmpl", m)
	return b.Bytes(), err
}

// digest returns the hash by which a policy identifies a style or a script.
func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
