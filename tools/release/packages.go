package main

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

// packages has nfpm make the packages of a Linux target.
func (r *release) packages(t target) error {
	dir := r.stage(t)
	// Debian's policy (12.1, 12.7) and rpm's build scripts compress these.
	squeezed := dir + "_gz"
	if err := os.MkdirAll(squeezed, 0o755); err != nil {
		return err
	}
	pages, err := filepath.Glob(filepath.Join(dir, "man", "man1", "*.1"))
	if err != nil {
		return err
	}
	for _, file := range append(pages, filepath.Join(dir, "CHANGELOG.md")) {
		if err := squeeze(file, filepath.Join(squeezed, filepath.Base(file)+".gz")); err != nil {
			return err
		}
	}
	// nfpm puts the times of the files into the packages.
	for _, d := range []string{dir, squeezed} {
		list, err := members(d)
		if err != nil {
			return err
		}
		for _, m := range list {
			if err := os.Chtimes(m.file, r.time, r.time); err != nil {
				return err
			}
		}
	}
	for _, format := range []string{"deb", "rpm"} {
		if err := r.pack(t, format, squeezed); err != nil {
			return err
		}
	}
	return nil
}

func (r *release) pack(t target, format, squeezed string) error {
	config := filepath.Join(r.work, r.base(t)+"."+format+".yaml")
	err := r.render("nfpm.yaml", config, map[string]any{
		"Version": r.version, "Arch": t.arch, "Date": r.date, "Format": format,
		"Stage": r.stage(t), "Compressed": squeezed,
	})
	if err != nil {
		return err
	}
	name := r.base(t) + "." + format
	env := []string{r.epoch(), "TZ=UTC"}
	if _, err := tell(r.root, env, r.tools.nfpm, "package", "--config", config, "--packager", format, "--target", filepath.Join(r.out, name)); err != nil {
		return err
	}
	r.made = append(r.made, name)
	return nil
}

// squeeze writes a file compressed, without its name and time.
func squeeze(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(text); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return f.Close()
}

// fill writes the formula and the Dockerfile. Without the archives that they
// name they are left out.
func (r *release) fill(targets []target, sums map[string]string) error {
	has := func(t target) bool { return sums[r.base(t)+".tar.gz"] != "" }
	data := map[string]any{"Version": r.version, "Tag": "v" + r.version, "Commit": r.commit, "Date": r.date, "Sums": map[string]string{}}
	for _, t := range targets {
		data["Sums"].(map[string]string)[t.os+"_"+t.arch] = sums[r.base(t)+".tar.gz"]
	}
	for name, needed := range map[string][]target{
		"looprun.rb": {{"darwin", "amd64"}, {"darwin", "arm64"}, {"linux", "amd64"}, {"linux", "arm64"}},
		"Dockerfile": {{"linux", "amd64"}, {"linux", "arm64"}},
	} {
		complete := true
		for _, t := range needed {
			complete = complete && has(t)
		}
		if !complete {
			continue
		}
		if err := r.render(name, filepath.Join(r.out, name), data); err != nil {
			return err
		}
	}
	return nil
}

// render fills a template of the folder packaging.
func (r *release) render(name, file string, data any) error {
	text, err := os.ReadFile(filepath.Join(r.root, "packaging", name))
	if err != nil {
		return err
	}
	t, err := template.New(name).Option("missingkey=error").Parse(string(text))
	if err != nil {
		return err
	}
	var b strings.Builder
	if err := t.Execute(&b, data); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(b.String()), 0o644)
}
