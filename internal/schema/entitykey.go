package schema

import "github.com/foldql/foldql/keys"

// Casings and escapes, as annotations write them.
const (
	lowercase    = "LOWERCASE"
	uppercase    = "UPPERCASE"
	NoCasing     = "NONE" // as the value is
	escapeValues = "PERCENT"
)

// Casings are those that change a value, by what annotations call them; NoCasing is none of them.
var Casings = map[string]keys.Casing{lowercase: keys.CasingLower, uppercase: keys.CasingUpper}

// KeyEscape says what becomes of a separator inside of a value.
func (t *Table) KeyEscape() keys.Escape {
	if t.Escape == escapeValues {
		return keys.EscapePercent
	}
	return keys.EscapeNone
}

// Key is the form of a key of entities of the table.
func (t *Table) Key(entity, casing string) keys.EntityKey {
	return keys.EntityKey{
		Schema: keys.EntitySchema{Name: t.Schema, Version: t.Version, Casing: Casings[t.Casing], Escape: t.KeyEscape()},
		Type:   entity, Casing: Casings[casing],
	}
}

// indexKey is the form of the key of an index of entities of the table, by the collections that it belongs to.
func (t *Table) indexKey(entity string, x *Index) keys.EntityKey {
	key := t.Key(entity, x.Casing)
	key.Collection, key.Clustered = x.Collection, x.Clustered
	return key
}

// ComposeIndex makes the halves of an index of an entity type.
func (t *Table) ComposeIndex(x *Index, entity string, pk, sk []*Field) {
	key := t.indexKey(entity, x)
	x.PK = Half{Fields: pk, Layout: key.PK(SegmentsOf(pk)...)}
	x.SK = Half{Fields: sk, Layout: key.SK(SegmentsOf(sk)...)}
}
