// Package handwritten keeps the code that a project has in the file of its resolvers. Gqlgen writes that file anew: it
// takes over the resolvers of the fields that there are, turns all other code into a comment, and drops that comment
// the next time. Here all other code stays code: helpers, and resolvers of fields that were renamed or removed.
package handwritten

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/tools/imports"

	"github.com/foldql/foldql/internal/gen/outfile"
)

// Code is what the package of the resolvers has before gqlgen writes it.
type Code struct {
	path      string          // of the file of the resolvers
	was       *source         // nil where there is none yet
	elsewhere map[string]bool // what the other files of the folder declare
}

// Read reads the package in the folder of a file of resolvers. Nothing is to be written where it fails: of code that
// does not parse nobody knows what would be lost.
func Read(path string) (*Code, error) {
	c := &Code{path: path, elsewhere: map[string]bool{}}
	dir := filepath.Dir(path)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list the files beside %s: %w", path, err)
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		own := name == filepath.Clean(path)
		if !own && !compiled(dir, e.Name()) {
			continue
		}
		s, err := read(name)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%w (fix: correct it first; the resolvers are generated into what is there)", err)
		case own:
			c.was = s
		default:
			s.each(func(d declaration) { c.elsewhere[d.key] = d.key != "" })
		}
	}
	return c, nil
}

// compiled reports whether a file is part of the package. Of others, nothing is known to be there when it is compiled.
func compiled(dir, name string) bool {
	if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
		return false
	}
	matches, err := build.Default.MatchFile(dir, name)
	return matches && err == nil
}

// Keep puts back what gqlgen has left out of the file, and takes out the resolvers that other files have. It returns
// the resolvers that no field has any more, as "TopBooks of queryResolver".
func (c *Code) Keep() (unused []string, err error) {
	text, err := os.ReadFile(c.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the generated resolvers: %w", err)
	}
	whole := withoutRemains(text)
	now, err := parse(c.path, whole)
	if err != nil {
		return nil, fmt.Errorf("read the generated resolvers: %w", err)
	}
	m := merger{now: now, there: map[string]bool{}, changed: len(whole) < len(text)}
	now.each(func(d declaration) {
		if _, is := d.decl.(*ast.FuncDecl); is && c.elsewhere[d.key] {
			m.cut(d.from, d.to)
		} else {
			m.there[d.key] = d.key != ""
		}
	})
	if c.was != nil {
		m.takeOver(c.was, c.elsewhere)
	}
	if !m.changed {
		return nil, nil
	}
	merged, err := imports.Process(c.path, m.text(), &imports.Options{Comments: true, TabIndent: true, TabWidth: 8})
	if err != nil {
		return nil, fmt.Errorf("keep the handwritten code of %s: %w", c.path, err)
	}
	return m.unused, outfile.WriteIfChanged(c.path, merged)
}

// source is a parsed file.
type source struct {
	text []byte
	file *ast.File
	set  *token.FileSet
}

func read(path string) (*source, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parse(path, bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")))
}

// remains begins the comment into which gqlgen puts the code that it leaves out. Where that has a comment of its own,
// the file does not parse.
var remains = regexp.MustCompile(`(?m)^[ \t]*// !!! WARNING !!!\n[ \t]*// The code below was going to be deleted when`)

// withoutRemains is the text of a file before that comment, which ends it.
func withoutRemains(text []byte) []byte {
	if all := remains.FindAllIndex(text, -1); len(all) > 0 {
		return text[:all[len(all)-1][0]]
	}
	return text
}

func parse(path string, text []byte) (*source, error) {
	s := &source{text: text, set: token.NewFileSet()}
	var err error
	s.file, err = parser.ParseFile(s.set, path, text, parser.ParseComments|parser.SkipObjectResolution)
	return s, err
}

// at is the offset of a position in the text.
func (s *source) at(p token.Pos) int { return s.set.Position(p).Offset }

func (s *source) line(p token.Pos) int { return s.set.Position(p).Line }

// declaration is a function or method, or one name of another declaration, with its comment.
type declaration struct {
	key      string // "Name", or "Type.Name" of a method; "" of what may be declared again, as init and _
	decl     ast.Decl
	spec     ast.Spec // nil of a function
	from, to int      // in the text, of all that is declared with it
}

// each visits what is declared, in the order of the file, but for imports.
func (s *source) each(visit func(declaration)) {
	for _, decl := range s.file.Decls {
		d := declaration{decl: decl, from: s.at(begin(decl)), to: s.at(decl.End())}
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			d.key = unique(decl.Name.Name)
			if typ := receiver(decl); typ != "" {
				d.key = typ + "." + decl.Name.Name
			}
			visit(d)
		case *ast.GenDecl:
			for _, d.spec = range decl.Specs {
				switch spec := d.spec.(type) {
				case *ast.TypeSpec:
					d.key = unique(spec.Name.Name)
					visit(d)
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						d.key = unique(name.Name)
						visit(d)
					}
				}
			}
		}
	}
}

// unique is a name that a package declares once, "" of another.
func unique(name string) string {
	if name == "init" || name == "_" {
		return ""
	}
	return name
}

// begin is where a declaration begins, with its comment.
func begin(decl ast.Decl) token.Pos {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		if decl.Doc != nil {
			return decl.Doc.Pos()
		}
	case *ast.GenDecl:
		if decl.Doc != nil {
			return decl.Doc.Pos()
		}
	}
	return decl.Pos()
}

// receiver is the type that a method is of; "" of a function.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return ""
	}
	typ := f.Recv.List[0].Type
	for {
		switch t := typ.(type) {
		case *ast.StarExpr:
			typ = t.X
		case *ast.ParenExpr:
			typ = t.X
		case *ast.IndexExpr:
			typ = t.X
		case *ast.IndexListExpr:
			typ = t.X
		case *ast.Ident:
			return t.Name
		default:
			return "?"
		}
	}
}
