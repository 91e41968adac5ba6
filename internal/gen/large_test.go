package gen

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/foldql/foldql/internal/newproject"
)

// BenchmarkTwoHundredModels measures how long it takes to generate a project of 200 models, and to compile it where its
// dependencies are compiled.
func BenchmarkTwoHundredModels(b *testing.B) {
	for b.Loop() {
		dir := b.TempDir()
		options := newproject.Options{
			Module:  fmt.Sprintf("example.com/models%d", time.Now().UnixNano()), // nothing of it was compiled before
			Library: newproject.Library{Checkout: "../.."},
		}
		if err := newproject.Write(dir, options); err != nil {
			b.Fatal(err)
		}
		for _, example := range []string{"projection", "cmd"} {
			if err := os.RemoveAll(filepath.Join(dir, example)); err != nil {
				b.Fatal(err)
			}
		}
		write(b, filepath.Join(dir, "events.graphqls"), "type Changed {\n  id: ID!\n}\n")
		write(b, filepath.Join(dir, lockFile), "")
		generateModels(b, dir, 1) // compiles the generator, and what the project depends on
		runGo(b, dir, "build", "./...")

		began := time.Now()
		generateModels(b, dir, 200)
		generated := time.Now()
		runGo(b, dir, "build", "./...")
		b.ReportMetric(generated.Sub(began).Seconds(), "s/generate")
		b.ReportMetric(time.Since(generated).Seconds(), "s/compile")
	}
}

// generateModels generates a project of n models of ten fields, with two indexes and a join each.
func generateModels(b *testing.B, dir string, n int) {
	b.Helper()
	var schema strings.Builder
	for i := range n {
		fmt.Fprintf(&schema, `type Model%d @readModel(events: ["Changed"]) {
  id: ID! @id
  state: String! @index(name: "byState")
  owner: ID! @index(name: "byOwner")
  nextId: ID! @resolves(table: "Model%d", field: "next")
  at: DateTime! @indexSubId(name: "byState") @indexSubId(name: "byOwner")
  name: String!
  note: String
  count: Int!
  size: Float
  done: Boolean!
}
`, i, (i+1)%n)
	}
	write(b, filepath.Join(dir, "schema.graphqls"), schema.String())
	generate(b, dir)
}
