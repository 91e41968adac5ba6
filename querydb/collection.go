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
)

// Collection is the models whose rows are stored together in an index of a SharedTable, and are read together.
type Collection struct {
	Name    string
	Table   *SharedTable
	Index   int                // ordinal in Table.Indexes
	Members []CollectionMember // in the order of the schema
}

// CollectionMember is a model of a Collection.
type CollectionMember struct {
	Model *Model
	Index int // ordinal in Model.Indexes
}

// CollectionQuery asks for rows of one partition of a collection.
type CollectionQuery struct {
	PK      string
	Ranges  []keys.Range // of sort keys, ascending and not overlapping: they are read one after another
	Reverse bool
	Limit   int // 1 to MaxPageRows
	Start   *keys.Cursor
	Visible func(*Row) bool // as in Query, and Hidden too
	Hidden  *HiddenRows
	NoNext  bool // as in Query
	// Members are the ordinals of the members whose rows are asked for, which lie in the Ranges; nil means all.
	Members []int
}

// QueryCollection reads one page of the rows of all members; Row.Kind says of which each is.
func (db *DB) QueryCollection(ctx context.Context, c *Collection, q CollectionQuery) (Page, error) {
	of, err := c.readMembers(ctx, db, q.Members)
	if err != nil {
		return Page{}, err
	}
	pq := page.Query{
		Query: driver.Query{
			Table: of.tables[0], Members: of.tables, Index: of.index, PK: q.PK, Reverse: q.Reverse, Limit: q.Limit,
			Start: q.Start, Now: db.now(), Writer: db.writer,
		},
		Incomplete: of.partial(), Current: consistently(ctx, db), Counters: of.members[0].counters,
	}
	for i := range q.Ranges {
		pq.Range = q.Ranges[i]
		if err := validate.Query(&pq.Query, nil, 0); err != nil {
			return Page{}, &Error{Op: "query", Model: c.Name, Err: err}
		}
	}
	if len(q.Ranges) == 0 {
		return Page{}, &Error{Op: "query", Model: c.Name, Err: fmt.Errorf("%w: no range is asked for", ErrInvalid)}
	}
	if pq.Incomplete {
		for _, t := range of.members {
			pq.MemberCounters = append(pq.MemberCounters, t.counters)
		}
	}
	var judged *error
	pq.Visible, judged = visible(views(of.views), q.Visible)
	pq.Hidden, pq.NoNext = q.Hidden, q.NoNext
	found, err := db.reader.Read(ctx, &pq, q.Ranges)
	if moved := of.stillServe(db.forFold); moved != nil {
		return Page{}, failed("query", &Model{Name: c.Name}, moved)
	}
	if judged != nil {
		err = cmp.Or(err, *judged)
	}
	if vs := views(of.views); err == nil && !vs.same() {
		found.Rows = slices.Clone(found.Rows) // which the driver may give out again
		err = translate(vs, found.Rows)
	}
	return Page(found), failed("query", &Model{Name: c.Name}, err)
}

// readMembers are the members of a collection whose rows are read, in the generations that serve.
type readMembers struct {
	members []*table
	views   []*View
	tables  []*driver.Table
	index   int // of the shared table
}

// readMembers finds the members, all of them where only is nil, unless one cannot be read.
func (c *Collection) readMembers(ctx context.Context, db *DB, only []int) (of readMembers, err error) {
	n := len(c.Members)
	of.members, of.views, of.tables = make([]*table, 0, n), make([]*View, 0, n), make([]*driver.Table, 0, n)
	for i, m := range c.Members {
		if only != nil && !slices.Contains(only, i) {
			continue
		}
		t, err := db.tables.of("query", m.Model)
		if err != nil {
			return of, err
		}
		v := t.view(ctx, db.forFold)
		if err := t.mayRead(v, db.forFold); err != nil {
			return of, failed("query", m.Model, err)
		}
		index, err := t.physicalIndex(v, m.Index)
		if err == nil && len(of.views) > 0 && (index != of.index || !v.isIn(of.tables[0])) {
			err = t.notRebuilt("the collection " + c.Name)
		}
		if err != nil {
			return of, failed("query", m.Model, err)
		}
		of.index = index
		of.members, of.views, of.tables = append(of.members, t), append(of.views, v), append(of.tables, v.table)
	}
	if len(of.views) == 0 {
		return of, &Error{Op: "query", Model: c.Name, Err: fmt.Errorf("%w: no member is asked for", ErrInvalid)}
	}
	return of, nil
}

// partial reports whether the entries of a member hold less than its rows.
func (of *readMembers) partial() bool {
	return slices.ContainsFunc(of.tables, func(t *driver.Table) bool { return t.Indexes[of.index].Projected != nil })
}

// stillServe is table.stillServes for all of them.
func (of *readMembers) stillServe(forFold bool) error {
	for i, t := range of.members {
		if err := t.stillServes(of.views[i], forFold); err != nil {
			return err
		}
	}
	return nil
}
