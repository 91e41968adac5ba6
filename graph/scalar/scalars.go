// Package scalar reads and writes the scalars of the API; generated code binds each pair of functions to its scalar.
// Reading is strict: what is not of the type, null among it, is BAD_USER_INPUT.
package scalar

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/keys"
)

// The functions below read and write the scalars of the API; gqlgen binds each pair to its scalar. Reading is strict:
// what is not of the type, null among it, is BAD_USER_INPUT.

// TypeError returns the error, BAD_USER_INPUT, of an input that is no value of the scalar.
func TypeError(scalar string, v any) error {
	if v == nil { // the same for every type: resolvers read an enum as a String
		return graphqlerr.New(graphqlerr.BadUserInput, "null was given, and a value is needed")
	}
	return graphqlerr.New(graphqlerr.BadUserInput, "%s is not a value of type %s", describe(v), scalar)
}

// describe names an input in a message, at no great length.
func describe(v any) string {
	const enough = 64
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		if len(v) > enough {
			return strconv.Quote(v[:enough]) + "…"
		}
		return strconv.Quote(v)
	case json.Number:
		return string(v[:min(len(v), enough)])
	case bool, int, int32, int64, float64:
		return fmt.Sprint(v)
	case []any:
		return "a list"
	}
	return "an object"
}

// InputChecks returns for each scalar the function that says what is wrong with an input.
var InputChecks = map[string]func(any) error{
	"ID": check(UnmarshalID), "String": check(UnmarshalString), "Boolean": check(UnmarshalBoolean),
	"Int": check(UnmarshalInt), "Int64": check(UnmarshalInt64), "Float": check(UnmarshalFloat),
	"Decimal": check(UnmarshalDecimal), "Date": check(UnmarshalDate), "DateTime": check(UnmarshalDateTime),
}

func check[T any](read func(any) (T, error)) func(any) error {
	return func(v any) error {
		_, err := read(v)
		return err
	}
}

// UnmarshalID reads an ID: text, or an integer, of however many digits.
func UnmarshalID(v any) (string, error) {
	if s, ok := v.(string); ok {
		return s, nil
	}
	if n, ok := integer(v); ok {
		return strconv.FormatInt(n, 10), nil
	}
	if n, ok := v.(json.Number); ok && isInteger(string(n)) { // of more than 64 bits
		return string(n), nil
	}
	return "", TypeError("ID", v)
}

func isInteger(text string) bool {
	digits := strings.TrimPrefix(text, "-")
	return digits != "" && strings.Trim(digits, "0123456789") == ""
}

// MarshalID writes an ID.
func MarshalID(s string) graphql.Marshaler { return graphql.MarshalString(s) }

// UnmarshalString reads a String.
func UnmarshalString(v any) (string, error) {
	if s, ok := v.(string); ok {
		return s, nil
	}
	return "", TypeError("String", v)
}

// MarshalString writes a String.
func MarshalString(s string) graphql.Marshaler { return graphql.MarshalString(s) }

// UnmarshalBoolean reads a Boolean.
func UnmarshalBoolean(v any) (bool, error) {
	if b, ok := v.(bool); ok {
		return b, nil
	}
	return false, TypeError("Boolean", v)
}

// MarshalBoolean writes a Boolean.
func MarshalBoolean(b bool) graphql.Marshaler { return graphql.MarshalBoolean(b) }

// integer reads a whole number of 64 bits in any of the forms that an input can have.
func integer(v any) (int64, bool) {
	switch v := v.(type) {
	case int:
		return int64(v), true
	case int32:
		return int64(v), true
	case int64:
		return v, true
	case json.Number:
		n, err := strconv.ParseInt(string(v), 10, 64)
		return n, err == nil
	case float64:
		if v == math.Trunc(v) && math.Abs(v) <= 1<<53-1 {
			return int64(v), true
		}
	}
	return 0, false
}

// UnmarshalInt reads an Int: a whole number of 32 bits.
func UnmarshalInt(v any) (int, error) {
	if n, ok := integer(v); ok && n >= math.MinInt32 && n <= math.MaxInt32 {
		return int(n), nil
	}
	return 0, TypeError("Int", v)
}

// MarshalInt writes an Int.
func MarshalInt(n int) graphql.Marshaler {
	return graphql.WriterFunc(func(w io.Writer) { _, _ = io.WriteString(w, strconv.Itoa(n)) })
}

// UnmarshalInt64 reads an Int64: a whole number of 64 bits, as a number or as text.
func UnmarshalInt64(v any) (int64, error) {
	if s, ok := v.(string); ok {
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			return n, nil
		}
	}
	if n, ok := integer(v); ok {
		return n, nil
	}
	return 0, TypeError("Int64", v)
}

// MarshalInt64 writes an Int64 as text, because JSON numbers lose digits in clients.
func MarshalInt64(n int64) graphql.Marshaler {
	return graphql.WriterFunc(func(w io.Writer) {
		_, _ = io.WriteString(w, `"`+strconv.FormatInt(n, 10)+`"`)
	})
}

// UnmarshalFloat reads a Float, which is finite.
func UnmarshalFloat(v any) (float64, error) {
	switch v := v.(type) {
	case float64:
		if !math.IsInf(v, 0) && !math.IsNaN(v) {
			return v, nil
		}
	case json.Number:
		if f, err := strconv.ParseFloat(string(v), 64); err == nil {
			return f, nil
		}
	}
	if n, ok := integer(v); ok {
		return float64(n), nil
	}
	return 0, TypeError("Float", v)
}

// UnmarshalFloatContext is UnmarshalFloat as gqlgen wants it beside a function that may fail to write.
func UnmarshalFloatContext(_ context.Context, v any) (float64, error) { return UnmarshalFloat(v) }

// MarshalFloatContext writes a Float; it fails where the number is not finite.
func MarshalFloatContext(f float64) graphql.ContextMarshaler {
	return graphql.ContextWriterFunc(func(_ context.Context, w io.Writer) error {
		text, err := json.Marshal(f)
		if err != nil {
			return fmt.Errorf("the Float %v cannot be written: it is not finite", f)
		}
		_, err = w.Write(text)
		return err
	})
}

// UnmarshalDecimal reads a Decimal: decimal text, or a number.
func UnmarshalDecimal(v any) (keys.Decimal, error) {
	var text string
	switch v := v.(type) {
	case string:
		text = v
	case json.Number:
		text = string(v)
	case float64:
		text = strconv.FormatFloat(v, 'f', -1, 64)
	default:
		n, ok := integer(v)
		if !ok {
			return "", TypeError("Decimal", v)
		}
		text = strconv.FormatInt(n, 10)
	}
	d, err := keys.ParseDecimal(text)
	if err != nil {
		return "", TypeError("Decimal", v)
	}
	return d, nil
}

// MarshalDecimal writes a Decimal as text.
func MarshalDecimal(d keys.Decimal) graphql.Marshaler { return graphql.MarshalString(d.String()) }

// UnmarshalDate reads a Date, "2024-01-15".
func UnmarshalDate(v any) (keys.Date, error) {
	if s, ok := v.(string); ok {
		if d, err := keys.ParseDate(s); err == nil {
			return d, nil
		}
	}
	return "", TypeError("Date", v)
}

// MarshalDate writes a Date.
func MarshalDate(d keys.Date) graphql.Marshaler { return graphql.MarshalString(string(d)) }

// UnmarshalDateTime reads a DateTime: RFC 3339 of any offset.
func UnmarshalDateTime(v any) (time.Time, error) {
	if s, ok := v.(string); ok {
		if t, err := keys.ParseDateTime(s); err == nil {
			return t, nil
		}
	}
	return time.Time{}, TypeError("DateTime", v)
}

// MarshalDateTime writes a DateTime in UTC.
func MarshalDateTime(t time.Time) graphql.Marshaler {
	return graphql.WriterFunc(func(w io.Writer) {
		text := append(make([]byte, 0, 40), '"')
		text = keys.AppendDateTime(text, t)
		_, _ = w.Write(append(text, '"'))
	})
}
