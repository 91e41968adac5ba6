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
	module string
	folded map[string]registration // by the interface that package ops has for the projector, without "Projector"
	// upcasters are what projections are made with beside projectors.
	upcasters registration
	packages  map[string]*userPackage // by folder
	sources   []string                // files of the name of sourcesFile
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

// readUserCode reads the project in the working directory.
func readUserCode(module string) (*userCode, error) {
	c := &userCode{module: module, folded: map[string]registration{}, packages: map[string]*userPackage{}}
	err := filepath.WalkDir(".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir():
			return c.enters(name)
		case e.Name() == sourcesFile:
			c.sources = append(c.sources, filepath.ToSlash(name))
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

// enters skips folders that hold nothing of the user's that is part of the project.
func (c *userCode) enters(dir string) error {
	base := filepath.Base(dir)
	if dir == "." {
		return nil
	}
	generated := []string{"model", "event", "projection/ops", "graph/generated"}
	if slices.Contains([]string{"testdata", "vendor", "node_modules"}, base) || strings.HasPrefix(base, ".") ||
		strings.HasPrefix(base, "_") || slices.Contains(generated, filepath.ToSlash(dir)) {
		return filepath.SkipDir
	}
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil { // another module
		return filepath.SkipDir
	}
	return nil
}

// readRegistrations finds the calls of ops.ProjectX in a file.
func (c *userCode) readRegistrations(name string) error {
	text, err := os.ReadFile(name)
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
			r := registration{file: filepath.ToSlash(name), upcasters: len(call.Args) == 2}
			if r.upcasters {
				c.upcasters = r
				c.upcasters.dir, c.upcasters.typ = c.literalType(file, path.Dir(r.file), call.Args[1])
			}
			r.dir, r.typ = c.literalType(file, path.Dir(r.file), call.Args[0])
			c.folded[projector] = r
		}
		return true
	})
	return nil
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
				if rel, ours := strings.CutPrefix(at, c.module+"/"); ours && importName(file, at) == pkg.Name {
					return rel, v.Sel.Name
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
