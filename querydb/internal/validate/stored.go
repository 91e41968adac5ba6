package validate

import (
	"fmt"
	"slices"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// Limits of descriptions that are read from a store: beyond them there is no schema.
const (
	maxFields = 10_000
	maxDigits = 400
)

// Fields refuses the description of fields that no schema has: without a name or a type.
func Fields(fields []driver.Field) error {
	if len(fields) > maxFields {
		return fmt.Errorf("%w: %d fields", driver.ErrDamaged, len(fields))
	}
	for i := range fields {
		f := &fields[i]
		if f.Name == "" || (f.Scalar == "") == (len(f.Object) == 0) {
			return fmt.Errorf("%w: field number %d has no name or no type", driver.ErrDamaged, i)
		}
		if err := Fields(f.Object); err != nil {
			return err
		}
	}
	return nil
}

// Ordinals refuses ordinals of fields that are not there, of so many.
func Ordinals(what string, of int, ordinals ...int) error {
	for _, i := range ordinals {
		if i < 0 || i >= of {
			return fmt.Errorf("%w: %s names the number %d of %d", driver.ErrDamaged, what, i, of)
		}
	}
	return nil
}

// Half refuses the description of half a key that composes no keys: of a model with so many fields.
func Half(what string, l *keys.Layout, fields []int, of int) error {
	if len(l.Segments) != len(fields) {
		return fmt.Errorf("%w: %s has %d attributes and %d fields", driver.ErrDamaged, what, len(l.Segments), len(fields))
	}
	if err := Ordinals(what, of, fields...); err != nil {
		return err
	}
	for i, s := range l.Segments {
		repeated := slices.ContainsFunc(l.Segments[:i], func(o keys.Segment) bool { return o.Field == s.Field })
		if s.Field == "" || repeated || s.Kind < keys.KindString || s.Kind > keys.KindDateTime || s.Digits < keys.Unpadded ||
			s.Digits > maxDigits {
			return fmt.Errorf("%w: %s has the attribute %+v", driver.ErrDamaged, what, s)
		}
	}
	if l.Casing > keys.CasingUpper || l.Escape > keys.EscapeNone {
		return fmt.Errorf("%w: %s has the casing %d and the escape %d", driver.ErrDamaged, what, l.Casing, l.Escape)
	}
	if len(l.Segments) > 0 && l.Sep != "" || len(l.Segments) > 1 {
		if err := keys.CheckSep(l.Sep); err != nil {
			return fmt.Errorf("%w: %s: %w", driver.ErrDamaged, what, err)
		}
	}
	return nil
}
