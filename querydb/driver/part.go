package driver

import (
	"slices"

	"github.com/foldql/foldql/querydb/record"
)

// RowAfter is the row that the write turns the one before into; each has a nil Record where there is no row. It is for
// drivers that read a row before they write it, and shares memory with both. It has no Applied and no Revision.
func (w *Write) RowAfter(writer string, before *Row) Row {
	out := Row{Key: w.Row.Key, Position: w.Row.Position, Kind: w.Table.Kind}
	switch {
	case w.Part == nil && w.Kind == Put:
		out.Record, out.Indexes, out.Expires = w.Row.Record, w.Row.Indexes, w.Row.Expires
		out.Writers = w.Row.Writers
	case w.Part != nil && w.Kind == Put:
		w.Part.lay(w.Table, &w.Row, before, &out)
		out.Writers = joined(before.Writers, writer)
	case w.Part != nil && before.Record != nil:
		if out.Writers = left(before.Writers, writer); len(out.Writers) > 0 {
			w.Part.alone(w.Table).lay(w.Table, &Row{}, before, &out)
		}
	}
	return out
}

// lay sets out to the row before, overwritten with the part of the one that is written.
func (p *Part) lay(t *Table, written, before, out *Row) {
	if before.Record == nil {
		before = &Row{Record: record.Merge(len(t.Fields), nil, written.Record, t.keyFields())}
	}
	out.Record = record.Merge(len(t.Fields), before.Record, written.Record, p.Fields)
	out.Indexes = make([]IndexKey, len(t.Indexes))
	copy(out.Indexes, before.Indexes)
	for _, i := range p.PK {
		k := written.indexKey(i)
		out.Indexes[i].Key.PK, out.Indexes[i].HasPK = k.PK, k.HasPK
	}
	for _, i := range p.SK {
		k := written.indexKey(i)
		out.Indexes[i].Key.SK, out.Indexes[i].HasSK = k.SK, k.HasSK
	}
	if out.Expires = before.Expires; p.Expires {
		out.Expires = written.Expires
	}
}

// alone is the part without the halves that are composed of the row's own key, or of nothing: every writer writes
// those, and they stay as long as there is one.
func (p *Part) alone(t *Table) *Part {
	shared := func(half func(*Index) []int) func(int) bool {
		return func(i int) bool {
			return !slices.ContainsFunc(half(&t.Indexes[i]), func(f int) bool { return slices.Contains(p.Fields, f) })
		}
	}
	a := *p
	a.PK = slices.DeleteFunc(slices.Clone(p.PK), shared(func(x *Index) []int { return x.PK }))
	a.SK = slices.DeleteFunc(slices.Clone(p.SK), shared(func(x *Index) []int { return x.SK }))
	return &a
}

func (r *Row) indexKey(i int) IndexKey {
	if i >= len(r.Indexes) {
		return IndexKey{}
	}
	return r.Indexes[i]
}

// keyFields are the ordinals, ascending, of the fields that the table's own key is composed of.
func (t *Table) keyFields() []int {
	fields := slices.Concat(t.PK, t.SK)
	slices.Sort(fields)
	return slices.Compact(fields)
}

// joined are the writers with one more, ascending.
func joined(writers []string, writer string) []string {
	at, there := slices.BinarySearch(writers, writer)
	if there {
		return writers
	}
	return slices.Insert(slices.Clone(writers), at, writer)
}

// left are the writers without one.
func left(writers []string, writer string) []string {
	at, there := slices.BinarySearch(writers, writer)
	if !there {
		return writers
	}
	return slices.Delete(slices.Clone(writers), at, at+1)
}

// Unique reports whether one of the table's indexes is unique.
func (t *Table) Unique() bool {
	return slices.ContainsFunc(t.Indexes, func(x Index) bool { return x.Unique })
}

// TableOfKind returns the table of the rows of a kind, of those that the query asks for; nil where such rows are not
// part of the answer.
func (q *Query) TableOfKind(kind string) *Table {
	if len(q.Members) == 0 && q.Table.Kind == kind {
		return q.Table
	}
	for _, t := range q.Members {
		if t.Kind == kind {
			return t
		}
	}
	return nil
}
