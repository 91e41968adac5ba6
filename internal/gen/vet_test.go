package gen

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/foldql/foldql/internal/gen/outfile"
	"github.com/foldql/foldql/internal/newproject"
)

// TestWhatCasesWantCompiles, each by itself: in the project of all cases, one can use what another imports in vain.
func TestWhatCasesWantCompiles(t *testing.T) {
	dir := newModule(t)
	for _, c := range caseFolders(t) {
		addPackages(t, dir, filepath.Base(c), readWanted(t, filepath.Join(c, "want")))
	}
	runGo(t, dir, "vet", "./...")
}

// newModule makes a module that has the library, and no package.
func newModule(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	options := newproject.Options{Module: "example.com/shop", Library: newproject.Library{Checkout: "../.."}}
	if err := newproject.Write(dir, options); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"cmd", "projection"} {
		if err := os.RemoveAll(filepath.Join(dir, folder)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// addPackages puts what is generated for a schema into a folder of the module example.com/shop.
func addPackages(t *testing.T, module, folder string, files map[string]string) {
	t.Helper()
	files["graph/generated/exec.go"] = executorOf(files["graph/generated/resolvers.go"])
	files["graph/resolver.go"] = ownersStandIn
	for path, text := range files {
		text = strings.ReplaceAll(text, `"example.com/shop/`, `"example.com/shop/`+folder+"/")
		if err := outfile.WriteIfChanged(filepath.Join(module, folder, path), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
}

// ownersStandIn is what a project writes that has queries of its own.
const ownersStandIn = `package graph

import (
	"github.com/foldql/foldql/graph"

	"example.com/shop/graph/generated"
)

func NewResolver(*graph.Runtime) generated.Own { return nil }
`

// executorOf declares what resolvers use of gqlgen's executor, whose generation takes seconds for each schema.
func executorOf(resolvers string) string {
	var b strings.Builder
	b.WriteString(`package generated

import (
	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

var (
	sources      []*ast.Source
	parsedSchema *ast.Schema
)

type Config struct {
	Schema    *ast.Schema
	Resolvers any
}

func NewExecutableSchema(Config) graphql.ExecutableSchema { return nil }

type (
	Own      interface{ Query() OwnQuery }
	OwnQuery any
)
`)
	for _, method := range regexp.MustCompile(`func \(r \*root\) \w+\(\) (\w+)`).FindAllStringSubmatch(resolvers, -1) {
		fmt.Fprintf(&b, "\ntype %s any\n", method[1])
	}
	return b.String()
}
