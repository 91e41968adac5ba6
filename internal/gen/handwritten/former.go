package handwritten

import (
	"go/ast"
	"slices"
	"unicode"
	"unicode/utf8"
)

// Former is the generated file with the interfaces that the resolvers had until now, as "QueryResolver".
type Former struct {
	Path string // of its package
	Text []byte // nil where there is none
}

// former is that file, nil where nobody knows what the schema was.
func (p *pkg) former() *source {
	if p.before != nil || len(p.wasWanted.Text) == 0 {
		return p.before
	}
	s, err := parse("the former code", p.wasWanted.Text)
	if err != nil { // it is generated anew
		p.wasWanted.Text = nil
		return nil
	}
	nameImports(p.names, s)
	s.imports = append(s.imports, imported{".", p.wasWanted.Path})
	p.before = s
	return s
}

// isUnchanged reports whether the schema wanted a resolver already as it wants it now.
func (p *pkg) isUnchanged(stub *ast.FuncDecl) bool {
	former := p.former()
	if former == nil {
		return false
	}
	was := former.method(beginsUpper(receiver(stub)), stub.Name.Name)
	return was != nil && slices.Equal(names(was.Params), names(stub.Type.Params)) &&
		slices.Equal(former.types(was.Params, nil), p.now.types(stub.Type.Params, nil)) &&
		slices.Equal(former.types(was.Results, nil), p.now.types(stub.Type.Results, nil))
}

// method is a method of an interface, nil where the file has none.
func (s *source) method(of, name string) (found *ast.FuncType) {
	s.each(func(d declaration) {
		typ, is := d.spec.(*ast.TypeSpec)
		if !is || beginsUpper(d.key) != of {
			return
		}
		methods, is := typ.Type.(*ast.InterfaceType)
		if !is {
			return
		}
		for _, m := range methods.Methods.List {
			if f, is := m.Type.(*ast.FuncType); is && len(m.Names) == 1 && m.Names[0].Name == name {
				found = f
			}
		}
	})
	return found
}

// beginsUpper is a name with a first letter as exported names have it.
func beginsUpper(name string) string {
	first, size := utf8.DecodeRuneInString(name)
	return string(unicode.ToUpper(first)) + name[size:]
}
