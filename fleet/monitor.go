package fleet

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"
)

// monitor answers /healthz, with 503 while the worker takes no loops, and /metrics in the text
// format of Prometheus.
func (w *Worker) monitor(to http.ResponseWriter, r *http.Request) {
	w.slots.mu.Lock()
	rests := time.Now().Before(w.slots.until)
	w.slots.mu.Unlock()
	w.mu.Lock()
	held, ran := len(w.held), maps.Clone(w.ran)
	w.mu.Unlock()
	switch {
	case r.URL.Path == "/metrics":
		fmt.Fprintf(to, "# TYPE looprun_slots gauge\nlooprun_slots %d\n# TYPE looprun_slots_held gauge\nlooprun_slots_held %d\n"+
			"# TYPE looprun_iterations_total counter\n", w.Slots, held)
		for _, outcome := range slices.Sorted(maps.Keys(ran)) {
			fmt.Fprintf(to, "looprun_iterations_total{outcome=%q} %d\n", outcome, ran[outcome])
		}
	case r.URL.Path != "/healthz":
		http.NotFound(to, r)
	case rests:
		http.Error(to, "it takes no loops", http.StatusServiceUnavailable)
	}
}
