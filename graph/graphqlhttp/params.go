package graphqlhttp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"
	"github.com/mailru/easyjson/jlexer"

	"github.com/foldql/foldql/graph/graphqlhttp/internal/plainjson"
)

// paramReader reads the parameters of a request. A value takes many times the memory of its text, so that there may be
// only so many of them.
type paramReader struct {
	*jlexer.Lexer
	values, most int // in variables and extensions: those read, and those that there may be
	depth        int
}

// params are the parameters of a request: those of gqlgen, and the identifier of a document.
type params struct {
	graphql.RawParams
	documentID string
	known      *keptQuery // the query, where it is kept under the text that the body has; nil where that is not known
	learns     string     // the hash of the query, where the request says it and the query is to be kept by it
	// plain is the text of the variables, which no Variables have been made of yet, in the memory of the body; nil where
	// it has another form than most have.
	plain []byte
	body  *[]byte // of those that are read again and again; nil where there is none
}

// readVariables makes the variables of their text, where that has not been done.
func (p *params) readVariables() {
	if p.Variables == nil && p.plain != nil {
		p.Variables = plainjson.Members(p.plain)
	}
}

// end gives the memory of the body back.
func (p *params) end() {
	if p.body != nil {
		bodies.Put(p.body)
		p.body, p.plain = nil, nil
	}
}

// maxNesting is how many lists and objects of variables may stand inside one another.
const maxNesting = 100

var errNesting = fmt.Errorf("variables nest more than %d deep", maxNesting)

// tooManyValues is the error of variables that are more than they may be.
type tooManyValues struct{ most int }

func (e *tooManyValues) Error() string {
	return fmt.Sprintf("variables and extensions have more than %d values", e.most)
}

// readParams reads the JSON body of a request. Parameters that GraphQL over HTTP does not have are passed over.
func readParams(body []byte, params *params, mostValues int, known *queryTexts) error {
	text, rest := leadingQuery(body)
	if query := known.get(text); query != nil {
		params.Query, params.known = query.query, query
		if readPlain(rest, params, mostValues) {
			return nil
		}
		rest[0] = '{' // in place of the comma: what is left is an object too
		return readMembers(rest, params, mostValues)
	}
	err := readMembers(body, params, mostValues)
	if err == nil && text != nil {
		known.add(text)
	}
	return err
}

var (
	queryFirst      = []byte(`{"query":"`)
	beforeVariables = []byte(`,"variables":`)
	beforeName      = []byte(`,"operationName":`)
	lastBrace       = []byte(`}`)
)

// readPlain reads what most clients send after the query: variables without lists and objects, and perhaps the name of
// the operation. Where it is anything else, or too much, it changes nothing.
func readPlain(rest []byte, params *params, mostValues int) bool {
	object, ok := bytes.CutPrefix(rest, beforeVariables)
	if !ok {
		return false
	}
	variables, rest, ok := plainjson.Object(object, mostValues-1)
	if !ok {
		return false
	}
	var name []byte
	if after, named := bytes.CutPrefix(rest, beforeName); named {
		if name, rest, ok = plainjson.String(after); !ok {
			return false
		}
	}
	if !bytes.Equal(rest, lastBrace) {
		return false
	}
	params.plain, params.OperationName = variables, string(name)
	return true
}

// leadingQuery returns the text of the query that a body begins with, in its quotes, and what follows it, from the
// comma on: nil where the body does not begin so, or no other member follows. It is a text only if the body is JSON.
func leadingQuery(body []byte) (text, rest []byte) {
	if !bytes.HasPrefix(body, queryFirst) {
		return nil, nil
	}
	from := len(queryFirst) - 1
	end := from + 1
	for ended := false; !ended; end++ {
		n := bytes.IndexByte(body[end:], '"')
		if n < 0 {
			return nil, nil
		}
		end += n
		before := body[from:end]
		ended = (len(before)-len(bytes.TrimRight(before, `\`)))%2 == 0
	}
	if text, rest = body[from:end], body[end:]; !bytes.HasPrefix(rest, []byte(`,"`)) {
		return nil, nil
	}
	return text, rest
}

// readMembers reads the parameters in an object.
func readMembers(object []byte, params *params, mostValues int) error {
	if err := checkJSON(object); err != nil {
		return err
	}
	l := &paramReader{Lexer: &jlexer.Lexer{Data: object}, most: mostValues}
	if !l.IsDelim('{') {
		return errors.New("the body must be one JSON object (requests are not batched)")
	}
	var err error
	l.members(func(name string) {
		switch name {
		case "query":
			params.Query, err = l.text(name, err)
		case "documentId":
			params.documentID, err = l.text(name, err)
		case "operationName":
			params.OperationName, err = l.text(name, err)
		case "variables":
			params.Variables, err = l.object(name, err)
		case "extensions":
			params.Extensions, err = l.object(name, err)
		default:
			l.SkipRecursive()
		}
	})
	return errors.Join(err, l.Error())
}

// readObject reads a JSON object, or null.
func readObject(b []byte, mostValues int) (map[string]any, error) {
	if err := checkJSON(b); err != nil {
		return nil, err
	}
	l := &paramReader{Lexer: &jlexer.Lexer{Data: b}, most: mostValues}
	m, err := l.object("the parameter", nil)
	return m, errors.Join(err, l.Error())
}

// checkJSON refuses what is no JSON in UTF-8, or has half a surrogate pair; what is read after it need not be checked
// for its form.
func checkJSON(b []byte) error {
	if !json.Valid(b) || !utf8.Valid(b) {
		return errors.New("this is not JSON in UTF-8")
	}
	return checkJSONEscapes(b)
}

// text reads a string or null. err is that of an earlier parameter, which stays.
func (l *paramReader) text(name string, err error) (string, error) {
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
func (l *paramReader) object(name string, err error) (map[string]any, error) {
	if l.IsNull() {
		l.Null()
		return nil, err
	}
	if !l.IsDelim('{') {
		l.SkipRecursive()
		return nil, errors.Join(err, fmt.Errorf("%s must be an object", name))
	}
	m, _ := l.value().(map[string]any)
	return m, err
}

// value reads any value; numbers stay text, so that they lose no digits. Too many values, or too deep ones, are an
// error of the lexer, with which all reading ends.
func (l *paramReader) value() any {
	l.depth++
	defer func() { l.depth-- }()
	if l.values++; l.values > l.most {
		l.AddError(&tooManyValues{l.most})
	} else if l.depth > maxNesting {
		l.AddError(errNesting)
	}
	switch {
	case !l.Ok():
		return nil
	case l.IsNull():
		l.Null()
		return nil
	case l.IsDelim('{'):
		m := map[string]any{}
		l.members(func(name string) { m[strings.Clone(name)] = l.value() })
		return m
	case l.IsDelim('['):
		list := []any{}
		for l.Delim('['); l.Ok() && !l.IsDelim(']'); l.WantComma() {
			list = append(list, l.value())
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
func (l *paramReader) members(each func(name string)) {
	for l.Delim('{'); l.Ok() && !l.IsDelim('}'); l.WantComma() {
		name := l.UnsafeFieldName(false)
		l.WantColon()
		each(name)
	}
	l.Delim('}')
}
