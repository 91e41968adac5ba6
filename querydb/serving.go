package querydb

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/aggregate"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/internal/former"
	"github.com/foldql/foldql/querydb/record"
)

// served is which generation of each table the API reads.
type served struct {
	change  sync.Mutex // held while a set follows another
	current atomic.Pointer[servedSet]
	// refusals counts when reads have come to be refused: see Epoch.
	refusals atomic.Uint32
}

// servedSet never changes. Reads that hold one find the rows of the same generations until they are removed.
type servedSet struct {
	number  uint32  // of the set, since Open
	changes int     // before it, since Open
	views   []*View // by table.ordinal
}

func newServed(tables int) *served {
	s := &served{}
	s.current.Store(&servedSet{views: make([]*View, tables)})
	return s
}

// replace has reads that begin from now on go to other generations: all of them at once.
func (s *served) replace(views map[int]*View) {
	s.change.Lock()
	defer s.change.Unlock()
	before := s.current.Load()
	next := &servedSet{number: before.number + 1, views: slices.Clone(before.views)}
	for i, v := range views {
		if before.views[i] != nil {
			next.changes = before.changes + 1
		}
		next.views[i] = v
	}
	next.changes = max(next.changes, before.changes)
	s.current.Store(next)
}

// Epoch is a number that changes whenever reads of the API that begin from then on may go to other rows than before, or
// be refused where they were not. What was read in an epoch may be given out in the same one; whoever keeps an answer
// asks for it before [Generations.Hold].
func Epoch(db *DB) uint64 {
	s := db.generations.api
	return uint64(s.current.Load().number)<<32 | uint64(s.refusals.Load())
}

type servedKey struct{ of *served }

// Hold returns a context whose reads all go to the generations that serve now, also when others serve meanwhile. An
// operation that reads several times begins with it, so that its answer never mixes generations.
func (g *Generations) Hold(ctx context.Context) context.Context {
	return context.WithValue(ctx, servedKey{g.api}, g.api.current.Load())
}

// view is the generation that a read goes to. As long as no other has followed, it costs one atomic load.
func (t *table) view(ctx context.Context, forFold bool) *View {
	if forFold {
		return t.fold.Load()
	}
	set := t.api.current.Load()
	if set.changes > 0 {
		if held, holds := ctx.Value(servedKey{t.api}).(*servedSet); holds {
			set = held
		}
	}
	return set.views[t.ordinal]
}

// served finds what the tables have in common.
func (ts tables) served() *served {
	for _, t := range ts {
		return t.api
	}
	return newServed(0)
}

// Served is a generation of a model's table that reads of the API are to go to, and the layout of its rows. A nil
// Layout stands for that of the model.
type Served struct {
	Model      *Model
	Generation int
	Layout     *Layout
}

// Serve has reads of the API go to a generation of the model's table from now on, and read its rows as they were
// written under the layout; nil stands for that of the model. Reads of DB.ForFold, and writes, go to the generation
// that Use and Begin have set, which have the API follow too.
//
// A row that was written under another layout is read as one of the model: fields are found by name and type. A field
// that the layout does not say (it is new, or its type has changed; it is null and may not be; its enum has lost the
// value) has the text record.Unknown. An index that the layout does not have is a *NotRebuiltError. Rows expire by the
// @ttl of the layout. What is asked of keys is to be composed as View.Key says.
func (g *Generations) Serve(m *Model, generation int, l *Layout) error {
	return g.ServeAll([]Served{{m, generation, l}})
}

// ServeAll is Serve for several models, in one step: a read finds all of them changed, or none.
func (g *Generations) ServeAll(all []Served) error {
	views := make(map[int]*View, len(all))
	for _, s := range all {
		t, err := g.tables.of("serve", s.Model)
		if err != nil {
			return err
		}
		gone := t.gone.Load()
		if (s.Layout == nil || s.Layout.HasRows()) && gone != nil && slices.Contains(*gone, s.Generation) {
			return &Error{Op: "serve", Model: s.Model.Name,
				Err: fmt.Errorf("%w: the rows of generation %d are being removed", ErrInvalid, s.Generation)}
		}
		views[t.ordinal] = s.view(t)
	}
	g.api.replace(views)
	return nil
}

func (s *Served) view(t *table) *View {
	switch fold := t.fold.Load(); {
	case s.Layout != nil && !s.Layout.Equal(s.Model.Layout()):
		return newView(s.Model, s.Generation, s.Layout.model)
	case fold != nil && fold.generation == s.Generation:
		return fold
	}
	return newView(s.Model, s.Generation, s.Model)
}

// Serving is the number of the generation of the model's table that reads of the API go to.
func (g *Generations) Serving(m *Model) int {
	return g.api.current.Load().views[g.tables[m].ordinal].generation
}

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
	k.PK, pk = keys.NewComposer(m.PK.Layout, stored.PK.Layout)
	k.SK, sk = keys.NewComposer(m.SK.Layout, stored.SK.Layout)
	k.InOrder = k.SK.InOrder()
	if !pk || !sk {
		return nil
	}
	return k
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
	k.PK, pk = keys.NewComposer(x.PK.Layout, was.PK.Layout)
	k.SK, sk = keys.NewComposer(x.SK.Layout, was.SK.Layout)
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

// mayRead returns why the rows cannot be read, nil where they can.
func (t *table) mayRead(v *View, forFold bool) error {
	if err := t.readable(v, forFold); err != nil || v.stored != nil {
		return err
	}
	return t.notRebuilt("")
}

// physicalIndex is the ordinal in the store's table of an index of the model, or driver.Primary.
func (t *table) physicalIndex(v *View, index int) (int, error) {
	if index == driver.Primary {
		return index, nil
	}
	if k := v.Key(index); k != nil {
		return v.stored.PhysicalIndex(k.stored), nil
	}
	return 0, t.notRebuilt("the index " + t.model.Indexes[index].Name)
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

// translate makes rows of the model of the rows that are stored.
func (v *View) translate(rows []Row) error {
	if v.same() {
		return nil
	}
	var b record.Builder
	for i := range rows {
		if err := v.translateRow(&b, &rows[i]); err != nil {
			return err
		}
	}
	return nil
}

func (v *View) translateRow(b *record.Builder, row *Row) (err error) {
	if row.Record, err = v.fields.Translate(b, row.Record); err != nil {
		return fmt.Errorf("row %s: %w", driver.PrintableKey(row.Key), err)
	}
	row.Kind, row.Indexes = v.kind(), nil
	return nil
}

// visible makes of a judge of the model's rows one of the rows that are stored, and says where to look, when all is
// read, for the error of one that cannot be read.
func (v *View) visible(judge func(*Row) bool) (func(*Row) bool, *error) {
	if judge == nil || v.same() {
		return judge, nil
	}
	return judgeTranslated(judge, func(b *record.Builder, row *Row) error { return v.translateRow(b, row) })
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

func judgeTranslated(
	judge func(*Row) bool, translate func(*record.Builder, *Row) error,
) (func(*Row) bool, *error) {
	var b record.Builder
	failure := new(error)
	return func(row *Row) bool {
		one := *row
		if err := translate(&b, &one); err != nil {
			*failure = err
			return false
		}
		return judge(&one)
	}, failure
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

func (vs views) translate(rows []Row) error {
	if vs.same() {
		return nil
	}
	var b record.Builder
	for i := range rows {
		if err := vs.translateRow(&b, &rows[i]); err != nil {
			return err
		}
	}
	return nil
}

func (vs views) visible(judge func(*Row) bool) (func(*Row) bool, *error) {
	if judge == nil || vs.same() {
		return judge, nil
	}
	return judgeTranslated(judge, vs.translateRow)
}
