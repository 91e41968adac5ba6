package gen

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// readSchemaFiles reads the files of names and patterns, each once.
func readSchemaFiles(names []string) (all []*ast.Source, err error) {
	for _, name := range names {
		paths, err := expand(name)
		if err != nil {
			return nil, fmt.Errorf("find the files of %s, which schema in %s names: %w", name, configFile, err)
		}
		for _, path := range paths {
			known := func(s *ast.Source) bool { return s.Name == filepath.ToSlash(path) }
			if slices.ContainsFunc(all, known) {
				continue
			}
			text, err := os.ReadFile(path)
			switch {
			case err == nil:
				all = append(all, &ast.Source{Name: filepath.ToSlash(path), Input: string(text)})
			case !isGone(path):
				return nil, fmt.Errorf("read a schema that %s names as %s: %w", configFile, name, err)
			}
		}
	}
	return all, nil
}

// isGone reports whether nothing has the path any more; a link that leads nowhere has one.
func isGone(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// expand finds the files of a name or pattern as gqlgen does, but for those whose name begins with a dot where the
// pattern's does not: editors keep such files beside a schema while it is edited, as Emacs does a link to nowhere.
func expand(pattern string) (paths []string, err error) {
	if top, below, deep := strings.Cut(pattern, "**"); deep {
		paths, err = walk(top, below)
	} else {
		paths, err = filepath.Glob(pattern)
	}
	if !isHidden(pattern) {
		paths = slices.DeleteFunc(paths, isHidden)
	}
	return paths, err
}

func isHidden(path string) bool { return strings.HasPrefix(filepath.Base(path), ".") }

// walk finds the files at any depth of a folder whose path ends as a pattern says.
func walk(top, pattern string) (paths []string, err error) {
	ending, err := regexp.Compile(deepPattern.Replace(strings.TrimPrefix(strings.TrimPrefix(pattern, `\`), `/`)) + `$`)
	if err != nil {
		return nil, err
	}
	err = filepath.Walk(top, func(path string, _ os.FileInfo, err error) error {
		switch {
		case err != nil && path != top && isGone(path):
			return nil
		case err != nil:
			return err
		case ending.MatchString(strings.TrimPrefix(path, top)):
			paths = append(paths, path)
		}
		return nil
	})
	return paths, err
}

// deepPattern makes a regular expression of what follows ** in a pattern, the one that gqlgen makes.
var deepPattern = strings.NewReplacer(`.`, `\.`, `*`, `.+`, `\`, `[\\/]`, `/`, `[\\/]`)
