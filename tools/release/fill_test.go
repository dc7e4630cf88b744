package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// released is a release whose archives are made up.
func released(t *testing.T, targets []target) *release {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	r := &release{
		source: source{version: "1.2.3-rc.1", commit: "0123abc", time: time.Unix(0, 0).UTC(), date: "1970-01-01T00:00:00Z"},
		root:   root, out: t.TempDir(), work: t.TempDir(),
	}
	for _, target := range targets {
		put(filepath.Join(r.out, r.base(target)+".tar.gz"), []byte(target.String()))
	}
	return r
}

func filled(t *testing.T) (*release, map[string]string) {
	t.Helper()
	r := released(t, all)
	sums := r.checksums()
	r.fill(sums)
	return r, sums
}

func read(t *testing.T, name ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(name...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestFormula has the check sum of the archive that stands in the line above it,
// and every archive that it names is there.
func TestFormula(t *testing.T) {
	r, sums := filled(t)
	text := read(t, r.out, "looprun.rb")
	found := regexp.MustCompile(`/download/v1\.2\.3-rc\.1/(\S+)"\n\s+sha256 "([0-9a-f]{64})"`).FindAllStringSubmatch(text, -1)
	if len(found) != 4 || strings.Contains(text, "{{") {
		t.Fatalf("%d archives:\n%s", len(found), text)
	}
	for _, m := range found {
		if sums[m[1]] != m[2] {
			t.Errorf("%s has the sum %s, not %s", m[1], sums[m[1]], m[2])
		}
	}
	if ruby, err := exec.LookPath("ruby"); err != nil {
		t.Log("there is no ruby to check the formula's syntax with")
	} else if out, err := exec.Command(ruby, "-c", filepath.Join(r.out, "looprun.rb")).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// TestDockerfile has instructions that exist, in an order that makes sense, and
// adds files that are there.
func TestDockerfile(t *testing.T) {
	r, _ := filled(t)
	text := read(t, r.out, "Dockerfile")
	if strings.Contains(text, "{{") {
		t.Error(text)
	}
	text = regexp.MustCompile(`(?m)^#.*\n`).ReplaceAllString(text, "")
	text = strings.ReplaceAll(text, "\\\n", " ")
	stages := map[string]bool{}
	from := 0
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		switch words[0] {
		case "ARG", "LABEL", "WORKDIR":
		case "FROM":
			if from++; len(words) == 4 && words[2] == "AS" {
				stages[words[3]] = true
			}
		case "ADD":
			for _, arch := range []string{"amd64", "arm64"} {
				if name := strings.ReplaceAll(words[1], "${TARGETARCH}", arch); read(t, r.out, name) != "linux/"+arch {
					t.Errorf("%s is not the archive for %s", name, arch)
				}
			}
		case "COPY":
			if name, ok := strings.CutPrefix(words[1], "--from="); !ok || !stages[name] {
				t.Errorf("there is no stage for %s", line)
			}
		case "ENTRYPOINT":
			if words[1] != `["looprun"]` {
				t.Error(line)
			}
		default:
			t.Errorf("unknown: %s", line)
		}
	}
	if from != 2 || len(stages) != 1 {
		t.Errorf("%d times FROM, stages %v", from, stages)
	}
}

// TestChecksums reads as sha256sum reads it, and nothing of an earlier version is
// left beside it.
func TestChecksums(t *testing.T) {
	r := released(t, all[:2])
	old := filepath.Join(r.out, "looprun_0.9.0_linux_amd64.deb")
	mine := filepath.Join(r.out, "notes.txt")
	for _, name := range []string{old, mine} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r.checksums()
	want := regexp.MustCompile(`^[0-9a-f]{64}  looprun_1\.2\.3-rc\.1_linux_amd64\.tar\.gz\n[0-9a-f]{64}  looprun_1\.2\.3-rc\.1_linux_arm64\.tar\.gz\n$`)
	if text := read(t, r.out, "checksums.txt"); !want.MatchString(text) {
		t.Error(text)
	}
	r.clean()
	left, err := os.ReadDir(r.out)
	if err != nil || len(left) != 1 || left[0].Name() != "notes.txt" {
		t.Errorf("%v, %v", left, err)
	}
}
