package sources

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Content is what a file holds.
type Content struct {
	hash      [sha256.Size]byte
	generated bool // by foldql, or by gqlgen for it
}

// Contents are those of files, by path.
type Contents map[string]Content

// Generated are those of the files that are generated.
func (c Contents) Generated() Contents {
	generated := Contents{}
	for path, content := range c {
		if content.generated {
			generated[path] = content
		}
	}
	return generated
}

// Has reports whether the files of other are all there, with the same contents.
func (c Contents) Has(other Contents) bool {
	for path, content := range other {
		if c[path] != content {
			return false
		}
	}
	return true
}

// Look reads the files of the program as they are now, and says in which folders they stand, and could. Folders aside
// are not looked into.
func (p Program) Look(aside []string) (files Contents, folders []string, err error) {
	l := look{roots: p.Roots, aside: aside, files: Contents{}}
	for _, root := range p.Roots {
		err = errors.Join(err, filepath.WalkDir(root, l.module))
	}
	for _, e := range p.Embedded {
		err = errors.Join(err, l.embedded(e))
	}
	for _, path := range p.Beside {
		err = errors.Join(err, l.read(path))
		l.folders = append(l.folders, filepath.Dir(path))
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read what the program is compiled from: %w", err)
	}
	return l.files, sorted(l.folders), nil
}

// Read returns the contents of files, of those that are there.
func Read(paths []string) (Contents, error) {
	l := look{files: Contents{}}
	for _, path := range paths {
		if err := l.read(path); err != nil {
			return nil, err
		}
	}
	return l.files, nil
}

// look is one walk over the files of a program.
type look struct {
	roots, aside []string
	files        Contents
	folders      []string
}

// module visits what a module is compiled from.
func (l *look) module(path string, e fs.DirEntry, err error) error {
	switch {
	case absent(err):
		return nil
	case err != nil:
		return err
	case e.IsDir():
		if l.skips(path, e.Name()) {
			return filepath.SkipDir
		}
		l.folders = append(l.folders, path)
		return nil
	case compiled(e.Name()):
		return l.read(path)
	}
	return nil
}

// embedded looks at what a pattern matches, and has the folders watched in which that may come and go.
func (l *look) embedded(e Embed) error {
	if is, err := os.Stat(e.base()); err == nil && is.IsDir() {
		l.folders = append(l.folders, e.base())
	}
	matches, _ := fs.Glob(os.DirFS(e.Dir), e.Pattern) // of a pattern that is none the build tells
	for _, match := range matches {
		path := filepath.Join(e.Dir, filepath.FromSlash(match))
		l.folders = append(l.folders, filepath.Dir(path))
		if err := filepath.WalkDir(path, l.all); err != nil {
			return err
		}
	}
	return nil
}

// all visits files that are embedded, below what a pattern matches. None are of a repository or of a store.
func (l *look) all(path string, e fs.DirEntry, err error) error {
	switch {
	case absent(err):
		return nil
	case err != nil:
		return err
	case e.IsDir() && (e.Name() == ".git" || slices.Contains(l.aside, path) || isStore(path)):
		return filepath.SkipDir
	case e.IsDir():
		l.folders = append(l.folders, path)
		return nil
	case e.Type().IsRegular():
		return l.read(path)
	}
	return nil
}

// absent reports whether something went while the walk came, or is not for this user to read, such as the data of a
// database in the folder: where the program needs it, the go command says so.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)
}

// skips reports whether nothing in a folder is compiled: the go command ignores it, it is of another module, somebody
// has set it aside, or an embedded store has it, which writes there all the time.
func (l *look) skips(path, name string) bool {
	if slices.Contains(l.roots, path) {
		return false
	}
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" || name == "node_modules" ||
		name == "vendor" || slices.Contains(l.aside, path) {
		return true
	}
	_, err := os.Stat(filepath.Join(path, "go.mod"))
	return err == nil || isStore(path)
}

// isStore reports whether a folder is that of rows or of a log, whatever has named it to the server: a flag, a variable
// or a file of settings.
func isStore(path string) bool {
	markers, _ := fs.Glob(os.DirFS(path), "marker.manifest.*") // of the engine; the pattern is a right one
	return len(markers) > 0
}

// read remembers what a file holds, unless it is gone.
func (l *look) read(path string) error {
	text, err := os.ReadFile(path)
	if absent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	generated := slices.ContainsFunc(generators, func(begin string) bool { return bytes.HasPrefix(text, []byte(begin)) })
	l.files[path] = Content{sha256.Sum256(text), generated}
	return nil
}

// generators are how files begin that foldql generates, or gqlgen for it.
var generators = []string{"// Code generated by foldql", "// Code generated by github.com/99designs/gqlgen"}

// extensions are those of files that the go command compiles, or links.
var extensions = []string{
	".go", ".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".m", ".f", ".F", ".for", ".f90", ".s", ".S", ".sx",
	".swig", ".swigcxx", ".syso",
}

// compiled reports whether a file of that name is part of a program, or says which modules are.
func compiled(name string) bool {
	switch {
	case name == "go.mod", name == "go.sum":
		return true
	case strings.HasPrefix(name, "."), strings.HasPrefix(name, "_"), strings.HasSuffix(name, "_test.go"):
		return false
	}
	return slices.Contains(extensions, filepath.Ext(name))
}
