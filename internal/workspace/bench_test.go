package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkLook is what a look at a repository of 50,000 files costs, beside a plain
// `git status` (which writes the index at its first run, so that the others are
// cheaper).
func BenchmarkLook(b *testing.B) {
	const files = 50_000
	dir := b.TempDir()
	run := func(args ...string) {
		if out, err := gitCommand(dir, args...).CombinedOutput(); err != nil {
			b.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	run("init", "-q")
	for i := range files {
		d := filepath.Join(dir, fmt.Sprintf("d%03d", i/100))
		if i%100 == 0 {
			if err := os.MkdirAll(d, 0o755); err != nil {
				b.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(d, fmt.Sprintf("f%05d.go", i)), fmt.Appendf(nil, "package p // %d\n", i), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	run("add", "-A")
	run("-c", "user.name=n", "-c", "user.email=e@example.com", "commit", "-q", "-m", "all")
	time.Sleep(granule) // the index is younger than the files
	run("update-index", "-q", "--refresh")
	look := func(t *Tree) {
		if _, err := t.Fingerprint(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
	opened := func() *Tree {
		t, err := Open(dir)
		if err != nil {
			b.Fatal(err)
		}
		return t
	}
	b.Run("status", func(b *testing.B) {
		for b.Loop() {
			run("status", "--porcelain=v2", "--untracked-files=all")
		}
	})
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			look(opened())
		}
	})
	t := opened()
	look(t)
	b.Run("next", func(b *testing.B) {
		for b.Loop() {
			look(t)
		}
	})
	b.Run("next after a commit", func(b *testing.B) {
		for b.Loop() {
			run("-c", "user.name=n", "-c", "user.email=e@example.com", "commit", "-q", "--allow-empty", "-m", "x")
			look(t)
		}
	})
	for i := range 1000 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("d000/u%d", i)), make([]byte, 10_000), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("next with 1000 untracked files", func(b *testing.B) {
		for b.Loop() {
			look(t)
		}
	})
	if err := os.Rename(filepath.Join(dir, ".git"), b.TempDir()+"/git"); err != nil {
		b.Fatal(err)
	}
	b.Run("walk first", func(b *testing.B) {
		for b.Loop() {
			look(opened())
		}
	})
	w := opened()
	look(w)
	b.Run("walk next", func(b *testing.B) {
		for b.Loop() {
			look(w)
		}
	})
}
