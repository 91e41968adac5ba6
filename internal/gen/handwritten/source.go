package handwritten

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
)

// source is a parsed file.
type source struct {
	path    string
	raw     []byte // as it is on the disk; nil where it is not
	text    []byte
	file    *ast.File
	set     *token.FileSet
	imports []imported
	aliases map[string]string // what types of the package are other names of
}

func parse(path string, text []byte) (*source, error) {
	s := &source{path: path, text: text, set: token.NewFileSet()}
	var err error
	s.file, err = parser.ParseFile(s.set, path, text, parser.ParseComments|parser.SkipObjectResolution)
	return s, err
}

// at is the offset of a position in the text.
func (s *source) at(p token.Pos) int { return s.set.Position(p).Offset }

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
			if typ := s.receiver(decl); typ != "" {
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

// names visits the names in a declaration, but for the one that it declares.
func (d declaration) names(visit func(string)) {
	var node, own ast.Node = d.decl, nil
	if d.spec != nil {
		node = d.spec
	}
	if typ, is := d.spec.(*ast.TypeSpec); is {
		own = typ.Name
	}
	ast.Inspect(node, func(n ast.Node) bool {
		if name, is := n.(*ast.Ident); is && n != own {
			visit(name.Name)
		}
		return true
	})
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

// behind finds what belongs to a declaration behind its end: a semicolon, and comments.
var behind = regexp.MustCompile(`^[ \t]*;?(?:[ \t]*(?://.*|/\*(?s:.*?)\*/))*`)

// end is where a declaration ends, with what belongs to it behind it.
func (s *source) end(n ast.Node) int {
	end := s.at(n.End())
	return end + len(behind.Find(s.text[end:]))
}

// receiver is the type that a method is of, under whatever name; "" of a function.
func (s *source) receiver(f *ast.FuncDecl) string { return s.aliased(receiver(f)) }

// aliased is the type that has a name.
func (s *source) aliased(name string) string {
	if typ := s.aliases[name]; typ != "" {
		return typ
	}
	return name
}

// receiver is the name of the type that a method is of; "" of a function.
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
