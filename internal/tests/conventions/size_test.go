package conventions

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// Sizes up to which a reader finds his way.
const (
	mostFiles   = 20  // of a package, beside tests
	mostLines   = 400 // of a file, beside tests
	mostMethods = 20  // of a type
	mostColumns = 120 // of a line; a tab is one
)

// larger are the packages and types that may be larger, and their sizes: they may shrink, and not grow.
var larger = map[string]int{
	// Faces of one job, as their doc comments say.
	"eventlog/data.Reader":           29,
	"eventlog/internal/scan.Scanner": 23,
}

// TestPackagesHaveFewFiles: beside tests and generated files, about as many as one reads the names of at once.
func TestPackagesHaveFewFiles(t *testing.T) {
	files := map[string]int{}
	for name := range handWritten(t) {
		if !strings.HasSuffix(name, "_test.go") {
			files[path.Dir(name)]++
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(files)) {
		if most := max(mostFiles, larger[dir]); files[dir] > most {
			t.Errorf("package %s has %d files, at most %d may be: split it by subject", dir, files[dir], most)
		}
	}
}

// TestFilesAreShort: a longer one has several subjects.
func TestFilesAreShort(t *testing.T) {
	for name, text := range handWritten(t) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		if lines := bytes.Count(text, []byte("\n")); lines > mostLines {
			t.Errorf("%s has %d lines, at most %d may be: split it by subject", name, lines, mostLines)
		}
	}
}

// TestTypesHaveFewMethods: a type with more has several jobs.
func TestTypesHaveFewMethods(t *testing.T) {
	methods := map[string]int{}
	for name, text := range handWritten(t) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil {
				methods[path.Dir(name)+"."+receiver(f.Recv.List[0].Type)]++
			}
		}
	}
	for _, typ := range slices.Sorted(maps.Keys(methods)) {
		if most := max(mostMethods, larger[typ]); methods[typ] > most {
			t.Errorf("type %s has %d methods, at most %d may be: give some of its work to others",
				typ, methods[typ], most)
		}
	}
}

// receiver is the name of the type that a method is of.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return "?"
}

// TestLinesAreNarrow, but for what stands in a raw string: documents, requests and answers are as they are sent.
func TestLinesAreNarrow(t *testing.T) {
	for name, text := range handWritten(t) {
		raw := rawLines(text)
		number := 0
		for line := range bytes.Lines(text) {
			number++
			line = bytes.TrimRight(line, "\n")
			if n := utf8.RuneCount(line); n > mostColumns && !raw[number] && !bytes.HasPrefix(line, []byte("//go:")) {
				t.Errorf("%s:%d has %d columns, at most %d may be", name, number, n, mostColumns)
			}
		}
	}
}

// rawLines are the numbers of the lines that a raw string stands in.
func rawLines(text []byte) map[int]bool {
	lines := map[int]bool{}
	file := token.NewFileSet().AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, 0)
	for {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			return lines
		}
		if tok == token.STRING && literal[0] == '`' {
			for i := range strings.Count(literal, "\n") + 1 {
				lines[file.Line(pos)+i] = true
			}
		}
	}
}
