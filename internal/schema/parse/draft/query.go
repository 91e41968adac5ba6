package draft

import "github.com/foldql/foldql/internal/schema"

// QueryPos is where the annotation stands that makes a query.
func (d *Model) QueryPos(q schema.Query) schema.Pos {
	switch {
	case q.Collection != nil:
		return q.Collection.Pos
	case d.SeriesOf != nil:
		return d.Pos
	case q.Index != nil:
		return q.Index.Pos
	case d.Entity != nil:
		return d.KeyPos()
	case q.Source != nil:
		return q.Source.Pos
	}
	return d.Pos
}

// QueryOrigin says what makes a query.
func (d *Model) QueryOrigin(q schema.Query) string {
	switch {
	case q.Collection != nil:
		return "collection " + q.Collection.Name + " of index " + q.Collection.Index.Name + " of table " +
			q.Collection.Table.Name
	case d.SeriesOf != nil:
		return "the time series of type " + d.SeriesOf.Name
	case q.Index != nil:
		return "index " + q.Index.As + " of type " + d.Name
	case q.Connection != "":
		return "the sort key of type " + d.Name
	}
	return "the primary key of type " + d.Name
}
