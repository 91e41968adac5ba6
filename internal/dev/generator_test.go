package dev

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/foldql/foldql/internal/gen/exclusive"
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

// TestAnotherGenerationIsToldWhileItIsWaitedFor, and not when it has ended.
func TestAnotherGenerationIsToldWhileItIsWaitedFor(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "gqlgen.yml"), []byte("schema: [nothing.graphqls]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	held := func(int) error { return errors.New("it is held") }
	leave, err := exclusive.Take(t.Context(), filepath.Join(dir, ".foldql-generate.lock"), held)
	if err != nil {
		t.Fatal(err)
	}
	out := &untilTold{what: []byte("waiting until it ends"), then: leave}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s := newSession(Config{Out: out}, dir, t.TempDir(), nil)
	if s.draft, err = newDraft(dir, s.out.say); err != nil {
		t.Fatal(err)
	}
	if s.generate(ctx, seen{}) || !strings.Contains(s.generated.err.Error(), "nothing.graphqls") {
		t.Errorf("it fails of %v, want of the schema", s.generated.err)
	}
	if out.then != nil || out.err != nil {
		t.Errorf("it is not told: %v", out.err)
	}
}

// TestAGenerationThatWaitsForAnotherGivesUpAtOnce where foldql dev is to end, and says for whom it has waited.
func TestAGenerationThatWaitsForAnotherGivesUpAtOnce(t *testing.T) {
	dir := brokenProject(t)
	held := func(int) error { return errors.New("it is held") }
	leave, err := exclusive.Take(t.Context(), filepath.Join(dir, ".foldql-generate.lock"), held)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := leave(); err != nil {
			t.Error(err)
		}
	}()
	ctx, cancel := context.WithCancel(t.Context())
	out := &untilTold{what: []byte("waiting until it ends"), then: func() error { cancel(); return nil }}
	want := fmt.Sprintf("gave up waiting for process %d, which generates the code of this project", os.Getpid())
	if err := generateApart(ctx, dir, out); err == nil || err.Error() != want {
		t.Errorf("it fails of %v, want %s", err, want)
	}
}

// untilTold does something once it is told something.
type untilTold struct {
	what []byte
	then func() error
	err  error
}

// Write implements io.Writer.
func (u *untilTold) Write(text []byte) (int, error) {
	if u.then != nil && bytes.Contains(text, u.what) {
		u.err, u.then = u.then(), nil
	}
	return len(text), nil
}
