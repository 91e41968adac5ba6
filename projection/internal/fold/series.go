package fold

import (
	"fmt"
	"slices"
	"time"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
)

// A model that is a time series keeps each event that is appended to one of its rows as a row of another model, its
// history. One Fold holds the rows of both, so they are one commit on every store.

// Origin is where an event stands in its source. That stays the same wherever the event takes effect: a dead letter
// that is retried does so at a later position.
type Origin struct {
	Partition string
	Offset    uint64
}

// History is how rows of another model keep the events of a time series.
type History struct {
	Codec   querydb.AnyCodec
	OrderBy int // ordinal of the field by which they are ordered
	// SetOrigin sets the fields that tell two events of one time apart.
	SetOrigin OriginFunc
	Keep      time.Duration // how long they are kept; 0 is for ever
}

// OriginFunc is a func(row *E, partition string, offset int64) that sets where in its source an event stands, without
// the type of the row: see querydb.AnyCodec.
type OriginFunc interface {
	set(row any, partition string, offset int64)
}

// OriginFuncOf is the OriginFunc of a function.
func OriginFuncOf[E any](f func(row *E, partition string, offset int64)) OriginFunc {
	return originFunc[E](f)
}

type originFunc[E any] func(*E, string, int64)

func (f originFunc[E]) set(row any, partition string, offset int64) { f(row.(*E), partition, offset) }

// Append makes the patch of a row where the event is newer than what the row holds in orderBy, and keeps the event as a
// row of the history.
func Append(p Patch, orderBy int, h *History, event any) RowOp {
	value := h.Codec.Value(event, h.OrderBy)
	return &appendOp{p, orderBy, value, &keepOp{h, event}}
}

// DeleteSeries is DeletePartition of rows and of their history, which lie under one partition key. Those of several
// projections that write the rows, and do not append to them, leave the history as it is.
func DeleteSeries(t PartitionTarget, history *querydb.Model) Op {
	return &deleteSeriesOp{
		deletePartitionOp{t}, PartitionTarget{Model: history, Partition: t.Partition, Err: t.Err},
	}
}

type appendOp struct {
	Patch
	orderBy int
	value   keys.Value // of orderBy
	keep    Op
}

func (o *appendOp) need(m *modelFold, at ApplyPoint) error {
	history := m.historyOf(o.keep.model())
	if history == nil {
		return fmt.Errorf("append to %s: another projector writes what is appended to the row: let that one append",
			m.desc.Name)
	}
	if err := o.Patch.need(m, at); err != nil {
		return err
	}
	return history.need(o.keep, at)
}

func (o *appendOp) eval(m *modelFold, at ApplyPoint) error {
	if err := m.historyOf(o.keep.model()).eval(o.keep, at); err != nil {
		return err
	}
	e := m.entry(o.key)
	if m.passed(e, at) {
		return nil
	}
	if err := m.identified(e, o.fill, at); err != nil {
		return err
	}
	if m.visible(e, at) {
		newer, err := after(o.value, m.codec.Value(e.row, o.orderBy))
		if !newer || err != nil {
			return err
		}
	}
	return o.Patch.eval(m, at)
}

// after reports whether a value comes after another of its kind, or the other is absent.
func after(v, other keys.Value) (bool, error) {
	if !other.Present() {
		return true, nil
	}
	of := keys.Layout{Segments: []keys.Segment{{Kind: v.Kind()}}} // whose texts are in the order of the values
	text, err := of.Compose(v)
	if err != nil {
		return false, err
	}
	before, err := of.Compose(other)
	return text > before, err
}

// keepOp keeps an event as a row of the history. What may be there under its key is the event itself, so it is not
// read.
type keepOp struct {
	*History
	row any
}

func (o *keepOp) model() *querydb.Model { return o.Codec.Model }

func (o *keepOp) need(*modelFold, ApplyPoint) error { return nil }

func (o *keepOp) eval(m *modelFold, at ApplyPoint) error {
	row := m.codec.Copy(o.row)
	o.SetOrigin.set(row, caseless(at.Origin.Partition), int64(at.Origin.Offset))
	if o.Keep > 0 {
		m.codec.SetTime(row, m.desc.TTL, o.begin(at).Add(o.Keep))
	}
	key, err := m.codec.KeyOf(row)
	if err != nil {
		return err
	}
	e := m.entry(key)
	if m.passed(e, at) {
		return nil
	}
	if e.event == at.Event && e.present {
		return fmt.Errorf("append %s row %q: the event appends to one row twice at one %s: append once, with all fields",
			m.desc.Name, key, m.desc.Fields[o.OrderBy].Name)
	}
	return m.replace(e, row, at)
}

// begin is the time from which on an event is kept: that by which it is ordered, or its own where that is no time.
func (o *keepOp) begin(at ApplyPoint) time.Time {
	if t := o.Codec.Time(o.row, o.OrderBy); !t.IsZero() {
		return t
	}
	return at.Time
}

// caseless is the name of a partition in a form that stays distinct in keys whose casing makes letters one.
func caseless(name string) string {
	text := make([]byte, 0, len(name))
	for i := range len(name) {
		if c := name[i]; 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '.' || c == '_' {
			text = append(text, c)
		} else {
			text = fmt.Appendf(text, "%%%02x", c)
		}
	}
	return string(text)
}

// deleteSeriesOp deletes a partition of rows and its history.
type deleteSeriesOp struct {
	deletePartitionOp
	history PartitionTarget
}

func (o *deleteSeriesOp) need(m *modelFold, at ApplyPoint) error {
	err := o.deletePartitionOp.need(m, at)
	if history := m.historyOf(o.history.Model); history != nil && err == nil {
		err = history.needPartition(o.history)
	}
	return err
}

func (o *deleteSeriesOp) eval(m *modelFold, at ApplyPoint) error {
	err := o.deletePartitionOp.eval(m, at)
	if history := m.historyOf(o.history.Model); history != nil && err == nil {
		err = history.deletePartition(o.history, at)
	}
	return err
}

// neighbours are the rows of all models of a Fold, to the rows of one of them.
type neighbours struct {
	rows    *modelFold
	members []member
}

func (n *neighbours) setMembers(all []member) { n.members = all }

func (n *neighbours) needPartition(t PartitionTarget) error {
	return (&deletePartitionOp{t}).need(n.rows, ApplyPoint{})
}

func (n *neighbours) deletePartition(t PartitionTarget, at ApplyPoint) error {
	return (&deletePartitionOp{t}).eval(n.rows, at)
}

// historyOf finds the rows of a history, nil where the Fold does not hold them, or the ops are those of a writer that
// does not append to it.
func (n *neighbours) historyOf(m *querydb.Model) member {
	whole := n.rows.views.ofAll()
	by := n.rows.traits.writer
	if whole != n.rows && !slices.ContainsFunc(m.Writers, func(w querydb.Writer) bool { return w.Name == by }) {
		return nil
	}
	for _, other := range whole.members {
		if other.model() == m {
			return other
		}
	}
	return nil
}
