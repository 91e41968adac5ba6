package stubs

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// userCode is what the Go files of a project say of its projectors. They are read as text is: what does not compile
// yet, such as a projector that lacks a method, is read as well.
type userCode struct {
	module string // the import path of the generated code
	in     module
	folded map[string]registration // by the interface that package ops has for the projector, without "Projector"
	// upcasters are what projections are made with beside projectors.
	upcasters registration
	packages  map[string]*userPackage // by folder
	sources   []string                // files of the name of sourcesFile, in the folder of the generated code
}

// registration is a call of ops.ProjectX outside of tests.
type registration struct {
	file      string // that calls it
	dir, typ  string // of the projector, "" where that is not written as a literal of a type
	upcasters bool   // it is called with upcasters too
}

// userPackage is a package of the project that holds projectors.
type userPackage struct {
	name   string
	types  map[string]*userType
	names  map[string]bool // all that is declared at its top
	broken string          // the first file that does not parse, "" for none
}

// userType is a type that may be a projector.
type userType struct {
	file    string
	pointer bool // its methods have pointer receivers
	embeds  bool // it may have methods of what it embeds
	methods map[string]bool
}

// readUserCode reads the module of the project, with the generated code in the working directory. A program that folds
// may stand anywhere in it.
func readUserCode(importPath, root string) (*userCode, error) {
	c := &userCode{module: importPath, in: moduleOf(importPath, root), folded: map[string]registration{},
		packages: map[string]*userPackage{}}
	err := fs.WalkDir(os.DirFS(root), ".", func(inModule string, e fs.DirEntry, err error) error {
		name := c.in.name(inModule)
		switch {
		case absent(err):
			return nil
		case err != nil:
			return err
		case e.IsDir():
			return enters(name)
		case e.Name() == sourcesFile:
			if !besideCode(name) { // elsewhere it may be of another project
				c.sources = append(c.sources, name)
			}
		case strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
			return c.readRegistrations(name)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for projectors: %w", err)
	}
	return c, nil
}

// absent reports whether something went while the walk came, or is not for this user to read, such as the data of a
// database beside the code: where the program needs it, the go command says so.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)
}

// enters skips folders that hold nothing of the user's that is part of the project.
func enters(dir string) error {
	base := path.Base(dir)
	if base == "." || base == ".." { // the generated code is in it
		return nil
	}
	generated := []string{"model", "event", "projection/ops", "graph/generated"}
	if slices.Contains([]string{"testdata", "vendor", "node_modules"}, base) || strings.HasPrefix(base, ".") ||
		strings.HasPrefix(base, "_") || slices.Contains(generated, dir) {
		return fs.SkipDir
	}
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil { // another module
		return fs.SkipDir
	}
	return nil
}

// readRegistrations finds the calls of ops.ProjectX in a file.
func (c *userCode) readRegistrations(name string) error {
	text, err := os.ReadFile(name)
	if absent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if !bytes.Contains(text, []byte(c.module+"/projection/ops")) {
		return nil
	}
	file, _ := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
	if file == nil {
		return nil
	}
	ops := importName(file, c.module+"/projection/ops")
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 || len(call.Args) > 2 {
			return true
		}
		called, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || ops == "" || !isNamed(called.X, ops) {
			return true
		}
		if projector, ok := strings.CutPrefix(called.Sel.Name, "Project"); ok {
			c.register(projector, file, name, call.Args)
		}
		return true
	})
	return nil
}

// register remembers a call of ops.ProjectX. Those beside the generated code, such as of a benchmark, come after those
// that stand with it.
func (c *userCode) register(projector string, file *ast.File, name string, args []ast.Expr) {
	r := registration{file: name, upcasters: len(args) == 2}
	if r.upcasters && !r.comesAfter(c.upcasters) {
		c.upcasters = r
		c.upcasters.dir, c.upcasters.typ = c.literalType(file, path.Dir(name), args[1])
	}
	if !r.comesAfter(c.folded[projector]) {
		r.dir, r.typ = c.literalType(file, path.Dir(name), args[0])
		c.folded[projector] = r
	}
}

// comesAfter reports whether another call, if it is one, counts before this one.
func (r registration) comesAfter(other registration) bool {
	return other.file != "" && besideCode(r.file) && !besideCode(other.file)
}

func isNamed(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

// literalType finds the type of a literal, T{}, &T{}, pkg.T{} or new(T), and the folder of its package.
func (c *userCode) literalType(file *ast.File, dir string, e ast.Expr) (folder, typ string) {
	switch v := e.(type) {
	case *ast.UnaryExpr:
		return c.literalType(file, dir, v.X)
	case *ast.CompositeLit:
		return c.literalType(file, dir, v.Type)
	case *ast.CallExpr:
		if isNamed(v.Fun, "new") && len(v.Args) == 1 {
			return c.literalType(file, dir, v.Args[0])
		}
	case *ast.Ident:
		return dir, v.Name // or a variable, which no type is called like
	case *ast.SelectorExpr:
		if pkg, ok := v.X.(*ast.Ident); ok {
			for _, imp := range file.Imports {
				at, _ := strconv.Unquote(imp.Path.Value)
				if dir, ours := c.in.folderOf(at); ours && importName(file, at) == pkg.Name {
					return dir, v.Sel.Name
				}
			}
		}
	}
	return "", ""
}

// importName is the name under which a file uses a package, "" where it does not.
func importName(file *ast.File, importPath string) string {
	for _, imp := range file.Imports {
		if at, _ := strconv.Unquote(imp.Path.Value); at != importPath {
			continue
		}
		if imp.Name != nil {
			return imp.Name.Name
		}
		return path.Base(importPath)
	}
	return ""
}

// readPackage reads the types of a folder, once. A folder that is not there is an empty package of its name.
func (c *userCode) readPackage(dir string) (*userPackage, error) {
	if p := c.packages[dir]; p != nil {
		return p, nil
	}
	p := &userPackage{name: path.Base(dir), types: map[string]*userType{}, names: map[string]bool{}}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("look into %s: %w", dir, err)
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || e.IsDir() {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil && p.broken == "" {
			p.broken = name
		}
		if file != nil {
			p.name = file.Name.Name
			p.declare(name, file)
		}
	}
	c.packages[dir] = p
	return p, nil
}

func (p *userPackage) declare(name string, file *ast.File) {
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil || len(d.Recv.List) == 0 {
				p.names[d.Name.Name] = true
				continue
			}
			typ := d.Recv.List[0].Type
			star, pointer := typ.(*ast.StarExpr)
			if pointer {
				typ = star.X
			}
			if id, ok := typ.(*ast.Ident); ok {
				t := p.typeOf(id.Name)
				t.methods[d.Name.Name] = true
				t.pointer = t.pointer || pointer
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					t := p.typeOf(s.Name.Name)
					t.file = name
					body, isStruct := s.Type.(*ast.StructType)
					t.embeds = !isStruct || slices.ContainsFunc(body.Fields.List, func(f *ast.Field) bool { return len(f.Names) == 0 })
				case *ast.ValueSpec:
					for _, id := range s.Names {
						p.names[id.Name] = true
					}
				}
			}
		}
	}
}

func (p *userPackage) typeOf(name string) *userType {
	if p.types[name] == nil {
		p.types[name] = &userType{methods: map[string]bool{}}
	}
	return p.types[name]
}
