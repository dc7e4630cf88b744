// Command sbom prints what a program is made of as a software bill of materials:
// CycloneDX 1.6 in JSON, from the build information in the program itself. The
// same program always gives the same bill.
//
//	go run ./tools/sbom bin/looprun > looprun.cdx.json
package main

import (
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/looprun/looprun/tools/linked"
)

func main() {
	var given source
	flag.StringVar(&given.version, "version", "", "the program's `version`, where its build information has none")
	flag.StringVar(&given.commit, "commit", "", "the `commit` that it was built from, where it is stamped by other means")
	flag.StringVar(&given.time, "time", "", "when that was, in RFC 3339")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "sbom: name one program; make build makes bin/looprun")
		os.Exit(2)
	}
	if err := run(flag.Arg(0), given, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

// source is what the program's build information may lack.
type source struct{ version, commit, time string }

func run(file string, given source, out io.Writer) error {
	p, err := linked.Read(file)
	if err != nil {
		return err
	}
	for key, value := range map[string]string{"vcs.revision": given.commit, "vcs.time": given.time} {
		if p.Settings[key] == "" && value != "" {
			p.Settings[key] = value
		}
	}
	dirs, err := linked.Dirs(p.Modules)
	if err != nil {
		return err
	}
	sum, err := hash(file)
	if err != nil {
		return err
	}
	b, err := newBill(p, dirs, given.version, sum)
	if err != nil {
		return err
	}
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(b)
}

func hash(file string) (sum [sha256.Size]byte, err error) {
	f, err := os.Open(file)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return sum, err
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}

// serial is the number of the bill, formed like a UUID of version 8 (RFC 9562,
// section 5.8): the program's hash, so that a bill made again has the same.
func serial(sum [sha256.Size]byte) string {
	id := sum[:16]
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:16])
}

// purl is the package URL of a Go module: github.com/package-url/purl-spec asks
// for lower case in names, and for “+” to be escaped.
func purl(path, version string) string {
	name := "pkg:golang/" + strings.ToLower(path)
	if version == "" {
		return name
	}
	return name + "@" + strings.ReplaceAll(version, "+", "%2B")
}
