package cascade

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
)

// CheckFilter refuses a filter by fields that rows of the model do not have, or that hold other values: it would choose
// no row, and nobody would know. Of several wrong fields it names the same one each time.
func CheckFilter(m *querydb.Model, filter map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(filter)) {
		field, value, ok := wanted(m, name, filter[name])
		if !ok {
			return fmt.Errorf("rows of %s cannot be chosen by %s = %v: name a field of one scalar or enum, and give a value "+
				"of its type", m.Name, name, filter[name])
		}
		enum := m.Fields[field].Enum
		if enum == "" {
			continue
		}
		values, described := m.EnumValues()[name]
		if described && !slices.Contains(values, value.AsString()) {
			return fmt.Errorf("rows of %s cannot be chosen by %s = %v: the values of %s are %s", m.Name, name, filter[name],
				enum, strings.Join(values, ", "))
		}
	}
	return nil
}

// Matches reports whether the fields of a row hold what the filter says.
func Matches(codec querydb.AnyCodec, row any, filter map[string]any) bool {
	for name, v := range filter {
		if field, value, ok := wanted(codec.Model, name, v); !ok || codec.Value(row, field).Compare(value) != 0 {
			return false
		}
	}
	return true
}

// wanted is the ordinal of the field of the name, and what it is to hold by a filter. There is none where the field is
// missing, is a list or an object, or holds values of another type.
func wanted(m *querydb.Model, name string, v any) (field int, value keys.Value, ok bool) {
	field = slices.IndexFunc(m.Fields, func(f querydb.Field) bool {
		return f.Name == name && !f.List && f.Object == nil
	})
	if field < 0 {
		return field, value, false
	}
	value, ok = valueOf(m.Fields[field].Scalar, plain(v))
	return field, value, ok
}

// PlainFilter is a filter as a task has it on record, in JSON.
func PlainFilter(filter map[string]any) map[string]any {
	if len(filter) == 0 {
		return nil
	}
	all := make(map[string]any, len(filter))
	for name, v := range filter {
		all[name] = plain(v)
	}
	return all
}

// maxExact is the greatest integer up to which a float64 holds each, as numbers in JSON are read.
const maxExact = 1 << 53

// plain is a value of a filter as JSON gives it back: a string, a boolean or a float64, whatever type a project has for
// it. Integers that no float64 holds are texts. Anything else is left as it is, which no field holds.
func plain(v any) any {
	if t, is := v.(time.Time); is {
		return string(keys.AppendDateTime(nil, t.UTC()))
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.String:
		return r.String()
	case reflect.Bool:
		return r.Bool()
	case reflect.Float32, reflect.Float64:
		return r.Float()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if n := r.Int(); n < -maxExact || n > maxExact {
			return strconv.FormatInt(n, 10)
		}
		return float64(r.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if n := r.Uint(); n > maxExact {
			return strconv.FormatUint(n, 10)
		}
		return float64(r.Uint())
	}
	return v
}

// valueOf is a plain value as fields of the scalar hold it; false where they hold none such.
func valueOf(scalar string, v any) (value keys.Value, ok bool) {
	switch v := v.(type) {
	case bool:
		return keys.Boolean(v), scalar == "Boolean"
	case float64:
		return valueOfNumber(scalar, v)
	case string:
		return valueOfText(scalar, v)
	}
	return value, false
}

func valueOfNumber(scalar string, v float64) (value keys.Value, ok bool) {
	switch scalar {
	case "Int":
		return keys.Int(int64(v)), v == math.Trunc(v) && v >= math.MinInt32 && v <= math.MaxInt32
	case "Int64":
		return keys.Int(int64(v)), v == math.Trunc(v) && math.Abs(v) <= maxExact
	case "Float":
		return keys.Float(v), !math.IsNaN(v) && !math.IsInf(v, 0)
	case "Decimal":
		d, err := keys.ParseDecimal(strconv.FormatFloat(v, 'f', -1, 64))
		return keys.DecimalOf(d), err == nil
	}
	return value, false
}

func valueOfText(scalar, v string) (value keys.Value, ok bool) {
	switch scalar {
	case "ID", "String":
		return keys.String(v), true
	case "Int64":
		n, err := strconv.ParseInt(v, 10, 64)
		return keys.Int(n), err == nil
	case "Decimal":
		d, err := keys.ParseDecimal(v)
		return keys.DecimalOf(d), err == nil
	case "Date":
		d, err := keys.ParseDate(v)
		return keys.DateOf(d), err == nil
	case "DateTime":
		t, err := keys.ParseDateTime(v)
		return keys.DateTime(t), err == nil
	}
	return value, false
}
