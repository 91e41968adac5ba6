package read

import (
	"context"
	"errors"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/internal/access"
	"github.com/foldql/foldql/graph/internal/requestlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

// Hold has all reads of an operation, those with the context, go to the generations that serve when it begins, and look
// at no more rows in vain than one may. What it logs is bounded too.
func (rd *Reader) Hold(ctx context.Context) context.Context {
	ctx = requestlog.Bounded(rd.db.Generations().Hold(ctx))
	if rd.filters || rd.judges {
		ctx = rd.Config.Allowance.Limit(ctx)
	}
	return ctx
}

// served is how the rows that serve are read.
type served struct {
	db   *querydb.DB
	errs Errors
}

// key is how the keys of an index of a model are composed in the generation that serves, driver.Primary for the table.
func (sv served) key(ctx context.Context, m *querydb.Model, index int) (*querydb.Key, error) {
	view, err := sv.db.Generations().View(ctx, m)
	if err != nil {
		return nil, err
	}
	if k := view.Key(index); k != nil {
		return k, nil
	}
	what := ""
	switch {
	case view.HasRows() && index >= 0:
		what = "the index " + m.Indexes[index].Name
	case view.HasRows():
		what = "the key of the table"
	}
	return nil, sv.db.Rebuilds().NotRebuilt(m, what)
}

// knowsOwner fails where it is not known of rows of a former schema whose they are, and the viewer may read own rows
// only.
func (sv served) knowsOwner(ctx context.Context, t *catalog.Type, allowed access.Level) error {
	if allowed != access.OwnRowsOnly || t.Owner < 0 {
		return nil
	}
	view, err := sv.db.Generations().View(ctx, t.Model)
	if err != nil || view.Knows(t.Owner) {
		return err
	}
	return sv.db.Rebuilds().NotRebuilt(t.Model, "the owner")
}

// asked is the error of what a query asks of keys; where the stored ones do not answer it, that they are of a former
// layout.
func (sv served) asked(ctx context.Context, m *querydb.Model, err error) error {
	if errors.Is(err, keys.ErrFormerLayout) {
		err = sv.db.Rebuilds().NotRebuilt(m, "the order of the key")
	}
	return sv.errs.Read(ctx, err, m.Name)
}

// rowKey composes the key of the row of a model that an id alone is the key of.
func (sv served) rowKey(ctx context.Context, t *catalog.Type, id keys.Value) (keys.Key, error) {
	key, err := sv.key(ctx, t.Model, driver.Primary)
	if err != nil {
		return keys.Key{}, err
	}
	return Target{Type: t, Index: driver.Primary}.compose(key, id)
}

// NotKnown is the error of a field that is not known of rows of a former schema.
func (rd *Reader) NotKnown(ctx context.Context, t *catalog.Type, field string) error {
	return rd.Errors().Read(ctx, rd.db.Rebuilds().NotRebuilt(t.Model, field), t.Name)
}

// queryKey is the key that a query reads by. All members of a collection have the same partition half.
func (sv served) queryKey(ctx context.Context, c *catalog.Catalog, q *catalog.Query) (k *querydb.Key, err error) {
	if q.Collection == nil {
		return sv.key(ctx, c.Types[q.Type].Model, q.Index)
	}
	for _, m := range q.Collection.Stored.Members {
		if k, err = sv.key(ctx, m.Model, m.Index); err == nil {
			return k, nil
		}
	}
	return nil, err
}

// ownsPartition reports whether all rows of a partition, which the arguments of a query name, are the viewer's.
func ownsPartition(
	v access.Viewer, t *catalog.Type, q *catalog.Query, half *querydb.Half, by *querydb.Key, vals []keys.Value, pk string,
) bool {
	if !by.PK.Same() { // who owns it stands in the key as the schema has it
		var err error
		if pk, err = partition(q, &keys.Composer{Layout: half.Layout}, vals); err != nil {
			return false
		}
	}
	return v.OwnsPartition(t, half, vals, pk)
}
