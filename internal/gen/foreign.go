package gen

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"

	"github.com/foldql/foldql/internal/gen/code"
)

// refuseForeign finds files of the project's author in the places of Go files that are to be written or removed, those
// of gqlgen among them.
func (o *output) refuseForeign() error {
	targets := map[string]bool{execFile: true, typesFile: true, ownFile: true}
	for name := range o.files {
		targets[name] = path.Ext(name) == ".go"
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(targets)) {
		if !targets[name] {
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

// generated is the line by which Go tools know a generated file. It stands before the package clause.
var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.\r?$`)

// isFormerOwn reports whether a file is one that earlier versions wrote as ownFile, with the line after the clause.
func isFormerOwn(text []byte) bool {
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	return bytes.HasPrefix(text, []byte("package generated\n\n"+code.Header))
}

// isForeign reports whether a Go file is not generated. An empty one is all that a disk may have left of one that is.
func isForeign(text []byte) bool {
	beginning, _, _ := bytes.Cut(slices.Concat([]byte("\n"), text), []byte("\npackage "))
	return len(bytes.TrimSpace(text)) > 0 && !generated.Match(beginning) && !isFormerOwn(text)
}
