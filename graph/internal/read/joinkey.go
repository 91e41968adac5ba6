package read

import (
	"context"
	"fmt"
	"slices"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/internal/access"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// Target is where a join leads: the table of a type, or one of its indexes.
type Target struct {
	Type  *catalog.Type
	Index int
	Whole bool // both halves of the key are given, though the type has rows under the first alone
}

// NewTarget finds where a join leads.
func NewTarget(c *catalog.Catalog, j *catalog.Join) Target {
	g := Target{Type: c.Types[j.Target], Index: j.Index}
	pk, sk := g.halves()
	g.Whole = len(j.By) > len(pk.Fields) && sk.Layout.Exists()
	return g
}

// halves returns the key of the target, as the schema has it.
func (g Target) halves() (pk, sk *querydb.Half) {
	if g.Index == driver.Primary {
		return &g.Type.Model.PK, &g.Type.Model.SK
	}
	x := &g.Type.Model.Indexes[g.Index]
	return &x.PK, &x.SK
}

// batched reports whether what is given is the whole key of a row, so that many rows are read in one batch.
func (g Target) batched() bool {
	return g.Index == driver.Primary && (g.Whole || IsEntity(g.Type) || !g.Type.Model.SK.Layout.Exists())
}

// Batched reports whether the rows of a join to the target are read in one batch.
func (g Target) Batched() bool { return g.batched() }

// JoinKey is where an id leads in a target: to the row under Key, or, without a sort half, to those of a partition.
type JoinKey struct {
	keys.Key
	owning
}

// owning is what tells whose the rows under a join key are, beside the key itself.
type owning struct {
	auth  keys.Key // where a rule holds in the target: of the row that names the owner
	owner string   // of all rows under a key of several values, where one of them says so
}

// JoinKeyList is join keys of one target, each once. Nearly all are a key and nothing else, and then the list is one of
// keys.
type JoinKeyList struct {
	Keys   []keys.Key
	owning []owning // aligned with Keys; nil where none of them has anything
}

// At returns a join key of the list.
func (l *JoinKeyList) At(i int) JoinKey { return JoinKey{l.Keys[i], l.owningAt(i)} }

// Is reports whether a join key of the list is this one.
func (l *JoinKeyList) Is(i int, at *JoinKey) bool {
	return l.Keys[i] == at.Key && l.owningAt(i) == at.owning
}

func (l *JoinKeyList) owningAt(i int) owning {
	if l.owning == nil {
		return owning{}
	}
	return l.owning[i]
}

// Add adds a join key that the list does not have.
func (l *JoinKeyList) Add(at JoinKey) {
	if l.owning == nil && at.owning != (owning{}) {
		l.owning = make([]owning, len(l.Keys))
	}
	l.Keys = append(l.Keys, at.Key)
	if l.owning != nil {
		l.owning = append(l.owning, at.owning)
	}
}

// Clear empties the list, and keeps its memory.
func (l *JoinKeyList) Clear() {
	clear(l.Keys)
	*l = JoinKeyList{Keys: l.Keys[:0]}
}

// distinct reports whether it is known that no key repeats: two join keys may differ in what they have beside it.
func (l *JoinKeyList) distinct() bool { return l.owning == nil }

// JoinKeys finds where ids lead in a target, in the generation that serves.
type JoinKeys struct {
	g    Target
	key  *querydb.Key
	auth *authKeys // where a rule names a table of owners
	text bool      // an id that is a text is the key of where it leads
}

type authKeys struct {
	table Target
	key   *querydb.Key
}

// JoinKeys returns the finder of the target's keys.
func (rd *Reader) JoinKeys(ctx context.Context, g Target) (JoinKeys, error) {
	key, err := rd.served.key(ctx, g.Type.Model, g.Index)
	if err != nil {
		return JoinKeys{}, rd.Errors().Read(ctx, err, g.Type.Name)
	}
	ks := JoinKeys{g: g, key: key, text: key.PK.IsText() && !g.keyed()}
	if g.Index == driver.Primary {
		return ks, nil
	}
	if q := rd.guardOf(g); q != nil && q.Rule.AuthTable != "" {
		t := rd.Catalog.Types[q.Rule.AuthTable]
		ks.auth = &authKeys{table: Target{Type: t, Index: driver.Primary}}
		if ks.auth.key, err = rd.served.key(ctx, t.Model, driver.Primary); err != nil {
			return JoinKeys{}, rd.Errors().Read(ctx, err, t.Name)
		}
	}
	return ks, nil
}

// Of finds where an id leads, or several values that are the key together. ok is false where no row can be, as under an
// empty id: such an id leads nowhere, and is not an error.
func (ks JoinKeys) Of(id ...keys.Value) (s JoinKey, ok bool, err error) {
	g := ks.g
	if len(id) == 1 && g.byText() {
		if id, ok = valuesOf(&ks.key.PK, id[0]); !ok {
			return JoinKey{}, false, nil
		}
	}
	if s.Key, err = g.compose(ks.key, id...); err != nil {
		return JoinKey{}, false, err
	}
	if len(id) > 1 {
		s.owner = g.owner(id)
	}
	if ks.auth != nil { // which an index on one field alone may have
		if s.auth, err = ks.auth.table.compose(ks.auth.key, id[0]); err != nil {
			return JoinKey{}, false, err
		}
	}
	ok = s.PK != "" && len(s.PK) <= keys.MaxPK && len(s.SK) <= keys.MaxSK && (s.SK != "" || !g.keyed())
	return s, ok, nil
}

// OfStored finds where a stored id leads, from the id's JSON text. ok is false where there can be no row.
func (ks JoinKeys) OfStored(f *driver.Field, text []byte) (s JoinKey, ok bool, err error) {
	if ks.text && ks.auth == nil && (f.Scalar == "ID" || f.Scalar == "String") { // as of most: what Of comes to
		if id, is := record.String(text); is {
			return JoinKey{Key: keys.Key{PK: id}}, id != "" && len(id) <= keys.MaxPK, nil
		}
	}
	id, ok := record.KeyValue(f.Scalar, text)
	if !ok {
		return JoinKey{}, false, fmt.Errorf("%s is not a value of type %s", text, f.Scalar)
	}
	return ks.Of(id)
}

// OfRow finds where the values that a row has in these fields lead together. ok is false where there can be no row.
func (ks JoinKeys) OfRow(fields []driver.Field, rec record.Record, by []int) (s JoinKey, ok bool, err error) {
	var few [4]keys.Value
	vals := few[:0]
	for _, ordinal := range by {
		f, text := &fields[ordinal], rec.JSON(ordinal)
		v, ok := record.KeyValue(f.Scalar, text)
		if !ok {
			return JoinKey{}, false, fmt.Errorf("%s is not a value of type %s", text, f.Scalar)
		}
		vals = append(vals, v)
	}
	return ks.Of(vals...)
}

// compose composes the key that an id has in the target, or that several values have together. The sort half is left
// out where it has other fields than those.
func (g Target) compose(key *querydb.Key, id ...keys.Value) (k keys.Key, err error) {
	if len(id) > 1 {
		return g.composeSeveral(key, id)
	}
	if k.PK, err = composeID(&key.PK, id[0]); err == nil && g.keyed() {
		k.SK, err = composeID(&key.SK, id[0])
	}
	return k, err
}

// composeSeveral composes the key of the values of its fields: of those of the partition half, then of those that the
// sort half has beside them.
func (g Target) composeSeveral(key *querydb.Key, vals []keys.Value) (k keys.Key, err error) {
	pk, sk := g.halves()
	if k.PK, err = key.PK.Compose(vals[:len(pk.Fields)]...); err != nil || !g.keyed() {
		return k, err
	}
	var few [4]keys.Value
	k.SK, err = key.SK.Compose(sortValues(few[:0], pk, sk, vals)...)
	return k, err
}

// sortValues are the values of the sort half among those of a whole key, whose first are those of the partition half.
func sortValues(dst []keys.Value, pk, sk *querydb.Half, vals []keys.Value) []keys.Value {
	next := len(pk.Fields)
	for _, field := range sk.Fields {
		at := slices.Index(pk.Fields, field)
		if at < 0 {
			at, next = next, next+1
		}
		dst = append(dst, vals[at])
	}
	return dst
}

// owner is whose all rows are under a key of several values, "" where they do not say it.
func (g Target) owner(vals []keys.Value) string {
	pk, sk := g.halves()
	if owner, says := access.OwnerIn(g.Type, pk, vals[:len(pk.Fields)]); says || !g.keyed() {
		return owner
	}
	owner, _ := access.OwnerIn(g.Type, sk, sortValues(nil, pk, sk, vals))
	return owner
}

// keyed reports whether both halves of a key are given: of a table by an id, or of an index in which the partition half
// has no fields, or by as many values as both have.
func (g Target) keyed() bool {
	pk, sk := g.halves()
	return sk.Layout.Exists() && (g.Whole || g.batched() || len(pk.Fields) == 0)
}

// byText reports whether one id stands for several values: it is the text of the partition half, as TById takes it.
func (g Target) byText() bool {
	return g.Index == driver.Primary && !IsEntity(g.Type) && len(g.Type.Model.PK.Fields) > 1
}

// valuesOf are the values that the text of a half has. ok is false where it is the text of no key, under which there
// can be no row.
func valuesOf(half *keys.Composer, text keys.Value) (vals []keys.Value, ok bool) {
	if text.Kind() != keys.KindString {
		return nil, false
	}
	vals, err := half.ParseKeyValues("id", text.AsString())
	return vals, err == nil
}

// composeID composes a half that has the id as its one field, or none.
func composeID(h *keys.Composer, id keys.Value) (string, error) {
	if len(h.Layout.Segments) == 0 {
		return h.Compose()
	}
	return h.Compose(id)
}

// rows is where the rows of a join key lie in its partition: among rows of other types, where the table is shared.
func (g Target) rows(key *querydb.Key, at JoinKey) (keys.Range, error) {
	switch {
	case at.SK != "":
		return keys.Range{Op: keys.RangeEqual, Lo: at.SK}, nil
	case !IsEntity(g.Type) || !key.SK.Layout.Exists():
		return keys.Range{}, nil
	}
	ranges, err := key.SK.Select(nil, keys.Condition{})
	if err != nil {
		return keys.Range{}, err
	}
	return ranges[0], nil
}

// single reports whether there can be one row at most at each join key of the target: at a whole key that is unique.
func (g Target) single() bool {
	pk, sk := g.halves()
	inPartition := func(field int) bool { return slices.Contains(pk.Fields, field) }
	whole := g.keyed() || !slices.ContainsFunc(sk.Fields, func(field int) bool { return !inPartition(field) })
	return g.batched() || whole && g.Index != driver.Primary && g.Type.Model.Indexes[g.Index].Unique
}

// ownJoinKey reports whether all rows that a join can find at a join key are the viewer's.
func ownJoinKey(v access.Viewer, g Target, key *querydb.Key, at JoinKey) bool {
	if at.owner != "" && at.owner == v.Subject {
		return true
	}
	pk, sk := g.halves()
	return v.OwnsHalf(g.Type, pk, &key.PK, at.PK) || at.SK != "" && v.OwnsHalf(g.Type, sk, &key.SK, at.SK)
}
