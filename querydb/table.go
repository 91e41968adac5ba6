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
	parts    map[string]*driver.Part        // by writer; see Model.parts
	lock     *generation.Lock               // that of the other models in the table, too
	serving  atomic.Pointer[driver.Table]   // the generation that reads and writes go to
	plan     atomic.Pointer[aggregate.Plan] // of an aggregate, in that generation
	rebuild  rebuild
	counters counter.Counters

	restart   sync.Mutex // held while a generation follows another, and by a sweep
	watermark time.Time  // see Expiry.SetWatermark
}

// tables are those of all models of a DB. They never change after Open.
type tables map[*Model]*table

func newTables(models []*Model) (tables, error) {
	list := make(tables, len(models))
	named, locks := map[string]*Model{}, map[string]*generation.Lock{}
	for _, m := range models {
		if err := checkModel(m, named); err != nil {
			return nil, &Error{Op: "open", Model: m.Name, Err: err}
		}
		if named[m.Table] == nil {
			named[m.Table] = m
			locks[m.Table] = &generation.Lock{}
		}
		list[m] = &table{model: m, parts: m.parts(), lock: locks[m.Table]}
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

// serve has reads and writes go to another generation.
func (t *table) serve(generation int) {
	t.use(generation)
	t.watermark = time.Time{}
}

func (t *table) use(generation int) {
	shape := t.model.DriverTable(generation)
	if t.model.Aggregate != nil {
		t.plan.Store(aggregate.NewPlan(t.model.Aggregate, shape))
	}
	t.serving.Store(shape)
}

// planOf is the plan of an aggregate in a generation; nil of any other model.
func (t *table) planOf(shape *driver.Table) *aggregate.Plan {
	plan := t.plan.Load()
	if plan == nil || plan.Tables[0] == shape {
		return plan
	}
	return aggregate.NewPlan(t.model.Aggregate, shape) // another generation has followed meanwhile
}

// readable returns why the rows cannot be read, nil where they can, as a fold always can. It costs one atomic load.
func (t *table) readable(forFold bool) error {
	if forFold || !t.rebuild.running.Load() {
		return nil
	}
	return t.rebuild.error(t.model.Name)
}

// stillServes is readable after a read of a generation, which another may have followed meanwhile.
func (t *table) stillServes(generation int, forFold bool) error {
	if err := t.readable(forFold); err != nil || forFold || t.serving.Load().Generation == generation {
		return err
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
