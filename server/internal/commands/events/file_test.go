package events

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAnExportReplacesNoFileThatIsMadeMeanwhile, as by another export to the same name, also where the file system has
// no links.
func TestAnExportReplacesNoFileThatIsMadeMeanwhile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "all.jsonl")
	write := func(text string) error {
		return writeFile(path, func(to io.Writer) error {
			_, err := io.WriteString(to, text)
			return err
		})
	}
	err := writeFile(path, func(io.Writer) error { return write("first") })
	if err == nil || !strings.Contains(err.Error(), "exists: name another file") {
		t.Errorf("the later export: error %v", err)
	}
	partial := filepath.Join(dir, "partial")
	if err := os.WriteFile(partial, []byte("second"), 0o600); err != nil {
		t.Fatal(err)
	}
	noLinks := func(string, string) error { return errors.ErrUnsupported }
	if err := publish(partial, path, noLinks); err == nil || !strings.Contains(err.Error(), "exists: name another file") {
		t.Errorf("without links: error %v", err)
	}
	if text, err := os.ReadFile(path); string(text) != "first" || err != nil {
		t.Errorf("the file has %q, error %v", text, err)
	}
	other := filepath.Join(dir, "other.jsonl")
	if err := publish(partial, other, noLinks); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(other); string(text) != "second" || err != nil {
		t.Errorf("placed without links, the file has %q, error %v", text, err)
	}
	if left, err := os.ReadDir(dir); len(left) != 2 || err != nil {
		t.Errorf("in the directory are %v, error %v", left, err)
	}
}
