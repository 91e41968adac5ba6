// Package layout names the tables, attributes and indexes that rows have in DynamoDB.
package layout

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// Layout is how the rows of a table lie in DynamoDB: the names of the table, its attributes and its indexes. It follows
// from the description of the table alone, so that whoever creates tables and whoever reads and writes them agree.
//
// All key attributes are of type S.
type Layout struct {
	Table   string
	PK      string   // attribute of the partition key
	SK      string   // attribute of the sort key, "" where there is none
	Kind    string   // attribute of the kind, "" where the table is one model's own
	Fields  []string // attribute of each field; "" where the value is in _own alone
	Indexes []Index
	// Written are the types that attributes have in items, where the layout is to be compared with what is there.
	Written map[string]string
}

// Index is one global secondary index.
type Index struct {
	Name       string
	PK, SK     string // attributes of the halves; SK is "" where there is none
	Projection types.ProjectionType
	NonKey     []string // attributes beside the keys, of projection INCLUDE; in the order of the fields
}

// Attributes that are no fields. A field whose name begins with an underscore has none of its own name, so nothing here
// can meet one.
const (
	attrPK      = "id"
	attrSubID   = "_subId"   // the sort key where it has no name of its own
	AttrOwn     = "_own"     // M: fields whose value is not what their attribute holds
	AttrPos     = "_pos."    // N, with the slot: the last position applied
	AttrBy      = "_by"      // S: the slot of the last write
	AttrRev     = "_rev"     // N: how many writes there were
	AttrDeleted = "_deleted" // BOOL: a tombstone
	AttrTTL     = "_ttl"     // N: epoch seconds after which DynamoDB may remove the item
	AttrExpires = "_expires" // N: when the row ceases to be, in seconds with their fraction
	AttrWriters = "_writers" // SS: those whose parts the row consists of, where several write it
	AttrOf      = "_of"      // S: of an item that holds a unique key, the row that has it
	AttrClaim   = "_unique"  // S: index and key of such an item, for people who read the table
	AttrMark    = "_fold"    // S: of the item that marks a table, the mark
	attrKind    = "_kind"    // S: which of the models that share a table the row is of, where that has no name of its own
)

// AttributeTypes are those of rows, as DynamoDB calls them.
func (l *Layout) AttributeTypes(t *driver.Table) map[string]string {
	of := map[string]string{
		AttrOwn: "M", AttrBy: "S", AttrRev: "N", AttrDeleted: "BOOL", AttrTTL: "N", AttrExpires: "N", AttrWriters: "SS",
		AttrOf: "S", AttrClaim: "S", AttrMark: "S",
	}
	for i, attr := range l.Fields {
		switch f := &t.Fields[i]; {
		case f.List:
			of[attr] = "L"
		case f.Object != nil:
			of[attr] = "M"
		case f.Scalar == "Boolean":
			of[attr] = "BOOL"
		case IsNumber(f):
			of[attr] = "N"
		default:
			of[attr] = "S"
		}
	}
	keys := []string{l.PK, l.SK, l.Kind}
	for _, x := range l.Indexes {
		keys = append(keys, x.PK, x.SK)
	}
	for _, attr := range keys {
		of[attr] = "S"
	}
	delete(of, "") // there is no such half, or no such attribute
	return of
}

// Of returns the layout of a table whose name follows the prefix.
func Of(prefix string, t *driver.Table) Layout {
	l := Layout{Table: prefix + t.Name, PK: cmp.Or(t.Keys.PK, attrPK), Fields: make([]string, len(t.Fields))}
	if t.Generation > 0 {
		l.Table += ".g" + strconv.Itoa(t.Generation)
	}
	if t.Sorted {
		l.SK = sortAttr(t, l.PK)
	}
	if t.Kind != "" {
		l.Kind = cmp.Or(t.Keys.Kind, attrKind)
	}
	for f := range t.Fields {
		l.Fields[f] = l.fieldAttr(t, f)
	}
	for i := range t.Indexes {
		l.Indexes = append(l.Indexes, l.indexKeys(t, i))
	}
	for i := range l.Indexes {
		l.project(t, i)
	}
	return l
}

// sortAttr is named after the one field that the sort key is made of.
func sortAttr(t *driver.Table, pk string) string {
	if t.Keys.SK != "" {
		return t.Keys.SK
	}
	if len(t.SK) == 1 && !composed(t) {
		if name := t.Fields[t.SK[0]].Name; name != pk && !strings.HasPrefix(name, "_") {
			return name
		}
	}
	return attrSubID
}

// composed reports whether the keys of the table and of its indexes have texts of their own also where they are made of
// one field, and so attributes of their own.
func composed(t *driver.Table) bool { return t.Kind != "" || t.Keys != driver.KeyNames{} }

// fieldAttr is the attribute of a field: of its own name, unless that is taken. A key's is also the field's where the
// key is nothing but it.
func (l *Layout) fieldAttr(t *driver.Table, f int) string {
	name := t.Fields[f].Name
	switch {
	case strings.HasPrefix(name, "_") || name == l.Kind,
		name == l.PK && !IsWhole(t, t.PK, f),
		name == l.SK && !IsWhole(t, t.SK, f):
		return ""
	}
	return name
}

// indexKeys names an index and its key attributes. One of them is always an attribute that only rows have: a deleted
// row keeps the attributes of the table's own key, and must not lie in the index.
func (l *Layout) indexKeys(t *driver.Table, i int) Index {
	x := &t.Indexes[i]
	own := Index{Name: indexName(x.Name), PK: cmp.Or(x.Keys.PK, l.halfAttr(t, x.PK))}
	injectedPK, injectedSK := "_"+x.Name+"_pk", "_"+x.Name+"_sk"
	if x.Sorted() {
		if own.SK = cmp.Or(x.Keys.SK, l.halfAttr(t, x.SK)); own.SK == "" || own.SK == own.PK {
			own.SK = injectedSK
		}
	}
	if own.PK == "" || l.IsKey(own.PK) && (own.SK == "" || l.IsKey(own.SK)) {
		own.PK = injectedPK
	}
	return own
}

// indexName is the name of the index, made long enough for DynamoDB where it is not.
func indexName(name string) string {
	if len(name) < 3 {
		return name + "-index"
	}
	return name
}

// halfAttr is the attribute of a field that is a key half by itself, and "" where the half needs an attribute of its
// own.
func (l *Layout) halfAttr(t *driver.Table, half []int) string {
	if len(half) == 1 && !composed(t) && IsText(&t.Fields[half[0]]) {
		return l.Fields[half[0]]
	}
	return ""
}

// IsKey reports whether the attribute belongs to the table's key.
func (l *Layout) IsKey(attr string) bool { return attr == l.PK || attr == l.SK && attr != "" }

// project chooses what an index holds beside keys: what the projected fields and the row's end need to be read back.
func (l *Layout) project(t *driver.Table, i int) {
	x := &l.Indexes[i]
	projected := t.Indexes[i].Projected
	if projected == nil {
		x.Projection = types.ProjectionTypeAll
		return
	}
	own := false
	for _, f := range projected {
		if l.Derived(t, i, f) {
			continue
		}
		attr := l.Fields[f]
		if attr != "" && !l.IsKey(attr) && attr != x.PK && attr != x.SK {
			x.NonKey = append(x.NonKey, attr)
		}
		own = own || l.mayDiffer(t, f)
	}
	if own {
		x.NonKey = append(x.NonKey, AttrOwn)
	}
	if !t.NoExpiry {
		x.NonKey = append(x.NonKey, AttrExpires)
	}
	if l.Kind != "" {
		x.NonKey = append(x.NonKey, l.Kind)
	}
	x.Projection = types.ProjectionTypeInclude
	if len(x.NonKey) == 0 {
		x.Projection = types.ProjectionTypeKeysOnly
	}
}

// Derived reports whether the keys of an index entry tell the field: one of them is nothing but it, and it always has a
// value.
func (l *Layout) Derived(t *driver.Table, i, f int) bool {
	if !IsText(&t.Fields[f]) || t.Fields[f].Nullable || composed(t) {
		return false
	}
	attr, x := l.Fields[f], &l.Indexes[i]
	whole := func(attrOfHalf string, half []int) bool { return attr == attrOfHalf && IsWhole(t, half, f) }
	return IsWhole(t, t.PK, f) || attr != "" &&
		(whole(l.SK, t.SK) || whole(x.PK, t.Indexes[i].PK) || whole(x.SK, t.Indexes[i].SK))
}

// mayDiffer reports whether the field's value may be in _own: its attribute is taken, or holds the text of a key, or is
// a number, which DynamoDB may keep in another form or not at all.
func (l *Layout) mayDiffer(t *driver.Table, f int) bool {
	attr := l.Fields[f]
	return attr == "" || l.IsKey(attr) || HasNumber(&t.Fields[f]) ||
		slices.ContainsFunc(l.Indexes, func(x Index) bool { return attr == x.PK || attr == x.SK })
}

// IsWhole reports whether the half is nothing but the field: its text is the field's value.
func IsWhole(t *driver.Table, half []int, f int) bool {
	return len(half) == 1 && half[0] == f && IsText(&t.Fields[f]) && !composed(t)
}

// IsText reports whether the text of the field in a key is its value.
func IsText(f *driver.Field) bool {
	return !f.List && (f.Scalar == "ID" || f.Scalar == "String" || f.Scalar == "Date")
}

// HasNumber reports whether the field is of type N, or has something of it inside.
func HasNumber(f *driver.Field) bool {
	return IsNumber(f) || slices.ContainsFunc(f.Object, func(f driver.Field) bool { return HasNumber(&f) })
}

// IsNumber reports whether the field, or each element of it, is of type N.
func IsNumber(f *driver.Field) bool {
	switch f.Scalar {
	case "Int", "Int64", "Float", "Decimal":
		return true
	}
	return false
}

// Key returns the key attributes of a row.
func (l *Layout) Key(k keys.Key) map[string]types.AttributeValue {
	it := map[string]types.AttributeValue{l.PK: &types.AttributeValueMemberS{Value: k.PK}}
	if l.SK != "" {
		it[l.SK] = &types.AttributeValueMemberS{Value: k.SK}
	}
	return it
}
