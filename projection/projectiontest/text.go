package projectiontest

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

// fieldOf returns the name in the API of a field of a Go struct that holds these fields, and those that it is made of
// where it holds objects. Without one that is called so, the name is Go's.
func fieldOf(fields []driver.Field, goName string) (name string, within []driver.Field) {
	for _, f := range fields {
		if strings.EqualFold(strings.ReplaceAll(f.Name, "_", ""), strings.ReplaceAll(goName, "_", "")) {
			return f.Name, f.Object
		}
	}
	return goName, nil
}

// rowName names a row by its key: Selection(squadId: "aus", number: 1).
func rowName(m *querydb.Model, row reflect.Value) string {
	var parts []string
	for i := range row.NumField() {
		name, _ := fieldOf(m.Fields, row.Type().Field(i).Name)
		for _, of := range [][]int{m.PK.Fields, m.SK.Fields} {
			for _, f := range of {
				if m.Fields[f].Name == name {
					parts = append(parts, name+": "+textOf(row.Field(i), nil))
				}
			}
		}
	}
	if len(parts) == 0 {
		return m.Name
	}
	return m.Name + "(" + strings.Join(parts, ", ") + ")"
}

// textOf writes a value as a query would, and an object with the names of its fields.
func textOf(v reflect.Value, fields []driver.Field) string {
	if !v.IsValid() {
		return "nothing"
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return "null"
		}
		return textOf(v.Elem(), fields)
	case reflect.String:
		return fmt.Sprintf("%q", v)
	case reflect.Slice:
		return "[" + joined(v.Len(), func(i int) string { return textOf(v.Index(i), fields) }) + "]"
	case reflect.Struct:
		if at, ok := v.Interface().(time.Time); ok {
			return at.Format(time.RFC3339Nano)
		}
		if _, writesItself := v.Interface().(fmt.Stringer); writesItself {
			break
		}
		return "{" + joined(v.NumField(), func(i int) string {
			name, within := fieldOf(fields, v.Type().Field(i).Name)
			return name + ": " + textOf(v.Field(i), within)
		}) + "}"
	}
	return fmt.Sprint(v)
}

func joined(n int, text func(i int) string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = text(i)
	}
	return strings.Join(parts, ", ")
}
