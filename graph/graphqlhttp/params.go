package graphqlhttp

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"
	"github.com/mailru/easyjson/jlexer"
)

// readParams reads the JSON body of a request. Parameters that GraphQL over HTTP does not have are passed over.
func readParams(body []byte, params *graphql.RawParams) error {
	if err := checkJSON(body); err != nil {
		return err
	}
	l := &jlexer.Lexer{Data: body}
	if !l.IsDelim('{') {
		return errors.New("the body must be one JSON object (requests are not batched)")
	}
	var err error
	members(l, func(name string) {
		switch name {
		case "query":
			params.Query, err = text(l, name, err)
		case "operationName":
			params.OperationName, err = text(l, name, err)
		case "variables":
			params.Variables, err = object(l, name, err)
		case "extensions":
			params.Extensions, err = object(l, name, err)
		default:
			l.SkipRecursive()
		}
	})
	return errors.Join(err, l.Error())
}

// readObject reads a JSON object, or null.
func readObject(b []byte) (map[string]any, error) {
	if err := checkJSON(b); err != nil {
		return nil, err
	}
	l := &jlexer.Lexer{Data: b}
	m, err := object(l, "the parameter", nil)
	return m, errors.Join(err, l.Error())
}

// checkJSON refuses what is no JSON in UTF-8; what is read after it need not be checked for its form.
func checkJSON(b []byte) error {
	if !json.Valid(b) || !utf8.Valid(b) {
		return errors.New("this is not JSON in UTF-8")
	}
	return nil
}

// text reads a string or null. err is that of an earlier parameter, which stays.
func text(l *jlexer.Lexer, name string, err error) (string, error) {
	if l.IsNull() {
		l.Null()
		return "", err
	}
	if l.CurrentToken() != jlexer.TokenString {
		l.SkipRecursive()
		return "", errors.Join(err, fmt.Errorf("%s must be a string", name))
	}
	return l.String(), err
}

// object reads an object or null.
func object(l *jlexer.Lexer, name string, err error) (map[string]any, error) {
	if l.IsNull() {
		l.Null()
		return nil, err
	}
	if !l.IsDelim('{') {
		l.SkipRecursive()
		return nil, errors.Join(err, fmt.Errorf("%s must be an object", name))
	}
	return value(l).(map[string]any), err
}

// value reads any value; numbers stay text, so that they lose no digits.
func value(l *jlexer.Lexer) any {
	switch {
	case l.IsNull():
		l.Null()
		return nil
	case l.IsDelim('{'):
		m := map[string]any{}
		members(l, func(name string) { m[strings.Clone(name)] = value(l) })
		return m
	case l.IsDelim('['):
		list := []any{}
		for l.Delim('['); l.Ok() && !l.IsDelim(']'); l.WantComma() {
			list = append(list, value(l))
		}
		l.Delim(']')
		return list
	case l.CurrentToken() == jlexer.TokenNumber:
		return l.JsonNumber()
	case l.CurrentToken() == jlexer.TokenBool:
		return l.Bool()
	}
	return l.String()
}

// members calls each with the name of every member of an object; each reads the value. The name is the body's memory.
func members(l *jlexer.Lexer, each func(name string)) {
	for l.Delim('{'); l.Ok() && !l.IsDelim('}'); l.WantComma() {
		name := l.UnsafeFieldName(false)
		l.WantColon()
		each(name)
	}
	l.Delim('}')
}
