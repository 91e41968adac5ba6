package unreadable_test

import (
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"

	"github.com/foldql/foldql/internal/unreadable"
)

func TestATokenThatCannotBeReadIsNamed(t *testing.T) {
	for text, want := range map[string]string{
		"{ a(n: 007) }":       "unexpected digit after 0",
		"{ a(n: 1.) }":        "expected digit",
		`{ a(s: "x) }`:        "Unterminated string",
		"{ a(s: 'x') }":       "single quote",
		"{ a(s: <Invalid>) }": `unexpected character "<"`,
		`{ a "<Invalid>" }`:   "Expected Name, found String",
		"{ a":                 "Expected Name, found <EOF>",
	} {
		_, err := parser.ParseQuery(&ast.Source{Input: text})
		if err == nil {
			t.Fatalf("%s is parsed", text)
		}
		if got := unreadable.Cause(text, err); !strings.Contains(got.Error(), want) {
			t.Errorf("%s: %v, want %q; the parser says %v", text, got, want, err)
		}
	}
}
