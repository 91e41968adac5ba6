// Package gen turns the annotated schema of a project into its Go code and the SDL that it serves.
//
// Everything is checked before anything is written, and whatever fails later puts the files back that were written, but
// for those that somebody else has changed meanwhile. After an end at any point the next generation gives what the one
// that ended would have given. Equal schemas give equal files, and a file whose content stays keeps its time.
package gen

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/foldql/foldql/internal/gen/code"
	"github.com/foldql/foldql/internal/gen/served"
	"github.com/foldql/foldql/internal/gen/stubs"
	"github.com/foldql/foldql/internal/schema"
)

// Generate writes the generated code of the project that dir belongs to, and stubs of what the user's projectors lack.
// It prints findings that are no errors, and what became of each file, to out. It changes the working directory while
// it runs. While another process generates the code of the project, it says so, and waits.
func Generate(dir string, out io.Writer) error { return GenerateAfter(context.Background(), dir, out) }

// GenerateAfter is [Generate], which gives up waiting for another process where the context ends.
func GenerateAfter(ctx context.Context, dir string, out io.Writer) (err error) {
	leave, err := enter(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, leave()) }()
	unlock, err := alone(ctx, out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	p, err := open()
	if err != nil {
		return err
	}
	model, found := p.load()
	if err := found.Err(); err != nil {
		return err
	}
	if err := tell(out, found); err != nil {
		return err
	}
	files, err := p.files(model)
	if err != nil {
		return err
	}
	if err := p.enterCode(); err != nil {
		return err
	}
	changed, err := p.write(files)
	if err != nil {
		return err
	}
	if len(changed) == 0 {
		changed = []string{"the generated files are as the schemas want them"}
	}
	if _, err := fmt.Fprintln(out, strings.Join(changed, "\n")); err != nil {
		return fmt.Errorf("tell what was written: %w", err)
	}
	if err := stubs.Write(p.module, p.root, model, out); err != nil {
		return err
	}
	return printUnused(out, files)
}

// printUnused says what a project can do without: resolvers of fields that it does not have any more. They are
// handwritten, so they are not ours to remove.
func printUnused(out io.Writer, o *output) error {
	for _, resolver := range o.unused {
		if _, err := fmt.Fprintf(out, "%s is of no field that the schema has (fix: give it the name of its field, or remove "+
			"it)\n", resolver); err != nil {
			return err
		}
	}
	if _, err := os.Stat(stubsFile); o.own || err != nil {
		return nil
	}
	_, err := fmt.Fprintf(out, "%s: resolvers of queries that the schema no longer has (fix: remove it, and resolver.go "+
		"beside it)\n", stubsFile)
	return err
}

// Lint checks the schema of the project that dir belongs to, and prints all findings to out. It fails where one of them
// is an error.
func Lint(dir string, out io.Writer) (err error) {
	leave, err := enter(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, leave()) }()
	p, err := open()
	if err != nil {
		return err
	}
	model, found := p.load()
	if err := tell(out, found); err != nil {
		return err
	}
	if n := len(found.Errors()); n > 0 {
		return fmt.Errorf("%d of the findings must be fixed", n)
	}
	if _, err = p.files(model); err != nil {
		return err
	}
	if p.lock != p.nextLock {
		return fmt.Errorf("%s does not have what %s says: run foldql generate, and commit it", lockFile, eventsFile)
	}
	return nil
}

func tell(out io.Writer, found schema.Diagnostics) error {
	for _, d := range found {
		if _, err := fmt.Fprintln(out, d.Error()); err != nil {
			return fmt.Errorf("tell what was found: %w", err)
		}
	}
	return nil
}

// output is what is generated without gqlgen.
type output struct {
	model *schema.Model
	sdl   string
	own   bool              // the project has resolvers of its own
	files map[string][]byte // by path in the project

	before snapshot          // what stood in the places that were written to so far
	wrote  map[string][]byte // what was written so far, by path; nil where a file was removed
	begun  [][]byte          // stubs that generations wanted which were killed
	unused []string          // resolvers of fields that there are no more, with their files
}

// Paths of the generated files.
const (
	printedFile = "graph/schema.printed.graphql"
	execFile    = "graph/generated/exec.go"
	ownFile     = "graph/generated/own.go"
	typesFile   = "model/models_gen.go" // gqlgen's, for types that are no read models
	entryFile   = "graph/schema.go"
	stubsDir    = "graph"
	stubsFile   = "graph/schema.resolvers.go"
	ownerFile   = "graph/resolver.go" // written once, then the project's
)

// files makes all that does not need gqlgen; it writes nothing.
func (p *project) files(m *schema.Model) (*output, error) {
	shown, sdl, err := served.Schema(m, p.readModels)
	if err != nil {
		return nil, err
	}
	if err := p.checkGoTypes(m, shown); err != nil {
		return nil, err
	}
	o := &output{model: m, sdl: sdl, own: hasOwnResolvers(shown, m), before: snapshot{}, wrote: map[string][]byte{}}
	o.files = map[string][]byte{printedFile: []byte(schemaHeader + sdl)}
	files := map[string]*code.File{
		"model/rows.go":                  code.Rows(m),
		"model/codecs.go":                code.Codecs(m),
		"model/tables.go":                code.Tables(m),
		"event/events.go":                code.Events(m),
		"event/decoders.go":              code.Decoders(m),
		"projection/ops/ops.go":          code.Ops(m, p.module),
		"projection/ops/projectors.go":   code.Projectors(m, p.module),
		"graph/generated/catalog.go":     code.Catalog(m, p.module),
		"graph/generated/connections.go": code.Connections(m, p.module),
		"graph/generated/readers.go":     code.Readers(m, p.module),
		"graph/generated/resolvers.go":   code.Resolvers(m, p.module, o.own),
		entryFile:                        code.Entry(p.module, o.own),
	}
	for path, f := range files {
		if o.files[path], err = f.Source(); err != nil {
			return nil, err
		}
	}
	return o, nil
}
