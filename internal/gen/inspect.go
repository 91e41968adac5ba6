package gen

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Inputs are what the code of a project is generated from, and how its server is run while it is developed.
type Inputs struct {
	// Files are those that the generator reads, of those that are there, as absolute paths.
	Files []string
	// Server is the import path of the program that serves, as the go command takes it in the folder of the project.
	Server string
	// Flags are those that the server gets.
	Flags []string
}

// defaultServer is where foldql init puts the program.
const defaultServer = "./cmd/server"

// Find returns the folder of the project that dir belongs to: the one with its configuration, and not a link to it.
func Find(dir string) (root string, err error) {
	leave, err := enter(dir)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, leave()) }()
	if root, err = os.Getwd(); err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return "", fmt.Errorf("find the folder of the project: %w", err)
	}
	return root, nil
}

// Inspect says what the project that dir belongs to is generated from. Where that cannot be read, what is known comes
// with the error. It changes the working directory while it runs.
func Inspect(dir string) (in Inputs, err error) {
	leave, err := enter(dir)
	if err != nil {
		return in, err
	}
	defer func() { err = errors.Join(err, leave()) }()
	home, err := os.Getwd()
	if err != nil {
		return in, fmt.Errorf("find the folder of the project: %w", err)
	}
	p := &project{}
	err = p.readSchemas()
	for _, path := range p.inputs(home) {
		if _, statErr := os.Stat(path); statErr == nil {
			in.Files = append(in.Files, path)
		}
	}
	if in.Server, in.Flags = p.dev.Server, p.dev.Flags; in.Server == "" {
		in.Server = defaultServer
	}
	return in, err
}

// inputs are the files that a project in a folder is read from; some need not be there.
func (p *project) inputs(home string) (paths []string) {
	names := []string{configFile, eventsFile, lockFile}
	for _, src := range p.readModels {
		names = append(names, filepath.FromSlash(src.Name))
	}
	for _, name := range names {
		if !filepath.IsAbs(name) {
			name = filepath.Join(home, name)
		}
		paths = append(paths, name)
	}
	return paths
}
