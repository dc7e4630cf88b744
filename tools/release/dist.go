package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/template"
)

// target is a system to build for, by the names of the Go tool.
type target struct{ os, arch string }

func (t target) String() string { return t.os + "/" + t.arch }

// all lists the systems for which looprun is released.
var all = []target{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
}

// programs lists what is released, by the folder of the module and the package in it.
// looprun-serve links less than looprun and nothing else, so its modules are looprun's.
// looprun-fleet is not for Windows.
var programs = []struct{ name, module, pkg string }{
	{"looprun", ".", "./cmd/looprun"},
	{"looprun-serve", ".", "./cmd/looprun-serve"},
	{"looprun-mcp", "cmd/looprun-mcp", "."},
	{"looprun-notify", "cmd/looprun-notify", "."},
	{"looprun-fleet", "fleet", "./cmd/looprun-fleet"},
}

func choose(list string) (targets []target) {
	if list == "" {
		return all
	}
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(all, func(t target) bool { return t.String() == name })
		if i < 0 {
			fail("there are no releases for %q; they are for %v", name, all)
		}
		targets = append(targets, all[i])
	}
	return targets
}

// release is one version being built.
type release struct {
	source
	root string // of the module
	out  string // folder for what is made, of which only looprun's own files are replaced
	work string // what is needed to make it
}

// dist builds everything, in the module of the current folder.
func dist(out, version, nfpm, list string, log io.Writer) {
	targets := choose(list)
	r := &release{root: must(tell("", nil, "go", "list", "-m", "-f", "{{.Dir}}")), out: must(filepath.Abs(out)), work: must(os.MkdirTemp("", "looprun-dist-"))}
	defer os.RemoveAll(r.work)
	r.source = sourceOf(r.root, version, os.Getenv("SOURCE_DATE_EPOCH"))
	fmt.Fprintf(log, "looprun %s, commit %s of %s\n", r.version, r.commit, r.date)
	r.clean()
	r.compile(target{runtime.GOOS, runtime.GOARCH}, r.root, "./cmd/looprun", r.tool("looprun")) // which prints its completions and pages
	if nfpm != "" {
		must(tell(r.work, []string{"GOBIN=" + filepath.Dir(r.tool("nfpm")), "GOFLAGS="}, "go", "install", nfpm))
	}
	for _, t := range targets {
		fmt.Fprintln(log, t)
		r.build(t)
		r.archive(t)
		if t.os == "linux" && nfpm != "" {
			r.packages(t)
		}
	}
	if sums := r.checksums(); len(targets) == len(all) { // else they would name what is not there
		r.fill(sums)
	}
}

func load(file string) []byte { return must(os.ReadFile(file)) }

// put writes a file, creating its folder if needed.
func put(file string, text []byte) {
	check(os.MkdirAll(filepath.Dir(file), 0o755))
	check(os.WriteFile(file, text, 0o644))
}

// made returns the files of the release that match the pattern, in order.
func (r *release) made(pattern string) []string {
	return must(filepath.Glob(filepath.Join(r.out, pattern)))
}

// clean removes the files of an earlier version, which would not be in the new checksums.
func (r *release) clean() {
	for _, pattern := range []string{"looprun_*", "checksums.txt", "looprun.rb", "Dockerfile"} {
		for _, old := range r.made(pattern) {
			check(os.Remove(old))
		}
	}
}

// base returns the common prefix of a target's file names. The GitHub action relies on it.
func (r *release) base(t target) string {
	return "looprun_" + r.version + "_" + t.os + "_" + t.arch
}

// stage returns the folder with the contents of a target's archive.
func (r *release) stage(t target) string { return filepath.Join(r.work, t.os+"_"+t.arch) }

// tool returns the path of a program that runs here.
func (r *release) tool(name string) string { return filepath.Join(r.work, "bin", name) }

// compile builds the program of a package, in the folder of its module, with nothing of the builder's own environment. In
// a copy of the source without its repository the Go tool would stamp other values, so the
// commit is stamped here.
func (r *release) compile(t target, module, pkg, file string) {
	env := []string{
		"GOOS=" + t.os, "GOARCH=" + t.arch, "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off", "GOEXPERIMENT=",
		"GOAMD64=v1", "GOARM64=v8.0", "GOTOOLCHAIN=local", "GODEBUG=",
	}
	flags := fmt.Sprintf("-s -w -buildid= -X main.stamp=%s -X main.commit=%s -X main.date=%s", r.version, r.commit, r.date)
	must(tell(module, env, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", file, pkg))
}

// build fills a target's stage.
func (r *release) build(t target) {
	dir := r.stage(t)
	exe := map[string]string{"windows": ".exe"}[t.os]
	var built []program
	for _, p := range programs {
		if p.name == "looprun-fleet" && t.os == "windows" {
			continue
		}
		module, file := filepath.Join(r.root, p.module), filepath.Join(dir, p.name+exe)
		r.compile(t, module, p.pkg, file)
		if p.name == "looprun-serve" {
			continue
		}
		of := inspect(module, file)
		built = append(built, of)
		put(filepath.Join(dir, p.name+".cdx.json"), of.bill("v"+r.version, map[string]string{"vcs.revision": r.commit, "vcs.time": r.date}))
	}
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		put(filepath.Join(dir, name), load(filepath.Join(r.root, name)))
	}
	for shell, name := range map[string]string{"bash": "looprun.bash", "zsh": "_looprun", "fish": "looprun.fish"} {
		script := must(tell(r.work, nil, r.tool("looprun"), "completion", shell))
		put(filepath.Join(dir, "completions", name), []byte(script+"\n"))
	}
	must(tell(r.work, []string{r.epoch(), "TZ=UTC"}, r.tool("looprun"), "--quiet", "man", filepath.Join(dir, "man", "man1")))
	put(filepath.Join(dir, "LICENCES-OF-DEPENDENCIES.txt"), notices(built))
}

// packages builds the packages of a Linux target with nfpm.
func (r *release) packages(t target) {
	dir := r.stage(t)
	squeezed := dir + "_gz" // Debian's policy (12.1, 12.7) and rpm's build scripts compress these
	for _, file := range append(must(filepath.Glob(filepath.Join(dir, "man", "man1", "*.1"))), filepath.Join(dir, "CHANGELOG.md")) {
		var b bytes.Buffer
		z := must(gzip.NewWriterLevel(&b, gzip.BestCompression))
		must(z.Write(load(file)))
		check(z.Close())
		put(filepath.Join(squeezed, filepath.Base(file)+".gz"), b.Bytes())
	}
	for _, format := range []string{"deb", "rpm"} {
		name := r.base(t) + "." + format
		config := filepath.Join(r.work, name+".yaml")
		put(config, r.render("nfpm.yaml", map[string]any{
			"Version": r.version, "Arch": t.arch, "Date": r.date, "Format": format, "Stage": dir, "Compressed": squeezed,
		}))
		must(tell(r.root, []string{r.epoch(), "TZ=UTC"}, r.tool("nfpm"), "package", "--config", config, "--packager", format, "--target", filepath.Join(r.out, name)))
	}
}

// fill writes the formula and the Dockerfile.
func (r *release) fill(sums map[string]string) {
	archives := map[string]string{}
	for _, t := range all {
		archives[t.os+"_"+t.arch] = sums[r.base(t)+".tar.gz"]
	}
	for _, name := range []string{"looprun.rb", "Dockerfile"} {
		put(filepath.Join(r.out, name), r.render(name, map[string]any{
			"Version": r.version, "Tag": "v" + r.version, "Commit": r.commit, "Date": r.date, "Sums": archives,
		}))
	}
}

// render fills in a template from the folder packaging.
func (r *release) render(name string, data any) []byte {
	var b bytes.Buffer
	t := must(template.ParseFiles(filepath.Join(r.root, "packaging", name)))
	check(t.Option("missingkey=error").Execute(&b, data))
	return b.Bytes()
}
