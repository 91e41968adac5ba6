package read

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/graph/internal/access"
	"github.com/foldql/foldql/graph/internal/filter"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/record"
)

// filtering is the filter of a page.
type filtering struct {
	*filter.Judge
	fields []*catalog.Field // that the filter names
	reader *Reader
	viewer access.Viewer
	of     *catalog.Type
	own    []*catalog.Field // that the viewer may read of own rows only
	all    bool             // all rows must be the viewer's own
	short  bool             // the page may be short
}

// newFiltering reads the filter of a request, nil where it has none. To filter by a field, the viewer must be allowed
// to read it, and rows that serve must have it.
func newFiltering(ctx context.Context, rd *Reader, v access.Viewer, t *catalog.Type, r *Request) (*filtering, error) {
	read, err := r.filter(t)
	if read == nil || err != nil {
		return nil, err
	}
	f := &filtering{Judge: read.Judge(), fields: read.Fields(), reader: rd, viewer: v, of: t,
		short: r.Page.Partial != nil && *r.Page.Partial}
	view, err := rd.db.Generations().View(ctx, t.Model)
	if err != nil {
		return nil, rd.Errors().Read(ctx, err, t.Name)
	}
	for _, field := range f.fields {
		switch v.LevelOf(field.Rule) {
		case access.Refused:
			return nil, v.Refusal(t.Name + "." + field.Name)
		case access.OwnRowsOnly:
			f.own = append(f.own, field)
		}
		if !view.Has(field.Ordinal) { // else each row says whether it is known: see [filter.Judge.Holds]
			return nil, rd.NotKnown(ctx, t, field.Name)
		}
	}
	if err := rd.served.knowsOwner(ctx, t, f.level()); err != nil {
		return nil, rd.Errors().Read(ctx, err, t.Name)
	}
	return f, nil
}

// level is what rows must be for all fields of the filter to be read.
func (f *filtering) level() access.Level {
	if len(f.own) > 0 {
		return access.OwnRowsOnly
	}
	return access.Admitted
}

// apply has the query read only the rows that the filter holds for.
func (f *filtering) apply(ctx context.Context, dbq *querydb.Query) {
	examined := f.reader.Config.Allowance.Left(ctx).Examined
	dbq.Filter = func(row *querydb.Row) (bool, error) {
		holds, err := f.judge(row.Record)
		if err == nil {
			examined.Spend(f.Extra())
		}
		return holds, err
	}
	dbq.Examine, dbq.Partial = examined, f.short
	if dbq.Fields == nil {
		return
	}
	dbq.Fields = slices.Clone(dbq.Fields)
	for _, field := range f.fields {
		dbq.Fields = append(dbq.Fields, field.Ordinal)
	}
	if len(f.own) > 0 {
		dbq.Fields = append(dbq.Fields, f.of.Owner)
	}
	slices.Sort(dbq.Fields)
	dbq.Fields = slices.Compact(dbq.Fields)
}

// judge reports whether a row is in the page. It depends on whose the row is, and on whether its fields are known,
// whether that can be said.
func (f *filtering) judge(rec record.Record) (bool, error) {
	if f.all && !f.viewer.Owns(f.of, rec) {
		return false, f.viewer.Refusal(f.of.Name)
	}
	if len(f.own) > 0 && !f.viewer.Owns(f.of, rec) {
		return false, f.viewer.Refusal(f.of.Name + "." + f.own[0].Name)
	}
	return f.Holds(rec)
}

// failure is why there is no page, where that is so.
func (f *filtering) failure(ctx context.Context, q *catalog.Query, err error) error {
	if f == nil {
		return err
	}
	if errors.Is(err, querydb.ErrExamined) {
		remedy := "ask for partial pages with partial: true"
		if f.short {
			remedy = "ask for fewer pages in one request"
		}
		return graphqlerr.New(graphqlerr.LimitExceeded, "%s: more than %d rows would have to be looked at for the filters "+
			"of the request, which is the most, and a row counts once more for each %d KiB that conditions look at in it; "+
			"narrow it by a key or an index, or %s",
			q.Name, f.reader.Config.Allowance.Examined, filter.RowBytes>>10, remedy)
	}
	if unknown, is := errors.AsType[*filter.UnknownError](err); is {
		return f.reader.NotKnown(ctx, f.of, unknown.Field)
	}
	return err
}

// filter is what the request filters by, nil for nothing. It is read once, for all pages of a level.
func (r *Request) filter(t *catalog.Type) (read *filter.Filter, err error) {
	if r.sought == nil && r.Page.Filter != nil {
		if r.sought, err = filter.Parse(t, r.Page.Filter); err == nil {
			r.soughtSum = sha256.Sum256(r.sought.Append(nil))
		}
	}
	return r.sought, err
}
