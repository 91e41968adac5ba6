package deadletter

import "github.com/foldql/foldql/projection/internal/position"

// ApplyPoints are those at which events are tried, by the moment. No two events may have one: rows that have come to it
// count both as applied, and a fold that ends between the two passes the second over.
type ApplyPoints map[position.Ref]*moment

// moment is the events that are tried after one event of the log, by Seq.
type moment struct {
	events map[int]position.Ref
	end    int // behind all of them
}

// ApplyPointsOf are those of decisions.
func ApplyPointsOf(decisions map[position.Ref]Decision) ApplyPoints {
	all := ApplyPoints{}
	for _, d := range decisions {
		all.Add(&d)
	}
	return all
}

// Add adds the apply point of a decision.
func (all ApplyPoints) Add(d *Decision) {
	if d.Skip {
		return
	}
	at := position.Ref{Partition: d.Partition, Offset: d.Moment}
	m := all[at]
	if m == nil {
		m = &moment{events: map[int]position.Ref{}}
		all[at] = m
	}
	m.events[d.Seq], m.end = d.Ref, max(m.end, d.Seq+1)
}

// MakeRoom moves a decision that was made elsewhere behind the others of its moment where another event is tried at its
// apply point.
func (all ApplyPoints) MakeRoom(d *Decision) {
	m := all[position.Ref{Partition: d.Partition, Offset: d.Moment}]
	if d.Skip || m == nil {
		return
	}
	if other, taken := m.events[d.Seq]; taken && other != d.Ref {
		d.Seq = m.end
	}
}

// Free is where rows that have come as far as done try the next event that is retried: behind all that is tried at this
// moment. Rows that serve and rows that are built beside them are folded at the same time, and whoever folds the ones
// does not know at once what is decided in the others. So those have the even ones, and these the odd ones.
func (all ApplyPoints) Free(partition string, done position.Cursor, built bool) position.Cursor {
	if m := all[position.Ref{Partition: partition, Offset: done.Offset}]; m != nil {
		done.Replayed = max(done.Replayed, m.end)
	}
	if odd := done.Replayed%2 == 1; odd != built {
		done.Replayed++
	}
	return done
}
