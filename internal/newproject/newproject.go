// Package newproject writes the files of a new project: a read model, its projector and test, and a server.
package newproject

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"golang.org/x/mod/module"
)

//go:embed files
var files embed.FS

// Options say what the new project is to be.
type Options struct {
	// Module is the import path of the project; the name of its folder where it is empty.
	Module string
	// Model is the name of the first read model; Task where it is empty.
	Model string
	// Example is one of Examples, to be written in the place of a project with that model; "" for none.
	Example string
	// Library is where the library comes from.
	Library Library
}

// Write writes the files of a new project into a folder that is not there yet, or that has nothing but a licence and
// what is hidden, as a new clone has. What it writes still lacks the generated code.
func Write(dir string, o Options) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("find the folder %s: %w", dir, err)
	}
	if o.Module == "" {
		o.Module = filepath.Base(dir)
	}
	if err := module.CheckImportPath(o.Module); err != nil {
		return fmt.Errorf("the module of the project: %w: give another with --module", err)
	}
	if o.Model == "" {
		o.Model = DefaultModel
	}
	if err := CheckModel(o.Model); err != nil {
		return err
	}
	if err := checkEmpty(dir); err != nil {
		return err
	}
	contents, err := o.render()
	if err != nil {
		return err
	}
	if contents["go.mod"], contents["go.sum"], err = o.Library.moduleFiles(o.Module); err != nil {
		return err
	}
	for name, content := range contents {
		if err := writeFile(filepath.Join(dir, filepath.FromSlash(name)), content); err != nil {
			return err
		}
	}
	return nil
}

// render makes the files of the project, but for those of its module.
func (o *Options) render() (contents map[string][]byte, err error) {
	n := newNames(o.Module, o.Model)
	n.Replaced = o.Library.Checkout != ""
	if o.Example != "" {
		contents, err = renderExample(o.Example, n)
	} else {
		contents, err = render(n)
	}
	if err != nil {
		return nil, err
	}
	// An image is not built from git's folder, nor from what git ignores: the rows, which may be large, and programs.
	contents["deploy/Dockerfile.dockerignore"] = append([]byte("/.git/\n"), contents[".gitignore"]...)
	return contents, nil
}

func checkEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("look into the folder of the project: %w", err)
	}
	for _, e := range entries {
		if name := e.Name(); name == ".gitignore" || !strings.HasPrefix(name, ".") && name != "LICENSE" {
			return fmt.Errorf("%s is not empty, it has %s: give a folder that is, or one that is not there yet", dir, name)
		}
	}
	return nil
}

// render fills in the templates.
func render(n names) (map[string][]byte, error) {
	contents := map[string][]byte{}
	err := fs.WalkDir(files, "files", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		name = strings.TrimPrefix(name, "files/")
		if name == "gitignore" { // under its real name it would hold for this repository
			name = ".gitignore"
		}
		to, isTemplate := strings.CutSuffix(name, ".tmpl")
		if isTemplate {
			text, err = fill(name, text, n)
		}
		contents[strings.Replace(to, "projectors/model", "projectors/"+n.File, 1)] = text
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the files of a new project: %w", err)
	}
	return contents, nil
}

func fill(name string, text []byte, n names) ([]byte, error) {
	t, err := template.New(name).Parse(string(text))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, n)
	return b.Bytes(), err
}

func writeFile(name string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return fmt.Errorf("make a folder of the project: %w", err)
	}
	if err := os.WriteFile(name, content, 0o644); err != nil {
		return fmt.Errorf("write a file of the project: %w", err)
	}
	return nil
}
