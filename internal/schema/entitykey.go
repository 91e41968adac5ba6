package schema

import "github.com/foldql/foldql/keys"

// Casings and escapes, as annotations write them.
const (
	lowercase    = "LOWERCASE"
	uppercase    = "UPPERCASE"
	noCasing     = "NONE"
	escapeValues = "PERCENT"
)

var casings = map[string]keys.Casing{lowercase: keys.CasingLower, uppercase: keys.CasingUpper}

// escape says what becomes of a separator inside of a value.
func (t *Table) escape() keys.Escape {
	if t.Escape == escapeValues {
		return keys.EscapePercent
	}
	return keys.EscapeNone
}

// key is the form of a key of entities of the table.
func (t *Table) key(entity, casing string) keys.EntityKey {
	return keys.EntityKey{
		Schema: keys.EntitySchema{Name: t.Schema, Version: t.Version, Casing: casings[t.Casing], Escape: t.escape()},
		Type:   entity, Casing: casings[casing],
	}
}

// indexKey is the form of the key of an index of entities of the table, by the collections that it belongs to.
func (t *Table) indexKey(entity string, x *Index) keys.EntityKey {
	key := t.key(entity, x.Casing)
	key.Collection, key.Clustered = x.Collection, x.Clustered
	return key
}

// composeIndex makes the halves of an index of an entity type.
func (t *Table) composeIndex(x *Index, entity string, pk, sk []*Field) {
	key := t.indexKey(entity, x)
	x.PK = Half{Fields: pk, Layout: key.PK(segmentsOf(pk)...)}
	x.SK = Half{Fields: sk, Layout: key.SK(segmentsOf(sk)...)}
}
