package dynamostore

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// layout is how the rows of a table lie in DynamoDB: the names of the table, its attributes and its indexes. It follows
// from the description of the table alone, so that whoever creates tables and whoever reads and writes them agree.
//
// All key attributes are of type S.
type layout struct {
	table   string
	pk      string   // attribute of the partition key
	sk      string   // attribute of the sort key, "" where there is none
	kind    string   // attribute of the kind, "" where the table is one model's own
	fields  []string // attribute of each field; "" where the value is in _own alone
	indexes []index
	// written are the types that attributes have in items, where the layout is to be compared with what is there.
	written map[string]string
}

// index is one global secondary index.
type index struct {
	name       string
	pk, sk     string // attributes of the halves; sk is "" where there is none
	projection types.ProjectionType
	nonKey     []string // attributes beside the keys, of projection INCLUDE; in the order of the fields
}

// Attributes that are no fields. A field whose name begins with an underscore has none of its own name, so nothing here
// can meet one.
const (
	attrPK      = "id"
	attrSubID   = "_subId"   // the sort key where it has no name of its own
	attrOwn     = "_own"     // M: fields whose value is not what their attribute holds
	attrPos     = "_pos."    // N, with the slot: the last position applied
	attrBy      = "_by"      // S: the slot of the last write
	attrRev     = "_rev"     // N: how many writes there were
	attrDeleted = "_deleted" // BOOL: a tombstone
	attrTTL     = "_ttl"     // N: epoch seconds after which DynamoDB may remove the item
	attrExpires = "_expires" // N: when the row ceases to be, in seconds with their fraction
	attrWriters = "_writers" // SS: those whose parts the row consists of, where several write it
	attrOf      = "_of"      // S: of an item that holds a unique key, the row that has it
	attrClaim   = "_unique"  // S: index and key of such an item, for people who read the table
	attrMark    = "_fold"    // S: of the item that marks a table, the mark
	attrKind    = "_kind"    // S: which of the models that share a table the row is of, where that has no name of its own
)

// attributeTypes are those of rows, as DynamoDB calls them.
func (l *layout) attributeTypes(t *driver.Table) map[string]string {
	of := map[string]string{
		attrOwn: "M", attrBy: "S", attrRev: "N", attrDeleted: "BOOL", attrTTL: "N", attrExpires: "N", attrWriters: "SS",
		attrOf: "S", attrClaim: "S", attrMark: "S",
	}
	for i, attr := range l.fields {
		switch f := &t.Fields[i]; {
		case f.List:
			of[attr] = "L"
		case f.Scalar == "Boolean":
			of[attr] = "BOOL"
		case isNumber(f):
			of[attr] = "N"
		default:
			of[attr] = "S"
		}
	}
	keys := []string{l.pk, l.sk, l.kind}
	for _, x := range l.indexes {
		keys = append(keys, x.pk, x.sk)
	}
	for _, attr := range keys {
		of[attr] = "S"
	}
	delete(of, "") // there is no such half, or no such attribute
	return of
}

// layoutOf returns the layout of a table whose name follows the prefix.
func layoutOf(prefix string, t *driver.Table) layout {
	l := layout{table: prefix + t.Name, pk: cmp.Or(t.Keys.PK, attrPK), fields: make([]string, len(t.Fields))}
	if t.Generation > 0 {
		l.table += ".g" + strconv.Itoa(t.Generation)
	}
	if t.Sorted {
		l.sk = sortAttr(t, l.pk)
	}
	if t.Kind != "" {
		l.kind = cmp.Or(t.Keys.Kind, attrKind)
	}
	for f := range t.Fields {
		l.fields[f] = l.fieldAttr(t, f)
	}
	for i := range t.Indexes {
		l.indexes = append(l.indexes, l.indexKeys(t, i))
	}
	for i := range l.indexes {
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
func (l *layout) fieldAttr(t *driver.Table, f int) string {
	name := t.Fields[f].Name
	switch {
	case strings.HasPrefix(name, "_") || name == l.kind,
		name == l.pk && !isWhole(t, t.PK, f),
		name == l.sk && !isWhole(t, t.SK, f):
		return ""
	}
	return name
}

// indexKeys names an index and its key attributes. One of them is always an attribute that only rows have: a deleted
// row keeps the attributes of the table's own key, and must not lie in the index.
func (l *layout) indexKeys(t *driver.Table, i int) index {
	x := &t.Indexes[i]
	own := index{name: indexName(x.Name), pk: cmp.Or(x.Keys.PK, l.halfAttr(t, x.PK))}
	injectedPK, injectedSK := "_"+x.Name+"_pk", "_"+x.Name+"_sk"
	if x.Sorted() {
		if own.sk = cmp.Or(x.Keys.SK, l.halfAttr(t, x.SK)); own.sk == "" || own.sk == own.pk {
			own.sk = injectedSK
		}
	}
	if own.pk == "" || l.isKey(own.pk) && (own.sk == "" || l.isKey(own.sk)) {
		own.pk = injectedPK
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
func (l *layout) halfAttr(t *driver.Table, half []int) string {
	if len(half) == 1 && !composed(t) && isText(&t.Fields[half[0]]) {
		return l.fields[half[0]]
	}
	return ""
}

// isKey reports whether the attribute belongs to the table's key.
func (l *layout) isKey(attr string) bool { return attr == l.pk || attr == l.sk && attr != "" }

// project chooses what an index holds beside keys: what the projected fields and the row's end need to be read back.
func (l *layout) project(t *driver.Table, i int) {
	x := &l.indexes[i]
	projected := t.Indexes[i].Projected
	if projected == nil {
		x.projection = types.ProjectionTypeAll
		return
	}
	own := false
	for _, f := range projected {
		if l.derived(t, i, f) {
			continue
		}
		attr := l.fields[f]
		if attr != "" && !l.isKey(attr) && attr != x.pk && attr != x.sk {
			x.nonKey = append(x.nonKey, attr)
		}
		own = own || l.mayDiffer(t, f)
	}
	if own {
		x.nonKey = append(x.nonKey, attrOwn)
	}
	if !t.NoExpiry {
		x.nonKey = append(x.nonKey, attrExpires)
	}
	if l.kind != "" {
		x.nonKey = append(x.nonKey, l.kind)
	}
	x.projection = types.ProjectionTypeInclude
	if len(x.nonKey) == 0 {
		x.projection = types.ProjectionTypeKeysOnly
	}
}

// derived reports whether the keys of an index entry tell the field: one of them is nothing but it, and it always has a
// value.
func (l *layout) derived(t *driver.Table, i, f int) bool {
	if !isText(&t.Fields[f]) || t.Fields[f].Nullable || composed(t) {
		return false
	}
	attr, x := l.fields[f], &l.indexes[i]
	whole := func(attrOfHalf string, half []int) bool { return attr == attrOfHalf && isWhole(t, half, f) }
	return isWhole(t, t.PK, f) || attr != "" &&
		(whole(l.sk, t.SK) || whole(x.pk, t.Indexes[i].PK) || whole(x.sk, t.Indexes[i].SK))
}

// mayDiffer reports whether the field's value may be in _own: its attribute is taken, or holds the text of a key, or is
// a number, which DynamoDB may keep in another form or not at all.
func (l *layout) mayDiffer(t *driver.Table, f int) bool {
	attr := l.fields[f]
	return attr == "" || l.isKey(attr) || isNumber(&t.Fields[f]) ||
		slices.ContainsFunc(l.indexes, func(x index) bool { return attr == x.pk || attr == x.sk })
}

// isWhole reports whether the half is nothing but the field: its text is the field's value.
func isWhole(t *driver.Table, half []int, f int) bool {
	return len(half) == 1 && half[0] == f && isText(&t.Fields[f]) && !composed(t)
}

// isText reports whether the text of the field in a key is its value.
func isText(f *driver.Field) bool {
	return !f.List && (f.Scalar == "ID" || f.Scalar == "String" || f.Scalar == "Date")
}

// isNumber reports whether the field, or each element of it, is of type N.
func isNumber(f *driver.Field) bool {
	switch f.Scalar {
	case "Int", "Int64", "Float", "Decimal":
		return true
	}
	return false
}

// key returns the key attributes of a row.
func (l *layout) key(k keys.Key) map[string]types.AttributeValue {
	it := map[string]types.AttributeValue{l.pk: &types.AttributeValueMemberS{Value: k.PK}}
	if l.sk != "" {
		it[l.sk] = &types.AttributeValueMemberS{Value: k.SK}
	}
	return it
}
