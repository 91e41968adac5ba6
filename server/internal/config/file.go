package config

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/alecthomas/kong"
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// file has the values of the flags that a file gives, by their names: texts, or lists of these.
type file struct {
	read    map[string]any // as YAML reads them: 0x10 is 16
	written map[string]any // as they are written: a secret of digits alone is no number
}

// value is the value of a flag; nil where the file gives none.
func (f *file) value(flag *kong.Flag) any {
	kind := flag.Target.Type()
	if kind.Kind() == reflect.Slice {
		kind = kind.Elem()
	}
	if kind.Kind() == reflect.String {
		return f.written[flag.Name]
	}
	return f.read[flag.Name]
}

// parseFile reads a mapping from names of flags to values.
func parseFile(text []byte, names []string) (f file, err error) {
	if err := yaml.Unmarshal(text, &f.read); err != nil {
		return f, errors.New(yaml.FormatError(err, false, false)) // without the text, which may hold secrets
	}
	if f.written, err = asWritten(text); err != nil {
		return f, errors.New(yaml.FormatError(err, false, false))
	}
	if err := checkOneDocument(text); err != nil {
		return f, err
	}
	for _, values := range []map[string]any{f.read, f.written} {
		for key, value := range values {
			if !slices.Contains(names, key) {
				return f, fmt.Errorf("%s: there is no such key; the keys are the names of the flags, such as listen", key)
			}
			flat, err := scalarOrList(value)
			if err != nil {
				return f, fmt.Errorf("%s: %w", key, err)
			}
			values[key] = flat
		}
	}
	return f, nil
}

// checkOneDocument returns an error where YAML begins another document, of which nothing would be read. A directive,
// such as %YAML 1.2, is the rest of its line, and begins none: the --- after it does.
func checkOneDocument(text []byte) error {
	begun, ended, directive := false, false, 0
	for _, t := range lexer.Tokenize(string(text)) {
		switch t.Type {
		case token.CommentType:
		case token.DirectiveType:
			directive = t.Position.Line
		case token.DocumentHeaderType, token.DocumentEndType:
			begun, ended = true, begun
		default:
			if t.Position.Line == directive {
				continue
			}
			if ended {
				return fmt.Errorf("line %d is in another YAML document: put all keys into one, without a line --- or ... "+
					"between them", t.Position.Line)
			}
			begun = true
		}
	}
	return nil
}

// asWritten reads a mapping whose scalars are texts, as they are written.
func asWritten(text []byte) (values map[string]any, err error) {
	parsed, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, err
	}
	first := slices.IndexFunc(parsed.Docs, func(d *ast.DocumentNode) bool { return !isDirective(d) })
	if first < 0 || parsed.Docs[first].Body == nil {
		return nil, nil
	}
	body := parsed.Docs[first].Body
	ast.Walk(verbatim{}, body)
	return values, yaml.NodeToValue(body, &values)
}

// isDirective reports whether what the parser calls a document is a directive, which stands before one.
func isDirective(d *ast.DocumentNode) bool {
	return d.Body != nil && d.Body.Type() == ast.DirectiveType
}

// verbatim makes texts of numbers and truth values.
type verbatim struct{}

// Visit implements ast.Visitor.
func (verbatim) Visit(n ast.Node) ast.Visitor {
	switch n := n.(type) {
	case *ast.MappingValueNode:
		n.Value = textOf(n.Value)
	case *ast.SequenceNode:
		for i := range n.Values {
			n.Values[i] = textOf(n.Values[i])
		}
	case *ast.AnchorNode:
		n.Value = textOf(n.Value)
	case *ast.TagNode:
		n.Value = textOf(n.Value)
	}
	return verbatim{}
}

func textOf(n ast.Node) ast.Node {
	switch n.(type) {
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode, *ast.BoolNode:
		return ast.String(n.GetToken())
	}
	return n
}

// scalarOrList turns a value of YAML into one that a flag can read.
func scalarOrList(value any) (any, error) {
	switch v := value.(type) {
	case nil:
		return nil, errors.New("it has no value; give one, or leave the key out")
	case map[string]any:
		return nil, errors.New("want a value or a list, got a mapping")
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			switch item.(type) {
			case nil, []any, map[string]any:
				return nil, errors.New("want a list of plain values")
			}
			list[i] = fmt.Sprint(item)
		}
		return list, nil
	}
	return fmt.Sprint(value), nil
}
