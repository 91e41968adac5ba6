// Package outfile writes what the generator generates to the disk, and reads it again.
package outfile

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// Read reads a file that may be generated, with the ends of lines that are generated: git may have written others, as
// with core.autocrlf.
func Read(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), err
}

// WriteIfChanged writes a file, and makes its folder, unless it has the content already, whatever ends its lines.
func WriteIfChanged(path string, content []byte) error {
	if old, err := Read(path); err == nil && bytes.Equal(old, content) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("make the folder of %s: %w", path, err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
