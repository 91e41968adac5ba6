package stubs

import (
	"path"
	"path/filepath"
	"strings"
)

// module is the Go module that generated code is part of. The folder of that code is the working directory, and names
// are as seen from there.
type module struct {
	root string // the folder of the module: "." or, say, "../.."
	path string // its import path
	code string // the folder of the generated code, as seen from root
}

// moduleOf is the module whose folder is root, by the import path of the generated code.
func moduleOf(importPath, root string) module {
	m := module{root: root, path: path.Join(importPath, filepath.ToSlash(root)), code: "."}
	if below, is := strings.CutPrefix(importPath, m.path+"/"); is {
		m.code = below
	}
	return m
}

// name is what a file or a folder of the module is called, which stands at inModule as seen from root.
func (m module) name(inModule string) string {
	rel, err := filepath.Rel(m.code, inModule)
	if err != nil {
		panic(err) // both begin at root
	}
	return filepath.ToSlash(rel)
}

// folderOf is the folder of a package, if it is one of the module.
func (m module) folderOf(importPath string) (dir string, ours bool) {
	if importPath == m.path {
		return m.name("."), true
	}
	below, ours := strings.CutPrefix(importPath, m.path+"/")
	if !ours {
		return "", false
	}
	return m.name(below), true
}

// besideCode reports whether a file or a folder is not below that of the generated code.
func besideCode(name string) bool { return name == ".." || strings.HasPrefix(name, "../") }
