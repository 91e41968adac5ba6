// Package outfile writes what the generator generates to the disk.
package outfile

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// WriteIfChanged writes a file, and makes its folder, unless it has the content already.
func WriteIfChanged(path string, content []byte) error {
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, content) {
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
