package dynamostore

import (
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/foldql/foldql/querydb/driver"
)

// layouts returns how the tables are to be.
func (t *Tables) layouts(prefix string) (want, former []layout, err error) {
	for _, table := range t.Needed {
		l := layoutOf(prefix, table)
		l.written = l.attributeTypes(table)
		if want, err = merge(want, l); err != nil {
			return nil, nil, err
		}
	}
	for _, table := range t.Former {
		l := layoutOf(prefix, &driver.Table{Name: table.Name, Generation: table.Generation})
		if !slices.ContainsFunc(want, func(w layout) bool { return w.table == l.table }) {
			former = append(former, l)
		}
	}
	return want, former, nil
}

// merge adds a layout to the list. Models that share a table agree on keys, and an index has what each of them wants.
func merge(list []layout, l layout) ([]layout, error) {
	at := slices.IndexFunc(list, func(o layout) bool { return o.table == l.table })
	if at < 0 {
		return append(list, l), nil
	}
	known := &list[at]
	if known.pk != l.pk || known.sk != l.sk {
		return nil, fmt.Errorf("dynamostore: %w: models of table %s do not agree on its key", driver.ErrInvalid, l.table)
	}
	for attr, is := range l.written {
		if was := known.written[attr]; was != "" && was != is {
			is = was + " and " + is
		}
		known.written[attr] = is
	}
	known.indexes = slices.Clone(known.indexes)
	for _, x := range l.indexes {
		if err := mergeIndex(known, x); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func mergeIndex(l *layout, x index) error {
	at := slices.IndexFunc(l.indexes, func(o index) bool { return o.name == x.name })
	if at < 0 {
		l.indexes = append(l.indexes, x)
		return nil
	}
	known := &l.indexes[at]
	if known.pk != x.pk || known.sk != x.sk {
		return fmt.Errorf("dynamostore: %w: models of table %s do not agree on the key of index %s", driver.ErrInvalid,
			l.table, x.name)
	}
	if known.projection == types.ProjectionTypeAll || x.projection == types.ProjectionTypeAll {
		known.projection, known.nonKey = types.ProjectionTypeAll, nil
		return nil
	}
	both := slices.Clone(known.nonKey)
	for _, attr := range x.nonKey {
		if !slices.Contains(both, attr) {
			both = append(both, attr)
		}
	}
	if known.nonKey = both; len(both) > 0 {
		known.projection = types.ProjectionTypeInclude
	}
	return nil
}
