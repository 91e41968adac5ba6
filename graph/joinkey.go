package graph

import (
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

// target is where a join leads: the table of a type, or one of its indexes.
type target struct {
	typ *Type
	via int
}

func (rd *reader) target(j *Join) target {
	return target{typ: rd.catalog.Types[j.Target], via: j.Via}
}

// halves returns the key of the target.
func (g target) halves() (pk, sk *querydb.Half) {
	if g.via == driver.Primary {
		return &g.typ.Model.PK, &g.typ.Model.SK
	}
	x := &g.typ.Model.Indexes[g.via]
	return &x.PK, &x.SK
}

// batched reports whether an id is the whole key of a row, so that many rows are read in one batch.
func (g target) batched() bool {
	return g.via == driver.Primary && (isEntity(g.typ) || !g.typ.Model.SK.Layout.Exists())
}

// joinKey is where an id leads in a target: to the row under Key, or, without a sort half, to those of a partition.
type joinKey struct {
	keys.Key
	auth keys.Key // where a rule holds in the target: of the row that names the owner
}

// joinKey finds where an id leads. ok is false where no row can be, as under an empty id: such an id leads nowhere, and is not
// an error.
func (rd *reader) joinKey(g target, id keys.Value) (s joinKey, ok bool, err error) {
	if s.Key, err = g.key(id); err != nil {
		return joinKey{}, false, err
	}
	if g.via != driver.Primary {
		if q := rd.guarded[g]; q != nil && q.Rule.AuthTable != "" {
			if s.auth, err = rowKey(rd.catalog.Types[q.Rule.AuthTable], id); err != nil {
				return joinKey{}, false, err
			}
		}
	}
	ok = s.PK != "" && len(s.PK) <= keys.MaxPK && len(s.SK) <= keys.MaxSK && (s.SK != "" || !g.keyed())
	return s, ok, nil
}

// key composes the key that an id has in the target. The sort half is left out where it has other fields than the id.
func (g target) key(id keys.Value) (k keys.Key, err error) {
	pk, sk := g.halves()
	if k.PK, err = composeID(pk, id); err == nil && g.keyed() {
		k.SK, err = composeID(sk, id)
	}
	return k, err
}

// keyed reports whether an id says both halves of a key: that of a table, or that of an index in which the partition half
// has no fields.
func (g target) keyed() bool {
	pk, sk := g.halves()
	return sk.Layout.Exists() && (g.batched() || len(pk.Fields) == 0)
}

// rowKey composes the key of the row of a model that an id alone is the key of.
func rowKey(t *Type, id keys.Value) (keys.Key, error) {
	return target{typ: t, via: driver.Primary}.key(id)
}

// composeID composes a half that has the id as its one field, or none.
func composeID(h *querydb.Half, id keys.Value) (string, error) {
	if len(h.Fields) == 0 {
		return h.Layout.Compose()
	}
	return h.Layout.Compose(id)
}

// rows is where the rows of a join key lie in its partition: among rows of other types, where the table is shared.
func (g target) rows(at joinKey) (keys.Range, error) {
	_, sk := g.halves()
	switch {
	case at.SK != "":
		return keys.Range{Op: keys.Equal, Lo: at.SK}, nil
	case !isEntity(g.typ) || !sk.Layout.Exists():
		return keys.Range{}, nil
	}
	ranges, err := sk.Layout.Select(nil, keys.Condition{})
	if err != nil {
		return keys.Range{}, err
	}
	return ranges[0], nil
}

// single reports whether there can be one row at most at each join key of the target.
func (g target) single() bool {
	return g.batched() || g.via != driver.Primary && g.typ.Model.Indexes[g.via].Unique
}

// ownJoinKey reports whether all rows that a join can find at a join key are the viewer's.
func ownJoinKey(v viewer, g target, at joinKey) bool {
	pk, sk := g.halves()
	return v.ownHalf(g.typ, pk, at.PK) || at.SK != "" && v.ownHalf(g.typ, sk, at.SK)
}
