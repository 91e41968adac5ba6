// Package stubs writes stubs of what the projectors of a project lack into the files of its author, and only adds to
// them.
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
	"strings"

	"github.com/foldql/foldql/internal/gen/code"
	"github.com/foldql/foldql/internal/gen/outfile"
	"github.com/foldql/foldql/internal/schema"
)

// defaultProjectors is where stubs of projectors go where a project has none yet.
const defaultProjectors = "projection/projectors"

// projector is one that the schema asks for.
type projector struct {
	name   string // of its interface in package ops, without "Projector"
	model  string
	events []string // Go names, which are those of its methods
}

func projectorsOf(m *schema.Model) (all []projector) {
	for _, r := range m.ReadModels {
		if r.SeriesOf != nil { // which the projector of the series appends to
			continue
		}
		for _, w := range r.Writers {
			p := projector{name: schema.GoName(r.Name), model: r.Name}
			if len(r.Writers) > 1 {
				p.name = schema.GoName(w.Projector)
			}
			for _, e := range w.Events {
				p.events = append(p.events, schema.GoName(e))
			}
			all = append(all, p)
		}
	}
	return all
}

// Write writes the methods that projectors lack, into files that are the user's: what is there stays as it is.
func Write(module string, m *schema.Model, out io.Writer) error {
	code, err := readUserCode(module)
	if err != nil {
		return err
	}
	for _, p := range projectorsOf(m) {
		if err := code.complete(p, out); err != nil {
			return err
		}
	}
	return tellUnfolded(code, m, out)
}

// complete writes what one projector lacks.
func (c *userCode) complete(p projector, out io.Writer) error {
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
		_, err = fmt.Fprintf(out, "%s: does not parse, so that no stubs are written for projector %s "+
			"(fix: correct it, and generate again)\n", pkg.broken, name)
		return err
	case t == nil && (pkg.names[name] || c.folded[p.name].typ != ""): // a function or a variable
		return nil
	case t == nil:
		return c.begin(p, dir, pkg, out)
	case t.embeds || t.file == "":
		return nil
	}
	lacks := slices.DeleteFunc(slices.Clone(p.events), func(e string) bool { return t.methods[e] })
	if len(lacks) == 0 {
		return nil
	}
	receiver := name
	if t.pointer {
		receiver = "*" + name
	}
	if err := c.extend(t.file, receiver, lacks); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s: added %s, to be written by you\n", t.file, strings.Join(lacks, ", "))
	return err
}

// placeOf is the folder and the type of a projector: where it is folded with, or else where most of the others are,
// under the name that package ops has for it.
func (c *userCode) placeOf(p projector) (dir, typ string) {
	if r, folded := c.folded[p.name]; folded {
		return r.dir, r.typ
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

// begin writes the file of a projector that is not there yet.
func (c *userCode) begin(p projector, dir string, pkg *userPackage, out io.Writer) error {
	name := path.Join(dir, strings.ToLower(p.name)+".go")
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		_, err = fmt.Fprintf(out, "%s: is there, and has no type %s, so that no stubs are written for it "+
			"(fix: declare type %s struct{})\n", name, p.name, p.name)
		return err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "package %s\n\nimport (\n%q\n\n%q\n)\n\n", pkg.name, code.Library+"/projection", c.module+"/event")
	fmt.Fprintf(&b, "// %s folds events into rows of %s.\ntype %s struct{}\n", p.name, p.model, p.name)
	appendMethods(&b, p.name, "event", "projection", p.events)
	text, err := format.Source(b.Bytes())
	if err != nil {
		return fmt.Errorf("write stubs of projector %s, which is a bug of foldql: %w", p.name, err)
	}
	if err := outfile.WriteIfChanged(name, text); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s: written, with %s to be written by you\n", name, strings.Join(p.events, ", "))
	return err
}

// extend adds methods at the end of a file, and the imports that they need.
func (c *userCode) extend(name, receiver string, events []string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return fmt.Errorf("add methods to %s: %w", name, err)
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("add methods to %s: %w", name, err)
	}
	used := map[string]string{}
	var lacks []string
	for _, importPath := range []string{code.Library + "/projection", c.module + "/event"} {
		used[importPath] = importName(file, importPath)
		if used[importPath] == "" {
			used[importPath] = path.Base(importPath)
			lacks = append(lacks, importPath)
		}
	}
	b := bytes.NewBuffer(withImports(fset, file, text, lacks))
	appendMethods(b, receiver, used[c.module+"/event"], used[code.Library+"/projection"], events)
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

// appendMethods writes stubs. An event that one is called with becomes a dead letter, so that nothing is lost
// meanwhile.
func appendMethods(b *bytes.Buffer, receiver, event, projection string, names []string) {
	for _, name := range names {
		method := strings.TrimPrefix(receiver, "*") + "." + name
		fmt.Fprintf(b, "\n// %s is to be written: until then its events become dead letters, which can be retried.\n", name)
		fmt.Fprintf(b, "func (%s) %s(e %s.%s, _ %s.Meta) []%s.Op {\n", receiver, name, event, name, projection, projection)
		fmt.Fprintf(b, "\tpanic(%q)\n}\n", method+" is not written yet")
	}
}

// tellUnfolded warns of models that no projection of the program folds.
func tellUnfolded(c *userCode, m *schema.Model, out io.Writer) error {
	for _, p := range projectorsOf(m) {
		if _, folded := c.folded[p.name]; folded {
			continue
		}
		where := c.home(func(r registration) string { return r.file }, "App.Projections")
		_, err := fmt.Fprintf(out, "warning: no projection folds %s, and the server refuses to start without "+
			"(fix: add ops.Project%s(%s{}) to %s)\n", p.model, p.name, p.name, where)
		if err != nil {
			return fmt.Errorf("tell what was found: %w", err)
		}
	}
	return nil
}
