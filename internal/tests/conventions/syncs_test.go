package conventions

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// TestWhatIsSyncedIsOpenForWriting: Windows refuses to sync a file that is open for reading alone, and any directory,
// for which disk.SyncDir is.
func TestWhatIsSyncedIsOpenForWriting(t *testing.T) {
	for name, text := range handWritten(t) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			for _, at := range syncsOfReaders(decl) {
				t.Errorf("%s: a sync of what os.Open has opened: open it for writing, or call disk.SyncDir", set.Position(at))
			}
		}
	}
}

// syncsOfReaders is where a declaration syncs what it has opened for reading.
func syncsOfReaders(decl ast.Decl) (all []token.Pos) {
	readers := map[string]bool{}
	ast.Inspect(decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			call, ok := n.Rhs[0].(*ast.CallExpr)
			to, named := n.Lhs[0].(*ast.Ident)
			if ok && named {
				readers[to.Name] = isCall(call, "os", "Open")
			}
		case *ast.CallExpr:
			if of, ok := n.Fun.(*ast.SelectorExpr); ok {
				if f, named := of.X.(*ast.Ident); named && readers[f.Name] && of.Sel.Name == "Sync" {
					all = append(all, n.Pos())
				}
			}
		}
		return true
	})
	return all
}

// isCall reports whether a function of a package is called.
func isCall(call *ast.CallExpr, pkg, name string) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	of, ok := f.X.(*ast.Ident)
	return ok && of.Name == pkg && f.Sel.Name == name
}
