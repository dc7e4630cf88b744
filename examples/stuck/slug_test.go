package stuck

import "testing"

func TestSlug(t *testing.T) {
	if got, want := Slug("Hello World"), "hello-world"; got != want {
		t.Errorf("Slug = %q, want %q", got, want)
	}
}

func TestSlugDropsPunctuation(t *testing.T) {
	if got, want := Slug("What's new?"), "whats-new"; got != want {
		t.Errorf("Slug = %q, want %q", got, want)
	}
}
