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

// begun are the stubs of a generation that has ended amid the writing.
type begun struct {
	*source
	signatures map[string]*ast.FuncType // by key
}

// readBegun finds the stubs of generations that have ended amid the writing.
func (p *pkg) readBegun(generations [][]byte) {
	for _, stubs := range slices.Backward(generations) {
		s, err := parse("the stubs that were begun with", stubs)
		if err != nil {
			continue // it has none
		}
		nameImports(p.names, s)
		b := begun{s, map[string]*ast.FuncType{}}
		s.each(func(d declaration) {
			if f, is := d.decl.(*ast.FuncDecl); is {
				b.signatures[d.key] = f.Type
			}
		})
		p.begun = append(p.begun, b)
	}
}

// ofBegun is the signature that a generation wanted which has ended amid the writing, where a resolver of a file has
// it; nil where it has another one.
func (p *pkg) ofBegun(in *source, was, stub *ast.FuncDecl) *ast.FuncType {
	for _, b := range p.begun {
		if f := b.signature(in, was, stub, p.declared); f != nil {
			return f
		}
	}
	return nil
}

// signature is the one that the generation wanted, where a resolver of a file, with what its package declares, has it.
func (b begun) signature(in *source, was, stub *ast.FuncDecl, declared map[string]bool) *ast.FuncType {
	f := b.signatures[receiver(stub)+"."+stub.Name.Name]
	if f == nil || !slices.Equal(b.types(f.Params, nil), in.types(was.Type.Params, declared)) ||
		!slices.Equal(b.types(f.Results, nil), in.types(was.Type.Results, declared)) {
		return nil
	}
	old, wanted := names(was.Type.Params), names(f.Params)
	for i := firstArgument(stub); i < len(wanted); i++ {
		if old[i] != wanted[i] && !isNumbered(old[i], wanted[i]) {
			return nil
		}
	}
	return f
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
