package dynamostore

import (
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore/internal/layout"
)

// layouts returns how the tables are to be.
func (t *Tables) layouts(prefix string) (want, former []layout.Layout, err error) {
	for _, table := range t.Needed {
		l := layout.Of(prefix, table)
		l.Written = l.AttributeTypes(table)
		if want, err = merge(want, l); err != nil {
			return nil, nil, err
		}
	}
	for _, table := range t.Former {
		l := layout.Of(prefix, &driver.Table{Name: table.Name, Generation: table.Generation})
		if !slices.ContainsFunc(want, func(w layout.Layout) bool { return w.Table == l.Table }) {
			former = append(former, l)
		}
	}
	return want, former, nil
}

// merge adds a layout to the list. Models that share a table agree on keys, and an index has what each of them wants.
func merge(list []layout.Layout, l layout.Layout) ([]layout.Layout, error) {
	at := slices.IndexFunc(list, func(o layout.Layout) bool { return o.Table == l.Table })
	if at < 0 {
		return append(list, l), nil
	}
	known := &list[at]
	if known.PK != l.PK || known.SK != l.SK {
		return nil, fmt.Errorf("dynamostore: %w: models of table %s do not agree on its key", driver.ErrInvalid, l.Table)
	}
	for attr, is := range l.Written {
		if was := known.Written[attr]; was != "" && was != is {
			is = was + " and " + is
		}
		known.Written[attr] = is
	}
	known.Indexes = slices.Clone(known.Indexes)
	for _, x := range l.Indexes {
		if err := mergeIndex(known, x); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func mergeIndex(l *layout.Layout, x layout.Index) error {
	at := slices.IndexFunc(l.Indexes, func(o layout.Index) bool { return o.Name == x.Name })
	if at < 0 {
		l.Indexes = append(l.Indexes, x)
		return nil
	}
	known := &l.Indexes[at]
	if known.PK != x.PK || known.SK != x.SK {
		return fmt.Errorf("dynamostore: %w: models of table %s do not agree on the key of index %s", driver.ErrInvalid,
			l.Table, x.Name)
	}
	if known.Projection == types.ProjectionTypeAll || x.Projection == types.ProjectionTypeAll {
		known.Projection, known.NonKey = types.ProjectionTypeAll, nil
		return nil
	}
	both := slices.Clone(known.NonKey)
	for _, attr := range x.NonKey {
		if !slices.Contains(both, attr) {
			both = append(both, attr)
		}
	}
	if known.NonKey = both; len(both) > 0 {
		known.Projection = types.ProjectionTypeInclude
	}
	return nil
}
