package gen

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/codegen"
	"github.com/99designs/gqlgen/codegen/templates"

	"github.com/foldql/foldql/internal/gen/handwritten"
	"github.com/foldql/foldql/internal/gen/outfile"
)

// writeStubs writes stubs of the resolvers that the project lacks, and keeps all that it has.
func (o ownResolvers) writeStubs(own *codegen.Data) error {
	stubs, err := renderStubs(own)
	if err != nil {
		return err
	}
	tags, err := buildTags()
	if err != nil {
		return err
	}
	former := handwritten.Former{Path: own.Config.Exec.ImportPath(), Text: o.before[execFile].content}
	return o.mergeStubs(handwritten.Wanted{Stubs: stubs, Begun: o.begun, Former: former,
		Tags: tags, Names: own.Config.Packages})
}

// buildTags are the tags that the go command compiles with here, where nobody names any on its command line.
func buildTags() (tags []string, err error) {
	flags, err := exec.Command("go", "env", "GOFLAGS").Output()
	if err != nil {
		return nil, fmt.Errorf("ask the go command for GOFLAGS: %w", err)
	}
	for _, flag := range quotedFields(string(flags)) {
		name, list, _ := strings.Cut(flag, "=")
		switch {
		case strings.TrimLeft(name, "-") != "tags":
		case strings.ContainsAny(list, " '"): // as Go 1.12 wanted them
			tags = quotedFields(list)
		default:
			tags = strings.Split(list, ",")
		}
	}
	return tags, nil
}

// quotedFields are the fields of a text between spaces. One that begins with a quote goes on to the next such quote;
// others count for nothing. The go command reads GOFLAGS so, and no package that we could import has it.
func quotedFields(text string) (fields []string) {
	for {
		text = strings.TrimLeft(text, " \t\r\n")
		if text == "" {
			return fields
		}
		field, rest := text, ""
		if text[0] == '"' || text[0] == '\'' {
			field, rest, _ = strings.Cut(text[1:], text[:1])
		} else if end := strings.IndexAny(text, " \t\r\n"); end >= 0 {
			field, rest = text[:end], text[end:]
		}
		fields, text = append(fields, field), rest
	}
}

// begunStubs are the stubs that are wanted, while resolvers get their signatures, behind those of generations that were
// killed: the next one finds there which signatures are no author's.
const begunStubs = "graph/generated/.resolvers.begun"

// behindStubs is between the stubs of two generations; no Go code has it.
const behindStubs = "\x00"

// readBegun reads the stubs of generations that were killed.
func readBegun() ([][]byte, error) {
	text, err := readIfThere(begunStubs)
	if err != nil || text == nil {
		return nil, err
	}
	return slices.CompactFunc(bytes.Split(text, []byte(behindStubs)), bytes.Equal), nil
}

// mergeStubs merges stubs into what the project has, until nobody saves anything else meanwhile.
func (o *output) mergeStubs(wanted handwritten.Wanted) error {
	begun := bytes.Join(append(slices.Clone(wanted.Begun), wanted.Stubs), []byte(behindStubs))
	for {
		changes, unused, err := handwritten.Merge(stubsFile, wanted)
		if err != nil {
			return err
		}
		o.unused = unused
		if len(changes) > 0 {
			err := o.record(func() error { return outfile.WriteIfChanged(begunStubs, begun) }, begunStubs)
			if err != nil {
				return err
			}
		}
		if err := o.apply(changes); !errors.Is(err, outfile.ErrChanged) {
			return err
		}
	}
}

// apply makes the changes, and remembers what the files were until then, and what has become of them.
func (o *output) apply(changes []handwritten.Change) error {
	for _, c := range changes {
		if err := o.before.add(c.Path); err != nil {
			return err
		}
		if err := c.Write(); err != nil {
			delete(o.before, c.Path) // nothing is written that could be taken back
			delete(o.wrote, c.Path)
			return err
		}
		o.wrote[c.Path] = c.Now
	}
	return nil
}

// renderStubs makes a file of stubs of all resolvers of a project, in a folder of its own: gqlgen writes what it makes,
// and nothing but whole text of the project's author is to stand in the author's file.
func renderStubs(own *codegen.Data) (text []byte, err error) {
	dir, err := os.MkdirTemp("", "foldql-stubs-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for stubs of resolvers: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	name := filepath.Join(dir, filepath.Base(stubsFile))
	err = render(own, templates.Options{PackageName: "graph", Filename: name, Template: stubsTemplate})
	if err != nil {
		return nil, fmt.Errorf("make stubs of resolvers: %w", err)
	}
	if text, err = os.ReadFile(name); err != nil {
		return nil, fmt.Errorf("read the stubs of resolvers: %w", err)
	}
	return text, nil
}

// render writes the file that a template of gqlgen makes of the resolvers.
func render(own *codegen.Data, file templates.Options) error {
	file.Data, file.Packages = own, own.Config.Packages
	return templates.Render(file)
}

const stubsTemplate = `
{{ reserveImport "context" }}
{{ reserveImport "fmt" }}

{{ define "resolvers" }}{{ $object := . }}{{ range .Fields }}{{ if .IsResolver }}
func (r *{{ lcFirst $object.Name }}Resolver) {{ .GoFieldName }}
{{- if .IsBatch }}{{ .ShortBatchResolverDeclaration }}{{ else }}{{ .ShortResolverDeclaration }}{{ end }} {
	panic(fmt.Errorf("not implemented: {{ .GoFieldName }} - {{ .Name }}"))
}
{{ end }}{{ end }}{{ end }}

{{ define "accessor" }}{{ if .HasResolvers }}
func (r *Resolver) {{ ucFirst .Name }}() {{ .ResolverInterface | ref }} { return &{{ lcFirst .Name }}Resolver{r} }
{{ end }}{{ end }}

{{ define "type" }}{{ if .HasResolvers }}
type {{ lcFirst .Name }}Resolver struct{ r *Resolver }
{{ end }}{{ end }}

{{ range .Objects }}{{ template "resolvers" . }}{{ end }}{{ range .Inputs }}{{ template "resolvers" . }}{{ end }}
{{ range .Objects }}{{ template "accessor" . }}{{ end }}{{ range .Inputs }}{{ template "accessor" . }}{{ end }}
{{ range .Objects }}{{ template "type" . }}{{ end }}{{ range .Inputs }}{{ template "type" . }}{{ end }}
`
