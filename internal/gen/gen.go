// Package gen turns the annotated schema of a project into its Go code and the SDL that it serves.
//
// Everything is checked before anything is written, and whatever fails later puts the files back as they were. Equal
// schemas give equal files, and a file whose content stays keeps its time.
package gen

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/foldql/foldql/internal/schema"
)

// Generate writes the generated code of the project that dir belongs to, and stubs of what the user's projectors lack. It
// tells out findings that are no errors, and what became of each file. It changes the working directory while it runs.
func Generate(dir string, out io.Writer) (err error) {
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
	if err := writeStubs(p.module, model, out); err != nil {
		return err
	}
	return tellUnused(out, files)
}

// tellUnused says what a project can do without since it has no queries of its own any more. It is hand-written, so it is
// not ours to remove.
func tellUnused(out io.Writer, o *output) error {
	if _, err := os.Stat(stubsFile); o.own || err != nil {
		return nil
	}
	_, err := fmt.Fprintf(out, "%s: resolvers of queries that the schema no longer has (fix: remove it, and resolver.go beside it)\n", stubsFile)
	return err
}

// Lint checks the schema of the project that dir belongs to, and tells all findings to out. It fails where one of them is
// an error.
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
	_, err = p.files(model)
	return err
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
	files map[string][]byte // by path in the project; nil content means that there is no such file
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
	served, sdl, err := served(m, p.readModels)
	if err != nil {
		return nil, err
	}
	o := &output{model: m, sdl: sdl, own: hasOwnResolvers(served, m)}
	o.files = map[string][]byte{printedFile: []byte(sdl)}
	code := map[string]*goFile{
		"model/rows.go":                  rows(m),
		"model/codecs.go":                codecs(m),
		"model/tables.go":                tables(m),
		"event/events.go":                events(m),
		"event/decoders.go":              decoders(m),
		"projection/ops/ops.go":          ops(m, p.module),
		"projection/ops/projectors.go":   projectors(m, p.module),
		"graph/generated/catalog.go":     catalog(m, p.module),
		"graph/generated/connections.go": connections(m, p.module),
		"graph/generated/readers.go":     readers(m, p.module),
		"graph/generated/resolvers.go":   resolvers(m, p.module, o.own),
		entryFile:                        entry(p.module, o.own),
	}
	for path, f := range code {
		if o.files[path], err = f.source(); err != nil {
			return nil, err
		}
	}
	return o, nil
}
