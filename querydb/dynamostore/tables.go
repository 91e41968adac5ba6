package dynamostore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/foldql/foldql/querydb/driver"
)

// Tables are those that a program needs, and those that it has no use for any more.
type Tables struct {
	Needed []*driver.Table
	Former []*driver.Table // only Name and Generation count; none of Needed
}

// Plan compares the tables with those that are there, and changes nothing.
func (s *Store) Plan(ctx context.Context, t Tables, allowDelete bool) (Plan, error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return Plan{}, err
	}
	defer leave()
	want, former, err := t.layouts(s.cfg.Prefix)
	if err != nil {
		return Plan{}, err
	}
	have, err := s.describeAll(ctx, slices.Concat(want, former))
	if err != nil {
		return Plan{}, err
	}
	return makePlan(want, former, have, allowDelete), nil
}

// CheckTables fails, naming what is missing and what to do, where rows of the tables cannot be read and written.
func (s *Store) CheckTables(ctx context.Context, needed []*driver.Table) error {
	plan, err := s.Plan(ctx, Tables{Needed: needed}, false)
	if err != nil {
		return err
	}
	return plan.ready()
}

// TableID names the table for as long as it is that one: another of its name, made or restored later, has another. It
// is "" where there is no table.
func (s *Store) TableID(ctx context.Context, t *driver.Table) (string, error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return "", err
	}
	defer leave()
	l := layoutOf(s.cfg.Prefix, t)
	d, err := s.describeTable(ctx, l.table)
	if err != nil {
		return "", mapped("describe", l.table, err)
	}
	if d == nil || d.TableStatus == types.TableStatusDeleting {
		return "", nil
	}
	if d.TableId != nil && *d.TableId != "" {
		return *d.TableId, nil
	}
	if d.CreationDateTime == nil {
		return "", fmt.Errorf("dynamostore: %w: table %s does not say when it was made", driver.ErrUnavailable, l.table)
	}
	return d.CreationDateTime.UTC().Format(time.RFC3339Nano), nil
}

// Exists reports whether the table can be read.
func (s *Store) Exists(ctx context.Context, t *driver.Table) (bool, error) {
	l := layoutOf(s.cfg.Prefix, t)
	have, err := s.describeAll(ctx, []layout{l})
	if err != nil || have[l.table] == nil {
		return false, err
	}
	status := have[l.table].TableStatus
	return status == types.TableStatusActive || status == types.TableStatusUpdating, nil
}

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
		if err := known.mergeIndex(x); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (l *layout) mergeIndex(x index) error {
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

// live is a table as it is.
type live struct {
	types.TableDescription
	ttl types.TimeToLiveDescription
}

// describeAll describes the tables that are there, by name.
func (s *Store) describeAll(ctx context.Context, all []layout) (map[string]*live, error) {
	list := make([]*live, len(all))
	err := s.each(ctx, len(all), func(ctx context.Context, i int) (err error) {
		if list[i], err = s.describe(ctx, all[i].table); err != nil {
			err = mapped("describe", all[i].table, err)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	have := map[string]*live{}
	for i, d := range list {
		if d != nil {
			have[all[i].table] = d
		}
	}
	return have, nil
}

// describeTable returns nil where the table is not there.
func (s *Store) describeTable(ctx context.Context, table string) (d *types.TableDescription, err error) {
	err = s.send(ctx, time.Time{}, func(ctx context.Context, _ bool) error {
		out, err := s.client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &table})
		if err == nil {
			d = out.Table
		}
		return err
	})
	if _, missing := as[*types.ResourceNotFoundException](err); missing {
		return nil, nil
	}
	return d, err
}

// describe returns nil where the table is not there.
func (s *Store) describe(ctx context.Context, table string) (*live, error) {
	is, err := s.describeTable(ctx, table)
	if err != nil || is == nil {
		return nil, err
	}
	d := &live{TableDescription: *is}
	if d.TableStatus != types.TableStatusDeleting && d.TableStatus != types.TableStatusCreating {
		err = s.send(ctx, time.Time{}, func(ctx context.Context, _ bool) error {
			out, err := s.client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &table})
			if err == nil && out.TimeToLiveDescription != nil {
				d.ttl = *out.TimeToLiveDescription
			}
			return err
		})
	}
	if _, missing := as[*types.ResourceNotFoundException](err); missing {
		return nil, nil
	}
	return d, err
}

// keySchema is the key of a table or an index; sk is "" where it has no sort key.
func keySchema(pk, sk string) []types.KeySchemaElement {
	list := []types.KeySchemaElement{{AttributeName: &pk, KeyType: types.KeyTypeHash}}
	if sk != "" {
		list = append(list, types.KeySchemaElement{AttributeName: &sk, KeyType: types.KeyTypeRange})
	}
	return list
}

// definitions are those of the attributes, each once, in order.
func definitions(attrs ...string) []types.AttributeDefinition {
	slices.Sort(attrs)
	var list []types.AttributeDefinition
	for _, a := range slices.Compact(attrs) {
		if a != "" {
			list = append(list, types.AttributeDefinition{AttributeName: &a, AttributeType: types.ScalarAttributeTypeS})
		}
	}
	return list
}

// keyText is a key as messages show it: (id, changedAt).
func keyText(pk, sk string) string {
	if sk == "" {
		return "(" + pk + ")"
	}
	return "(" + pk + ", " + sk + ")"
}

// haveKeyText is the key of what is there, with the types of attributes that are no texts.
func haveKeyText(key []types.KeySchemaElement, attrs []types.AttributeDefinition) string {
	var names []string
	for _, k := range key {
		name := *k.AttributeName
		for _, a := range attrs {
			if *a.AttributeName == name && a.AttributeType != types.ScalarAttributeTypeS {
				name += " of type " + string(a.AttributeType)
			}
		}
		names = append(names, name)
	}
	return "(" + strings.Join(names, ", ") + ")"
}
