package handwritten

import (
	"go/ast"
	"go/token"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Names knows what packages are called.
type Names interface {
	// LoadAllNames looks several up at once, which is quicker.
	LoadAllNames(paths ...string)
	NameForPackage(path string) string
}

// nameImports finds the names under which files have the packages that they import.
func nameImports(names Names, files ...*source) {
	var unknown []string
	for _, s := range files {
		for _, i := range s.file.Imports {
			if i.Name == nil && pathOf(i) != "C" {
				unknown = append(unknown, pathOf(i))
			}
		}
	}
	names.LoadAllNames(unknown...)
	for _, s := range files {
		for _, i := range s.file.Imports {
			switch p := pathOf(i); {
			case i.Name != nil:
				s.imports = append(s.imports, imported{i.Name.Name, p})
			case p == "C" || names.NameForPackage(p) == "": // nobody knows the package
				s.imports = append(s.imports, imported{path.Base(p), p})
			default:
				s.imports = append(s.imports, imported{names.NameForPackage(p), p})
			}
		}
	}
}

// imported is a package with its name in a file, which may be "." or "_".
type imported struct{ name, path string }

// given is the name that an import has to give to the package; "" of one whose path tells it.
func (i imported) given() string {
	if path.Base(i.path) == i.name {
		return ""
	}
	return i.name
}

// pathOf is the path of an import without its quotes.
func pathOf(i *ast.ImportSpec) string { return strings.Trim(i.Path.Value, "`\"") }

// importedPaths are the paths that the file imports, in order.
func (s *source) importedPaths() (paths []string) {
	for _, i := range s.file.Imports {
		paths = append(paths, pathOf(i))
	}
	slices.Sort(paths)
	return paths
}

// packageOf is the package that a selector selects from; ok is false where it does so from something else.
func (s *source) packageOf(selector *ast.SelectorExpr) (from imported, ok bool) {
	name, is := selector.X.(*ast.Ident)
	if !is {
		return from, false
	}
	for _, i := range s.imports {
		if i.name == name.Name {
			return i, true
		}
	}
	return from, false
}

// qualified is the text of a node with other text before the names of packages' declarations, in the place of the names
// of these packages and the dots. A name without one is that of a package which the file imports with a dot, unless
// declared tells otherwise.
func (s *source) qualified(n ast.Node, declared map[string]bool, qualifier func(imported) string) string {
	var b strings.Builder
	at := s.at(n.Pos())
	put := func(from, to token.Pos, of imported) {
		b.Write(s.text[at:s.at(from)])
		b.WriteString(qualifier(of))
		at = s.at(to)
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			from, is := s.packageOf(n)
			if is {
				put(n.Pos(), n.Sel.Pos(), from)
			}
			return !is
		case *ast.Ident:
			dot := slices.IndexFunc(s.imports, func(i imported) bool { return i.name == "." })
			if dot >= 0 && n.IsExported() && !declared[n.Name] {
				put(n.Pos(), n.Pos(), s.imports[dot])
			}
		}
		return true
	})
	b.Write(s.text[at:s.at(n.End())])
	return b.String()
}

// typeText is a type with the paths of packages in the place of the names that the file has for them.
func (s *source) typeText(typ ast.Expr, declared map[string]bool) string {
	text := s.qualified(typ, declared, func(i imported) string { return strconv.Quote(i.path) + "." })
	return strings.Join(strings.Fields(text), " ")
}

// scope is what a file calls packages, those among them that it does not import yet.
type scope struct {
	imports []imported
	added   []imported
	taken   map[string]bool // names that the file has for something
}

// newScope is the scope of a file in a package that declares something under names.
func newScope(s *source, declared map[string]bool) *scope {
	sc := &scope{imports: s.imports, taken: maps.Clone(declared)}
	for _, i := range s.imports {
		sc.taken[i.name] = true
	}
	return sc
}

// qualifier is what stands before the names of a package in the file; what another file calls the package is what it is
// called here too, where the name is free.
func (sc *scope) qualifier(other imported) string {
	dot := false
	for _, i := range append(sc.imports, sc.added...) {
		dot = dot || i.path == other.path && i.name == "."
		if i.path == other.path && i.name != "." && i.name != "_" {
			return i.name + "."
		}
	}
	if dot {
		return ""
	}
	name := other.name
	for n := 1; sc.taken[name]; n++ {
		name = other.name + strconv.Itoa(n)
	}
	sc.taken[name] = true
	sc.added = append(sc.added, imported{name, other.path})
	return name + "."
}
