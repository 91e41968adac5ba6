// Package graphqlerr makes the errors that clients of the API see. Each carries one code of a closed list in its
// extensions, so that programs need not read messages. Resolvers of your own make theirs with [New]; an error of any
// other kind reaches clients as INTERNAL, without its text.
package graphqlerr

import (
	"errors"
	"fmt"

	"github.com/vektah/gqlparser/v2/gqlerror"
)

// Code says what kind of error it is; it stands in extensions.code.
type Code string

// The closed list of codes.
const (
	BadUserInput     Code = "BAD_USER_INPUT"
	InvalidToken     Code = "INVALID_TOKEN"
	Unauthenticated  Code = "UNAUTHENTICATED"
	Forbidden        Code = "FORBIDDEN"
	ParseFailed      Code = "GRAPHQL_PARSE_FAILED"
	ValidationFailed Code = "GRAPHQL_VALIDATION_FAILED"
	LimitExceeded    Code = "LIMIT_EXCEEDED"
	Timeout          Code = "TIMEOUT"
	Unavailable      Code = "UNAVAILABLE"
	// Rebuilding is of what is not known of rows that were written under a former schema, until they are rebuilt.
	Rebuilding Code = "REBUILDING"
	// Stale is of rows that have not come to the position that the request asks for, in the time that it may wait.
	Stale Code = "STALE"
	// AggregateIncomplete is of stored items that make no whole object.
	AggregateIncomplete Code = "AGGREGATE_INCOMPLETE"
	// DocumentNotFound is of a document that is asked by an identifier and not known; clients then send the document.
	DocumentNotFound Code = "PERSISTED_QUERY_NOT_FOUND"
	// Untrusted is of a document that a server does not answer, since it is none of those that it was given.
	Untrusted Code = "UNTRUSTED_DOCUMENT"
	Internal  Code = "INTERNAL"
)

// IsListed reports whether the code is one of the closed list. Resolvers of your own can give others.
func (c Code) IsListed() bool {
	switch c {
	case BadUserInput, InvalidToken, Unauthenticated, Forbidden, ParseFailed, ValidationFailed, LimitExceeded, Timeout,
		Unavailable, Rebuilding, Stale, AggregateIncomplete, DocumentNotFound, Untrusted, Internal:
		return true
	}
	return false
}

// New makes an error with a code and a message that clients may read. An error in args that format wraps with %w can
// be found by errors.Is; its text becomes part of the message.
func New(code Code, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return &gqlerror.Error{
		Err:        errors.Unwrap(err),
		Message:    err.Error(),
		Extensions: map[string]any{"code": string(code)},
	}
}

// WithExtension adds a member to the extensions of an error that New has made.
func WithExtension(err error, name string, value any) error {
	var gql *gqlerror.Error
	if errors.As(err, &gql) {
		gql.Extensions[name] = value
	}
	return err
}

// CodeOf returns the code that the error carries, "" where it carries none.
func CodeOf(err error) Code {
	var gql *gqlerror.Error
	if !errors.As(err, &gql) {
		return ""
	}
	switch code := gql.Extensions["code"].(type) {
	case Code:
		return code
	case string:
		return Code(code)
	}
	return ""
}

// MessageOf returns the message of the error with a code that err is or wraps, without the place that its text begins
// with; and the text of any other error. It is "" for nil.
func MessageOf(err error) string {
	if err == nil {
		return ""
	}
	var gql *gqlerror.Error
	if errors.As(err, &gql) {
		return gql.Message
	}
	return err.Error()
}

// MessagesOf returns the messages of all errors of a document that err is or wraps, each after its line and column
// where it has a place; and the text of any other error.
func MessagesOf(err error) []string {
	var all gqlerror.List
	var one *gqlerror.Error
	switch {
	case errors.As(err, &all):
	case errors.As(err, &one):
		all = gqlerror.List{one}
	default:
		return []string{err.Error()}
	}
	messages := make([]string, len(all))
	for i, e := range all {
		messages[i] = e.Message
		if len(e.Locations) > 0 {
			messages[i] = fmt.Sprintf("%d:%d: %s", e.Locations[0].Line, e.Locations[0].Column, e.Message)
		}
	}
	return messages
}
