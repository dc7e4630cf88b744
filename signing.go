package looprun

import (
	"io"
	"runtime"
	"sync"

	"github.com/looprun/looprun/signature"
)

const (
	// signAhead is how much of a step's output is signed where it is read. What prints
	// more is signed beside the reading, which most steps are too short to gain from.
	signAhead = 256 << 10
	// A batch is handed over when it is full: nobody waits for a signature before the
	// end, and each hand-over wakes a thread.
	batchBytes = 256 << 10
	batchParts = 256
	batchCount = 4 // at most: the reading waits for the signature then
)

// signing gives a step's output to its signer: at once as long as there is little, and
// then in batches to a goroutine, which ends with settle. Nothing holds more than
// batchCount batches. It is for one goroutine at a time.
type signing struct {
	to    [2]io.Writer // standard output and error; they never fail
	taken int
	now   *batch      // is being filled; nil: there is no goroutine
	full  chan *batch // to the goroutine
	empty chan *batch // back from it
	over  chan struct{}
}

// batch is a part of an output, of both streams in the order in which it came.
type batch struct {
	bytes []byte
	parts []batchPart
}

// batchPart says where in a batch what came from one stream ends.
type batchPart struct{ stream, end int }

var batches = sync.Pool{New: func() any {
	return &batch{bytes: make([]byte, 0, batchBytes), parts: make([]batchPart, 0, batchParts)}
}}

func newSigning(s *signature.Signer) signing {
	return signing{to: [2]io.Writer{s.Stdout(), s.Stderr()}}
}

// write takes the next bytes of a stream: 0 is standard output, 1 standard error. It
// keeps nothing of b.
func (g *signing) write(stream int, b []byte) {
	if g.now == nil {
		if g.taken += len(b); g.taken <= signAhead || runtime.GOMAXPROCS(0) == 1 {
			_, _ = g.to[stream].Write(b)
			return
		}
		g.start()
	}
	for {
		n := g.now.add(stream, b)
		if b = b[n:]; len(b) == 0 {
			return
		}
		g.full <- g.now
		g.now = <-g.empty
	}
}

// add takes as much as there is room for.
func (t *batch) add(stream int, b []byte) int {
	last := len(t.parts) - 1
	if last < 0 || t.parts[last].stream != stream {
		if len(t.parts) == batchParts {
			return 0
		}
		t.parts = append(t.parts, batchPart{stream: stream})
		last++
	}
	n := min(len(b), batchBytes-len(t.bytes))
	t.bytes = append(t.bytes, b[:n]...)
	t.parts[last].end = len(t.bytes)
	return n
}

func (g *signing) start() {
	g.full, g.empty, g.over = make(chan *batch, batchCount), make(chan *batch, batchCount), make(chan struct{})
	for range batchCount - 1 {
		g.empty <- batches.Get().(*batch)
	}
	g.now = batches.Get().(*batch)
	go g.run()
}

// run signs what it is given, until there is no more.
func (g *signing) run() {
	defer close(g.over)
	for t := range g.full {
		from := 0
		for _, p := range t.parts {
			_, _ = g.to[p.stream].Write(t.bytes[from:p.end])
			from = p.end
		}
		t.bytes, t.parts = t.bytes[:0], t.parts[:0]
		g.empty <- t // there is room for all
	}
}

// settle returns when everything is signed that was written; the next write is that
// of another step. Before it the signer is not to be used otherwise.
func (g *signing) settle() {
	if g.now != nil {
		g.full <- g.now
		close(g.full)
		<-g.over
		close(g.empty)
		for t := range g.empty {
			batches.Put(t)
		}
	}
	*g = signing{to: g.to}
}
