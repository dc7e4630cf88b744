package report

import (
	"bytes"
	"fmt"
	"io"
)

// fragmentIterations is how many iterations a fragment's timeline shows.
const fragmentIterations = 300

// Stylesheet returns the style of the page that [Report.HTML] writes.
func Stylesheet() ([]byte, error) { return pageFiles.ReadFile("page/page.css") }

// Fragment writes the part of the page that shows what happened, for a page that has
// [Stylesheet]: the timeline, the charts, trips and answers, and whatever else is recorded. It
// leaves out the iterations themselves, whose outputs a page requests one by one.
func (r *Report) Fragment(w io.Writer) error {
	m := r.model(fragmentIterations)
	t, err := pageTemplate()
	if err != nil {
		return err
	}
	return t.ExecuteTemplate(w, "course", m)
}

// Tail is the end of an output, as HTML for a page that has [Stylesheet].
type Tail struct {
	HTML string
	Size int64 // of the file, in bytes
}

// ReadTail reads the end of an output of the run in dir, as at most budget bytes of HTML. An
// agent's transcript becomes readable text, as at a terminal; a command's output is plain
// text. It follows no links in the run's directory. A file that does not exist yet is empty.
func ReadTail(dir, name string, budget int) (Tail, error) {
	files, err := openOutputs(dir)
	if err != nil {
		return Tail{}, err
	}
	defer files.Close()
	files.open = true
	tail := Tail{Size: files.size(name)}
	if tail.Size == 0 {
		return tail, nil
	}
	out := files.show(name, budget)
	if out.Problem != "" {
		return tail, fmt.Errorf("%s", out.Problem)
	}
	t, err := pageTemplate()
	if err != nil {
		return tail, err
	}
	var b bytes.Buffer
	err = t.ExecuteTemplate(&b, "output", out)
	tail.HTML = b.String()
	return tail, err
}
