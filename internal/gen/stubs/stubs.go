// Package stubs writes stubs of what the projectors and the upcasters of a project lack into the files of its author,
// and only adds to them.
package stubs

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/foldql/foldql/internal/gen/code"
	"github.com/foldql/foldql/internal/gen/outfile"
	"github.com/foldql/foldql/internal/schema"
)

// defaultProjectors is where stubs of projectors go where a project has none yet.
const defaultProjectors = "projection/projectors"

// piece is a type that the schema asks for: a projector, or the upcasters.
type piece struct {
	name     string // that the type gets; of a projector that of its interface in package ops, without "Projector"
	what     string // "folds events into rows of Task"
	methods  []string
	imports  []string // that stubs need
	stub     func(receiver, name string, imported map[string]string) string
	found    registration // where the program has it
	isFound  bool
	model    string // of a projector
	upcasted bool   // it takes events of several versions
}

// projectorsOf are the projectors that the schema asks for.
func (c *userCode) projectorsOf(m *schema.Model) (all []piece) {
	for _, r := range m.ReadModels {
		if r.SeriesOf != nil { // which the projector of the series appends to
			continue
		}
		for _, w := range r.Writers {
			p := piece{name: schema.GoName(r.Name), model: r.Name, what: "folds events into rows of " + r.Name,
				imports: []string{code.Library + "/projection", c.module + "/event"}, stub: c.projectorStub}
			if len(r.Writers) > 1 {
				p.name = schema.GoName(w.Projector)
			}
			for _, e := range w.Events {
				p.methods = append(p.methods, schema.GoName(e))
				p.upcasted = p.upcasted || m.EventNamed(e).Version > 1
			}
			p.found, p.isFound = c.folded[p.name]
			all = append(all, p)
		}
	}
	return all
}

// projectorStub writes a stub of a method. An event that it is called with becomes a dead letter, so that nothing is
// lost meanwhile.
func (c *userCode) projectorStub(receiver, name string, imported map[string]string) string {
	event, projection := imported[c.module+"/event"], imported[code.Library+"/projection"]
	return fmt.Sprintf("\n// %s is to be written: until then its events become dead letters, which can be retried.\n"+
		"func (%s) %s(e %s.%s, _ %s.Meta) []%s.Op {\n\tpanic(%q)\n}\n", name, receiver, name, event, name, projection,
		projection, strings.TrimPrefix(receiver, "*")+"."+name+" is not written yet")
}

// Write writes the methods that projectors and upcasters lack, into files that are the user's: what is there stays as
// it is. The generated code is in the working directory, and has the import path; root is the folder of its Go module,
// as seen from there.
func Write(importPath, root string, m *schema.Model, out io.Writer) error {
	code, err := readUserCode(importPath, root)
	if err != nil {
		return err
	}
	projectors := code.projectorsOf(m)
	pieces := projectors
	if m.HasUpcasters() {
		pieces = append(slices.Clone(projectors), code.upcastersOf(m))
	}
	for _, p := range pieces {
		dir, _ := code.placeOf(p)
		if err := outfile.Sweep(dir); err != nil {
			return err
		}
		if err := code.complete(p, out); err != nil {
			return err
		}
	}
	if err := code.writeSources(pieces, out); err != nil {
		return err
	}
	if err := tellUnfolded(code, projectors, out); err != nil {
		return err
	}
	return tellWithoutUpcasters(code, projectors, out)
}

// complete writes what one of them lacks.
func (c *userCode) complete(p piece, out io.Writer) error {
	dir, name := c.placeOf(p)
	if name == "" { // written in a way that is not ours to follow; the compiler says what it lacks
		return nil
	}
	pkg, err := c.readPackage(dir)
	if err != nil {
		return err
	}
	t := pkg.types[name]
	switch {
	case pkg.broken != "":
		_, err = fmt.Fprintf(out, "%s: does not parse, so that no stubs are written for %s "+
			"(fix: correct it, and generate again)\n", pkg.broken, p.kind(name))
		return err
	case t == nil && (pkg.names[name] || p.found.typ != ""): // a function or a variable
		return nil
	case t == nil:
		return c.begin(p, dir, pkg, out)
	case t.embeds || t.file == "":
		return nil
	}
	lacks := slices.DeleteFunc(slices.Clone(p.methods), func(e string) bool { return t.methods[e] })
	if len(lacks) == 0 {
		return nil
	}
	receiver := name
	if t.pointer {
		receiver = "*" + name
	}
	if err := c.extend(t.file, receiver, p, lacks); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s: added %s, to be written by you\n", t.file, strings.Join(lacks, ", "))
	return err
}

// kind names it in a sentence, by the type that it is.
func (p *piece) kind(typ string) string {
	if p.model == "" {
		return "the upcasters"
	}
	return "projector " + typ
}

// placeOf is the folder and the type of a projector, or of the upcasters: of what the program has, or else where most
// projectors are, under a name of ours.
func (c *userCode) placeOf(p piece) (dir, typ string) {
	if p.isFound {
		return p.found.dir, p.found.typ
	}
	return c.home(func(r registration) string { return r.dir }, defaultProjectors), p.name
}

// home is what most registrations have in common; the first by name where several have.
func (c *userCode) home(of func(registration) string, otherwise string) string {
	count := map[string]int{}
	for _, r := range c.folded {
		if at := of(r); at != "" {
			count[at]++
		}
	}
	best := otherwise
	for at, n := range count {
		if n > count[best] || n == count[best] && at < best {
			best = at
		}
	}
	return best
}

// begin writes the file of a type that is not there yet.
func (c *userCode) begin(p piece, dir string, pkg *userPackage, out io.Writer) error {
	name := path.Join(dir, strings.ToLower(p.name)+".go")
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		_, err = fmt.Fprintf(out, "%s: is there, and has no type %s, so that no stubs are written for it "+
			"(fix: declare type %s struct{})\n", name, p.name, p.name)
		return err
	}
	imported := map[string]string{}
	for _, importPath := range p.imports {
		imported[importPath] = path.Base(importPath)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "package %s\n\n%s\n\n// %s %s.\ntype %s struct{}\n", pkg.name, importText(p.imports), p.name, p.what,
		p.name)
	for _, method := range p.methods {
		b.WriteString(p.stub(p.name, method, imported))
	}
	text, err := format.Source(b.Bytes())
	if err != nil {
		return fmt.Errorf("write stubs of %s, which is a bug of foldql: %w", p.kind(p.name), err)
	}
	if err := outfile.WriteIfChanged(name, text); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s: written, with %s to be written by you\n", name, strings.Join(p.methods, ", "))
	return err
}

func importText(paths []string) string {
	if len(paths) == 1 {
		return fmt.Sprintf("import %q", paths[0])
	}
	quoted := make([]string, len(paths))
	for i, p := range paths {
		quoted[i] = strconv.Quote(p)
	}
	return "import (\n" + strings.Join(quoted, "\n\n") + "\n)"
}

// extend adds methods at the end of a file, and the imports that they need.
func (c *userCode) extend(name, receiver string, p piece, methods []string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return fmt.Errorf("add methods to %s: %w", name, err)
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("add methods to %s: %w", name, err)
	}
	imported := map[string]string{}
	var lacks []string
	for _, importPath := range p.imports {
		imported[importPath] = importName(file, importPath)
		if imported[importPath] == "" {
			imported[importPath] = path.Base(importPath)
			lacks = append(lacks, importPath)
		}
	}
	b := bytes.NewBuffer(withImports(fset, file, text, lacks))
	for _, method := range methods {
		b.WriteString(p.stub(receiver, method, imported))
	}
	source, err := format.Source(b.Bytes())
	if err != nil {
		return fmt.Errorf("add methods to %s, which is a bug of foldql: %w", name, err)
	}
	return outfile.WriteIfChanged(name, source)
}

// withImports is the text of a file that imports more.
func withImports(fset *token.FileSet, file *ast.File, text []byte, paths []string) []byte {
	if len(paths) == 0 {
		return text
	}
	var lines strings.Builder
	for _, p := range paths {
		fmt.Fprintf(&lines, "\n\t%q", p)
	}
	at := fset.Position(file.Name.End()).Offset
	insert := "\n\nimport (" + lines.String() + "\n)"
	for _, d := range file.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT && g.Lparen.IsValid() {
			at, insert = fset.Position(g.Lparen).Offset+1, lines.String()
			break
		}
	}
	return slices.Concat(text[:at], []byte(insert), text[at:])
}

// tellUnfolded warns of models that no projection of the program folds.
func tellUnfolded(c *userCode, projectors []piece, out io.Writer) error {
	for _, p := range projectors {
		if p.isFound {
			continue
		}
		where := c.home(func(r registration) string { return r.file }, "App.Projections")
		_, err := fmt.Fprintf(out, "warning: no projection folds %s, and the server refuses to start without "+
			"(fix: add ops.Project%s(%s{}%s) to %s)\n", p.model, p.name, p.name, c.upcastersFor(p), where)
		if err != nil {
			return fmt.Errorf("tell what was found: %w", err)
		}
	}
	return nil
}
