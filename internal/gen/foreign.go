package gen

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
)

// refuseForeign finds files of the project's author in the places of Go files that are to be written or removed, those
// of gqlgen among them.
func (o *output) refuseForeign() error {
	var errs []error
	for _, name := range slices.Sorted(slices.Values(o.places())) {
		if path.Ext(name) != ".go" {
			continue
		}
		text, err := os.ReadFile(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			errs = append(errs, fmt.Errorf("look at what a generated file would replace: %w", err))
		case isForeign(text):
			errs = append(errs, fmt.Errorf("%s is not marked as generated, and a generated file has that name: rename yours, "+
				"or remove it", name))
		}
	}
	return errors.Join(errs...)
}

// generated is the line by which Go tools know a generated file.
var generated = regexp.MustCompile(`^// Code generated .* DO NOT EDIT\.\s*$`)

// beginning is of the lines that stand before all code: comments, the package clause, and empty ones.
var beginning = regexp.MustCompile(`^(//|package |\s*$)`)

// isForeign reports whether a Go file is not generated. The mark stands before the package clause, or after it, as
// former versions have it, and a comment may stand above it. An empty file is all that a disk may have left of a
// generated one.
func isForeign(text []byte) bool {
	comment := false
	for line := range bytes.Lines(text) {
		switch {
		case comment || bytes.HasPrefix(line, []byte("/*")):
			comment = !bytes.Contains(line, []byte("*/"))
		case generated.Match(line):
			return false
		case !beginning.Match(line):
			return true
		}
	}
	return len(bytes.TrimSpace(text)) > 0
}
