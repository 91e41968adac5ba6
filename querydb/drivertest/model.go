package drivertest

import (
	"cmp"
	"maps"
	"slices"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// model is what a driver should be like: a heap of rows, of which every answer is found by looking at all of them.
type model struct {
	shared bool                     // keeps what a MultiWriter store does
	tables map[string]*driver.Table // by kind
	rows   map[keys.Key]kept
}

// kept is a row, or what is known of one that was deleted, with the positions of each writer.
type kept struct {
	driver.Row
	applied map[string][]driver.Position
}

// seenBy is the row as a writer sees it.
func (k kept) seenBy(writer string) driver.Row {
	k.Row.Applied = k.applied[writer]
	return k.Row
}

func newModel(drv driver.Driver, tables ...*driver.Table) model {
	m := model{shared: shared(drv), tables: map[string]*driver.Table{}, rows: map[keys.Key]kept{}}
	for _, t := range tables {
		m.tables[t.Kind] = t
	}
	return m
}

// apply does each write that was not done before. Where two rows would then have one key of a unique index, it does
// nothing, and returns false.
func (m *model) apply(b *driver.Batch) bool {
	rows := maps.Clone(m.rows)
	for i := range b.Writes {
		w := &b.Writes[i]
		former, at := rows[w.Row.Key], w.Row.Position
		if m.shared && !w.IfRevision && reached(former.applied[b.Writer], at) {
			continue
		}
		next := kept{Row: m.outcome(w, b.Writer, &former.Row)}
		if m.shared {
			next.Revision = former.Revision + 1
			next.applied = advanced(former.applied, b.Writer, at)
		}
		if next.Record == nil && (!m.shared || at == driver.Position{}) {
			delete(rows, w.Row.Key)
		} else {
			rows[w.Row.Key] = next
		}
	}
	if m.clash(rows) {
		return false
	}
	m.rows = rows
	return true
}

// outcome is the row that the write leaves; it has no record where there is none.
func (m *model) outcome(w *driver.Write, writer string, former *driver.Row) driver.Row {
	next := driver.Row{Key: w.Row.Key, Kind: w.Table.Kind, Position: w.Row.Position}
	if w.Part == nil {
		if w.Kind == driver.Put {
			next.Record, next.Indexes, next.Expires = w.Row.Record, w.Row.Indexes, w.Row.Expires
		}
		return next
	}
	writers := slices.DeleteFunc(slices.Clone(former.Writers), func(name string) bool { return name == writer })
	if w.Kind == driver.Put {
		writers = append(writers, writer)
		slices.Sort(writers)
	}
	if len(writers) == 0 {
		return next
	}
	next.Writers = writers
	next.Indexes = make([]driver.IndexKey, len(w.Table.Indexes))
	next.Expires = former.Expires
	texts, written := fields{}, fields{}
	if former.Record != nil {
		copy(next.Indexes, former.Indexes)
		texts = textsOf(former.Record)
	}
	row := driver.Row{Indexes: make([]driver.IndexKey, len(w.Table.Indexes))}
	if w.Kind == driver.Put {
		row, written = w.Row, textsOf(w.Row.Record)
		for _, f := range append(slices.Clone(w.Table.PK), w.Table.SK...) {
			texts[f] = written[f]
		}
	}
	for _, f := range w.Part.Fields {
		delete(texts, f)
		if text, there := written[f]; there {
			texts[f] = text
		}
	}
	for _, i := range w.Part.PK {
		next.Indexes[i].Key.PK, next.Indexes[i].HasPK = row.Indexes[i].PK, row.Indexes[i].HasPK
	}
	for _, i := range w.Part.SK {
		next.Indexes[i].Key.SK, next.Indexes[i].HasSK = row.Indexes[i].SK, row.Indexes[i].HasSK
	}
	if w.Part.Expires {
		next.Expires = row.Expires
	}
	next.Record = texts.row(w.Table).Record
	return next
}

// textsOf are the fields of a record of texts.
func textsOf(rec record.Record) fields {
	f := fields{}
	for i := range rec.Len() {
		if text, there := record.String(rec.JSON(i)); there {
			f[i] = text
		}
	}
	return f
}

// clash reports whether two of the rows have the same key in a unique index.
func (m *model) clash(rows map[keys.Key]kept) bool {
	type place struct {
		kind  string
		index int
		key   keys.Key
	}
	taken := map[place]bool{}
	for _, row := range rows {
		if row.Record == nil {
			continue
		}
		for i, x := range m.tables[row.Kind].Indexes {
			if k := row.Indexes[i]; x.Unique && k.InIndex(&x) {
				p := place{row.Kind, i, k.Key}
				if taken[p] {
					return true
				}
				taken[p] = true
			}
		}
	}
	return false
}

func reached(applied []driver.Position, at driver.Position) bool {
	return at != driver.Position{} &&
		slices.ContainsFunc(applied, func(p driver.Position) bool { return p.Partition == at.Partition && !p.Before(at) })
}

// advanced are the positions with one more of the writer, by partition.
func advanced(applied map[string][]driver.Position, writer string, at driver.Position) map[string][]driver.Position {
	if at == (driver.Position{}) {
		return applied
	}
	list := slices.DeleteFunc(slices.Clone(applied[writer]), func(p driver.Position) bool {
		return p.Partition == at.Partition
	})
	list = append(list, at)
	slices.SortFunc(list, byPartition)
	if applied = maps.Clone(applied); applied == nil {
		applied = map[string][]driver.Position{}
	}
	applied[writer] = list
	return applied
}

func byPartition(a, b driver.Position) int { return cmp.Compare(a.Partition, b.Partition) }

// placed is a row and its key where the query looks for it.
type placed struct {
	row driver.Row
	at  keys.Key
}

// query returns all rows that the query selects, ties by key.
func (m *model) query(q *driver.Query) (found []placed) {
	kinds := []string{q.Table.Kind}
	if len(q.Members) > 0 {
		kinds = nil
		for _, t := range q.Members {
			kinds = append(kinds, t.Kind)
		}
	}
	for _, row := range m.rows {
		at := row.Key
		if row.Record == nil || !slices.Contains(kinds, row.Kind) {
			continue
		}
		if q.Index != driver.Primary {
			if !row.Indexes[q.Index].InIndex(&m.tables[row.Kind].Indexes[q.Index]) {
				continue
			}
			at = row.Indexes[q.Index].Key
		}
		if at.PK == q.PK && selects(q.Range, at.SK) && !row.Expired(q.Now) {
			found = append(found, placed{row.seenBy(q.Writer), at})
		}
	}
	slices.SortFunc(found, comparePlaced)
	return found
}

func comparePlaced(a, b placed) int {
	return cmp.Or(cmp.Compare(a.at.SK, b.at.SK), cmp.Compare(a.row.Key.PK, b.row.Key.PK), cmp.Compare(a.row.Key.SK,
		b.row.Key.SK))
}

// difference compares rows, with what a MultiWriter store knows of them.
func (m *model) difference(want, got []driver.Row) string {
	if m.shared {
		return wholeDifference(want, got)
	}
	return difference(want, got)
}
