package querydb

import (
	"context"
	"fmt"
	"slices"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/internal/counter"
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
	Visible func(*Row) bool // as in Query
}

// QueryCollection reads one page of the rows of all members; Row.Kind says of which each is.
func (db *DB) QueryCollection(ctx context.Context, c *Collection, q CollectionQuery) (Page, error) {
	t, err := db.tables.of("query", c.Members[0].Model)
	if err != nil {
		return Page{}, err
	}
	if err := db.allReadable(c, nil); err != nil {
		return Page{}, failed("query", c.Members[0].Model, err)
	}
	pq := page.Query{
		Query: driver.Query{
			Table: t.serving.Load(), Index: c.Index, PK: q.PK, Reverse: q.Reverse, Limit: q.Limit, Start: q.Start,
			Now: db.now(), Writer: db.writer,
		},
		Incomplete: slices.ContainsFunc(c.Members, CollectionMember.partial),
		Visible:    q.Visible, Counters: &t.counters,
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
		pq.MemberCounters = make([]*counter.Counters, 0, len(c.Members))
	}
	for _, m := range c.Members {
		member, err := db.tables.of("query", m.Model)
		if err != nil {
			return Page{}, err
		}
		pq.Members = append(pq.Members, member.serving.Load())
		if pq.Incomplete {
			pq.MemberCounters = append(pq.MemberCounters, &member.counters)
		}
	}
	found, err := db.reader.Read(ctx, &pq, q.Ranges)
	if moved := db.allReadable(c, pq.Members); moved != nil {
		return Page{}, failed("query", &Model{Name: c.Name}, moved)
	}
	return Page(found), failed("query", &Model{Name: c.Name}, err)
}

// allReadable is readable for all members of a collection, and stillServes where they have been read in these
// generations.
func (db *DB) allReadable(c *Collection, read []*driver.Table) error {
	for i, m := range c.Members {
		t, err := db.tables.of("query", m.Model)
		if err != nil {
			return err
		}
		if err = t.readable(db.forFold); err == nil && read != nil {
			err = t.stillServes(read[i].Generation, db.forFold)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// partial reports whether the entries of the member hold less than its rows.
func (m CollectionMember) partial() bool { return m.Model.Indexes[m.Index].Projected != nil }
