package querydb

import (
	"fmt"

	"github.com/foldql/foldql/keys"
)

// Reference is a field of a row of type R that holds a copy of a row of another model. A projector gives the identifier
// of that row, and the fold fills in the copy.
type Reference[R any] struct {
	Field  int // ordinal of the copy
	ID     int // ordinal of the identifier, a field of the row that the copy follows
	Source *Model
	// Identifier returns the identifier that the row gives, "" where it gives none.
	Identifier func(row *R) string
	// Fill copies source, a pointer to a row of Source, into the row; nil removes the copy.
	Fill func(row *R, source any)
	// Keep takes the copy over from another state of the row.
	Keep func(row, from *R)
}

// KeyByIdentifier returns the key of the row of m that has the identifier. It fails with ErrInvalid where the
// identifier makes no key, or m has rows that one field does not identify.
func KeyByIdentifier(m *Model, identifier string) (k keys.Key, err error) {
	if len(m.PK.Fields) != 1 || len(m.SK.Fields) > 0 {
		return k, encodeError(m, k, fmt.Errorf("%w: its rows have no identifier", ErrInvalid))
	}
	if k.PK, err = composeHalf(&m.PK, keys.String(identifier)); err == nil && m.SK.Layout.Exists() {
		k.SK, err = composeHalf(&m.SK)
	}
	if err != nil {
		return keys.Key{}, encodeError(m, k, err)
	}
	return k, nil
}

// composeHalf composes a half of a primary key, which may not be empty.
func composeHalf(h *Half, vals ...keys.Value) (string, error) {
	o, err := h.Layout.UpdateForPut(vals)
	switch {
	case err != nil:
		return "", fmt.Errorf("%w: %w", ErrInvalid, err)
	case o.Op != keys.SetKey:
		return "", fmt.Errorf("%w: the identifier is empty", ErrInvalid)
	}
	return o.Key, nil
}
