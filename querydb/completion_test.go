package querydb_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// lagging is a driver whose indexes are read before, and its table after, something happens: as on a store whose
// indexes follow its tables.
type lagging struct {
	*memstore.Store
	between func()
	limit   int
	gets    []int
}

func (l *lagging) MaxGet() int { return l.limit }

func (l *lagging) Get(ctx context.Context, g driver.Get) ([]driver.Row, error) {
	if g.Table.Name == "Orders" {
		l.gets = append(l.gets, len(g.Keys))
		if happens := l.between; happens != nil {
			l.between = nil
			happens()
		}
	}
	return l.Store.Get(ctx, g)
}

func TestRowsThatHaveLeftTheirPlaceAreDroppedAndThePageRefilled(t *testing.T) {
	drv := &lagging{Store: memstore.New(), limit: 100}
	f := newFixture(t, drv)
	for i := range 8 {
		f.put(sample(i))
	}
	drv.between = func() {
		moved, later := sample(1), sample(3)
		moved.Status = "done"
		f.put(moved)
		// Row 3 gets another sort key in the same index: its old entry is to be dropped, because the new one follows.
		gone, again := f.encode(later), later
		again.At = noon.Add(100 * time.Hour)
		f.put(again)
		del := querydb.Row{Key: gone.Key}
		if err := f.Apply(t.Context(), querydb.Batch{Writes: []querydb.Write{{Model: f.model, Row: del}}}); err != nil {
			t.Fatal(err)
		}
	}
	page := f.query(querydb.Query{Index: byStatus, PK: "open", Limit: 4})
	if got, want := ids(page.Rows), []string{"o0", "o2", "o4", "o5"}; !slices.Equal(got, want) {
		t.Fatalf("rows %v, want %v", got, want)
	}
	rest := f.query(querydb.Query{Index: byStatus, PK: "open", Limit: 4, Start: page.Next})
	if got, want := ids(rest.Rows), []string{"o6", "o7", "o3"}; !slices.Equal(got, want) || rest.Next != nil {
		t.Errorf("the rest is %v, want %v and no next", got, want)
	}
}

func TestLongListsOfKeysAreCutAtTheDriversLimit(t *testing.T) {
	drv := &lagging{Store: memstore.New(), limit: 100}
	f := newFixture(t, drv)
	var ks []keys.Key
	for i := range 250 {
		f.put(sample(i))
		ks = append(ks, f.encode(sample(i)).Key)
	}
	rows, err := f.Get(t.Context(), f.model, append(ks, ks...), true)
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range rows {
		if row.Record == nil || row.Key != ks[i%len(ks)] {
			t.Fatalf("row %d is %v (there: %t), want %v", i, row.Key, row.Record != nil, ks[i%len(ks)])
		}
	}
	if want := []int{100, 100, 50}; !slices.Equal(drv.gets, want) {
		t.Errorf("batches of %v keys, want %v", drv.gets, want)
	}
}

// failing is a driver that cannot be reached.
type failing struct {
	*memstore.Store
	err error
}

func (f *failing) Get(ctx context.Context, g driver.Get) ([]driver.Row, error) {
	if f.err != nil {
		return nil, f.err
	}
	return f.Store.Get(ctx, g)
}

func (f *failing) Query(ctx context.Context, q driver.Query) (driver.Page, error) {
	if f.err != nil {
		return driver.Page{}, f.err
	}
	return f.Store.Query(ctx, q)
}

func (f *failing) Apply(ctx context.Context, b driver.Batch) error {
	if f.err != nil {
		return f.err
	}
	return f.Store.Apply(ctx, b)
}

func TestErrorsOfTheDriverNameTheActAndTheModelAndKeepTheirCause(t *testing.T) {
	drv := &failing{Store: memstore.New()}
	f := newFixture(t, drv)
	row := f.encode(sample(1))
	for _, cause := range []error{driver.ErrThrottled, driver.ErrUnavailable, context.Canceled} {
		drv.err = cause
		_, get := f.Get(t.Context(), f.model, []keys.Key{row.Key}, false)
		_, query := f.Query(t.Context(), f.model, querydb.Query{Index: byStatus, PK: "open", Limit: 1})
		apply := f.Apply(t.Context(), querydb.Batch{Writes: []querydb.Write{{Model: f.model, Row: row}}})
		restart := f.Generations().Begin(t.Context(), f.model, first, nil)
		for op, err := range map[string]error{"get": get, "query": query, "apply": apply, "restart": restart} {
			var named *querydb.Error
			if !errors.Is(err, cause) || !errors.As(err, &named) || named.Op != op || named.Model != "Order" {
				t.Errorf("%s: %v, want the act, the model and %v", op, err, cause)
			}
		}
	}
	drv.err = nil
	if s := f.stats(); s.Errors != 6 || s.Batches != 0 {
		t.Errorf("%d errors and %d batches counted, want 6 and 0: one who goes away is no error", s.Errors, s.Batches)
	}
}

// TestWhatHappensInNormalOperationIsNoErrorOfTheStore: an alert about these must not go off where servers fold the same
// rows, or clients give up.
func TestWhatHappensInNormalOperationIsNoErrorOfTheStore(t *testing.T) {
	for cause, want := range map[error]uint64{
		driver.ErrStale: 0, context.Canceled: 0, driver.ErrOverBudget: 0,
		driver.ErrLate: 3, context.DeadlineExceeded: 3, driver.ErrThrottled: 3,
	} {
		drv := &failing{Store: memstore.New()}
		f := newFixture(t, drv)
		row := f.encode(sample(1))
		drv.err = fmt.Errorf("the driver: %w", cause)
		f.Get(t.Context(), f.model, []keys.Key{row.Key}, false)
		f.Query(t.Context(), f.model, querydb.Query{Index: byStatus, PK: "open", Limit: 1})
		f.Apply(t.Context(), querydb.Batch{Writes: []querydb.Write{{Model: f.model, Row: row}}})
		if got := f.stats().Errors; got != want {
			t.Errorf("%v: %d of three calls count as errors, want %d", cause, got, want)
		}
	}
}

// remembering is a driver that answers a Get with the rows that it once read, as one with a cache by time does.
type remembering struct {
	*memstore.Store
	then map[keys.Key]driver.Row
	read int // of rows, anew
}

func (r *remembering) Remembers() bool { return true }

func (r *remembering) Get(ctx context.Context, g driver.Get) ([]driver.Row, error) {
	rows, err := r.Store.Get(ctx, g)
	for i, k := range g.Keys {
		if then, remembered := r.then[k]; remembered && err == nil && !g.NoCache && !g.Consistent {
			rows[i] = then
			continue
		}
		r.read++
	}
	return rows, err
}

// TestARowThatIsRememberedElsewhereIsOnItsPage: as it was it had another index key, or was not there. Its whole row may
// be older than the page, and is not older than what says where it is.
func TestARowThatIsRememberedElsewhereIsOnItsPage(t *testing.T) {
	drv := &remembering{Store: memstore.New(), then: map[keys.Key]driver.Row{}}
	f := newFixture(t, drv)
	old := sample(1)
	old.Status = "done"
	f.put(old)
	rows, err := f.Get(t.Context(), f.model, []keys.Key{f.encode(old).Key, f.encode(sample(2)).Key}, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		drv.then[row.Key] = row // the one as it is now, the other not there
	}
	for i := range 4 {
		f.put(sample(i))
	}
	drv.read = 0
	page := f.query(querydb.Query{Index: byStatus, PK: "open", Limit: 10})
	if got, want := ids(page.Rows), []string{"o0", "o1", "o2", "o3"}; !slices.Equal(got, want) {
		t.Errorf("rows %v, want %v", got, want)
	}
	if drv.read != 4 {
		t.Errorf("%d rows are read, want 4: two that are remembered nowhere, and the two that have come since", drv.read)
	}
}
