package handwritten

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/format"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
	"golang.org/x/tools/imports"
)

// merger changes a file to have what is wanted.
type merger struct {
	*pkg
	was    *source
	scope  *scope // of was
	edits  []edit // of was
	unused []string
}

// edit puts text in the place of a part of a file.
type edit struct {
	from, to int
	text     string
}

func (m *merger) edit(from, to int, text string) { m.edits = append(m.edits, edit{from, to, text}) }

// merge adds what the file lacks, each below what precedes it among the stubs, or above what follows where nothing
// does. It corrects signatures, and removes what former stubs have declared for types that have no resolvers any more.
func (m *merger) merge() {
	there := map[string]declaration{}
	m.was.each(func(d declaration) { there[d.key] = d })
	last := m.first(there)
	m.now.each(func(d declaration) {
		if old, has := there[d.key]; has {
			last = m.was.end(old.decl)
			m.correct(old, d)
		} else if !m.elsewhere[d.key] {
			m.edit(last, last, "\n\n"+m.stub(d)+"\n\n")
		}
	})
	m.remove()
}

// correctOther corrects the signatures in a file that nothing is added to, and notes resolvers of fields that there are
// no more.
func (m *merger) correctOther() {
	m.was.each(func(d declaration) {
		if stub, wanted := m.wanted[d.key]; wanted {
			m.correct(d, stub)
		} else {
			m.note(d.decl)
		}
	})
}

// first is where the first stub begins that the file has; its end where it has none.
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

// remove takes out the accessors of types that have no resolvers any more, and with them the types that they make,
// unless anything else names those. It notes resolvers of fields that there are no more.
func (m *merger) remove() {
	is := func(d declaration) bool { _, wanted := m.wanted[d.key]; return wanted }
	goes := func(d declaration) bool { return !is(d) && !m.elsewhere[d.key] && m.was.isAccessor(d.decl) }
	byGone, byKept := map[string]bool{}, map[string]bool{}
	m.was.each(func(d declaration) {
		names := byKept
		if goes(d) {
			names = byGone
		}
		d.names(func(name string) { names[name] = true })
	})
	gone, all := map[ast.Decl][]declaration{}, map[ast.Decl]int{}
	m.was.each(func(d declaration) {
		all[d.decl]++
		switch {
		case is(d) || m.elsewhere[d.key]:
		case goes(d), isResolverType(d.spec) && byGone[d.key] && !byKept[d.key] && !m.isNamedBeside(d.key):
			gone[d.decl] = append(gone[d.decl], d)
		default:
			m.note(d.decl)
		}
	})
	m.drop(gone, all)
}

// isNamedBeside reports whether another Go file of the folder has a name, for whatever builds that file is.
func (m *merger) isNamedBeside(name string) bool {
	word := regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`)
	return slices.ContainsFunc(m.beside, word.Match)
}

// drop takes out declarations, or some of the names of one, which has so many in all.
func (m *merger) drop(gone map[ast.Decl][]declaration, all map[ast.Decl]int) {
	for decl, specs := range gone {
		if len(specs) == all[decl] {
			m.edit(m.was.at(begin(decl)), m.was.end(decl), "")
			continue
		}
		for _, d := range specs { // a group, as former versions have written
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

// note remembers a resolver of a field that there is no more.
func (m *merger) note(decl ast.Decl) {
	f, is := decl.(*ast.FuncDecl)
	if !is || !f.Name.IsExported() {
		return
	}
	typ := m.was.receiver(f)
	if m.now.hasResolverType(typ) || m.was == m.file && m.was.hasResolverType(typ) {
		m.unused = append(m.unused, filepath.ToSlash(m.was.path)+": "+f.Name.Name+" of "+typ)
	}
}

// merged is the file with all edits and the imports that they need, without imports that nothing uses; nil where it
// stays as it is, however it is formatted.
func (m *merger) merged() ([]byte, error) {
	if m.was.raw == nil && len(m.edits) == 0 {
		return nil, nil
	}
	if len(m.was.imports) == 0 {
		m.importFirst()
	}
	s, err := parse(m.was.path, m.edited())
	if err != nil {
		return nil, err
	}
	for _, i := range m.scope.added {
		astutil.AddNamedImport(s.set, s.file, i.given(), i.path) // unless it is there
	}
	var b bytes.Buffer
	if err := format.Node(&b, s.set, s.file); err != nil {
		return nil, err
	}
	text, err := imports.Process(m.was.path, b.Bytes(), &imports.Options{Comments: true, TabIndent: true, TabWidth: 8})
	if err != nil {
		return nil, err
	}
	if s, err = parse(m.was.path, text); err != nil {
		return nil, err
	}
	stays := len(m.edits) == 0 && bytes.Equal(m.was.text, normalized(m.was.raw))
	if stays && slices.Equal(m.was.importedPaths(), s.importedPaths()) || bytes.Equal(text, normalized(m.was.raw)) {
		return nil, nil
	}
	return text, nil
}

// importFirst adds the imports to a file that has none, before what else is added at the same place. Package astutil
// would move a comment behind the package clause.
func (m *merger) importFirst() {
	var b strings.Builder
	for _, i := range m.scope.added {
		fmt.Fprintf(&b, "\t%s %q\n", i.given(), i.path)
	}
	if end := m.was.end(m.was.file.Name); b.Len() > 0 {
		m.edits = slices.Insert(m.edits, 0, edit{end, end, "\n\nimport (\n" + b.String() + ")\n\n"})
	}
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

// stub is the text of a stub, or of one type, with its comment, as the file is to have it.
func (m *merger) stub(d declaration) string {
	f, is := d.decl.(*ast.FuncDecl)
	if !is {
		return "type " + m.translated(d.spec)
	}
	taken := append(names(f.Recv), "panic")
	body := m.now.qualified(f.Body, nil, func(of imported) string {
		qualifier := m.scope.qualifier(of)
		taken = append(taken, strings.TrimSuffix(qualifier, "."))
		return qualifier
	})
	parameters := m.parameters(f, number(names(f.Type.Params), nil, taken, nil))
	return string(m.now.text[d.from:m.now.at(f.Type.Params.Pos())]) + parameters + " " + m.translated(f.Type.Results) +
		" " + body
}

// translated is the text of a part of the stubs with the names that the file has for packages.
func (m *merger) translated(n ast.Node) string { return m.now.qualified(n, nil, m.scope.qualifier) }

// isAccessor reports whether a declaration is a method such as "func (r *Resolver) Query() generated.QueryResolver",
// which stands for each type with resolvers.
func (s *source) isAccessor(decl ast.Decl) bool {
	f, is := decl.(*ast.FuncDecl)
	if !is || receiver(f) != "Resolver" || f.Type.Params.NumFields() > 0 || f.Type.Results.NumFields() != 1 {
		return false
	}
	result, is := f.Type.Results.List[0].Type.(*ast.SelectorExpr)
	if !is {
		return false
	}
	from, is := s.packageOf(result)
	name, of := f.Name.Name, result.Sel.Name
	return is && path.Base(from.path) == "generated" && (of == name+"Resolver" || of == "Own"+name)
}

// hasResolverType reports whether a file declares a type of that name and kind.
func (s *source) hasResolverType(name string) (has bool) {
	s.each(func(d declaration) { has = has || s.aliased(d.key) == name && isResolverType(d.spec) })
	return has
}

// isResolverType reports whether a type is of the kind "bookResolver struct{ r *Resolver }", which stands for each type
// with resolvers.
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
