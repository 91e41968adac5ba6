package handwritten

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// remains begins the comment into which gqlgen puts the code that it leaves out.
const remains = "// !!! WARNING !!!"

// merger makes the text of a file of what gqlgen has written and what was there.
type merger struct {
	now     *source
	there   map[string]bool // what the text declares
	cuts    [][2]int        // parts of now that are left out
	head    []string        // comments before the package
	kept    []string        // code and comments that follow
	imports []*ast.ImportSpec
	unused  []string
	changed bool
}

func (m *merger) cut(from, to int) {
	m.cuts = append(m.cuts, [2]int{from, to})
	m.changed = true
}

// cutRemains leaves gqlgen's comment out, which ends the file: what is in it is kept as code.
func (m *merger) cutRemains() {
	for _, c := range m.now.file.Comments {
		if from := m.now.at(c.Pos()); strings.HasPrefix(string(m.now.text[from:]), remains) {
			m.cut(from, len(m.now.text))
			return
		}
	}
}

// takeOver adds what the former text has, and neither the new one nor another file.
func (m *merger) takeOver(was *source, elsewhere map[string]bool) {
	lost := map[ast.Decl][]declaration{}
	all := map[ast.Decl]int{}
	was.each(func(d declaration) {
		all[d.decl]++
		if !m.there[d.key] && !elsewhere[d.key] && !isAccessor(d.decl) {
			lost[d.decl] = append(lost[d.decl], d)
		}
	})
	methods := map[string]bool{} // the types that lost methods are of
	for decl := range lost {
		if f, is := decl.(*ast.FuncDecl); is {
			methods[receiver(f)] = true
		}
	}
	for _, piece := range was.pieces() {
		switch decls := lost[piece.decl]; {
		case piece.decl == nil:
			m.takeComment(string(was.text[piece.from:piece.to]), piece.to <= was.at(was.file.Package))
		case len(decls) == all[piece.decl] && len(decls) > 0 && !isBoilerplate(decls, methods):
			m.keep(string(was.text[piece.from:piece.to]))
			m.note(piece.decl)
		case len(decls) < all[piece.decl]: // gqlgen declares its types in one group
			for _, d := range decls {
				if spec, is := d.spec.(*ast.TypeSpec); is && !isBoilerplate([]declaration{d}, methods) {
					m.keep("type " + string(was.text[was.at(spec.Pos()):was.at(spec.End())]))
				}
			}
		}
	}
	m.imports = was.file.Imports
}

func (m *merger) keep(text string) {
	m.kept = append(m.kept, text)
	m.changed = true
}

// takeComment keeps a comment that belongs to no declaration, unless gqlgen has written it, or takes it over.
func (m *merger) takeComment(text string, head bool) {
	switch {
	case strings.Contains(text, "github.com/99designs/gqlgen"), m.now.hasComment(text):
	case head:
		m.head = append(m.head, text)
		m.changed = true
	default:
		m.keep(text)
	}
}

// note remembers a resolver of a field that there is no more.
func (m *merger) note(decl ast.Decl) {
	f, is := decl.(*ast.FuncDecl)
	if !is || !f.Name.IsExported() {
		return
	}
	if typ := receiver(f); strings.HasSuffix(typ, "Resolver") && !ast.IsExported(typ) {
		m.unused = append(m.unused, f.Name.Name+" of "+typ)
	}
}

// hasComment reports whether the text of a comment is that of one of the file.
func (s *source) hasComment(text string) bool {
	return slices.ContainsFunc(s.file.Comments, func(c *ast.CommentGroup) bool {
		return string(s.text[s.at(c.Pos()):s.at(c.End())]) == text
	})
}

// text is that of the merged file. It has all imports of both: those that nothing uses are to be taken out.
func (m *merger) text() []byte {
	var b bytes.Buffer
	for _, c := range m.head {
		fmt.Fprintf(&b, "%s\n\n", c)
	}
	at, imported := 0, m.now.at(m.now.file.Name.End())
	cuts := slices.Concat([][2]int{{imported, imported}}, m.cuts)
	slices.SortFunc(cuts, func(a, b [2]int) int { return a[0] - b[0] })
	for _, cut := range cuts {
		b.Write(m.now.text[at:cut[0]])
		if at = cut[1]; cut[0] == imported {
			m.writeImports(&b)
		}
	}
	b.Write(m.now.text[at:])
	for _, text := range m.kept {
		fmt.Fprintf(&b, "\n%s\n", text)
	}
	return b.Bytes()
}

// writeImports writes the imports that the new text lacks.
func (m *merger) writeImports(b *bytes.Buffer) {
	b.WriteString("\n")
	for _, i := range m.imports {
		if slices.ContainsFunc(m.now.file.Imports, func(n *ast.ImportSpec) bool { return n.Path.Value == i.Path.Value }) {
			continue
		}
		name := ""
		if i.Name != nil {
			name = i.Name.Name + " "
		}
		fmt.Fprintf(b, "import %s%s\n", name, i.Path.Value)
	}
}

// piece is a declaration with its comment, or a comment that belongs to none.
type piece struct {
	decl     ast.Decl
	from, to int
}

// pieces are those of a file, in order, without imports.
func (s *source) pieces() (all []piece) {
	for _, decl := range s.file.Decls {
		all = append(all, piece{decl, s.at(begin(decl)), s.at(decl.End())})
	}
	for _, c := range s.file.Comments {
		from, to := s.at(c.Pos()), s.at(c.End())
		if !slices.ContainsFunc(all, func(p piece) bool { return p.decl != nil && p.from <= from && to <= p.to }) {
			all = append(all, piece{nil, from, to})
		}
	}
	all = slices.DeleteFunc(all, func(p piece) bool {
		decl, is := p.decl.(*ast.GenDecl)
		return is && decl.Tok == token.IMPORT
	})
	slices.SortFunc(all, func(a, b piece) int { return a.from - b.from })
	return all
}

// isAccessor reports whether a declaration is a method such as "func (r *Resolver) Query() generated.QueryResolver",
// which gqlgen writes for each type with resolvers.
func isAccessor(decl ast.Decl) bool {
	f, is := decl.(*ast.FuncDecl)
	if !is || receiver(f) != "Resolver" || f.Type.Params.NumFields() > 0 || f.Type.Results.NumFields() != 1 {
		return false
	}
	result, is := f.Type.Results.List[0].Type.(*ast.SelectorExpr)
	if !is {
		return false
	}
	from, is := result.X.(*ast.Ident)
	name := f.Name.Name
	return is && from.Name == "generated" && (result.Sel.Name == name+"Resolver" || result.Sel.Name == "Own"+name)
}

// isBoilerplate reports whether all that is declared are types of the kind "bookResolver struct{ r *Resolver }" that no
// method needs.
func isBoilerplate(decls []declaration, methods map[string]bool) bool {
	return !slices.ContainsFunc(decls, func(d declaration) bool {
		spec, is := d.spec.(*ast.TypeSpec)
		if !is || methods[d.key] || !strings.HasSuffix(d.key, "Resolver") {
			return true
		}
		typ, is := spec.Type.(*ast.StructType)
		if !is || typ.Fields.NumFields() != 1 {
			return true
		}
		star, is := typ.Fields.List[0].Type.(*ast.StarExpr)
		if !is {
			return true
		}
		of, is := star.X.(*ast.Ident)
		return !is || of.Name != "Resolver"
	})
}
