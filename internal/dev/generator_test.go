package dev

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foldql/foldql/internal/newproject"
)

// TestATypeThatIsMendedHasTheNameThatTheGeneratorGivesIt, whatever the type was called while the session went on; and
// what is wrong meanwhile is the error, apart from what is told.
func TestATypeThatIsMendedHasTheNameThatTheGeneratorGivesIt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "todo")
	if err := newproject.Write(dir, newproject.Options{Library: newproject.Library{Checkout: "../.."}}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "schema.graphqls")
	schema, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	save := func(more string) (told string, err error) {
		t.Helper()
		if err := os.WriteFile(path, append(bytes.Clone(schema), more...), 0o644); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		err = generateApart(t.Context(), dir, &out)
		return out.String(), err
	}
	for _, more := range []string{"type Query { board: dashboard } type dashboard { n: Int }",
		"type Query { board: Dashboard } type Dashboard { n: Int }"} {
		if told, err := save(more); err != nil || !strings.Contains(told, "exec.go: ") {
			t.Fatalf("%s: it tells %q, %v", more, told, err)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "model", "models_gen.go"))
	if err != nil || !strings.Contains(string(text), "type Dashboard struct") {
		t.Errorf("%v, in\n%s", err, text)
	}
	told, err := save("type Query { board: Dashbord }")
	if err == nil || !strings.Contains(err.Error(), "Dashbord") || strings.Contains(told, "Dashbord") {
		t.Errorf("of a wrong schema it tells %q, and fails of %v", told, err)
	}
}
