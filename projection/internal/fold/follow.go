package fold

import (
	"fmt"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
)

// Follow adds the row that next makes of the latest row of the partition.
func Follow[R any](t PartitionTarget, next func(R) R) Op { return &followOp[R]{t, next} }

// PartitionTarget is the partition that an op is about, or why there is none.
type PartitionTarget struct {
	Model     *querydb.Model
	Partition string
	Err       error
}

func (t *PartitionTarget) model() *querydb.Model { return t.Model }

type followOp[R any] struct {
	PartitionTarget
	next func(R) R
}

func (o *followOp[R]) need(f *modelFold[R], at ApplyPoint) error {
	if f.traits.writer != "" {
		return fmt.Errorf("follow %s partition %q: which row is the latest is not known of rows that several "+
			"projections write", f.desc.Name, o.Partition)
	}
	if o.Err != nil {
		return o.Err
	}
	if f.readsReplaced() && !f.bounds.alone {
		o.foresee(f, at)
	}
	return f.partitions.needLatest(o.Partition, at)
}

func (o *followOp[R]) eval(f *modelFold[R], at ApplyPoint) error {
	var latest R
	followed, known := f.partitions.latestFor(o.Partition, at)
	if !known {
		return f.partitions.missLatest(o.Partition)
	}
	if followed != nil {
		f.follow(followed.key, at)
		latest = f.refs.forUser(&followed.row)
	}
	row, key, err := f.stamped(o.next(latest), keys.Key{}, at)
	if err != nil {
		return err
	}
	if key, err = querydb.KeyOf(f.codec, &row); err != nil {
		return err
	}
	if key.PK != o.Partition {
		return fmt.Errorf("follow %s partition %q: the row that continues it has the key %q, of another partition",
			f.desc.Name, o.Partition, key)
	}
	if followed != nil && !f.samePartition(&followed.row, &row) {
		return fmt.Errorf("%w: follow %s partition %q: its latest row is of another id: %s",
			querydb.ErrConflict, f.desc.Name, o.Partition, f.difference(&followed.row, &row))
	}
	e := f.entry(key)
	if f.passed(e, at) {
		return nil
	}
	if !e.read && e.event == 0 && f.readsReplaced() && !f.partitions.all[key.PK].gone {
		if err := f.missKey(key); err != nil {
			return err
		}
	}
	return f.replace(e, row, at)
}

// foresee asks for the row that is to be written, where it counts what is replaced. Which it is follows from the event
// alone as a rule, and not from the row that is followed; where it does not, or the function fails without one, eval
// finds out.
func (o *followOp[R]) foresee(f *modelFold[R], at ApplyPoint) {
	done := make(chan struct{})
	go func() { // the function may end its goroutine
		defer close(done)
		defer func() { _ = recover() }()
		var none R
		row, key, err := f.stamped(o.next(none), keys.Key{}, at)
		if err == nil {
			key, err = querydb.KeyOf(f.codec, &row)
		}
		if err == nil && key.PK == o.Partition {
			_ = f.needKey(key)
		}
	}()
	<-done
}
