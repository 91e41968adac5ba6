package handwritten

import (
	"bytes"
	"cmp"
	"go/ast"
	"go/format"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
	"golang.org/x/tools/imports"
)

// merger changes the file that was there to have what gqlgen has written.
type merger struct {
	was, now  *source
	elsewhere map[string]bool // what the other files of the folder declare
	edits     []edit          // of was
	inserted  []ast.Node      // of now
	unused    []string
}

// edit puts text in the place of a part of a file.
type edit struct {
	from, to int
	text     string
}

func (m *merger) edit(from, to int, text string) { m.edits = append(m.edits, edit{from, to, text}) }

// leaveOut takes the functions and types out of a new file that other files have.
func (m *merger) leaveOut() {
	gone, all := map[ast.Decl][]declaration{}, map[ast.Decl]int{}
	m.was.each(func(d declaration) {
		all[d.decl]++
		if _, is := d.spec.(*ast.ValueSpec); !is && m.elsewhere[d.key] {
			gone[d.decl] = append(gone[d.decl], d)
		}
	})
	m.drop(gone, all, m.was.ends())
}

// merge adds what the file lacks, each below what precedes it in that of gqlgen, or above what follows where nothing
// does. It corrects signatures, and removes what gqlgen has declared for types that have no resolvers any more.
func (m *merger) merge() {
	there, ends := map[string]declaration{}, m.was.ends()
	m.was.each(func(d declaration) { there[d.key] = d })
	is, last := map[string]bool{}, m.first(there)
	m.now.each(func(d declaration) {
		is[d.key] = true
		old, has := there[d.key]
		switch {
		case has:
			last = ends[old.decl]
			m.correct(old, d)
		case !m.elsewhere[d.key]:
			m.edit(last, last, "\n\n"+m.now.declared(d)+"\n\n")
			m.inserted = append(m.inserted, d.node())
		}
	})
	m.remove(is, ends)
}

// first is where the first declaration of gqlgen begins that the file has; its end where it has none.
func (m *merger) first(there map[string]declaration) int {
	at := -1
	m.now.each(func(d declaration) {
		if old, has := there[d.key]; has && at < 0 {
			at = old.from
		}
	})
	if at < 0 {
		return len(m.was.text)
	}
	return at
}

// correct gives a function the signature that gqlgen has written, unless it is that one, whatever the imports and all
// but the arguments of the schema are called. The executor passes those by position: under former names a resolver
// would take one for another where they change places.
func (m *merger) correct(old, now declaration) {
	was, isFunc := old.decl.(*ast.FuncDecl)
	next, stays := now.decl.(*ast.FuncDecl)
	if !isFunc || !stays || m.was.signature(was) == m.now.signature(next) && sameArguments(was, next) {
		return
	}
	from, to := m.now.at(next.Type.Params.Pos()), m.now.at(next.Type.End())
	m.edit(m.was.at(was.Type.Params.Pos()), m.was.at(was.Type.End()), string(m.now.text[from:to]))
	m.inserted = append(m.inserted, next.Type)
}

// remove takes out the methods and types that gqlgen has declared for resolvers, where it has no resolvers of that type
// any more and no other code needs them. It notes resolvers of fields that there are no more.
func (m *merger) remove(is map[string]bool, ends map[ast.Decl]int) {
	needed := m.needed(is)
	gone, all := map[ast.Decl][]declaration{}, map[ast.Decl]int{}
	m.was.each(func(d declaration) {
		all[d.decl]++
		switch {
		case is[d.key] || m.elsewhere[d.key]:
		case isAccessor(d.decl), isResolverType(d.spec) && !needed[d.key]:
			gone[d.decl] = append(gone[d.decl], d)
		default:
			m.note(d.decl)
		}
	})
	m.drop(gone, all, ends)
}

// drop takes out declarations, or some of the names of one, which has so many in all.
func (m *merger) drop(gone map[ast.Decl][]declaration, all map[ast.Decl]int, ends map[ast.Decl]int) {
	for decl, specs := range gone {
		if len(specs) == all[decl] {
			m.edit(m.was.at(begin(decl)), ends[decl], "")
			continue
		}
		for _, d := range specs { // gqlgen declares its types in one group
			from, to := d.spec.Pos(), d.spec.End()
			spec := d.spec.(*ast.TypeSpec)
			if spec.Doc != nil {
				from = spec.Doc.Pos()
			}
			if spec.Comment != nil {
				to = spec.Comment.End()
			}
			m.edit(m.was.at(from), m.was.at(to), "")
		}
	}
}

// needed are the names that code needs which stays.
func (m *merger) needed(is map[string]bool) map[string]bool {
	needed := map[string]bool{}
	for key, there := range m.elsewhere {
		typ, _, isMethod := strings.Cut(key, ".")
		needed[typ] = needed[typ] || isMethod && there
	}
	m.was.each(func(d declaration) {
		if isResolverType(d.spec) || isAccessor(d.decl) && !is[d.key] {
			return
		}
		ast.Inspect(d.decl, func(n ast.Node) bool {
			if name, isName := n.(*ast.Ident); isName {
				needed[name.Name] = true
			}
			return true
		})
	})
	return needed
}

// note remembers a resolver of a field that there is no more.
func (m *merger) note(decl ast.Decl) {
	f, is := decl.(*ast.FuncDecl)
	if !is || !f.Name.IsExported() {
		return
	}
	typ := receiver(f)
	isResolver := func(s *source) (is bool) {
		s.each(func(d declaration) { is = is || d.key == typ && isResolverType(d.spec) })
		return is
	}
	if isResolver(m.was) || isResolver(m.now) {
		m.unused = append(m.unused, f.Name.Name+" of "+typ)
	}
}

// merged is the file with all edits and the imports that they need, without imports that nothing uses.
func (m *merger) merged(path string) (*source, error) {
	s, err := parse(path, m.edited())
	if err != nil {
		return nil, err
	}
	for _, i := range m.needs() {
		astutil.AddNamedImport(s.set, s.file, nameOf(i), pathIn(i))
	}
	var b bytes.Buffer
	if err := format.Node(&b, s.set, s.file); err != nil {
		return nil, err
	}
	text, err := imports.Process(path, b.Bytes(), &imports.Options{Comments: true, TabIndent: true, TabWidth: 8})
	if err != nil {
		return nil, err
	}
	return parse(path, text)
}

// needs are the imports of what is inserted that the file does not have under the names used there. It does not need
// the others: gqlgen gives names to imports that have none in the file, and both would be there.
func (m *merger) needs() (needed []*ast.ImportSpec) {
	for _, n := range m.inserted {
		ast.Inspect(n, func(n ast.Node) bool {
			if name := packageOf(n); name != "" {
				i := m.now.imported(name)
				if i != nil && m.was.pathOf(name) != i.Path.Value && !slices.Contains(needed, i) {
					needed = append(needed, i)
				}
			}
			return true
		})
	}
	return needed
}

// packageOf is the name before the dot of a selector, which may be that of a package; "" of what is none.
func packageOf(n ast.Node) string {
	if selector, is := n.(*ast.SelectorExpr); is {
		if name, is := selector.X.(*ast.Ident); is {
			return name.Name
		}
	}
	return ""
}

func (m *merger) edited() []byte {
	var b bytes.Buffer
	at := 0
	slices.SortStableFunc(m.edits, func(a, b edit) int { return cmp.Compare(a.from, b.from) })
	for _, e := range m.edits {
		b.Write(m.was.text[at:e.from])
		b.WriteString(e.text)
		at = e.to
	}
	b.Write(m.was.text[at:])
	return b.Bytes()
}

// nameOf is the name that an import gives, "" where it gives none.
func nameOf(i *ast.ImportSpec) string {
	if i.Name == nil {
		return ""
	}
	return i.Name.Name
}

// pathIn is the path of an import without its quotes.
func pathIn(i *ast.ImportSpec) string { return strings.Trim(i.Path.Value, "`\"") }

// declared is the text of a function, or of one type, with its comment.
func (s *source) declared(d declaration) string {
	if d.spec == nil {
		return string(s.text[d.from:d.to])
	}
	return "type " + string(s.text[s.at(d.spec.Pos()):s.at(d.spec.End())])
}

// sameArguments reports whether parameters have the names of the arguments of the schema. One without a name, or "_",
// takes any: nothing reads it.
func sameArguments(was, now *ast.FuncDecl) bool {
	old, next := parameters(was), parameters(now)
	first := 1 // after ctx
	if receiver(now) != "queryResolver" && len(next) > 1 && next[1] == "obj" {
		first = 2
	}
	for i := first; i < len(next); i++ {
		if old[i] != "_" && old[i] != next[i] {
			return false
		}
	}
	return true
}

// parameters are the names of the parameters of a function, "_" where one has none.
func parameters(f *ast.FuncDecl) (names []string) {
	for _, field := range f.Type.Params.List {
		if len(field.Names) == 0 {
			names = append(names, "_")
		}
		for _, name := range field.Names {
			names = append(names, name.Name)
		}
	}
	return names
}

// signature is what a function takes and returns, without the names of parameters: with the paths of packages in place
// of the names under which the file imports them.
func (s *source) signature(f *ast.FuncDecl) string {
	var b strings.Builder
	for _, fields := range []*ast.FieldList{f.Type.Params, f.Type.Results} {
		b.WriteString("(")
		for i := 0; fields != nil && i < len(fields.List); i++ {
			for range max(len(fields.List[i].Names), 1) {
				b.WriteString(s.typeText(fields.List[i].Type) + ",")
			}
		}
		b.WriteString(")")
	}
	return b.String()
}

func (s *source) typeText(typ ast.Expr) string {
	var b strings.Builder
	at := s.at(typ.Pos())
	ast.Inspect(typ, func(n ast.Node) bool {
		selector, is := n.(*ast.SelectorExpr)
		if !is {
			return true
		}
		if name, is := selector.X.(*ast.Ident); is {
			b.Write(s.text[at:s.at(name.Pos())])
			b.WriteString(s.pathOf(name.Name))
			at = s.at(name.End())
		}
		return false
	})
	b.Write(s.text[at:s.at(typ.End())])
	return strings.Join(strings.Fields(b.String()), " ")
}

// assumed finds the name that a package most likely has in its path: goimports gives an import a name where it has
// another.
var assumed = regexp.MustCompile(`(?:^|/)(?:go-)?([\pL\pN_]+)[^/]*(?:/v[0-9]+)?$`)

// imported is the import that gives a name to a package; nil where none is known to.
func (s *source) imported(name string) *ast.ImportSpec {
	for _, i := range s.file.Imports {
		as := nameOf(i)
		if found := assumed.FindStringSubmatch(pathIn(i)); as == "" && found != nil {
			as = found[1]
		}
		if as == name {
			return i
		}
	}
	return nil
}

// pathOf is the path of the package that a file imports under a name; the name itself where no path tells it.
func (s *source) pathOf(name string) string {
	if i := s.imported(name); i != nil {
		return i.Path.Value
	}
	return name
}

// behind finds what belongs to a declaration behind its end: a semicolon, and comments.
var behind = regexp.MustCompile(`^[ \t]*;?(?:[ \t]*(?://.*|/\*(?s:.*?)\*/))*`)

// ends are the ends of declarations, with what belongs to them behind them.
func (s *source) ends() map[ast.Decl]int {
	all := map[ast.Decl]int{}
	for _, decl := range s.file.Decls {
		end := s.at(decl.End())
		all[decl] = end + len(behind.Find(s.text[end:]))
	}
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

// isResolverType reports whether a type is of the kind "bookResolver struct{ r *Resolver }", which gqlgen declares for
// each type with resolvers.
func isResolverType(spec ast.Spec) bool {
	decl, is := spec.(*ast.TypeSpec)
	if !is || !strings.HasSuffix(decl.Name.Name, "Resolver") {
		return false
	}
	typ, is := decl.Type.(*ast.StructType)
	if !is || typ.Fields.NumFields() != 1 {
		return false
	}
	star, is := typ.Fields.List[0].Type.(*ast.StarExpr)
	if !is {
		return false
	}
	of, is := star.X.(*ast.Ident)
	return is && of.Name == "Resolver"
}
