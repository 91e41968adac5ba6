// Package house holds the rules of the house that the compiler does not know.
package house

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/foldql/foldql"

// allowed says which packages of this module each package may import; a package that is not listed may import none.
// An entry that ends in "/..." stands for a folder and all below it. A change of direction is a change of this table.
var allowed = map[string][]string{
	"keys":                      {},
	"querydb/record":            {"keys"},
	"querydb/driver":            {"keys", "querydb/record"},
	"querydb":                   {"keys", "querydb/driver", "querydb/record"},
	"querydb/drivertest":        {"keys", "querydb/driver", "querydb/record", "querydb/memstore"},
	"querydb/memstore":          {"keys", "querydb/driver", "querydb/record"},
	"querydb/pebblestore":       {"keys", "querydb/driver", "querydb/record", "internal/orderedfs"},
	"querydb/dynamostore":       {"keys", "querydb/driver", "querydb/record"},
	"auth":                      {},
	"eventlog":                  {},
	"eventlog/embeddedlog":      {"eventlog", "eventlog/internal/admit", "internal/orderedfs"},
	"eventlog/...":              {"keys", "eventlog", "eventlog/..."},
	"projection":                {"keys", "querydb", "querydb/driver", "querydb/record", "eventlog"},
	"projection/projectiontest": {"keys", "querydb", "querydb/driver", "querydb/record", "querydb/memstore", "eventlog", "eventlog/memlog", "projection"},
	"projection/ops":            {"keys", "querydb", "eventlog", "projection", "model", "event"},
	"projection/shop":           {"keys", "querydb", "projection", "projection/ops", "model", "event"},
	"projection/shop/sample":    {"eventlog"},
	"model":                     {"keys", "querydb", "querydb/driver", "querydb/record"},
	"event":                     {"keys", "eventlog", "eventlog/data"},
	"graph":                     {"keys", "querydb", "querydb/driver", "querydb/record", "auth", "graph/graphqlerr"},
	"graph/graphqlerr":          {},
	"graph/graphqlhttp":         {"graph/graphqlerr"},
	"graph/playground":          {},
	"graph/generated":           {"keys", "querydb", "querydb/driver", "model", "graph"},
}

// wires may import everything: they put the parts together, or stand outside of the running program.
var wires = []string{"server", "cmd", "internal", "examples"}

// TestImportsPointTheWayTheHouseIsBuilt keeps the two ways of the data apart, drivers thin and keys a leaf.
func TestImportsPointTheWayTheHouseIsBuilt(t *testing.T) {
	for pkg, imports := range packages(t) {
		if slices.ContainsFunc(wires, func(w string) bool { return pkg == w || strings.HasPrefix(pkg, w+"/") }) {
			continue
		}
		rules, ok := rulesOf(pkg)
		if !ok && len(imports) > 0 {
			t.Errorf("package %s is not in the table of allowed imports: give it a place there", pkg)
			continue
		}
		for _, imp := range imports {
			if !slices.ContainsFunc(rules, func(r string) bool { return matches(r, imp) }) {
				t.Errorf("package %s must not import %s", pkg, imp)
			}
		}
	}
}

// TestSDKsStayInTheirDrivers: a store's library appears in its driver alone, and no runtime package parses SDL.
func TestSDKsStayInTheirDrivers(t *testing.T) {
	homes := map[string][]string{
		"github.com/cockroachdb/pebble/v2":      {"querydb/pebblestore", "eventlog/embeddedlog", "internal"},
		"github.com/aws/aws-sdk-go-v2":          {"querydb/dynamostore", "server", "internal"},
		"github.com/aws/smithy-go":              {"querydb/dynamostore", "server", "internal"},
		"github.com/99designs/gqlgen/api":       {"internal"},
		"github.com/vektah/gqlparser/v2/parser": {"internal", "graph/graphqlhttp"},
	}
	for pkg, imports := range allImports(t) {
		for lib, rooms := range homes {
			uses := slices.ContainsFunc(imports, func(i string) bool { return i == lib || strings.HasPrefix(i, lib+"/") })
			if uses && !slices.ContainsFunc(rooms, func(r string) bool { return pkg == r || strings.HasPrefix(pkg, r+"/") }) {
				t.Errorf("package %s must not import %s", pkg, lib)
			}
		}
	}
}

func rulesOf(pkg string) ([]string, bool) {
	if r, ok := allowed[pkg]; ok {
		return r, true
	}
	for pattern, r := range allowed {
		if matches(pattern, pkg) {
			return r, true
		}
	}
	return nil, false
}

func matches(pattern, pkg string) bool {
	folder, all := strings.CutSuffix(pattern, "/...")
	if all {
		return strings.HasPrefix(pkg, folder+"/")
	}
	return pkg == pattern
}

// packages returns what each package of this module imports of this module.
func packages(t *testing.T) map[string][]string {
	own := map[string][]string{}
	for pkg, imports := range allImports(t) {
		own[pkg] = nil
		for _, i := range imports {
			if rest, ok := strings.CutPrefix(i, module+"/"); ok {
				own[pkg] = append(own[pkg], rest)
			}
		}
	}
	return own
}

func allImports(t *testing.T) map[string][]string {
	t.Helper()
	cmd := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("list the packages of the module: %v", err)
	}
	all := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		all[strings.TrimPrefix(words[0], module+"/")] = words[1:]
	}
	return all
}
