package querydb

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/foldql/foldql/querydb/driver"
)

// served is which generation of each table the API reads.
type served struct {
	change  sync.Mutex // held while a set follows another
	current atomic.Pointer[servedSet]
	// refusals counts when reads have come to be refused: see Epoch.
	refusals atomic.Uint32
	gone     atomic.Pointer[[]numbered] // whose rows are being removed
}

// numbered is a generation of a table.
type numbered struct {
	table      string
	generation int
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

// remove notes that the rows of a generation are being removed: what is read of it from then on may be incomplete.
func (s *served) remove(table string, generation int) {
	for {
		before := s.gone.Load()
		after := []numbered{{table, generation}}
		if before != nil {
			after = append(after, *before...)
		}
		if s.gone.CompareAndSwap(before, &after) {
			s.refusals.Add(1)
			return
		}
	}
}

// isGone reports whether the rows of a generation are being removed.
func (s *served) isGone(t *driver.Table) bool {
	gone := s.gone.Load()
	return gone != nil && slices.Contains(*gone, numbered{t.Name, t.Generation})
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
// Layout stands for that of the model. The table is that of the Layout, which may be another than the model has by now:
// see [FormerTable].
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
		v := s.view(t)
		if v.table != nil && g.api.isGone(v.table) {
			return &Error{Op: "serve", Model: s.Model.Name,
				Err: fmt.Errorf("%w: the rows of generation %d are being removed", ErrInvalid, s.Generation)}
		}
		views[t.ordinal] = v
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
