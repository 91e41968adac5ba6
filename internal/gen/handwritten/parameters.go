package handwritten

import (
	"go/ast"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// parameterNames are the names of the parameters of a stub in a function that a file has. An argument that the schema
// had before keeps the number of its parameter. One gets a number where its name is taken: by what the body names, or
// by the parameter of another argument, which the body would go on to mean.
func (m *merger) parameterNames(was, stub *ast.FuncDecl) []string {
	wanted, old, former := names(stub.Type.Params), names(was.Type.Params), m.formerNames(was, stub)
	list, taken, kept := slices.Clone(wanted), m.named(was), map[int]bool{}
	for i, name := range wanted {
		if at := slices.Index(former, name); at >= 0 && isNumbered(old[at], name) {
			list[i], kept[i] = old[at], true
			taken = append(taken, old[at])
		}
	}
	if former == nil {
		return number(list, kept, taken, nil)
	}
	for i, name := range wanted {
		at := slices.Index(old, name)
		if at < 0 || slices.Contains(former, name) || at == i && !slices.Contains(wanted, former[at]) {
			continue // it is no other's, or may well be the former argument of the parameter under another name
		}
		taken = append(taken, name)
	}
	return number(list, kept, taken, old)
}

// number gives numbers to names that are taken, but for those that are kept, which are taken as well. It makes no name
// of those to avoid.
func number(list []string, kept map[int]bool, taken, avoid []string) []string {
	isUsed := func(name string) bool {
		return slices.Contains(taken, name) || slices.Contains(list, name) || slices.Contains(avoid, name)
	}
	for i, name := range list {
		if kept[i] || !slices.Contains(taken, name) {
			continue
		}
		n := 1
		for isUsed(name + strconv.Itoa(n)) {
			n++
		}
		list[i] = name + strconv.Itoa(n)
	}
	return list
}

// isNumbered reports whether a parameter has the name of an argument with a number.
func isNumbered(parameter, argument string) bool {
	n, found := strings.CutPrefix(parameter, argument)
	_, err := strconv.ParseUint(n, 10, 64)
	return found && err == nil
}

// formerNames are the names that the schema had for the parameters of a function; nil where nobody knows. Without the
// former code they are those that it wants, if all parameters have these, with numbers or without.
func (m *merger) formerNames(was, stub *ast.FuncDecl) (list []string) {
	old := names(was.Type.Params)
	if begun := m.ofBegun(m.was, was, stub); begun != nil {
		list = names(begun.Params)
	} else if former := m.former(); former == nil {
		list = names(stub.Type.Params)
		for i := firstArgument(stub); i < len(list) && len(old) == len(list); i++ {
			if old[i] != list[i] && !isNumbered(old[i], list[i]) {
				return nil
			}
		}
	} else if method := former.method(beginsUpper(receiver(stub)), stub.Name.Name); method != nil {
		list = names(method.Params)
	}
	if len(list) != len(old) {
		return nil
	}
	return list
}

// named are the names that a function of the file has for its receiver, and that its body has for packages, for what
// the package or the language declares, and for what it calls, but for those that are hidden there by its parameters.
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
			if m.declared[n.Name] || types.Universe.Lookup(n.Name) != nil {
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
