package querydb

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/internal/page"
	"github.com/foldql/foldql/querydb/internal/validate"
	"github.com/foldql/foldql/querydb/record"
)

type consistentKey struct{}

// WithConsistentReads returns a context whose reads of tables show what was committed before them, on every store, as
// if each asked for it. Reads of an index cannot, where the store's indexes follow its tables.
func WithConsistentReads(ctx context.Context) context.Context {
	return context.WithValue(ctx, consistentKey{}, true)
}

// consistently reports whether the context asks for consistent reads. Stores with one writer know no others.
func consistently(ctx context.Context, db *DB) bool {
	return db.MultiWriter() && ctx.Value(consistentKey{}) != nil
}

// CanScan reports whether Scan can read tables of the DB: those of a store that no other process writes to.
func CanScan(db *DB) bool {
	_, can := db.drv.(driver.Scanner)
	return can && !db.MultiWriter()
}

// scanBytes bounds the rows of a page of Scan; at least one row is read.
const scanBytes = 8 << 20

// Scan reads up to limit rows of a generation of the model's table as they are stored, whether it serves or not, in an
// order that does not change, from after a key on: nil stands for the first. more says whether there may be others
// after them; where they are large, a page holds about 8 MB. It is for whoever makes a table of another, and so no
// method of DB, which never scans. The rows must not be changed.
func Scan(ctx context.Context, db *DB, m *Model, generation int, after *keys.Key, limit int) (rows []Row, more bool,
	err error) {
	scanner, ok := db.drv.(driver.Scanner)
	if !ok {
		return nil, false, &Error{Op: "scan", Model: m.Name,
			Err: fmt.Errorf("%w: the store reads no whole tables", ErrInvalid)}
	}
	rows, more, err = scanner.Scan(ctx, driver.Scan{Table: m.DriverTable(generation), After: after, Limit: limit,
		Bytes: scanBytes})
	return rows, more, failed("scan", m, err)
}

// Get reads rows by key; the answer is aligned with ks, and a row that does not exist has a nil Record. Keys may
// repeat; each is read once. A key that no row can have (empty, or too long) is ErrInvalid. The rows must not be
// changed.
func (db *DB) Get(ctx context.Context, m *Model, ks []keys.Key, consistent bool) ([]Row, error) {
	r, err := beginGet(ctx, db, m, &Get{Keys: ks, Consistent: consistent})
	if err != nil || len(ks) == 0 {
		return nil, err
	}
	return r.rows(ctx)
}

// Get asks for records by the keys of their rows.
type Get struct {
	Keys       []keys.Key
	Consistent bool
	Distinct   bool // no key repeats: whoever knows that spares the read to find it out
}

// GetRecords is [DB.Get] for who needs the records alone. It sets records, which are aligned with the keys, to nil
// where there is no row. The embedded store makes no rows then, which are larger than most records. The records must
// not be changed.
func (db *DB) GetRecords(ctx context.Context, m *Model, g Get, records []record.Record) error {
	r, err := beginGet(ctx, db, m, &g)
	if err != nil || len(g.Keys) == 0 {
		return err
	}
	return r.records(ctx, g.Distinct, records[:len(g.Keys)])
}

// get is a read by keys that has begun.
type get struct {
	db    *DB
	table *table
	view  *View
	asked driver.Get
}

// beginGet checks a read by keys.
func beginGet(ctx context.Context, db *DB, m *Model, g *Get) (r get, err error) {
	t, err := db.tables.of("get", m)
	if err != nil {
		return r, err
	}
	v := t.view(ctx, db.forFold)
	if err := t.mayRead(v, db.forFold); err != nil {
		return r, failed("get", m, err)
	}
	for _, k := range g.Keys {
		if err := validate.Key(k, v.table.Sorted); err != nil {
			return r, &Error{Op: "get", Model: m.Name, Key: driver.PrintableKey(k), Err: err}
		}
	}
	return get{db: db, table: t, view: v, asked: driver.Get{
		Table: v.table, Keys: g.Keys, Consistent: g.Consistent || consistently(ctx, db), Snapshot: db.snapshot(m),
		Now: db.now(), Writer: db.writer,
	}}, nil
}

// end returns why the read has failed, if it has: in the first place that the rows are no longer those that serve.
func (r *get) end(err error) error {
	if moved := r.table.stillServes(r.view, r.db.forFold); moved != nil {
		err = moved
	}
	return failed("get", r.table.model, err)
}

func (r *get) rows(ctx context.Context) (rows []Row, err error) {
	if db := r.db; r.view.plan != nil {
		rows, err = db.reader.Whole(ctx, r.table.counters, r.view.plan, driver.Query{
			Table: r.asked.Table, Consistent: r.asked.Consistent, Now: r.asked.Now,
			WithDeleted: db.forFold && db.MultiWriter(),
		}, r.asked.Keys)
	} else {
		rows, err = db.reader.Get(ctx, r.table.counters, r.asked)
	}
	if err = r.end(r.view.translateError(err)); err != nil {
		return nil, err
	}
	return rows, failed("get", r.table.model, translate(r.view, rows))
}

// records reads the records, by way of rows where these are made of what is stored: of an aggregate, and of rows that
// were written under a former layout.
func (r *get) records(ctx context.Context, distinct bool, records []record.Record) error {
	if r.view.plan == nil && r.view.same() {
		err := r.end(r.db.reader.Records(ctx, r.table.counters, r.asked, distinct, records))
		if err != nil {
			clear(records) // some may be set
		}
		return err
	}
	clear(records)
	rows, err := r.rows(ctx)
	for i := range rows {
		records[i] = rows[i].Record
	}
	return err
}

// Query asks for rows of one partition of a model, in the byte order of their sort keys, or the reverse. Rows of an
// index with equal sort keys come in an order that does not change from page to page.
type Query struct {
	Index int // ordinal in Model.Indexes, driver.Primary for the table
	PK    string
	Range keys.Range
	// several in place of Range, ascending and not overlapping: they are read one after another
	Ranges     []keys.Range
	Reverse    bool
	Limit      int // 1 to MaxPageRows
	Start      *keys.Cursor
	Consistent bool
	// Fields are the ordinals that the caller will read; rows of an index that carries less are completed by batched
	// reads of the table. Nil means all.
	Fields []int
	// Visible says which rows the caller may know of; nil means all. The page is what it would be if there were no
	// others, as are what is counted and what is taken of the budget of the request. As many others are passed over as
	// Hidden allows, nil for any number, besides MinFilterBatch. If that does not suffice, the error is an ErrHidden; a
	// page that is full, or a Partial one, ends instead, with a Next that leads on.
	Visible func(*Row) bool
	Hidden  *HiddenRows
	// Filter says which of those rows belong to the page; nil means all. To fill the page it is asked about as many rows
	// as Examine allows, nil for any number. If that does not suffice, the error is an ErrExamined; a Partial page is
	// short instead. Next then follows the rows that were looked at, and the page that it leads to may be empty. An error
	// of a row is one of the page, unless the row follows one that is full, which it then ends, with a Next.
	Filter  func(*Row) (bool, error)
	Examine *Examination
	Partial bool
	// NoNext says that the caller does not read Next, so that no row need be looked for that follows a full page.
	NoNext bool
}

// Examination is how many rows the filters of some queries may examine together. It is safe for concurrent use.
type Examination = page.Examination

// NewExamination allows that many rows.
func NewExamination(rows int) *Examination { return page.NewExamination(rows) }

// HiddenRows is how many rows that are not Visible some queries may pass over together. It also bounds how many they
// hold before it is known whether those are Visible: MinFilterBatch, and some MiB of small ones, of
// reads that go on at the same time. It is safe for concurrent use.
type HiddenRows = page.HiddenRows

// NewHiddenRows allows that many rows to be passed over.
func NewHiddenRows(rows int) *HiddenRows { return page.NewHiddenRows(rows) }

// MinFilterBatch and MaxFilterBatch are how many rows are read at a time for a filter, but for the first ones of a page
// and the last ones that may be examined.
const (
	MinFilterBatch = page.FewRows
	MaxFilterBatch = page.ManyRows
)

// ErrExamined is the error of a page whose rows cannot all be found by examining as many as may be.
var ErrExamined = page.ErrExamined

// ErrHidden is the error of a page for which more rows would have to be passed over that are not Visible than may be.
var ErrHidden = page.ErrHidden

// Page is the answer to a Query. It is full, Limit rows, whenever the rows exist, but for one that is Partial. The rows
// must not be changed.
type Page struct {
	Rows []Row
	// Starts are aligned with Rows: where a page begins that follows the row, in either direction.
	Starts []keys.Cursor
	// Next is where the following page begins; nil where there is none.
	Next *keys.Cursor
}

// Query reads one page.
func (db *DB) Query(ctx context.Context, m *Model, q Query) (Page, error) {
	t, err := db.tables.of("query", m)
	if err != nil {
		return Page{}, err
	}
	if q.Index < driver.Primary || q.Index >= len(m.Indexes) {
		return Page{}, &Error{Op: "query", Model: m.Name, Err: fmt.Errorf("%w: there is no index %d", ErrInvalid, q.Index)}
	}
	v := t.view(ctx, db.forFold)
	if err := t.mayRead(v, db.forFold); err != nil {
		return Page{}, failed("query", m, err)
	}
	if q.Index, err = t.physicalIndex(v, q.Index); err != nil {
		return Page{}, failed("query", m, err)
	}
	if v.plan != nil && q.Index == driver.Primary {
		return Page{}, &Error{Op: "query", Model: m.Name,
			Err: fmt.Errorf("%w: a partition holds one row; get it by its key", ErrInvalid)}
	}
	q.Consistent = q.Consistent || q.Index == driver.Primary && consistently(ctx, db)
	ranges := q.Ranges
	if len(ranges) == 0 {
		ranges = []keys.Range{q.Range}
	}
	pq := page.Query{
		Query: driver.Query{
			Table: v.table, Index: q.Index, PK: q.PK, Reverse: q.Reverse,
			Limit: q.Limit, Start: q.Start, Consistent: q.Consistent, Now: db.now(),
			Snapshot: q.Index == driver.Primary && db.snapshot(m),
			Writer:   db.writer, WithDeleted: db.forFold && q.Index == driver.Primary && db.MultiWriter(),
		},
		Current: consistently(ctx, db) || db.snapshot(m), Aggregate: v.plan, Counters: t.counters,
	}
	for i := range ranges {
		pq.Range = ranges[i]
		if err := validate.Query(&pq.Query, q.Fields, len(m.Fields)); err != nil {
			return Page{}, &Error{Op: "query", Model: m.Name, Err: err}
		}
	}
	pq.Incomplete = v.plan != nil ||
		q.Index != driver.Primary && !covers(&v.table.Indexes[q.Index], v.fields.From(q.Fields))
	var judged *error
	pq.Visible, judged = visible(v, q.Visible)
	pq.Filter = v.filter(q.Filter)
	pq.Hidden, pq.Examine, pq.Partial, pq.NoNext = q.Hidden, q.Examine, q.Partial, q.NoNext
	found, err := db.reader.Read(ctx, &pq, ranges)
	if moved := t.stillServes(v, db.forFold); moved != nil {
		return Page{}, failed("query", m, moved)
	}
	if judged != nil {
		err = cmp.Or(err, *judged)
	}
	err = v.translateError(err)
	if err == nil && !v.same() {
		found.Rows = slices.Clone(found.Rows) // which the driver may give out again
		err = translate(v, found.Rows)
	}
	return Page(found), failed("query", m, err)
}

// covers reports whether the entries of the index have all fields that are asked for; nil are all of the row.
func covers(x *driver.Index, fields []int) bool {
	return x.Projected == nil || fields != nil && x.Covers(fields)
}

// snapshot reports whether reads of the model are to show all of an event or nothing of it. A fold has revisions for
// that.
func (db *DB) snapshot(m *Model) bool { return m.Atomic && !db.forFold }
