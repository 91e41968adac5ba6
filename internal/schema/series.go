package schema

import (
	"slices"
	"time"

	"github.com/foldql/foldql/internal/queryarg"
	"github.com/foldql/foldql/keys"
)

// Series says that events are appended to the rows of a model. Each is kept as a row of the History, a model of its
// own.
type Series struct {
	OrderBy *Field   // by which events are ordered
	Append  []*Field // the other fields that an event brings, in the order of their ordinals
	Keep    time.Duration
	Writer  *Writer    // who appends
	History *ReadModel // nil where something is wrong with the series
	Pos     Pos
}

// Appended are all fields that an event brings, in the order of their ordinals.
func (s *Series) Appended() []*Field {
	all := append(slices.Clone(s.Append), s.OrderBy)
	slices.SortFunc(all, func(a, b *Field) int { return a.Ordinal - b.Ordinal })
	return all
}

// historyName is the name of the type whose rows are the events of a time series.
func historyName(model string) string { return model + "Event" }

// Names of the fields that a history has beside those of the series. They begin with an underscore, so that a store
// that names attributes keeps them apart from all others.
const (
	historyPartition = "_eventPartition"
	historyOffset    = "_eventOffset"
	historyEnds      = "_eventEnds"
)

// NewHistory makes the model of the events of a time series, whose keys, writers and fields are known.
func NewHistory(m *ReadModel) *ReadModel {
	h := &ReadModel{
		Name: historyName(m.Name), Plugin: m.Plugin, Table: m.Table + "Event", Atomic: m.Atomic, Version: m.Version,
		StateView: m.StateView, Events: m.Events, Stream: m.Stream, Tags: m.Tags, Projector: m.Projector,
		SeriesOf: m, Pos: m.Series.Pos, CompositePK: m.CompositePK,
		Description: "An event that was appended to a row of " + m.Name + ".",
	}
	if m.Entity != nil {
		h.Entity = &Entity{Table: m.Entity.Table, Type: m.Entity.Type + "Event"}
	}
	key := Composites(m.PK, m.SK)
	appended := m.Series.Appended()
	for _, f := range m.Fields {
		if slices.Contains(key, f) || slices.Contains(appended, f) {
			c := *f
			c.Nullable = f.Nullable && f != m.Series.OrderBy
			h.add(&c)
		}
	}
	partition := h.hide(historyPartition, "String", "Where the event stands in its source: the partition.")
	offset := h.hide(historyOffset, "Int64", "The offset of the event in that partition.")
	h.PK = Half{Layout: m.PK.Layout, Fields: h.named(m.PK.Fields), Template: m.PK.Template}
	h.SK = m.SK.underEvents(m.Series.OrderBy)
	h.SK.Fields = append(h.named(append(slices.Clone(m.SK.Fields), m.Series.OrderBy)), partition, offset)
	if m.Series.Keep > 0 {
		h.TTL = h.hide(historyEnds, "DateTime", "When the event has been kept for as long as it is to be.")
		h.TTL.Nullable = true
	}
	if m.Owner != nil {
		h.Owner = h.field(m.Owner.Name)
	}
	w := *m.Series.Writer
	w.Writes = slices.DeleteFunc(slices.Clone(h.Fields), func(f *Field) bool {
		return slices.Contains(Composites(h.PK, h.SK), f)
	})
	h.Writers = []*Writer{&w}
	return h
}

func (m *ReadModel) add(f *Field) *Field {
	f.Ordinal = len(m.Fields)
	m.Fields = append(m.Fields, f)
	return f
}

func (m *ReadModel) hide(name, scalar, description string) *Field {
	return m.add(&Field{Name: name, Scalar: scalar, Description: description, Hidden: true, Pos: m.Pos})
}

func (m *ReadModel) field(name string) *Field {
	i := slices.IndexFunc(m.Fields, func(f *Field) bool { return f.Name == name })
	if i < 0 {
		return nil
	}
	return m.Fields[i]
}

// named are the model's own fields of the names that fields of another have.
func (m *ReadModel) named(fields []*Field) []*Field {
	var own []*Field
	for _, f := range fields {
		own = append(own, m.field(f.Name))
	}
	return own
}

// historySep joins the values of the sort key of a history.
const historySep = "#"

// HistoryMark stands between the sort key of a row and what tells its events apart.
const HistoryMark = historySep + "e" + historySep

// underEvents is the half that keys of events continue: <half>#e#<orderBy>#<partition>#<offset>.
func (h Half) underEvents(orderBy *Field) Half {
	l := h.Layout
	mark := HistoryMark[len(historySep):]
	if l.Tail != "" {
		mark = l.Tail + HistoryMark
	}
	l.Sep, l.Tail = historySep, ""
	l.Segments = append(slices.Clone(l.Segments),
		keys.Segment{Field: orderBy.Name, Kind: orderBy.Kind(), Before: mark},
		keys.Segment{Field: historyPartition, Kind: keys.KindString},
		keys.Segment{Field: historyOffset, Kind: keys.KindInt})
	return Half{Layout: l}
}

// historyQuery is the query of the events of one row, in their order.
func (m *ReadModel) historyQuery() Query {
	of := m.SeriesOf
	orderBy := m.field(of.Series.OrderBy.Name)
	q := Query{Name: m.QueryName("s"), Connection: m.Name + "sConnection", Source: orderBy}
	if m.Entity != nil {
		q.Required, q.Optional = m.named(Composites(of.PK, of.SK)), []*Field{orderBy}
		q.Operand = operandType(q.Optional)
		q.Args = FieldNames(q.Required)
	} else {
		q.PKParts, q.SKParts = m.PK.parts(), m.named(of.SK.Fields)
		q.Args = slices.Concat([]string{"id"}, FieldNames(q.PKParts), FieldNames(q.SKParts))
	}
	q.Args = slices.Concat(q.Args, []string{queryarg.From, queryarg.To}, listArgs(m))
	return q
}
