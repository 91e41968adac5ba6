package differential_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/foldql/foldql/internal/gen"
	"github.com/foldql/foldql/internal/newproject"
	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/tests/differential"
)

// TestPlansAnswerLikeResolversOnDrawnSchemas draws schemas, generates and compiles them, and puts random operations to
// both executors of each.
//
// DIFFERENTIAL_SEED repeats a run; DIFFERENTIAL_SCHEMAS and DIFFERENTIAL_DOCUMENTS say how many schemas there are, 2 by
// default, and how many documents for each, 1500 by default.
func TestPlansAnswerLikeResolversOnDrawnSchemas(t *testing.T) {
	seed := number(t, "DIFFERENTIAL_SEED", rand.Uint64())
	schemas, documents := number(t, "DIFFERENTIAL_SCHEMAS", 2), number(t, "DIFFERENTIAL_DOCUMENTS", 1500)
	t.Logf("DIFFERENTIAL_SEED=%d repeats this", seed)
	dir := newModule(t)
	rng := rand.New(rand.NewPCG(seed, 0))
	var imports, list strings.Builder
	for i := range schemas {
		name := fmt.Sprint("schema", i)
		drawProject(t, rng, filepath.Join(dir, name), i%2 == 0)
		fmt.Fprintf(&imports, "\t%s %q\n", name, module+"/"+name+"/graph/generated")
		fmt.Fprintf(&list, "\t\t{Name: %q, Catalog: %s.Catalog, New: %s.New},\n", name, name, name)
	}
	write(t, filepath.Join(dir, "main.go"), fmt.Sprintf(program, imports.String(), list.String(), documents))
	cmd := exec.Command("go", "run", "-mod=mod", ".", strconv.FormatUint(seed, 10))
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Logf("%s", out)
		return
	}
	t.Errorf("%v\n%s", err, out)
	for i := range schemas {
		text, err := os.ReadFile(filepath.Join(dir, fmt.Sprint("schema", i), "schema.graphqls"))
		if err == nil && strings.Contains(string(out), fmt.Sprint("schema", i)) {
			t.Logf("schema%d:\n%s", i, text)
		}
	}
}

// module is where the drawn schemas are generated: below the library, so that they may import what is internal to it.
const module = "github.com/foldql/foldql/drawn"

// program runs the trials of all schemas.
const program = `package main

import (
	"context"
	"fmt"
	"os"
	"strconv"

	"github.com/foldql/foldql/internal/tests/differential/trial"
%s)

func main() {
	seed, err := strconv.ParseUint(os.Args[1], 10, 64)
	if err != nil {
		panic(err)
	}
	for i, s := range []trial.Schema{
%s	} {
		met, err := trial.Run(context.Background(), s, seed+uint64(i), %d)
		fmt.Println(s.Name, met)
		if err != nil {
			fmt.Println(s.Name, err)
			os.Exit(1)
		}
		for _, code := range []string{"ok", "BAD_USER_INPUT", "INVALID_TOKEN", "UNAUTHENTICATED", "FORBIDDEN"} {
			if met[code] < 10 {
				fmt.Println(s.Name, "met", code, met[code], "times, wanted 10 at least")
				os.Exit(1)
			}
		}
		all := 0
		for _, n := range met {
			all += n
		}
		if n := met["GRAPHQL_VALIDATION_FAILED"]; n > all/4 {
			fmt.Println(s.Name, "more than a quarter of the documents are not valid:", n, "of", all)
			os.Exit(1)
		}
	}
}
`

func number(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s=%q is not a number", name, text)
	}
	return n
}

// newModule makes a module that has the library, and no package.
func newModule(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "drawn")
	options := newproject.Options{Module: module, Library: newproject.Library{Checkout: "../../.."}}
	if err := newproject.Write(dir, options); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "go.") {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

// drawProject draws schemas until one is valid, and generates it, for clients of Relay or not.
func drawProject(t *testing.T, rng *rand.Rand, dir string, relay bool) {
	t.Helper()
	config := "schema: [schema.graphqls]\n"
	if relay {
		config += "foldql: {relay: true, relayId: uid}\n"
	}
	write(t, filepath.Join(dir, "gqlgen.yml"), config)
	var invalid schema.Diagnostics
	for range 50 {
		readModels, events := differential.Schema(rng)
		write(t, filepath.Join(dir, "schema.graphqls"), readModels)
		write(t, filepath.Join(dir, "events.graphqls"), events)
		err := gen.Generate(dir, io.Discard)
		if errors.As(err, &invalid) {
			continue
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, readModels)
		}
		return
	}
	t.Fatalf("no schema of 50 is valid; the last is not because of\n%v", invalid)
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
