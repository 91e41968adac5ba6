package fold

import "github.com/foldql/foldql/querydb"

// DeletePartition removes all rows of the partition.
func DeletePartition[R any](t PartitionTarget) Op { return &deletePartitionOp[R]{t} }

type deletePartitionOp[R any] struct{ PartitionTarget }

func (o *deletePartitionOp[R]) need(f *modelFold[R], _ ApplyPoint) error {
	switch {
	case o.Err != nil:
	case f.deletesAtOnce():
		if f.partitions.all[o.Partition] == nil {
			f.partitions.all[o.Partition] = &partition[R]{unread: true}
		}
	default:
		f.partitions.needKeys(o.Partition)
	}
	return o.Err
}

// deletesAtOnce reports whether the store deletes partitions, so that their rows need not be read.
func (f *modelFold[R]) deletesAtOnce() bool { return !f.bounds.shared && f.traits.writer == "" }

func (o *deletePartitionOp[R]) eval(f *modelFold[R], at ApplyPoint) error {
	f.bounds.wiped = at.Event
	p := f.partitions.all[o.Partition]
	for _, e := range p.entries {
		if f.passed(e, at) || !e.present {
			continue
		}
		// One that has expired counts nothing where all have to fit into one commit: it may be gone already.
		if f.visible(e, at) || f.traits.unique == nil || f.deletesAtOnce() {
			f.remove(e, at)
		}
	}
	if f.deletesAtOnce() && !p.gone {
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
