package read

import (
	"context"
	"fmt"

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
}

func (rd *Reader) Target(j *catalog.Join) Target {
	return Target{Type: rd.Catalog.Types[j.Target], Index: j.Index}
}

// halves returns the key of the target, as the schema has it.
func (g Target) halves() (pk, sk *querydb.Half) {
	if g.Index == driver.Primary {
		return &g.Type.Model.PK, &g.Type.Model.SK
	}
	x := &g.Type.Model.Indexes[g.Index]
	return &x.PK, &x.SK
}

// batched reports whether an id is the whole key of a row, so that many rows are read in one batch.
func (g Target) batched() bool {
	return g.Index == driver.Primary && (IsEntity(g.Type) || !g.Type.Model.SK.Layout.Exists())
}

// Batched reports whether the rows of a join to the target are read in one batch.
func (g Target) Batched() bool { return g.batched() }

// JoinKey is where an id leads in a target: to the row under Key, or, without a sort half, to those of a partition.
type JoinKey struct {
	keys.Key
	auth keys.Key // where a rule holds in the target: of the row that names the owner
}

// JoinKeys finds where ids lead in a target, in the generation that serves.
type JoinKeys struct {
	g    Target
	key  *querydb.Key
	auth *authKeys // where a rule names a table of owners
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
	ks := JoinKeys{g: g, key: key}
	if g.Index == driver.Primary {
		return ks, nil
	}
	if q := rd.guarded[g]; q != nil && q.Rule.AuthTable != "" {
		t := rd.Catalog.Types[q.Rule.AuthTable]
		ks.auth = &authKeys{table: Target{Type: t, Index: driver.Primary}}
		if ks.auth.key, err = rd.served.key(ctx, t.Model, driver.Primary); err != nil {
			return JoinKeys{}, rd.Errors().Read(ctx, err, t.Name)
		}
	}
	return ks, nil
}

// Of finds where an id leads. ok is false where no row can be, as under an empty id: such an id leads nowhere, and
// is not an error.
func (ks JoinKeys) Of(id keys.Value) (s JoinKey, ok bool, err error) {
	g := ks.g
	if s.Key, err = g.compose(ks.key, id); err != nil {
		return JoinKey{}, false, err
	}
	if ks.auth != nil {
		if s.auth, err = ks.auth.table.compose(ks.auth.key, id); err != nil {
			return JoinKey{}, false, err
		}
	}
	ok = s.PK != "" && len(s.PK) <= keys.MaxPK && len(s.SK) <= keys.MaxSK && (s.SK != "" || !g.keyed())
	return s, ok, nil
}

// OfStored finds where a stored id leads, from the id's JSON text. ok is false where there can be no row.
func (ks JoinKeys) OfStored(f *driver.Field, text []byte) (s JoinKey, ok bool, err error) {
	id, ok := record.KeyValue(f.Scalar, text)
	if !ok {
		return JoinKey{}, false, fmt.Errorf("%s is not a value of type %s", text, f.Scalar)
	}
	return ks.Of(id)
}

// compose composes the key that an id has in the target. The sort half is left out where it has other fields than the
// id.
func (g Target) compose(key *querydb.Key, id keys.Value) (k keys.Key, err error) {
	if k.PK, err = composeID(&key.PK, id); err == nil && g.keyed() {
		k.SK, err = composeID(&key.SK, id)
	}
	return k, err
}

// keyed reports whether an id says both halves of a key: that of a table, or that of an index in which the partition
// half has no fields.
func (g Target) keyed() bool {
	pk, sk := g.halves()
	return sk.Layout.Exists() && (g.batched() || len(pk.Fields) == 0)
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

// single reports whether there can be one row at most at each join key of the target.
func (g Target) single() bool {
	return g.batched() || g.Index != driver.Primary && g.Type.Model.Indexes[g.Index].Unique
}

// ownJoinKey reports whether all rows that a join can find at a join key are the viewer's.
func ownJoinKey(v access.Viewer, g Target, key *querydb.Key, at JoinKey) bool {
	pk, sk := g.halves()
	return v.OwnsHalf(g.Type, pk, &key.PK, at.PK) || at.SK != "" && v.OwnsHalf(g.Type, sk, &key.SK, at.SK)
}
