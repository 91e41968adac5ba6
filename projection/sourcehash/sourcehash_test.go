package sourcehash_test

import (
	"fmt"
	"go/format"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"github.com/foldql/foldql/projection/sourcehash"
)

// sourcesOf are the Go files of a folder, with its tests.
func sourcesOf(t testing.TB, dir string) map[string]string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no sources in %s: %v", dir, err)
	}
	all := map[string]string{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(name)] = string(text)
	}
	return all
}

func sum(t rapid.TB, files map[string]string) string {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	hash, err := sourcehash.Sum(fsys)
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

// lexeme is a token as it stands in a file.
type lexeme struct {
	at  int
	tok token.Token
	lit string
}

func lexemes(text string) (all []lexeme) {
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(text))
	var s scanner.Scanner
	s.Init(file, []byte(text), nil, 0)
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return all
		}
		if tok.IsOperator() && tok != token.SEMICOLON {
			lit = tok.String()
		}
		all = append(all, lexeme{file.Offset(pos), tok, lit})
	}
}

const shop = "../../internal/shop/projection/projectors"

// TestTheHashIsThatOfTokens: comments, blank space, and a file's name do not change it, and any other token does.
func TestTheHashIsThatOfTokens(t *testing.T) {
	files := sourcesOf(t, shop)
	want := sum(t, files)
	var names []string
	for name, text := range files {
		if !strings.HasSuffix(name, "_test.go") && !strings.HasPrefix(text, "// Code generated") {
			names = append(names, name)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(names).Draw(t, "file")
		all := lexemes(files[name])
		changed := map[string]string{}
		for other, text := range files {
			changed[other] = text
		}

		// Another layout: something between any two tokens.
		var text strings.Builder
		for _, l := range all {
			switch {
			case l.tok == token.SEMICOLON && l.lit == "\n":
				text.WriteString(rapid.SampledFrom([]string{"\n", ";", " // said\n", "\n\n\t"}).Draw(t, "end"))
			case l.tok == token.SEMICOLON:
				text.WriteString("; ")
			default:
				text.WriteString(rapid.SampledFrom([]string{" ", "\t\t", " /* why */ "}).Draw(t, "space") + l.lit)
			}
		}
		delete(changed, name)
		changed["moved.go"] = text.String()
		if got := sum(t, changed); got != want {
			t.Fatalf("another layout of %s changes the hash:\n%s", name, text.String())
		}

		// Another token.
		var tokens []lexeme
		for _, l := range all {
			if l.tok == token.IDENT || l.tok.IsLiteral() {
				tokens = append(tokens, l)
			}
		}
		one := rapid.SampledFrom(tokens).Draw(t, "token")
		other := one.lit + "x"
		if one.tok == token.STRING {
			other = fmt.Sprintf("%q", one.lit)
		}
		delete(changed, "moved.go")
		changed[name] = files[name][:one.at] + other + files[name][one.at+len(one.lit):]
		if got := sum(t, changed); got == want {
			t.Fatalf("%s in place of %s, at %d of %s, does not change the hash", other, one.lit, one.at, name)
		}
	})
}

// TestWhatGofmtDoesIsNoChange, nor what its rules leave to people: commas at the end of lines, the order of imports.
func TestWhatGofmtDoesIsNoChange(t *testing.T) {
	const was = `package p

import (
"os"
m "math"
"fmt"
)

func f(a, b int) []string { fmt.Println(a, b); return []string{os.Args[0],
"x"} }

var pi = m.Pi
`
	const is = `package p // about it

import (
	"fmt"
	m "math"
	"os"
)

// f does.
func f(
	a, b int,
) []string {
	fmt.Println(a, b)
	return []string{
		os.Args[0],
		"x",
	}
}

var pi = m.Pi
`
	formatted, err := format.Source([]byte(was))
	if err != nil {
		t.Fatal(err)
	}
	want := sum(t, map[string]string{"a.go": was})
	for what, text := range map[string]string{"gofmt": string(formatted), "a person": is} {
		if got := sum(t, map[string]string{"a.go": text}); got != want {
			t.Errorf("as %s formats it, the hash is another", what)
		}
	}
	for what, change := range map[string][2]string{
		"an import":           {`m "math"`, `m "math/cmplx"`},
		"an operator":         {"fmt.Println(a, b)", "fmt.Println(a+b)"},
		"an order":            {"(a, b)", "(b, a)"},
		"a string":            {`"x"`, `"x "`},
		"a statement":         {"fmt.Println(a, b)", ""},
		"a constraint":        {"package p // about it", "//go:build linux\n\npackage p"},
		"an embedded file":    {"var pi", "//go:embed x\nvar pi"},
		"a parenthesis moved": {"(a, b)\n\treturn", "(a), b\n\treturn"},
	} {
		text := strings.Replace(is, change[0], change[1], 1)
		if got := sum(t, map[string]string{"a.go": text}); text == is || got == want {
			t.Errorf("%s does not change the hash", what)
		}
	}
}

// TestTestsAndGeneratedFilesDoNotCount, and a file that is added does.
func TestTestsAndGeneratedFilesDoNotCount(t *testing.T) {
	files := map[string]string{"a.go": "package p\n\nvar a = 1\n"}
	want := sum(t, files)
	files["a_test.go"] = "package p\n\nvar b = 2\n"
	files["gen.go"] = "// Code generated by foldql; DO NOT EDIT.\n\npackage p\n\nvar c = 3\n"
	files["a.txt"] = "said"
	if got := sum(t, files); got != want {
		t.Errorf("%v has the hash %s, and without all but the first %s", files, got, want)
	}
	files["other.go"] = "package p\n\nvar d = 4\n"
	if got := sum(t, files); got == want {
		t.Error("a file more does not change the hash")
	}
}

type local struct{}

// TestAPackageIsKnownByItsTypes, once it is registered, whether a projector is a pointer or not.
func TestAPackageIsKnownByItsTypes(t *testing.T) {
	if got := sourcehash.Of(local{}, nil); got != "" {
		t.Errorf("a package that is not registered has the hash %q", got)
	}
	sources := fstest.MapFS{"a.go": {Data: []byte("package p\n")}}
	sourcehash.Register(local{}, sources)
	want, err := sourcehash.Sum(sources)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []any{local{}, &local{}} {
		if got := sourcehash.Of(v, 7, v); got != want || got == "" {
			t.Errorf("of %T: %q, want %q", v, got, want)
		}
	}
}

// BenchmarkSum of the shop's projectors.
func BenchmarkSum(b *testing.B) {
	fsys := fstest.MapFS{}
	size := 0
	for name, text := range sourcesOf(b, shop) {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
		size += len(text)
	}
	b.SetBytes(int64(size))
	for b.Loop() {
		if _, err := sourcehash.Sum(fsys); err != nil {
			b.Fatal(err)
		}
	}
}
