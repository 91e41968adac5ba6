package pebblestore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// patience is how many keys are looked at between two looks at the context.
const patience = 256

// Query reads rows of one partition, all as of one moment.
func (s *Store) Query(ctx context.Context, q driver.Query) (driver.Page, error) {
	if err := enterRead(ctx, s, q.NoCache); err != nil {
		return driver.Page{}, err
	}
	defer s.leave()
	p := s.tables.find(q.Table)
	s.rows.tracePage(ctx, p, &q)
	if p == nil {
		return driver.Page{}, nil
	}
	l, kept := s.rows.lookUpPage(p, &q)
	if kept != nil {
		page, err := kept.answer(driver.BudgetOf(ctx))
		if err != nil {
			err = failed("query rows of "+q.Table.Name, err)
		}
		return page, err
	}
	w := walk{gathered: gatherings.Get().(*gathered)}
	err := w.query(ctx, s, p, &q)
	w.gathered.release()
	if err != nil {
		return driver.Page{}, err
	}
	l.keep(&w)
	return w.found, nil
}

// query reads the page of a query from the engine.
func (w *walk) query(ctx context.Context, s *Store, p *storedTable, q *driver.Query) error {
	bounds := spanOf(p.number, q)
	if bounds.empty() {
		return nil
	}
	it, err := s.iterators.within(s.db, p, bounds)
	if err != nil {
		return failed("query rows of "+q.Table.Name, err)
	}
	w.begin(it.Iterator, q, driver.BudgetOf(ctx))
	if err = errors.Join(w.page(ctx), s.iterators.done(it)); err != nil {
		return failed("query rows of "+q.Table.Name, err)
	}
	return nil
}

// walk makes a page of the keys of an iterator.
type walk struct {
	reader
	it     *pebble.Iterator
	q      *driver.Query
	budget driver.Budget
	prefix int // of each key that is read over: head and partition
	found  driver.Page

	*gathered      // rows that are yet to be added to the page
	bytes     int  // of the values of the rows
	held      int  // of memory by what the rows are made of
	expiring  bool // a row that expires was met
}

func (w *walk) begin(it *pebble.Iterator, q *driver.Query, budget driver.Budget) {
	w.it, w.q, w.prefix, w.budget = it, q, headSize+terminatedSize(q.PK), budget
}

func (w *walk) page(ctx context.Context) error {
	first, next := w.it.First, w.it.Next
	if w.q.Reverse {
		first, next = w.it.Last, w.it.Prev
	}
	for ok := first(); ok; ok = next() {
		if w.found.Examined++; w.found.Examined%patience == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		more, err := w.visit()
		if err != nil {
			return err
		}
		if !more {
			w.found.More = true
			return w.settle()
		}
	}
	return errors.Join(w.it.Error(), w.settle())
}

// visit gathers the row under the iterator, unless it is skipped; more is false where the page is full.
func (w *walk) visit() (more bool, err error) {
	value, err := w.it.ValueAndErr()
	if err != nil {
		return false, err
	}
	if w.skips(value) {
		return true, nil
	}
	if len(w.found.Rows)+len(w.sizes) == w.q.Limit {
		return false, nil
	}
	if err := driver.Charge(w.budget, len(value)); err != nil {
		return false, err
	}
	w.bytes += len(value)
	key := w.it.Key()[w.prefix:]
	if len(w.text)+len(key)+len(value) > maxChunk {
		if err := w.settle(); err != nil {
			return false, err
		}
	}
	w.add(key, value)
	return true, nil
}

// settle adds the rows that are gathered to the page.
func (w *walk) settle() error {
	n := len(w.sizes)
	if n == 0 {
		return nil
	}
	text := w.own()
	w.held, w.keys.rows = w.held+len(text), n
	w.found.Rows, w.found.Starts = slices.Grow(w.found.Rows, n), slices.Grow(w.found.Starts, n)
	for _, size := range w.sizes {
		var row driver.Row
		end := size.key + size.value
		start, err := w.read(&row, text[:size.key:size.key], text[size.key:end:end])
		if err != nil {
			return err
		}
		text = text[end:]
		w.found.Rows = append(w.found.Rows, row)
		w.found.Starts = append(w.found.Starts, start)
	}
	w.sizes = w.sizes[:0]
	return nil
}

// gathered are the keys and values of rows, one after the other. Rows are made of many at once: so the memory of a page
// is a few allocations, and no larger than its rows, however many it might have had.
type gathered struct {
	text  []byte
	sizes []storedSize
	lent  bool   // the page is read before the next one is gathered, so its rows are made of text itself
	spare []byte // text that a page is made of
}

// storedSize is how many bytes the key and the value of a row have.
type storedSize struct{ key, value int }

func (g *gathered) add(key, value []byte) {
	g.text = append(append(g.text, key...), value...)
	g.sizes = append(g.sizes, storedSize{len(key), len(value)})
}

// own is the text, which nobody writes to any more while the page is there.
func (g *gathered) own() []byte {
	text := g.text
	if g.lent {
		g.spare, g.text = text, nil
		return text
	}
	g.text = text[:0]
	return append(make([]byte, 0, len(text)), text...)
}

// gatherings are used again.
var gatherings = sync.Pool{New: func() any { return new(gathered) }}

// release gives it to whoever gathers next.
func (g *gathered) release() {
	if cap(g.text) <= 2*maxChunk {
		g.text, g.sizes = g.text[:0], g.sizes[:0]
		gatherings.Put(g)
	}
}

// skips reports whether the row has expired, or is of another kind, before anything is copied.
func (w *walk) skips(value []byte) bool {
	d := decoder{rest: value}
	_, expires, kind := d.head()
	row := driver.Row{Expires: expires}
	w.expiring = w.expiring || !expires.IsZero()
	return row.Expired(w.q.Now) || len(w.q.Members)+len(kind) > 0 && w.q.TableOfKind(kind) == nil
}

// read makes a row of the rest of its key and of its value.
func (w *walk) read(row *driver.Row, key, value []byte) (keys.Cursor, error) {
	d := decoder{rest: value}
	if w.q.Index == driver.Primary {
		row.Key = keys.Key{PK: w.q.PK, SK: textOf(key)}
		return keys.Cursor{Key: row.Key}, d.row(row, &w.keys)
	}
	start := keys.Cursor{Index: keys.Key{PK: w.q.PK}}
	ok := true
	if w.q.Table.Indexes[w.q.Index].Sorted() {
		start.Index.SK, key, ok = cutTerminated(key)
	}
	if ok {
		row.Key.PK, key, ok = cutTerminated(key)
	}
	if !ok {
		return start, errDamaged
	}
	row.Key.SK = textOf(key)
	start.Key = row.Key
	return start, d.entry(row)
}

// failed wraps an error: what could not be done, and as an error of the contract why. The context's error stays as it
// is.
func failed(act string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, driver.ErrInvalid) || errors.Is(err, driver.ErrConflict) || errors.Is(err, driver.ErrOverBudget) ||
		errors.Is(err, errDamaged) {
		return fmt.Errorf("pebblestore: %s: %w", act, err)
	}
	return unavailable(act, err)
}

// walks are kept with the memory of the pages that they have lent.
var walks = sync.Pool{New: func() any { return &lentWalk{walk: walk{gathered: &gathered{lent: true}}} }}

// maxKeptRows bounds that memory, beside 2*maxChunk.
const maxKeptRows = 256

// lentWalk is a page that is lent, with the query that it answers.
type lentWalk struct {
	walk
	asked driver.Query
}

// Lend is Query with a page in memory that is used again, and that is not cached.
func (s *Store) Lend(ctx context.Context, q driver.Query) (driver.Lent, error) {
	if err := enterRead(ctx, s, q.NoCache); err != nil {
		return nil, err
	}
	defer s.leave()
	w := walks.Get().(*lentWalk)
	w.asked = q
	p := s.tables.find(q.Table)
	s.rows.tracePage(ctx, p, &q)
	if p != nil {
		if err := w.query(ctx, s, p, &w.asked); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// Page implements driver.Lent.
func (w *lentWalk) Page() *driver.Page { return &w.found }

// GiveBack lets go of all but the memory that the next page can use.
func (w *lentWalk) GiveBack() {
	rows, starts := w.found.Rows, w.found.Starts
	if w.spare == nil { // the page is empty
		w.spare = w.text
	}
	if len(rows) > maxKeptRows || cap(w.spare) > 2*maxChunk {
		return
	}
	clear(rows)
	clear(starts)
	*w.gathered = gathered{lent: true, text: w.spare[:0], sizes: w.sizes[:0]}
	*w = lentWalk{walk: walk{
		reader: reader{keys: w.keys.emptied()}, gathered: w.gathered,
		found: driver.Page{Rows: rows[:0], Starts: starts[:0]},
	}}
	walks.Put(w)
}
