package newproject

import (
	"bytes"
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"
)

// archives hold the examples, each without what is generated and without its go.mod. A test makes them of the examples
// of this repository.
//
//go:embed examples/*.txtar
var archives embed.FS

// Examples are the names of the projects that can be written in the place of a new one.
func Examples() []string {
	entries, err := archives.ReadDir("examples")
	if err != nil {
		panic(err) // they are embedded
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), path.Ext(e.Name())))
	}
	return names
}

// exampleModule is the import path that an example has in its archive.
func exampleModule(name string) string { return "example.com/" + name }

// renderExample makes the files of an example, with the files that every project gets and it has not.
func renderExample(name string, n names) (map[string][]byte, error) {
	if !slices.Contains(Examples(), name) {
		return nil, fmt.Errorf("there is no example %s: take one of %s", name, strings.Join(Examples(), ", "))
	}
	text, err := archives.ReadFile("examples/" + name + ".txtar")
	if err != nil {
		return nil, fmt.Errorf("read the example %s: %w", name, err)
	}
	all, err := render(n)
	if err != nil {
		return nil, err
	}
	contents := map[string][]byte{}
	for file, content := range all {
		if strings.HasPrefix(file, "deploy/") || file == "Makefile" || file == ".gitignore" {
			contents[file] = content
		}
	}
	for _, f := range txtar.Parse(text).Files {
		if path.Ext(f.Name) == ".go" {
			f.Data = bytes.ReplaceAll(f.Data, []byte(`"`+exampleModule(name)+`/`), []byte(`"`+n.Module+`/`))
		}
		contents[f.Name] = f.Data
	}
	return contents, nil
}
