package querydb

import (
	"context"
	"fmt"
	"slices"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// CollectionQuery asks for rows of one partition of a collection.
type CollectionQuery struct {
	PK      string
	Ranges  []keys.Range // of sort keys, in the order of the keys and apart: they are read one after another
	Reverse bool
	Limit   int // 1 to MaxPageRows
	Start   *keys.Cursor
	Visible func(*Row) bool // as that of a Query
}

// QueryCollection reads one page of the rows of all members; Row.Kind says of which each is.
func (db *DB) QueryCollection(ctx context.Context, c *Collection, q CollectionQuery) (Page, error) {
	t, err := db.table("query", c.Members[0].Model)
	if err != nil {
		return Page{}, err
	}
	if err := db.allReadable(c, nil); err != nil {
		return Page{}, failed("query", c.Members[0].Model, err)
	}
	shape := t.serving.Load()
	for _, r := range q.Ranges {
		one := Query{Index: c.Index, PK: q.PK, Range: r, Limit: q.Limit}
		if err := checkQuery(shape, &one); err != nil {
			return Page{}, &Error{Op: "query", Model: c.Name, Err: err}
		}
	}
	if len(q.Ranges) == 0 {
		return Page{}, &Error{Op: "query", Model: c.Name, Err: fmt.Errorf("%w: no range is asked for", ErrInvalid)}
	}
	dq := driver.Query{
		Table: shape, Index: c.Index, PK: q.PK, Reverse: q.Reverse, Limit: q.Limit, Start: q.Start, Now: db.now(),
		Writer: db.writer,
	}
	for _, m := range c.Members {
		member, err := db.table("query", m.Model)
		if err != nil {
			return Page{}, err
		}
		dq.Members = append(dq.Members, member.serving.Load())
	}
	var complete completion
	if slices.ContainsFunc(c.Members, Member.partial) {
		complete = func(ctx context.Context, count counting, found *driver.Page) ([]Row, error) {
			return db.completeMembers(ctx, c, count, &dq, found)
		}
	}
	page, err := db.read(ctx, t, dq, q.Ranges, complete, q.Visible)
	if moved := db.allReadable(c, dq.Members); moved != nil {
		return Page{}, failed("query", &Model{Name: c.Name}, moved)
	}
	return page, failed("query", &Model{Name: c.Name}, err)
}

// allReadable is readable for all members of a collection, and unmoved where they have been read in these generations.
func (db *DB) allReadable(c *Collection, read []*driver.Table) error {
	for i, m := range c.Members {
		t, err := db.table("query", m.Model)
		if err != nil {
			return err
		}
		if err = db.readable(t); err == nil && read != nil {
			err = db.unmoved(t, read[i].Generation)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// partial reports whether the entries of the member are less than its rows.
func (m Member) partial() bool { return m.Model.Indexes[m.Index].Projected != nil }

// completeMembers is complete for a page of rows of several kinds: one batch for each kind whose entries are partial.
func (db *DB) completeMembers(
	ctx context.Context, c *Collection, count counting, dq *driver.Query, found *driver.Page,
) ([]Row, error) {
	rows := slices.Clone(found.Rows)
	for i, m := range c.Members {
		if !m.partial() {
			continue
		}
		var places []int
		var ks []keys.Key
		for at := range rows {
			if rows[at].Kind == m.Model.Entity.Kind {
				places, ks = append(places, at), append(ks, rows[at].Key)
			}
		}
		if len(ks) == 0 {
			continue
		}
		t, err := db.table("query", m.Model)
		if err != nil {
			return nil, err
		}
		got, err := db.getDistinct(ctx, count(t), driver.Get{Table: dq.Members[i], Keys: ks, Now: dq.Now})
		if err != nil {
			return nil, err
		}
		for n, at := range places {
			if rows[at].Record = nil; under(&got[n], dq, found.Starts[at].Index) {
				rows[at].Record = got[n].Record
			}
		}
	}
	return slices.DeleteFunc(rows, func(r Row) bool { return r.Record == nil }), nil
}
