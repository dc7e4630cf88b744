//go:build !notify

package notify

import (
	"errors"
	"strings"
	"testing"
)

func TestNotBuilt(t *testing.T) {
	s, err := New("ntfy://user:" + secret + "@host/topic")
	if s != nil || !errors.Is(err, ErrNotBuilt) || !strings.Contains(err.Error(), "-tags notify") || strings.Contains(err.Error(), secret) {
		t.Errorf("%v, %v", s, err)
	}
	if _, err := New(); err != nil {
		t.Errorf("nothing is asked for: %v", err)
	}
}
