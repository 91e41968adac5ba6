package querydb

import (
	"context"
	"fmt"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// CollectionQuery asks for rows of one partition of a collection.
type CollectionQuery struct {
	PK      string
	Ranges  []keys.Range // of sort keys, in the order of the keys and apart: they are read one after another
	Reverse bool
	Limit   int // 1 to MaxLimit
	Start   *keys.Start
}

// QueryCollection reads one page of the rows of all members; Row.Kind says of which each is.
func (db *DB) QueryCollection(ctx context.Context, c *Collection, q CollectionQuery) (Page, error) {
	t, err := db.table("query", c.Members[0].Model)
	if err != nil {
		return Page{}, err
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
		Table: shape, Index: c.Index, PK: q.PK, Reverse: q.Reverse, Limit: q.Limit, Start: q.Start, Now: db.now(), Writer: db.writer,
	}
	for _, m := range c.Members {
		member, err := db.table("query", m.Model)
		if err != nil {
			return Page{}, err
		}
		dq.Members = append(dq.Members, member.serving.Load())
	}
	got, err := db.readRanges(ctx, t, dq, q.Ranges)
	return Page{Rows: got.Rows, Next: next(&got)}, failed("query", &Model{Name: c.Name}, err)
}
