package reference

import (
	"maps"
	"slices"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/drivertest/internal/fixture"
	"github.com/foldql/foldql/querydb/record"
)

// Apply does each write that was not done before. Where two rows would then have one key of a unique index, it does
// nothing, and returns false.
func (s *Store) Apply(b *driver.Batch) bool {
	rows := maps.Clone(s.rows)
	for i := range b.Writes {
		w := &b.Writes[i]
		former, at := rows[w.Row.Key], w.Row.Position
		if s.multiWriter && !w.IfRevision && reached(former.applied[b.Writer], at) {
			continue
		}
		next := stored{Row: outcome(w, b.Writer, &former.Row)}
		if s.multiWriter {
			next.Revision = former.Revision + 1
			next.applied = advanced(former.applied, b.Writer, at)
		}
		if next.Record == nil && (!s.multiWriter || at == driver.Position{}) {
			delete(rows, w.Row.Key)
		} else {
			rows[w.Row.Key] = next
		}
	}
	if s.conflict(rows) {
		return false
	}
	s.rows = rows
	return true
}

// reached reports whether the writer has come to the position before.
func reached(applied []driver.Position, at driver.Position) bool {
	return at != driver.Position{} &&
		slices.ContainsFunc(applied, func(p driver.Position) bool { return p.Partition == at.Partition && !p.Before(at) })
}

// advanced are the positions with one more of the writer.
func advanced(applied map[string][]driver.Position, writer string, at driver.Position) map[string][]driver.Position {
	if at == (driver.Position{}) {
		return applied
	}
	list := slices.DeleteFunc(slices.Clone(applied[writer]), func(p driver.Position) bool {
		return p.Partition == at.Partition
	})
	if applied = maps.Clone(applied); applied == nil {
		applied = map[string][]driver.Position{}
	}
	applied[writer] = append(list, at)
	return applied
}

// outcome is the row that the write leaves; it has no record where there is none.
func outcome(w *driver.Write, writer string, former *driver.Row) driver.Row {
	if w.Part != nil {
		return outcomeOfPart(w, writer, former)
	}
	next := driver.Row{Key: w.Row.Key, Kind: w.Table.Kind, Position: w.Row.Position}
	if w.Kind == driver.Put {
		next.Record, next.Indexes, next.Expires = w.Row.Record, w.Row.Indexes, w.Row.Expires
		next.Writers = w.Row.Writers
	}
	return next
}

// outcomeOfPart is the row with the part that the writer has of it as the write says; it is gone with its last part.
func outcomeOfPart(w *driver.Write, writer string, former *driver.Row) driver.Row {
	next := driver.Row{Key: w.Row.Key, Kind: w.Table.Kind, Position: w.Row.Position}
	next.Writers = writersAfter(w, writer, former.Writers)
	if len(next.Writers) == 0 {
		return next
	}
	next.Indexes = make([]driver.IndexKey, len(w.Table.Indexes))
	next.Expires = former.Expires
	texts, written := fixture.Fields{}, fixture.Fields{}
	if former.Record != nil {
		copy(next.Indexes, former.Indexes)
		texts = textsOf(former.Record)
	}
	row := driver.Row{Indexes: make([]driver.IndexKey, len(w.Table.Indexes))}
	if w.Kind == driver.Put {
		row, written = w.Row, textsOf(w.Row.Record)
		for _, f := range slices.Concat(w.Table.PK, w.Table.SK) {
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
	next.Record = texts.Row(w.Table).Record
	return next
}

// writersAfter are the writers that have a part of the row after the write.
func writersAfter(w *driver.Write, writer string, before []string) []string {
	writers := slices.DeleteFunc(slices.Clone(before), func(name string) bool { return name == writer })
	if w.Kind == driver.Put {
		writers = append(writers, writer)
		slices.Sort(writers)
	}
	if len(writers) == 0 {
		return nil
	}
	return writers
}

// textsOf are the fields of a record of texts.
func textsOf(rec record.Record) fixture.Fields {
	f := fixture.Fields{}
	for i := range rec.Len() {
		if text, there := record.String(rec.JSON(i)); there {
			f[i] = text
		}
	}
	return f
}

// uniqueKey is a key that one row at most has.
type uniqueKey struct {
	kind  string
	index int
	key   keys.Key
}

// conflict reports whether two of the rows have the same key in a unique index.
func (s *Store) conflict(rows map[keys.Key]stored) bool {
	taken := map[uniqueKey]bool{}
	for _, row := range rows {
		if row.Record == nil {
			continue
		}
		for i, x := range s.tables[row.Kind].Indexes {
			if k := row.Indexes[i]; x.Unique && k.InIndex(&x) {
				u := uniqueKey{row.Kind, i, k.Key}
				if taken[u] {
					return true
				}
				taken[u] = true
			}
		}
	}
	return false
}
