// Package argument says what is wrong with an argument of a field, in the same words whichever executor reads it.
package argument

import (
	"errors"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// Error is an error of an argument. Its path is that of the field, where clients look for it; its message names the
// place in the argument.
type Error struct{ of gqlerror.Error }

// Wrong returns the error of an argument at a place: its name, an element of its list, a field there. It has no path
// yet.
func Wrong(place ast.Path, err error) *Error {
	var gql *gqlerror.Error
	if !errors.As(err, &gql) {
		gql = gqlerror.Wrap(err)
	}
	e := &Error{*gql}
	e.of.Path, e.of.Message = nil, "argument "+place.String()+": "+gql.Message
	return e
}

func (e *Error) Error() string { return e.of.Message }
func (e *Error) Unwrap() error { return &e.of }
