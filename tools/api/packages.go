package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
)

// goPackage is the output of go list for a package.
type goPackage struct {
	ImportPath string
	Name       string
	Export     string // the file with its compiled types
	DepOnly    bool
	Module     *struct{ Path string }
}

// private lists the folders of a module that nobody imports.
var private = []string{"internal", "cmd", "tools", "examples", "bench", "testdata"}

// exported returns the API of the module in that folder: the lines of each package's file. It
// is always that of Linux, so that it does not depend on where it is generated.
func exported(dir string) (map[string][]string, error) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Name,Export,DepOnly,Module", "./...")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, stderr.String())
	}
	files := map[string]string{}
	var public []goPackage
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		files[p.ImportPath] = p.Export
		if !p.DepOnly && p.Module != nil && isPublic(p.Name, p.ImportPath, p.Module.Path) {
			public = append(public, p)
		}
	}
	compiled := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		if files[path] == "" {
			return nil, fmt.Errorf("%s was not compiled", path)
		}
		return os.Open(files[path])
	})
	all := map[string][]string{}
	for _, p := range public {
		pkg, err := compiled.Import(p.ImportPath)
		if err != nil {
			return nil, err
		}
		all[fileName(p.ImportPath, p.Module.Path, p.Name)] = lines(pkg)
	}
	return all, nil
}

func isPublic(name, path, module string) bool {
	below := strings.TrimPrefix(strings.TrimPrefix(path, module), "/")
	return name != "main" && !slices.ContainsFunc(strings.Split(below, "/"), func(part string) bool { return slices.Contains(private, part) })
}

// fileName returns the name of a package's file: the root has its own name.
func fileName(path, module, name string) string {
	if below := strings.TrimPrefix(strings.TrimPrefix(path, module), "/"); below != "" {
		return below + ".txt"
	}
	return name + ".txt"
}

// lines returns what a package exports, sorted.
func lines(pkg *types.Package) []string {
	p := printer{pkg: pkg}
	for _, name := range pkg.Scope().Names() {
		if o := pkg.Scope().Lookup(name); o.Exported() {
			p.object(o)
		}
	}
	slices.Sort(p.lines)
	return p.lines
}

// printer writes the lines of one package.
type printer struct {
	pkg   *types.Package
	lines []string
}

func (p *printer) add(format string, args ...any) {
	p.lines = append(p.lines, fmt.Sprintf(format, args...))
}

// text returns a type as the package itself would write it, with the paths of other packages.
func (p *printer) text(t types.Type) string {
	return types.TypeString(t, func(other *types.Package) string {
		if other == p.pkg {
			return ""
		}
		return other.Path()
	})
}

// signature returns the parameter and result types of a function. Parameter names are not part
// of the API.
func (p *printer) signature(t types.Type) string {
	s, ok := t.(*types.Signature)
	if !ok {
		return " " + p.text(t)
	}
	unnamed := func(list *types.Tuple) *types.Tuple {
		vars := make([]*types.Var, list.Len())
		for i := range vars {
			vars[i] = types.NewParam(token.NoPos, nil, "", list.At(i).Type())
		}
		return types.NewTuple(vars...)
	}
	var parameters []*types.TypeParam
	for t := range s.TypeParams().TypeParams() {
		parameters = append(parameters, t)
	}
	text := strings.TrimPrefix(p.text(types.NewSignatureType(nil, nil, nil, unnamed(s.Params()), unnamed(s.Results()), s.Variadic())), "func")
	return p.parameters(parameters) + text
}

func (p *printer) object(o types.Object) {
	switch o := o.(type) {
	case *types.Const:
		p.add("const %s %s = %s", o.Name(), p.text(o.Type()), o.Val().ExactString())
	case *types.Var:
		p.add("var %s %s", o.Name(), p.text(o.Type()))
	case *types.Func:
		p.add("func %s%s", o.Name(), p.signature(o.Type()))
	case *types.TypeName:
		p.typeName(o)
	}
}

func (p *printer) typeName(o *types.TypeName) {
	if o.IsAlias() {
		p.add("type %s = %s", o.Name(), p.text(types.Unalias(o.Type())))
		return
	}
	named, ok := o.Type().(*types.Named)
	if !ok {
		return
	}
	var parameters []*types.TypeParam
	for t := range named.TypeParams().TypeParams() {
		parameters = append(parameters, t)
	}
	name := o.Name() + p.parameters(parameters)
	switch u := named.Underlying().(type) {
	case *types.Struct:
		p.structure(name, u)
	case *types.Interface:
		p.iface(name, u)
	default:
		p.add("type %s %s", name, p.text(u))
	}
	p.methods(name, named)
}

func (p *printer) parameters(types []*types.TypeParam) string {
	var list []string
	for _, t := range types {
		list = append(list, t.Obj().Name()+" "+p.text(t.Constraint()))
	}
	if len(list) == 0 {
		return ""
	}
	return "[" + strings.Join(list, ", ") + "]"
}

// formats lists the tags with a field's name in a document, which is part of the API too.
var formats = []string{"json", "yaml"}

func keys(tag string) string {
	var kept []string
	for _, format := range formats {
		if key, ok := reflect.StructTag(tag).Lookup(format); ok {
			kept = append(kept, fmt.Sprintf("%s:%q", format, key))
		}
	}
	return strings.Join(kept, " ")
}

// structure writes a line for each exported field.
func (p *printer) structure(name string, s *types.Struct) {
	p.add("type %s struct", name)
	hidden := false
	for i := range s.NumFields() {
		f := s.Field(i)
		if !f.Exported() {
			hidden = true
			continue
		}
		kind := f.Name() + " " + p.text(f.Type())
		if f.Embedded() {
			kind = "embedded " + p.text(f.Type())
		}
		if tag := keys(s.Tag(i)); tag != "" {
			kind += " `" + tag + "`"
		}
		p.add("type %s struct, %s", name, kind)
	}
	if hidden {
		p.add("type %s struct, unexported fields", name)
	}
}

func (p *printer) iface(name string, t *types.Interface) {
	p.add("type %s interface", name)
	hidden := false
	for m := range t.Methods() {
		if hidden = hidden || !m.Exported(); m.Exported() {
			p.add("type %s interface, %s%s", name, m.Name(), p.signature(m.Type()))
		}
	}
	if hidden {
		p.add("type %s interface, unexported methods", name)
	}
	if !t.IsMethodSet() {
		p.add("type %s interface, %s", name, p.text(t))
	}
}

// methods writes the methods of the type and of the pointer to it, including promoted ones.
func (p *printer) methods(name string, n *types.Named) {
	if types.IsInterface(n) {
		return
	}
	values := types.NewMethodSet(n)
	for m := range types.NewMethodSet(types.NewPointer(n)).Methods() {
		if !m.Obj().Exported() {
			continue
		}
		receiver := "*" + name
		if values.Lookup(m.Obj().Pkg(), m.Obj().Name()) != nil {
			receiver = name
		}
		p.add("method (%s) %s%s", receiver, m.Obj().Name(), p.signature(m.Obj().Type()))
	}
}
