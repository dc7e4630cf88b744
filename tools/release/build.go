package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// plain is the environment of a build in which nothing of the builder's own
// changes the result.
func plain(t target) []string {
	return []string{
		"GOOS=" + t.os, "GOARCH=" + t.arch, "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off", "GOEXPERIMENT=",
		"GOAMD64=v1", "GOARM64=v8.0", "GOTOOLCHAIN=local", "GODEBUG=",
	}
}

// compile builds the program of one package.
func (r *release) compile(t target, pkg, file string) error {
	// The Go tool would stamp other things in a copy of the source without its
	// repository, so the commit is stamped here.
	flags := fmt.Sprintf("-s -w -buildid= -X main.stamp=%s -X main.commit=%s -X main.date=%s", r.version, r.commit, r.date)
	args := []string{"build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", file}
	list, err := os.ReadFile(filepath.Join(r.root, "packaging", "not-inlined"))
	if err != nil {
		return err
	}
	for _, library := range strings.Fields(string(list)) {
		args = append(args, "-gcflags="+library+"=-l")
	}
	_, err = tell(r.root, plain(t), "go", append(args, pkg)...)
	return err
}

// prepare builds what runs here: looprun, which prints its completions and
// pages, and nfpm.
func (r *release) prepare(nfpm string) error {
	here := target{runtime.GOOS, runtime.GOARCH}
	bin := filepath.Join(r.work, "bin")
	r.tools.looprun, r.tools.nfpm = filepath.Join(bin, "looprun"), filepath.Join(bin, "nfpm")
	if err := r.compile(here, "./cmd/looprun", r.tools.looprun); err != nil {
		return err
	}
	if nfpm == "" {
		return nil
	}
	_, err := tell(r.work, []string{"GOBIN=" + bin, "GOFLAGS="}, "go", "install", nfpm)
	return err
}

// executable is the name of looprun on a system.
func executable(t target) string {
	if t.os == "windows" {
		return "looprun.exe"
	}
	return "looprun"
}

// build fills a target's stage.
func (r *release) build(t target) error {
	dir := r.stage(t)
	for _, sub := range []string{"completions", filepath.Join("man", "man1")} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return err
		}
	}
	file := filepath.Join(dir, executable(t))
	if err := r.compile(t, "./cmd/looprun", file); err != nil {
		return err
	}
	page := filepath.Join(dir, "looprun-serve"+filepath.Ext(file)) // it links less than looprun, and nothing else
	if err := r.compile(t, "./cmd/looprun-serve", page); err != nil {
		return err
	}
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		text, err := os.ReadFile(filepath.Join(r.root, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return err
		}
	}
	if err := r.generate(dir); err != nil {
		return err
	}
	bill, err := newBill(file, "v"+r.version, r.commit, r.date)
	if err != nil {
		return err
	}
	p, err := inspect(file)
	if err != nil {
		return err
	}
	notices, err := p.notices()
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "looprun.cdx.json"), bill, 0o644),
		os.WriteFile(filepath.Join(dir, "LICENCES-OF-DEPENDENCIES.txt"), notices, 0o644),
	)
}

// generate has looprun write what it knows about itself.
func (r *release) generate(dir string) error {
	for shell, name := range map[string]string{"bash": "looprun.bash", "zsh": "_looprun", "fish": "looprun.fish"} {
		script, err := tell(r.work, nil, r.tools.looprun, "completion", shell)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, "completions", name), []byte(script+"\n"), 0o644); err != nil {
			return err
		}
	}
	_, err := tell(r.work, []string{r.epoch(), "TZ=UTC"}, r.tools.looprun, "--quiet", "man", filepath.Join(dir, "man", "man1"))
	return err
}
