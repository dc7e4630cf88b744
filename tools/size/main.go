// Command size says how large a program is and what makes it so, and fails when
// it is larger than it may be.
//
//	go run ./tools/size -max 13000000 [-top 25] STRIPPED FULL
//
// STRIPPED is the program as it is released, FULL the same with its symbols
// (linked without -s -w). Both are for Linux: what is in them differs little from
// system to system.
package main

import (
	"cmp"
	"debug/elf"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/looprun/looprun/tools/linked"
)

func main() {
	limit := flag.Int64("max", 0, "fail when the stripped program has more `bytes`; 0: no limit")
	top := flag.Int("top", 25, "how many packages are listed")
	flag.Parse()
	if flag.NArg() != 2 {
		fmt.Fprintln(os.Stderr, "size: name the stripped program and the one with symbols")
		os.Exit(2)
	}
	if err := run(flag.Arg(0), flag.Arg(1), *limit, *top, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "size:", err)
		os.Exit(1)
	}
}

func run(stripped, full string, limit int64, top int, out io.Writer) error {
	info, err := os.Stat(stripped)
	if err != nil {
		return err
	}
	p, err := linked.Read(full)
	if err != nil {
		return err
	}
	packages, sections, err := weigh(full)
	if err != nil {
		return err
	}
	modules := map[string]int64{}
	for name, size := range packages {
		modules[moduleOf(name, p)] += size
	}
	fmt.Fprintf(out, "%d bytes, of which\n", info.Size())
	list := func(title string, sizes map[string]int64, n int) {
		fmt.Fprintf(out, "\n%s\n", title)
		names := slices.SortedFunc(maps.Keys(sizes), func(a, b string) int {
			return cmp.Or(cmp.Compare(sizes[b], sizes[a]), strings.Compare(a, b))
		})
		for _, name := range names[:min(n, len(names))] {
			fmt.Fprintf(out, "%9d  %s\n", sizes[name], name)
		}
	}
	list("sections", sections, 8)
	list("modules, by what has a symbol (code and data, without the tables of functions and types)", modules, len(modules))
	list("packages", packages, top)
	return check(info.Size(), limit)
}

func check(size, limit int64) error {
	if limit > 0 && size > limit {
		return fmt.Errorf("the program has %d bytes, %d more than it may have; see above what is in it", size, size-limit)
	}
	return nil
}

// weigh adds up the symbols of each package, and the sections that are in the
// file and stay when it is stripped.
func weigh(file string) (packages, sections map[string]int64, err error) {
	f, err := elf.Open(file)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	packages, sections = map[string]int64{}, map[string]int64{}
	kept := func(s *elf.Section) bool { return s.Flags&elf.SHF_ALLOC != 0 && s.Type != elf.SHT_NOBITS }
	for _, s := range f.Sections {
		if kept(s) {
			sections[s.Name] += int64(s.FileSize)
		}
	}
	symbols, err := f.Symbols()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w; it must not be stripped", file, err)
	}
	for _, s := range symbols {
		at := int(s.Section)
		if at <= 0 || at >= len(f.Sections) || !kept(f.Sections[at]) || elf.ST_TYPE(s.Info) == elf.STT_SECTION {
			continue
		}
		packages[packageOf(s.Name)] += int64(s.Size)
	}
	return packages, sections, nil
}

// packageOf is the import path in the name of a symbol, such as
// gopkg.in/yaml%2ev3.(*Decoder).Decode.
func packageOf(symbol string) string {
	if strings.HasPrefix(symbol, "type:") || strings.HasPrefix(symbol, "go:") || !strings.Contains(symbol, ".") {
		return "(tables)"
	}
	name, _, _ := strings.Cut(symbol, "[") // type parameters
	slash := strings.LastIndexByte(name, '/') + 1
	dot := strings.IndexByte(name[slash:], '.')
	if dot < 0 {
		return "(tables)"
	}
	return strings.ReplaceAll(name[:slash+dot], "%2e", ".")
}

// moduleOf finds the module of a package among those that are linked.
func moduleOf(pkg string, p linked.Program) string {
	if pkg == "(tables)" {
		return pkg
	}
	if pkg == "main" {
		return p.Main.Path
	}
	best := ""
	for _, m := range append(slices.Clone(p.Modules), p.Main) {
		if (pkg == m.Path || strings.HasPrefix(pkg, m.Path+"/")) && len(m.Path) > len(best) {
			best = m.Path
		}
	}
	return cmp.Or(best, "Go's library")
}
