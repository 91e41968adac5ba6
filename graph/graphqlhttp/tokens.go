package graphqlhttp

import (
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/lexer"

	"github.com/foldql/foldql/graph/graphqlerr"
)

// What follows keeps the cost of one token bounded: validation copies names into its messages, and answers repeat
// aliases.
const (
	// maxName is how many bytes a name in a document may have: of an operation, variable, fragment, field, type, or value.
	maxName = 256
	// maxNumber is how many bytes a number may have. The longest Decimal has 1,998 digits.
	maxNumber = 2048
)

// checkTokens refuses a document in which a name or number is too long, or values nest too deep, before it is parsed.
// What is no GraphQL, or has too many tokens, is for the parser to say.
func (d *documents) checkTokens(query string) *gqlerror.Error {
	var (
		t        = lexer.New(&ast.Source{Input: query})
		inParens bool
		nested   int
	)
	for range d.tokens {
		token, err := t.ReadToken()
		if err != nil || token.Kind == lexer.EOF {
			return nil
		}
		switch token.Kind {
		case lexer.Name:
			if len(token.Value) > maxName {
				return tooLong("name", token, maxName)
			}
		case lexer.Int, lexer.Float:
			if len(token.Value) > maxNumber {
				return tooLong("number", token, maxNumber)
			}
		case lexer.ParenL:
			inParens, nested = true, 0
		case lexer.ParenR:
			inParens = false
		case lexer.BracketL, lexer.BraceL:
			if nested++; inParens && nested > d.limits.depth {
				return exceeded("values nest %d deep", nested, d.limits.depth)
			}
		case lexer.BracketR, lexer.BraceR:
			nested--
		}
	}
	return nil
}

func tooLong(what string, token lexer.Token, limit int) *gqlerror.Error {
	err := coded(graphqlerr.LimitExceeded, "a %s has %d bytes; at most %d are allowed", what, len(token.Value), limit)
	err.Locations = []gqlerror.Location{{Line: token.Pos.Line, Column: token.Pos.Column}}
	return err
}
