package read

import (
	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/internal/access"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

// Target is where a join leads: the table of a type, or one of its indexes.
type Target struct {
	Type  *catalog.Type
	Index int
}

func (rd *Reader) Target(j *catalog.Join) Target {
	return Target{Type: rd.Catalog.Types[j.Target], Index: j.Index}
}

// halves returns the key of the target.
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

// JoinKey is where an id leads in a target: to the row under Key, or, without a sort half, to those of a partition.
type JoinKey struct {
	keys.Key
	auth keys.Key // where a rule holds in the target: of the row that names the owner
}

// JoinKey finds where an id leads. ok is false where no row can be, as under an empty id: such an id leads nowhere, and
// is not an error.
func (rd *Reader) JoinKey(g Target, id keys.Value) (s JoinKey, ok bool, err error) {
	if s.Key, err = g.key(id); err != nil {
		return JoinKey{}, false, err
	}
	if g.Index != driver.Primary {
		if q := rd.guarded[g]; q != nil && q.Rule.AuthTable != "" {
			if s.auth, err = rowKey(rd.Catalog.Types[q.Rule.AuthTable], id); err != nil {
				return JoinKey{}, false, err
			}
		}
	}
	ok = s.PK != "" && len(s.PK) <= keys.MaxPK && len(s.SK) <= keys.MaxSK && (s.SK != "" || !g.keyed())
	return s, ok, nil
}

// key composes the key that an id has in the target. The sort half is left out where it has other fields than the id.
func (g Target) key(id keys.Value) (k keys.Key, err error) {
	pk, sk := g.halves()
	if k.PK, err = composeID(pk, id); err == nil && g.keyed() {
		k.SK, err = composeID(sk, id)
	}
	return k, err
}

// keyed reports whether an id says both halves of a key: that of a table, or that of an index in which the partition
// half has no fields.
func (g Target) keyed() bool {
	pk, sk := g.halves()
	return sk.Layout.Exists() && (g.batched() || len(pk.Fields) == 0)
}

// rowKey composes the key of the row of a model that an id alone is the key of.
func rowKey(t *catalog.Type, id keys.Value) (keys.Key, error) {
	return Target{Type: t, Index: driver.Primary}.key(id)
}

// composeID composes a half that has the id as its one field, or none.
func composeID(h *querydb.Half, id keys.Value) (string, error) {
	if len(h.Fields) == 0 {
		return h.Layout.Compose()
	}
	return h.Layout.Compose(id)
}

// rows is where the rows of a join key lie in its partition: among rows of other types, where the table is shared.
func (g Target) rows(at JoinKey) (keys.Range, error) {
	_, sk := g.halves()
	switch {
	case at.SK != "":
		return keys.Range{Op: keys.RangeEqual, Lo: at.SK}, nil
	case !IsEntity(g.Type) || !sk.Layout.Exists():
		return keys.Range{}, nil
	}
	ranges, err := sk.Layout.Select(nil, keys.Condition{})
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
func ownJoinKey(v access.Viewer, g Target, at JoinKey) bool {
	pk, sk := g.halves()
	return v.OwnsHalf(g.Type, pk, at.PK) || at.SK != "" && v.OwnsHalf(g.Type, sk, at.SK)
}
