package fold

import (
	"fmt"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

// Op is one change that a projector asks for. Ops are pure data until they are evaluated.
type Op interface {
	// model is that of the row which the op changes.
	model() *querydb.Model
}

// change is an Op as the rows of its model take it.
type change interface {
	Op
	need(m *modelFold, at ApplyPoint) error
	eval(m *modelFold, at ApplyPoint) error
}

// Target is the row that an op is about, or why there is none.
type Target struct {
	Model *querydb.Model
	Key   keys.Key
	Err   error
}

// target is the row that an op is about, or why there is none.
type target struct {
	of  *querydb.Model
	key keys.Key
	err error
}

func (t *target) model() *querydb.Model { return t.of }

func (t Target) internal() target { return target{t.Model, t.Key, t.Err} }

// RowFunc is a function of users, a func(*R), without the type of the row: see querydb.AnyCodec.
type RowFunc interface{ call(row any) }

// RowFuncOf is the RowFunc of a function, nil for none.
func RowFuncOf[R any](f func(*R)) RowFunc {
	if f == nil {
		return nil
	}
	return rowFunc[R](f)
}

// rowFunc is a function with a method: in an interface it takes no memory, as a closure would.
type rowFunc[R any] func(*R)

func (f rowFunc[R]) call(row any) { f(row.(*R)) }

// Set replaces the row, or creates it. The row is the op's from then on, here and wherever else an op is made of one.
func Set(codec querydb.AnyCodec, row any) RowOp { return &setOp{targetOf(codec, row), row} }

// Create creates the row and keeps one that exists as it is.
func Create(codec querydb.AnyCodec, row any) RowOp { return &createOp{targetOf(codec, row), row} }

// Update changes a row that exists. The identity, where it is not nil, sets the key fields that the row must have.
func Update(t Target, identity, change RowFunc) RowOp {
	return &updateOp{target: t.internal(), change: change, identity: identity}
}

// Upsert is Update of the row, or of initial where there is none.
func Upsert(t Target, identity RowFunc, initial any, change RowFunc) RowOp {
	return &updateOp{target: t.internal(), change: change, identity: identity, initial: initial}
}

// Delete removes the row; one that is not there is no error.
func Delete(t Target, identity RowFunc) RowOp { return &deleteOp{t.internal(), identity} }

// targetOf composes the key of a row that is to be written. A row whose key holds a stamp has its key only when the
// time of the event is known: see rowModel.stamped.
func targetOf(codec querydb.AnyCodec, row any) target {
	t := target{of: codec.Model}
	if !stampedKey(codec.Model) {
		t.key, t.err = codec.KeyOf(row)
	}
	return t
}

type setOp struct {
	target
	row any
}

func (o *setOp) need(m *modelFold, at ApplyPoint) error {
	if o.err != nil {
		return o.err
	}
	if err := m.refs.needSources(o.row); err != nil {
		return err
	}
	if !m.readsReplaced() { // it does not matter what the row replaces
		return nil
	}
	return m.needRow(o.row, o.key, at)
}

func (o *setOp) eval(m *modelFold, at ApplyPoint) error {
	row, key, err := m.stamped(m.codec.Copy(o.row), o.key, at)
	if err != nil {
		return err
	}
	if e := m.entry(key); !m.passed(e, at) {
		return m.replace(e, row, at)
	}
	return nil
}

type createOp struct {
	target
	row any
}

func (o *createOp) need(m *modelFold, at ApplyPoint) error {
	if o.err != nil {
		return o.err
	}
	if err := m.refs.needSources(o.row); err != nil {
		return err
	}
	return m.needRow(o.row, o.key, at)
}

func (o *createOp) eval(m *modelFold, at ApplyPoint) error {
	row, key, err := m.stamped(m.codec.Copy(o.row), o.key, at)
	if err != nil {
		return err
	}
	e := m.entry(key)
	if m.passed(e, at) {
		return nil
	}
	if m.visible(e, at) {
		return m.identical(e, row, at)
	}
	return m.replace(e, row, at)
}

// updateOp is Update, and Upsert where it has an initial row.
type updateOp struct {
	target
	change   RowFunc
	initial  any
	identity RowFunc
}

func (o *updateOp) need(m *modelFold, _ ApplyPoint) error {
	if o.err != nil {
		return o.err
	}
	if o.initial != nil {
		if err := m.refs.needSources(o.initial); err != nil {
			return err
		}
	}
	return m.needKey(o.key)
}

func (o *updateOp) eval(m *modelFold, at ApplyPoint) error {
	e := m.entry(o.key)
	if m.passed(e, at) {
		return nil
	}
	if err := m.identified(e, o.identity, at); err != nil {
		return err
	}
	if m.visible(e, at) {
		row := m.refs.forUser(e.row)
		o.change.call(row)
		return m.update(e, row, at)
	}
	if o.initial == nil {
		return fmt.Errorf("update %s row %s: %w; Upsert creates one", m.desc.Name, driver.PrintableKey(e.key), ErrNoRow)
	}
	row := m.refs.forUser(o.initial)
	o.change.call(row)
	if err := m.sameKey(e, row, at); err != nil {
		return err
	}
	return m.replace(e, row, at)
}

type deleteOp struct {
	target
	identity RowFunc
}

func (o *deleteOp) need(m *modelFold, _ ApplyPoint) error {
	if o.err == nil && m.mustRead() {
		return m.needKey(o.key)
	}
	return o.err
}

func (o *deleteOp) eval(m *modelFold, at ApplyPoint) error {
	e := m.entry(o.key)
	if m.passed(e, at) || m.identified(e, o.identity, at) != nil { // of that id there is no row
		return nil
	}
	m.remove(e, at)
	return nil
}

// Patch is a partial write, evaluated after [keys.IndexHalf.UpdateForPatch]. It is an Op.
type Patch struct {
	target
	fill    RowFunc
	changes []fieldChange
}

// fieldChange is what a Patch says of one field.
type fieldChange struct {
	mention keys.FieldChange
	field   int
	apply   RowFunc // nil where the field cannot be null
}

// NewPatch makes a Patch that changes nothing. It creates rows with fill, or none without it.
func NewPatch(t Target, fill RowFunc) Patch {
	return Patch{target: t.internal(), fill: fill}
}

// Extend has a Patch change a field too. What is said last of a field counts.
func Extend(p *Patch, m keys.FieldChange, field int, apply RowFunc) {
	p.changes = append(p.changes, fieldChange{m, field, apply})
}

func (p *Patch) need(m *modelFold, _ ApplyPoint) error {
	if p.err != nil {
		return p.err
	}
	for _, s := range p.changes {
		if m.traits.isKey[s.field] {
			return fmt.Errorf("patch %s: field %s is part of the key", m.desc.Name, m.desc.Fields[s.field].Name)
		}
		if s.apply == nil {
			return fmt.Errorf("patch %s: field %s is not nullable, it can neither be cleared nor removed; set it",
				m.desc.Name, m.desc.Fields[s.field].Name)
		}
	}
	if len(m.refs.all) > 0 {
		row := m.codec.New()
		for _, s := range p.changes {
			s.apply.call(row)
		}
		if err := m.refs.needSources(row); err != nil {
			return err
		}
	}
	return m.needKey(p.key)
}

func (p *Patch) eval(m *modelFold, at ApplyPoint) error {
	e := m.entry(p.key)
	if m.passed(e, at) {
		return nil
	}
	if err := m.identified(e, p.fill, at); err != nil {
		return err
	}
	exists := m.visible(e, at)
	var row any
	switch {
	case exists:
		row = m.codec.Clone(e.row)
	case p.fill == nil:
		return fmt.Errorf("patch %s row %s: %w, and these ops have no Fill to create one", m.desc.Name,
			driver.PrintableKey(e.key), ErrNoRow)
	default:
		row = m.codec.New()
		p.fill.call(row)
	}
	said := m.nothingSaid()
	for _, s := range p.changes {
		s.apply.call(row)
		said[s.field] = s.mention
	}
	if err := m.sameKey(e, row, at); err != nil {
		return err
	}
	m.stamp(e, row, exists, at)
	indexes, err := m.patched(e, row, exists, said, at)
	if err != nil {
		return err
	}
	m.write(e, row, indexes, !exists, said, at)
	return nil
}

// DeletePartition removes all rows of the partition.
func DeletePartition(t PartitionTarget) Op { return &deletePartitionOp{t} }

type deletePartitionOp struct{ PartitionTarget }

func (o *deletePartitionOp) need(m *modelFold, _ ApplyPoint) error {
	switch {
	case o.Err != nil:
	case deletesAtOnce(m):
		if m.partitions.all[o.Partition] == nil {
			m.partitions.all[o.Partition] = &partition{unread: true}
		}
	case m.views.whole != nil: // the rows stay where they have other parts
		m.views.whole.partitions.needAll(o.Partition)
	default:
		m.partitions.needKeys(o.Partition)
	}
	return o.Err
}

// deletesAtOnce reports whether the store deletes partitions, so that their rows need not be read.
func deletesAtOnce(m *modelFold) bool {
	return !m.bounds.shared && m.traits.writer == "" && !m.tracking.tracks()
}

func (o *deletePartitionOp) eval(m *modelFold, at ApplyPoint) error {
	m.bounds.wiped = at.Event
	m.partitions.emptied = append(m.partitions.emptied, o.Partition)
	for _, e := range m.views.entriesOf(o.Partition) {
		if m.passed(e, at) || !e.present {
			continue
		}
		// One that had expired before counts nothing where all have to fit into one commit: it may be gone already, and
		// whether the event becomes a dead letter must not hang on that. A row of several writers stays until each has
		// deleted its part, and one that has expired is there again once the part with its end is deleted.
		switch {
		case m.visible(e, at) || e.event == at.Event || m.views.whole != nil:
			m.remove(e, at)
		case m.traits.unique == nil || !m.bounds.shared:
			m.touch(e, at) // nor does what the op says of copies count
			e.clear()
		}
	}
	if p := m.partitions.all[o.Partition]; deletesAtOnce(m) && !p.gone {
		p.gone = true
		m.partitions.gone = append(m.partitions.gone, gone{o.Partition, at.Pos})
	}
	return nil
}

// gone is a partition that is deleted at once, and where the event stands that does so.
type gone struct {
	pk  string
	pos querydb.Position
}
