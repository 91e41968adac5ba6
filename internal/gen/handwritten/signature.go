package handwritten

import (
	"go/ast"
	"slices"
	"strings"
)

// correct gives a function the signature that is wanted, unless it is that one, whatever the imports and all but the
// arguments of the schema are called. The executor passes those by position: under former names a resolver would take
// one for another where they change places. Where the schema is as it was, other names and spellings are the author's;
// where nobody knows what it was, other names are. What a generation has written that was killed is nobody's.
func (m *merger) correct(old, now declaration) {
	was, isFunc := old.decl.(*ast.FuncDecl)
	stub, stays := now.decl.(*ast.FuncDecl)
	if !isFunc || !stays {
		return
	}
	next, isSame := m.parameterNames(was, stub), m.sameTypes(was, stub)
	if isSame && sameArguments(was, stub, next) {
		return
	}
	isTheirs := m.isUnchanged(stub) && m.ofBegun(m.was, was, stub) == nil || m.former() == nil && isSame
	if isTheirs && !takesAnother(was, stub, next) {
		return
	}
	text := m.parameters(stub, next) + " " + m.results(was, stub, next)
	m.edit(m.was.at(was.Type.Params.Pos()), m.was.at(was.Type.End()), text)
}

// sameTypes reports whether functions take and return the same types.
func (m *merger) sameTypes(was, now *ast.FuncDecl) bool {
	return slices.Equal(m.was.types(was.Type.Params, m.declared), m.now.types(now.Type.Params, nil)) &&
		slices.Equal(m.was.types(was.Type.Results, m.declared), m.now.types(now.Type.Results, nil))
}

// results are the results of a function under their former names, with the types that are wanted. They have no names
// where one is that of a parameter: the compiler then finds what relied on it.
func (m *merger) results(was, stub *ast.FuncDecl, parameters []string) string {
	old, types := names(was.Type.Results), stub.Type.Results.List
	isTaken := func(name string) bool { return name != "_" && slices.Contains(parameters, name) }
	isNamed := len(old) == len(types) && was.Type.Results.List[0].Names != nil
	if !isNamed || slices.ContainsFunc(old, isTaken) {
		return m.translated(stub.Type.Results)
	}
	var list []string
	for i, name := range old {
		list = append(list, name+" "+m.translated(types[i].Type))
	}
	return "(" + strings.Join(list, ", ") + ")"
}

// sameArguments reports whether parameters have these names where they are arguments of the schema. One without a name,
// or "_", takes any: nothing reads it.
func sameArguments(was, stub *ast.FuncDecl, next []string) bool {
	old := names(was.Type.Params)
	for i := firstArgument(stub); i < len(next); i++ {
		if old[i] != "_" && old[i] != next[i] {
			return false
		}
	}
	return true
}

// takesAnother reports whether a parameter has the name of an argument in another place, or there are more or fewer.
func takesAnother(was, stub *ast.FuncDecl, next []string) bool {
	old := names(was.Type.Params)
	if len(old) != len(next) {
		return true
	}
	for i := firstArgument(stub); i < len(next); i++ {
		if old[i] != next[i] && slices.Contains(next, old[i]) {
			return true
		}
	}
	return false
}

// parameters are those of a stub, under these names.
func (m *merger) parameters(stub *ast.FuncDecl, names []string) string {
	var list []string
	for i, field := range stub.Type.Params.List { // one name each, as gqlgen writes them
		list = append(list, names[i]+" "+m.translated(field.Type))
	}
	return "(" + strings.Join(list, ", ") + ")"
}

// firstArgument is which parameter of a stub is the first argument of the schema.
func firstArgument(stub *ast.FuncDecl) int {
	list := names(stub.Type.Params)
	if receiver(stub) != "queryResolver" && len(list) > 1 && (list[1] == "obj" || list[1] == "objs") {
		return 2
	}
	return 1 // after ctx
}

// names are those of parameters or results, "_" where one has none.
func names(fields *ast.FieldList) (list []string) {
	if fields == nil {
		return nil
	}
	for _, field := range fields.List {
		if len(field.Names) == 0 {
			list = append(list, "_")
		}
		for _, name := range field.Names {
			list = append(list, name.Name)
		}
	}
	return list
}

// types are those of parameters or results, each as [source.typeText] has it.
func (s *source) types(fields *ast.FieldList, declared map[string]bool) (list []string) {
	if fields == nil {
		return nil
	}
	for _, field := range fields.List {
		for range max(len(field.Names), 1) {
			list = append(list, s.typeText(field.Type, declared))
		}
	}
	return list
}
