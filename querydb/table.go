package querydb

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/foldql/foldql/querydb/aggregate"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/internal/counter"
	"github.com/foldql/foldql/querydb/internal/generation"
	"github.com/foldql/foldql/querydb/internal/notetable"
	"github.com/foldql/foldql/querydb/internal/validate"
)

// table is where the rows of a model are kept, and what was done with them.
type table struct {
	model    *Model
	parts    map[string]*driver.Part      // by writer; see Model.parts
	lock     *generation.Lock             // that of the other models in the table, too
	serving  atomic.Pointer[driver.Table] // the generation that folds read and write
	fold     atomic.Pointer[View]         // the same, as folds read it
	api      *served                      // the generations that the API reads, of all tables
	ordinal  int                          // in api
	rebuild  rebuild
	building atomic.Pointer[func() Progress] // of rows that are built beside those that serve; nil where none are
	counters *counter.Counters

	restart   sync.Mutex // held while a generation follows another, and by a sweep
	watermark time.Time  // see Expiry.SetWatermark
}

// tables are those of all models of a DB. They never change after Open.
type tables map[*Model]*table

// newTables makes the tables of the models. Which generation of each it is is said by notes of the kind.
func newTables(models []*Model, kind string) (tables, error) {
	list := make(tables, len(models))
	named, locks, api := map[string]*Model{}, map[string]*generation.Lock{}, newServed(len(models))
	for _, m := range models {
		if err := checkModel(m, named); err != nil {
			return nil, &Error{Op: "open", Model: m.Name, Err: err}
		}
		if named[m.Table] == nil {
			named[m.Table] = m
			locks[m.Table] = &generation.Lock{Kind: kind}
		}
		list[m] = &table{model: m, parts: m.parts(), lock: locks[m.Table], api: api, ordinal: len(list),
			counters: &counter.Counters{}}
	}
	return list, nil
}

// checkModel refuses a model that cannot have its table. Of those in a table that models share, named has the first.
func checkModel(m *Model, named map[string]*Model) error {
	switch other := named[m.Table]; {
	case m.Table == "":
		return fmt.Errorf("%w: the table has no name", ErrInvalid)
	case m.Table == notetable.Name:
		return fmt.Errorf("%w: the table name %q is taken by the notes; give it another", ErrInvalid, notetable.Name)
	case m.Entity != nil && len(m.Entity.PhysicalIndexes) != len(m.Indexes):
		return fmt.Errorf("%w: %d of its %d indexes have a place in the table %q", ErrInvalid,
			len(m.Entity.PhysicalIndexes), len(m.Indexes), m.Table)
	case other != nil && m.Entity != nil && other.Entity != nil && m.Entity.Table == other.Entity.Table:
		return nil
	case other != nil:
		return fmt.Errorf("%w: the table %q is also that of %s; give one of them another", ErrInvalid, m.Table, other.Name)
	}
	return nil
}

// of finds the table of a model.
func (ts tables) of(op string, m *Model) (*table, error) {
	if t := ts[m]; t != nil {
		return t, nil
	}
	return nil, &Error{Op: op, Model: m.Name, Err: fmt.Errorf("%w: the model was not given to Open", ErrInvalid)}
}

// part is what a writer writes of the table's rows, nil where it writes them whole: where the writer is "".
func (t *table) part(writer string) (*driver.Part, error) {
	p := t.parts[writer]
	if p == nil && writer != "" {
		return nil, fmt.Errorf("%w: %q is none of the projectors that write the model", ErrInvalid, writer)
	}
	return p, nil
}

// serve has reads and writes go to another generation, of which the former one is removed.
func (t *table) serve(generation int) {
	if former := t.serving.Load(); former.Generation != generation {
		t.api.remove(former.Name, former.Generation)
	}
	t.follow(generation)
}

// follow has reads and writes go to another generation.
func (t *table) follow(generation int) {
	t.use(generation)
	t.watermark = time.Time{}
}

// use has folds, and reads of the API, go to a generation of the layout of the model.
func (t *table) use(generation int) {
	t.api.replace(map[int]*View{t.ordinal: t.folds(generation)})
}

// folds has folds go to a generation of the layout of the model.
func (t *table) folds(generation int) *View {
	v := newView(t.model, generation, t.model)
	t.fold.Store(v)
	t.serving.Store(v.table)
	return v
}

// planOf is the plan of an aggregate in a generation that is folded; nil of any other model.
func (t *table) planOf(shape *driver.Table) *aggregate.Plan {
	v := t.fold.Load()
	if v.plan == nil || v.table == shape {
		return v.plan
	}
	return aggregate.NewPlan(t.model.Aggregate, shape) // another generation has followed meanwhile
}

// readable returns why the rows cannot be read, nil where they can, as a fold always can. It costs one atomic load.
func (t *table) readable(v *View, forFold bool) error {
	if forFold || !t.rebuild.running.Load() || !v.isIn(t.serving.Load()) {
		return nil
	}
	return t.rebuild.error(t.model.Name)
}

// stillServes is readable after a read of a generation, whose rows may have been removed meanwhile.
func (t *table) stillServes(v *View, forFold bool) error {
	if err := t.readable(v, forFold); err != nil || forFold {
		return err
	}
	if v.table == nil || !t.api.isGone(v.table) {
		return nil
	}
	return &RebuildingError{Model: t.model.Name, Progress: Progress{ETASeconds: -1}}
}

// validate refuses a row that cannot be stored: of an aggregate, each of its items.
func (t *table) validate(shape *driver.Table, r *Row, part *driver.Part, writer string) error {
	if part == nil && len(t.parts) > 1 && r.Record != nil && len(r.Writers) == 0 {
		return fmt.Errorf("%w: several projections write the model, and the row is of none of them: name the one that "+
			"writes in the batch, or those that the whole row is of in Row.Writers", ErrInvalid)
	}
	plan := t.planOf(shape)
	if plan == nil || r.Record == nil {
		return validate.Row(shape, r, part, writer)
	}
	if len(r.Items) == 0 {
		return fmt.Errorf("%w: the row of an aggregate has no items: see Model.Decompose", ErrInvalid)
	}
	for i := range r.Items {
		item := &r.Items[i]
		if err := validate.Row(plan.TableOf(item.Kind), item, nil, ""); err != nil {
			return fmt.Errorf("item %s: %w", driver.PrintableKey(item.Key), err)
		}
	}
	return nil
}

// Stats counts what was done with the rows of one model since Open, also by views for builds. No count reveals whether
// rows exist that a caller may not see: where a key is looked up, it counts whether there is a row or not.
type Stats struct {
	Model         string
	Gets          uint64 // batches of keys read, also to complete pages of an index, unless Visible filters them
	KeysRequested uint64 // by these batches
	Queries       uint64 // ranges read
	RowsReturned  uint64 // by these reads; a lookup in a unique index counts as one row
	Examined      uint64 // keys that reads of ranges looked at
	Batches       uint64 // commits that wrote rows
	Writes        uint64 // rows written or deleted
	Swept         uint64 // rows removed because they had expired
	// Errors are calls of the driver that failed, unless who called has gone or another process was first: see ErrStale.
	Errors uint64
	// Time that the driver took.
	GetTime, QueryTime, ApplyTime time.Duration
}

// Stats returns a snapshot of the counters of all models, in no order.
func (db *DB) Stats() []Stats {
	all := make([]Stats, 0, len(db.tables))
	for m, t := range db.tables {
		c := t.counters
		all = append(all, Stats{
			Model: m.Name,
			Gets:  c.Gets.Load(), KeysRequested: c.KeysRequested.Load(),
			Queries: c.Queries.Load(), RowsReturned: c.RowsReturned.Load(), Examined: c.Examined.Load(),
			Batches: c.Batches.Load(), Writes: c.Writes.Load(), Swept: c.Swept.Load(), Errors: c.Errors.Load(),
			GetTime:   time.Duration(c.GetTime.Load()),
			QueryTime: time.Duration(c.QueryTime.Load()),
			ApplyTime: time.Duration(c.ApplyTime.Load()),
		})
	}
	return all
}

// countApplied adds a batch to the counters of each model that it writes.
func (ts tables) countApplied(writes []Write, err error, took time.Duration) {
	for len(writes) > 0 {
		m, n := writes[0].Model, 1
		for n < len(writes) && writes[n].Model == m {
			n++
		}
		ts[m].counters.Applied(n, err, took)
		writes = writes[n:]
	}
}
