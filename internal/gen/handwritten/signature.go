package handwritten

import (
	"go/ast"
	"slices"
	"strconv"
	"strings"
)

// correct gives a function the signature that is wanted, unless it is that one, whatever the imports and all but the
// arguments of the schema are called. The executor passes those by position: under former names a resolver would take
// one for another where they change places. Where the schema is as it was, other names and spellings are the author's;
// where nobody knows what it was, other names are.
func (m *merger) correct(old, now declaration) {
	was, isFunc := old.decl.(*ast.FuncDecl)
	next, stays := now.decl.(*ast.FuncDecl)
	if !isFunc || !stays || m.sameTypes(was, next) && m.sameArguments(was, next) {
		return
	}
	if (m.isUnchanged(next) || m.former() == nil && m.sameTypes(was, next)) && !m.takesAnother(was, next) {
		return
	}
	text := m.parameters(next, arguments(next, m.named(was))) + " " + m.results(was, next)
	m.edit(m.was.at(was.Type.Params.Pos()), m.was.at(was.Type.End()), text)
}

// sameTypes reports whether functions take and return the same types.
func (m *merger) sameTypes(was, now *ast.FuncDecl) bool {
	return slices.Equal(m.was.types(was.Type.Params, m.declared), m.now.types(now.Type.Params, nil)) &&
		slices.Equal(m.was.types(was.Type.Results, m.declared), m.now.types(now.Type.Results, nil))
}

// results are the results of a function under their former names, with the types that are wanted. They have no names
// where one is that of a parameter: the compiler then finds what relied on it.
func (m *merger) results(was, now *ast.FuncDecl) string {
	old, types := names(was.Type.Results), now.Type.Results.List
	parameters := arguments(now, m.named(was))
	isTaken := func(name string) bool { return name != "_" && slices.Contains(parameters, name) }
	isNamed := len(old) == len(types) && was.Type.Results.List[0].Names != nil
	if !isNamed || slices.ContainsFunc(old, isTaken) {
		return m.translated(now.Type.Results)
	}
	var list []string
	for i, name := range old {
		list = append(list, name+" "+m.translated(types[i].Type))
	}
	return "(" + strings.Join(list, ", ") + ")"
}

// sameArguments reports whether parameters have the names of the arguments of the schema. One without a name, or "_",
// takes any: nothing reads it.
func (m *merger) sameArguments(was, now *ast.FuncDecl) bool {
	old, next := names(was.Type.Params), arguments(now, m.named(was))
	for i := firstArgument(now, next); i < len(next); i++ {
		if old[i] != "_" && old[i] != next[i] {
			return false
		}
	}
	return true
}

// takesAnother reports whether a parameter has the name of an argument in another place, or there are more or fewer.
func (m *merger) takesAnother(was, now *ast.FuncDecl) bool {
	old, next := names(was.Type.Params), arguments(now, m.named(was))
	if len(old) != len(next) {
		return true
	}
	for i := firstArgument(now, next); i < len(next); i++ {
		if old[i] != next[i] && slices.Contains(next, old[i]) {
			return true
		}
	}
	return false
}

// arguments are the names of the parameters of a stub in a function where some are taken: an argument with one of these
// gets a number.
func arguments(stub *ast.FuncDecl, taken []string) []string {
	list := names(stub.Type.Params)
	for i, name := range list {
		for n := 1; slices.Contains(taken, list[i]); n++ {
			if next := name + strconv.Itoa(n); !slices.Contains(list, next) {
				list[i] = next
			}
		}
	}
	return list
}

// named are the names that a function of the file has for its receiver, and that its body has for packages, for what
// the package declares, and for what it calls, but for those that are hidden there by its parameters.
func (m *merger) named(f *ast.FuncDecl) (list []string) {
	list = names(f.Recv)
	var visit func(ast.Node) bool
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if from, is := m.was.packageOf(n); is {
				list = append(list, from.name)
			}
			ast.Inspect(n.X, visit) // what is selected is no name of the body
			return false
		case *ast.CallExpr:
			if function, is := n.Fun.(*ast.Ident); is {
				list = append(list, function.Name)
			}
		case *ast.Ident:
			if m.declared[n.Name] {
				list = append(list, n.Name)
			}
		}
		return true
	}
	if f.Body != nil {
		ast.Inspect(f.Body, visit)
	}
	hidden := append(names(f.Type.Params), "_")
	return slices.DeleteFunc(list, func(name string) bool { return slices.Contains(hidden, name) })
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
func firstArgument(stub *ast.FuncDecl, names []string) int {
	if receiver(stub) != "queryResolver" && len(names) > 1 && (names[1] == "obj" || names[1] == "objs") {
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
