package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/data"
	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/rule"
	"github.com/foldql/foldql/internal/schema/sdl"
	"github.com/vektah/gqlparser/v2/ast"
)

// readDefaults reads the values of fields that an event does not have. All types are known by now. A default must be
// what an event could have in the field, and is read as such, once all of them are known: an object in one may lack
// fields that have defaults in turn.
func (l *eventReader) readDefaults(objects []*ast.Definition, types map[string]*schema.EventType) {
	given := map[*schema.EventField]*ast.Directive{}
	for _, def := range objects {
		for i, f := range def.Fields {
			d, field := f.Directives.ForName("default"), types[def.Name].Fields[i]
			if d == nil || field.Scalar == "" && field.Object == nil { // whose type was reported
				continue
			}
			if field.Nullable {
				l.Add(rule.DefaultNullable.Broken(sdl.Position(d.Position), def.Name, f.Name, f.Type.String()))
				continue
			}
			text, err := literal(d.Arguments.ForName("value").Value, field)
			if err != nil {
				l.wrongDefault(d, def, f, err)
				continue
			}
			field.Default, given[field] = text, d
		}
	}
	for _, def := range objects {
		for i, f := range def.Fields {
			field := types[def.Name].Fields[i]
			if d := given[field]; d != nil {
				if err := l.checkDefault(field); err != nil {
					l.wrongDefault(d, def, f, err)
				}
			}
		}
	}
}

func (l *eventReader) wrongDefault(d *ast.Directive, def *ast.Definition, f *ast.FieldDefinition, err error) {
	l.Add(rule.DefaultValue.Broken(sdl.ArgumentPosition(d, "value"), def.Name, f.Name, err.Error(), f.Type.String()))
}

// checkDefault reads a default as events are read.
func (l *eventReader) checkDefault(f *schema.EventField) error {
	_, err := data.Decode([]byte(f.Default), func(r *data.Reader) struct{} { return l.readValue(r, f) })
	var wrong *eventlog.FieldError
	const longPath = 64 // of a default in a default without end
	if errors.As(err, &wrong) && (wrong.Field == "" || len(wrong.Field) > longPath) {
		return errors.New(wrong.Reason)
	}
	return err
}

// literal writes a literal of GraphQL as JSON.
func literal(v *ast.Value, f *schema.EventField) (string, error) {
	switch v.Kind {
	case ast.IntValue, ast.FloatValue, ast.BooleanValue:
		return v.Raw, nil
	case ast.NullValue:
		return "null", nil
	case ast.StringValue, ast.BlockValue:
		if f.Enum != "" {
			return "", fmt.Errorf("want a value of %s, got the text %s: write it without quotes", f.Enum, v.String())
		}
		return quoted(v.Raw)
	case ast.EnumValue:
		if f.Enum == "" {
			return "", fmt.Errorf("%s is a name: write texts in quotes", v.Raw)
		}
		return quoted(v.Raw)
	case ast.ListValue:
		return listLiteral(v, f)
	case ast.ObjectValue:
		return objectLiteral(v, f)
	}
	return "", errors.New("a variable has no value in a schema")
}

func quoted(text string) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		return "", err
	}
	return string(bytes.TrimSpace(b.Bytes())), nil
}

func listLiteral(v *ast.Value, f *schema.EventField) (string, error) {
	var b bytes.Buffer
	b.WriteByte('[')
	for i, child := range v.Children {
		text, err := literal(child.Value, f)
		if err != nil {
			return "", err
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(text)
	}
	b.WriteByte(']')
	return b.String(), nil
}

// objectLiteral wants fields that are declared; the reader of events passes over others.
func objectLiteral(v *ast.Value, f *schema.EventField) (string, error) {
	if f.Object == nil {
		return "", errors.New("got an object, and the field holds none")
	}
	var b bytes.Buffer
	b.WriteByte('{')
	for i, child := range v.Children {
		at := slices.IndexFunc(f.Object.Fields, func(field *schema.EventField) bool { return field.Name == child.Name })
		if at < 0 {
			return "", fmt.Errorf("%s has no field %s", f.Object.Name, child.Name)
		}
		text, err := literal(child.Value, f.Object.Fields[at])
		if err != nil {
			return "", fmt.Errorf("%s: %w", child.Name, err)
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:%s", child.Name, text)
	}
	b.WriteByte('}')
	return b.String(), nil
}

// scalarReaders read values as the decoders of events do.
var scalarReaders = map[string]func(*data.Reader){
	"ID": func(r *data.Reader) { r.ID() }, "String": func(r *data.Reader) { _ = r.String() },
	"Boolean": func(r *data.Reader) { r.Boolean() }, "Int": func(r *data.Reader) { r.Int() },
	"Int64": func(r *data.Reader) { r.Int64() }, "Float": func(r *data.Reader) { r.Float() },
	"Decimal": func(r *data.Reader) { r.Decimal() }, "Date": func(r *data.Reader) { r.Date() },
	"DateTime": func(r *data.Reader) { r.DateTime() },
}

// readValue reads the value of a field.
func (l *eventReader) readValue(r *data.Reader, f *schema.EventField) struct{} {
	one := func(r *data.Reader) struct{} { return l.readOne(r, f) }
	switch {
	case f.List && f.ElemNullable:
		data.List(r, data.Nullable(one))
	case f.List:
		data.List(r, one)
	default:
		one(r)
	}
	return struct{}{}
}

// readOne reads a value, or an element of a list.
func (l *eventReader) readOne(r *data.Reader, f *schema.EventField) struct{} {
	switch {
	case f.Object != nil:
		fields := make([]data.Field, len(f.Object.Fields))
		for i, field := range f.Object.Fields {
			fields[i] = data.Field{Name: field.Name, Required: !field.Nullable && field.Default == ""}
			if field.Default != "" {
				fields[i].Default = []byte(field.Default)
			}
		}
		for i := range r.Object(fields) {
			l.readValue(r, f.Object.Fields[i])
		}
	case f.Enum != "":
		r.Enum(l.enumValues(f.Enum)...)
	default:
		scalarReaders[f.Scalar](r)
	}
	return struct{}{}
}

func (l *eventReader) enumValues(name string) []string {
	return sdl.NewEnum(l.eventType(name)).Values
}
