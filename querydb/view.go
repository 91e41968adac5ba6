package querydb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"slices"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/aggregate"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/internal/former"
	"github.com/foldql/foldql/querydb/record"
)

// View is how the rows of a model are read that one generation has: as the model says, or as a former layout does. It
// never changes.
type View struct {
	generation int
	model      *Model
	stored     *Model          // whose layout the rows have; nil where the generation has no rows of the model
	table      *driver.Table   // nil where stored is
	plan       *aggregate.Plan // of an aggregate
	fields     *former.Fields  // nil where records are as the model says
	keys       []*Key          // of the table and of each of model.Indexes; nil where there is none such
}

// Key is how the keys of a table, or of an index, are composed of what queries of the model say.
type Key struct {
	PK, SK  keys.Composer
	InOrder bool   // rows of a partition come in the order that the model's keys have
	Form    uint64 // differs where cursors of pages would not be of the same order
	stored  int    // ordinal in stored.Indexes, driver.Primary for the table
}

// newView is a generation whose rows have the layout of a stored model: the model itself, or a former one.
func newView(m *Model, generation int, stored *Model) *View {
	v := &View{generation: generation, model: m, stored: stored, keys: make([]*Key, 1+len(m.Indexes))}
	if stored == nil {
		return v
	}
	v.table = stored.DriverTable(generation)
	if stored.Aggregate != nil {
		v.plan = aggregate.NewPlan(stored.Aggregate, v.table)
	}
	if stored != m {
		v.fields = former.Compile(schemaOf(m), schemaOf(stored))
	}
	v.keys[0] = primaryKey(m, stored)
	for i := range m.Indexes {
		v.keys[1+i] = indexKeyOf(m, stored, i)
	}
	return v
}

// primaryKey is the key of the table; nil where the stored one does not say what the model's does.
func primaryKey(m, stored *Model) *Key {
	k := &Key{stored: driver.Primary, Form: formOf(stored.Table, &stored.PK, &stored.SK)}
	var pk, sk bool
	k.PK, pk = m.composer(&m.PK, &stored.PK)
	k.SK, sk = m.composer(&m.SK, &stored.SK)
	k.InOrder = k.SK.InOrder()
	if !pk || !sk {
		return nil
	}
	return k
}

// composer makes the composer of a half of the model for keys that are stored by another; ok is false where these do
// not say what those of the half do.
func (m *Model) composer(half, stored *Half) (c keys.Composer, ok bool) {
	c, ok = keys.NewComposer(half.Layout, stored.Layout)
	for i, field := range half.Fields {
		if values := m.enumValues(m.Fields[field].Enum); values != nil {
			if c.Enums == nil {
				c.Enums = make([][]string, len(half.Fields))
			}
			c.Enums[i] = values
		}
	}
	return c, ok
}

// indexKeyOf is the key of an index: that of the stored index of its name, else of another one that holds the same.
func indexKeyOf(m, stored *Model, i int) *Key {
	if m == stored {
		return indexKeyBy(m, m, i, i)
	}
	named := slices.IndexFunc(stored.Indexes, func(x Index) bool { return x.Name == m.Indexes[i].Name })
	if named >= 0 {
		if k := indexKeyBy(m, stored, i, named); k != nil {
			return k
		}
	}
	for at := range stored.Indexes {
		if k := indexKeyBy(m, stored, i, at); k != nil {
			return k
		}
	}
	return nil
}

// indexKeyBy is the key of an index as the stored index says; nil where that holds other rows, or under other keys.
func indexKeyBy(m, stored *Model, i, at int) *Key {
	x, was := &m.Indexes[i], &stored.Indexes[at]
	k := &Key{stored: at,
		Form: formOf(stored.Table+"."+was.Name, &stored.PK, &stored.SK, &was.PK, &was.SK)}
	var pk, sk bool
	k.PK, pk = m.composer(&x.PK, &was.PK)
	k.SK, sk = m.composer(&x.SK, &was.SK)
	same := pk && sk && k.SK.SameMembers()
	if !same || x.Unique && !was.Unique || !samePatches(m, stored, x, was, k) {
		return nil
	}
	ties := primaryKey(m, stored) // rows of one sort key come in the order of their own keys
	k.InOrder = k.SK.InOrder() && ties != nil && ties.InOrder && ties.PK.InOrder()
	return k
}

// samePatches reports whether writes of parts of rows leave the same keys in both indexes. Where several projections
// write a row, those hang on how the halves are composed.
func samePatches(m, stored *Model, x, was *Index, k *Key) bool {
	if len(m.Writers) == 0 && len(stored.Writers) == 0 {
		return true
	}
	return k.PK.InOrder() && k.SK.InOrder() && x.PK.Policy == was.PK.Policy && x.SK.Policy == was.SK.Policy
}

// formOf tells keys of one form from those of another.
func formOf(table string, halves ...*Half) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, table)
	for _, half := range halves {
		text, err := json.Marshal(half.Layout)
		if err != nil {
			panic(err) // a layout is text and numbers
		}
		_, _ = h.Write(text)
	}
	return h.Sum64()
}

// View returns how the rows of the model are read in the generation that serves the operation of the context.
func (g *Generations) View(ctx context.Context, m *Model) (*View, error) {
	t, err := g.tables.of("read", m)
	if err != nil {
		return nil, err
	}
	return t.view(ctx, false), nil
}

// Key returns how keys of an index of the model are composed, driver.Primary for the table; nil where the stored keys
// do not say what those of the model say.
func (v *View) Key(index int) *Key { return v.keys[1+index] }

// isIn reports whether the view is of that generation of that table, which may have no rows of the model.
func (v *View) isIn(t *driver.Table) bool {
	return v.generation == t.Generation && (v.table == nil || v.table.Name == t.Name)
}

// HasRows reports whether the generation has rows of the model at all: of a new one there may be none yet.
func (v *View) HasRows() bool { return v.stored != nil }

// Knows reports whether the field of every row is known.
func (v *View) Knows(field int) bool { return v.stored != nil && v.fields.Knows(field) }

// Has reports whether rows have the field: what it is in each of them may be unknown.
func (v *View) Has(field int) bool { return v.stored != nil && v.fields.Has(field) }

func schemaOf(m *Model) former.Schema {
	enums := make(map[string][]string, len(m.Enums))
	for _, e := range m.Enums {
		enums[e.Name] = e.Values
	}
	return former.Schema{Fields: m.Fields, Enums: enums}
}

// Fill replaces what is not known of a record of the model, as [record.Unknown] says, by any text of its type: for a
// decoder of whole rows, where nobody asks for it. filled is false where all is known.
func Fill(m *Model, rec record.Record) (out record.Record, filled bool, err error) {
	return former.Fill(schemaOf(m), rec)
}

// same reports whether rows are read as they are.
func (v *View) same() bool { return v.fields == nil && v.kind() == v.storedKind() }

func (v *View) kind() string {
	if v.model.Entity == nil {
		return ""
	}
	return v.model.Entity.Kind
}

func (v *View) storedKind() string {
	if v.table == nil {
		return ""
	}
	return v.table.Kind
}

// translator makes rows of the models of rows that are stored: a View, or those of the members of a collection.
type translator interface {
	same() bool // nothing is to be done
	translateRow(b *record.Builder, row *Row) error
}

// translate makes rows of the models of the rows that are stored.
func translate(t translator, rows []Row) error {
	if t.same() {
		return nil
	}
	var b record.Builder
	for i := range rows {
		if err := t.translateRow(&b, &rows[i]); err != nil {
			return err
		}
	}
	return nil
}

// translateError makes a row of the model of the root in the error of an aggregate that is torn.
func (v *View) translateError(err error) error {
	var torn *aggregate.TornError
	if v.same() || !errors.As(err, &torn) || torn.Root == nil {
		return err
	}
	var b record.Builder
	root := Row{Record: torn.Root}
	if wrong := v.translateRow(&b, &root); wrong != nil {
		root.Record = nil
	}
	torn.Root = root.Record
	return err
}

func (v *View) translateRow(b *record.Builder, row *Row) (err error) {
	if row.Record, err = v.fields.Translate(b, row.Record); err != nil {
		return fmt.Errorf("row %s: %w", driver.PrintableKey(row.Key), err)
	}
	row.Kind, row.Indexes = v.kind(), nil
	return nil
}

// visible makes of a judge of the models' rows one of the rows that are stored, and says where to look, when all is
// read, for the error of one that cannot be read.
func visible(t translator, judge func(*Row) bool) (func(*Row) bool, *error) {
	if judge == nil || t.same() {
		return judge, nil
	}
	var b record.Builder
	failure := new(error)
	return func(row *Row) bool {
		one := *row
		if err := t.translateRow(&b, &one); err != nil {
			*failure = err
			return false
		}
		return judge(&one)
	}, failure
}

// filter is the filter of rows as the schema has them, for rows as they are stored.
func (v *View) filter(holds func(*Row) (bool, error)) func(*Row) (bool, error) {
	if holds == nil || v.same() {
		return holds
	}
	var b record.Builder
	return func(row *Row) (bool, error) {
		one := *row
		if err := v.translateRow(&b, &one); err != nil {
			return false, err
		}
		return holds(&one)
	}
}

// views are those of the members of a collection.
type views []*View

func (vs views) same() bool { return !slices.ContainsFunc(vs, func(v *View) bool { return !v.same() }) }

func (vs views) translateRow(b *record.Builder, row *Row) error {
	of := slices.IndexFunc(vs, func(v *View) bool { return v.table.Kind == row.Kind })
	if of < 0 {
		return fmt.Errorf("%w: row %s is of %q, which is no member", ErrDamaged, driver.PrintableKey(row.Key), row.Kind)
	}
	return vs[of].translateRow(b, row)
}
