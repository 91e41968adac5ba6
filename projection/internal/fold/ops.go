package fold

import (
	"fmt"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
)

// Op is one change that a projector asks for. Ops are pure data until they are evaluated.
type Op interface {
	// model is that of the row which the op changes.
	model() *querydb.Model
}

// change is an Op on rows of the type R.
type change[R any] interface {
	Op
	need(f *modelFold[R], at ApplyPoint) error
	eval(f *modelFold[R], at ApplyPoint) error
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

// Set replaces the row, or creates it.
func Set[R any](codec *querydb.Codec[R], row R) RowOp { return &setOp[R]{targetOf(codec, &row), row} }

// Create creates the row and keeps one that exists as it is.
func Create[R any](codec *querydb.Codec[R], row R) RowOp {
	return &createOp[R]{targetOf(codec, &row), row}
}

// Update changes a row that exists. The identity, where it is not nil, sets the key fields that the row must have.
func Update[R any](t Target, identity func(*R), change func(*R)) RowOp {
	return &updateOp[R]{target: t.internal(), change: change, identity: identity}
}

// Upsert is Update of the row, or of initial where there is none.
func Upsert[R any](t Target, identity func(*R), initial R, change func(*R)) RowOp {
	return &updateOp[R]{target: t.internal(), change: change, identity: identity, initial: &initial}
}

// Delete removes the row; one that is not there is no error.
func Delete[R any](t Target, identity func(*R)) RowOp { return &deleteOp[R]{t.internal(), identity} }

// targetOf composes the key of a row that is to be written. A row whose key holds a stamp has its key only when the
// time of the event is known: see rowModel.stamped.
func targetOf[R any](codec *querydb.Codec[R], row *R) target {
	t := target{of: codec.Model}
	if !stampedKey(codec.Model) {
		t.key, t.err = querydb.KeyOf(codec, row)
	}
	return t
}

type setOp[R any] struct {
	target
	row R
}

func (o *setOp[R]) need(f *modelFold[R], at ApplyPoint) error {
	if o.err != nil {
		return o.err
	}
	if err := f.refs.needSources(&o.row); err != nil {
		return err
	}
	if !f.readsReplaced() { // it does not matter what the row replaces
		return nil
	}
	return f.needRow(&o.row, o.key, at)
}

func (o *setOp[R]) eval(f *modelFold[R], at ApplyPoint) error {
	row, key, err := f.stamped(o.row, o.key, at)
	if err != nil {
		return err
	}
	if e := f.entry(key); !f.passed(e, at) {
		return f.replace(e, row, at)
	}
	return nil
}

type createOp[R any] struct {
	target
	row R
}

func (o *createOp[R]) need(f *modelFold[R], at ApplyPoint) error {
	if o.err != nil {
		return o.err
	}
	if err := f.refs.needSources(&o.row); err != nil {
		return err
	}
	return f.needRow(&o.row, o.key, at)
}

func (o *createOp[R]) eval(f *modelFold[R], at ApplyPoint) error {
	row, key, err := f.stamped(o.row, o.key, at)
	if err != nil {
		return err
	}
	e := f.entry(key)
	if f.passed(e, at) {
		return nil
	}
	if f.visible(e, at) {
		return f.identical(e, &row, at)
	}
	return f.replace(e, row, at)
}

// updateOp is Update, and Upsert where it has an initial row.
type updateOp[R any] struct {
	target
	change   func(*R)
	initial  *R
	identity func(*R)
}

func (o *updateOp[R]) need(f *modelFold[R], _ ApplyPoint) error {
	if o.err != nil {
		return o.err
	}
	if o.initial != nil {
		if err := f.refs.needSources(o.initial); err != nil {
			return err
		}
	}
	return f.needKey(o.key)
}

func (o *updateOp[R]) eval(f *modelFold[R], at ApplyPoint) error {
	e := f.entry(o.key)
	if f.passed(e, at) {
		return nil
	}
	if err := f.identified(e, o.identity, at); err != nil {
		return err
	}
	if f.visible(e, at) {
		row := f.refs.forUser(&e.row)
		o.change(&row)
		return f.update(e, row, at)
	}
	if o.initial == nil {
		return fmt.Errorf("update %s row %q: %w; Upsert creates one", f.desc.Name, e.key, ErrNoRow)
	}
	row := f.refs.forUser(o.initial)
	o.change(&row)
	if err := f.sameKey(e, &row, at); err != nil {
		return err
	}
	return f.replace(e, row, at)
}

type deleteOp[R any] struct {
	target
	identity func(*R)
}

func (o *deleteOp[R]) need(f *modelFold[R], _ ApplyPoint) error {
	if o.err == nil && f.mustRead() {
		return f.needKey(o.key)
	}
	return o.err
}

func (o *deleteOp[R]) eval(f *modelFold[R], at ApplyPoint) error {
	e := f.entry(o.key)
	if f.passed(e, at) || f.identified(e, o.identity, at) != nil { // of that id there is no row
		return nil
	}
	f.remove(e, at)
	return nil
}

// Patch is a partial write, evaluated after [keys.IndexHalf.UpdateForPatch]. It is an Op.
type Patch[R any] struct {
	target
	fill    func(*R)
	changes []fieldChange[R]
}

// fieldChange is what a Patch says of one field.
type fieldChange[R any] struct {
	mention keys.FieldChange
	field   int
	apply   func(*R) // nil where the field cannot be null
}

// NewPatch makes a Patch that changes nothing. It creates rows with fill, or none without it.
func NewPatch[R any](t Target, fill func(*R)) Patch[R] {
	return Patch[R]{target: t.internal(), fill: fill}
}

// Extend has a Patch change a field too. What is said last of a field counts.
func Extend[R any](p *Patch[R], m keys.FieldChange, field int, apply func(*R)) {
	p.changes = append(p.changes, fieldChange[R]{m, field, apply})
}

func (p *Patch[R]) need(f *modelFold[R], _ ApplyPoint) error {
	if p.err != nil {
		return p.err
	}
	for _, s := range p.changes {
		if f.traits.isKey[s.field] {
			return fmt.Errorf("patch %s: field %s is part of the key", f.desc.Name, f.desc.Fields[s.field].Name)
		}
		if s.apply == nil {
			return fmt.Errorf("patch %s: field %s is not nullable, it can neither be cleared nor removed; set it",
				f.desc.Name, f.desc.Fields[s.field].Name)
		}
	}
	if err := p.needSources(f); err != nil {
		return err
	}
	return f.needKey(p.key)
}

// needSources asks for the rows that the patch makes the row refer to.
func (p *Patch[R]) needSources(f *modelFold[R]) error {
	if len(f.refs.all) == 0 {
		return nil
	}
	var row R
	for _, s := range p.changes {
		s.apply(&row)
	}
	return f.refs.needSources(&row)
}

func (p *Patch[R]) eval(f *modelFold[R], at ApplyPoint) error {
	e := f.entry(p.key)
	if f.passed(e, at) {
		return nil
	}
	if err := f.identified(e, p.fill, at); err != nil {
		return err
	}
	exists := f.visible(e, at)
	var row R
	switch {
	case exists:
		row = f.codec.Clone(&e.row)
	case p.fill == nil:
		return fmt.Errorf("patch %s row %q: %w, and these ops have no Fill to create one", f.desc.Name, e.key, ErrNoRow)
	default:
		p.fill(&row)
	}
	said := f.nothingSaid()
	for _, s := range p.changes {
		s.apply(&row)
		said[s.field] = s.mention
	}
	if err := f.sameKey(e, &row, at); err != nil {
		return err
	}
	f.stamp(e, &row, exists, at)
	indexes, err := f.patched(e, &row, exists, said, at)
	if err != nil {
		return err
	}
	f.write(e, row, indexes, !exists, at)
	return nil
}

// DeletePartition removes all rows of the partition.
func DeletePartition[R any](t PartitionTarget) Op { return &deletePartitionOp[R]{t} }

type deletePartitionOp[R any] struct{ PartitionTarget }

func (o *deletePartitionOp[R]) need(f *modelFold[R], _ ApplyPoint) error {
	switch {
	case o.Err != nil:
	case deletesAtOnce(f):
		if f.partitions.all[o.Partition] == nil {
			f.partitions.all[o.Partition] = &partition[R]{unread: true}
		}
	case f.views.whole != nil: // the rows stay where they have other parts
		f.views.whole.partitions.needAll(o.Partition)
	default:
		f.partitions.needKeys(o.Partition)
	}
	return o.Err
}

// deletesAtOnce reports whether the store deletes partitions, so that their rows need not be read.
func deletesAtOnce[R any](f *modelFold[R]) bool {
	return !f.bounds.shared && f.traits.writer == "" && !f.tracking.tracks()
}

func (o *deletePartitionOp[R]) eval(f *modelFold[R], at ApplyPoint) error {
	f.bounds.wiped = at.Event
	for _, e := range f.views.entriesOf(o.Partition) {
		if f.passed(e, at) || !e.present {
			continue
		}
		// One that has expired counts nothing where all have to fit into one commit: it may be gone already.
		if f.visible(e, at) || f.traits.unique == nil || deletesAtOnce(f) {
			f.remove(e, at)
		}
	}
	if p := f.partitions.all[o.Partition]; deletesAtOnce(f) && !p.gone {
		p.gone = true
		f.partitions.gone = append(f.partitions.gone, gone{o.Partition, at.Pos})
	}
	return nil
}

// gone is a partition that is deleted at once, and where the event stands that does so.
type gone struct {
	pk  string
	pos querydb.Position
}
