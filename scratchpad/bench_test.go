package scratchpad

import (
	"testing"

	"github.com/looprun/looprun/core"
)

func BenchmarkAppend(b *testing.B) {
	for _, mode := range []SyncMode{SyncOff, SyncAsync} {
		b.Run(string(mode), func(b *testing.B) {
			r := newRun(b, mode)
			e := core.Event{Time: day, Data: failing(1)}
			b.ReportAllocs()
			for b.Loop() {
				e.Seq++
				if err := r.Journal.Append(e); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	e := core.Event{Seq: 1, Time: day, Data: failing(1)}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := encode(e); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReplay reads a run of 10^5 events.
func BenchmarkReplay(b *testing.B) {
	const iterated = 50_000
	dir := written(b, iterations(iterated))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := Load(dir); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(2*iterated), "ns/event")
}

func BenchmarkRefresh(b *testing.B) {
	r := newRun(b, SyncOff)
	s := stateAfter(b, iterations(1000))
	b.ReportAllocs()
	for b.Loop() {
		if err := r.Refresh(s, true); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSummarize(b *testing.B) {
	r := newRun(b, SyncOff)
	s := appendAll(b, r, numbered(story()...))
	if err := r.WriteResult(s.Result(), ""); err != nil {
		b.Fatal(err)
	}
	if err := r.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if got := Summarize(r.Dir); got.Problem != "" {
			b.Fatal(got.Problem)
		}
	}
}
