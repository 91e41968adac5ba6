// Package unreadable says what is wrong with a GraphQL text that cannot be parsed, where the parser knows only that it
// is.
package unreadable

import (
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/lexer"
)

// Cause is why a text cannot be parsed: what the parser says, or what is wrong with a token, such as a number or a
// string, that the parser only calls invalid.
func Cause(text string, parsed error) error {
	if !strings.Contains(parsed.Error(), "<"+lexer.Invalid.Name()+">") {
		return parsed
	}
	tokens := lexer.New(&ast.Source{Input: text})
	for {
		switch token, err := tokens.ReadToken(); {
		case err != nil:
			return err
		case token.Kind == lexer.EOF: // the text itself has the word
			return parsed
		}
	}
}
