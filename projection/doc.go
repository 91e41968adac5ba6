// Package projection folds events into rows.
//
// A projector is a pure function from one event to ops: [Ops] makes them, one value per model, and [New] makes a
// [Projection] of a projector. Generated code does both: a project writes the methods of its projectors, and calls the
// generated Project functions.
//
//	func (Counter) OrderPlaced(e event.OrderPlaced, _ projection.Meta) []projection.Op {
//		count := func(row *model.OrderCount) { row.Orders++ }
//		return []projection.Op{ops.OrderCount.Upsert(querydb.SingletonKey{}, model.OrderCount{}, count)}
//	}
//
// A [Runner] runs a projection: [NewRunner] takes a source of events and an open [querydb.DB], and [Runner.Run] reads
// a window of events, evaluates their ops in order on copies of the rows, and writes each changed row once, in one
// commit with the checkpoint. See the example of Runner.
//
// What a Runner promises:
//
//   - No event takes effect twice, and each takes effect once unless it is a dead letter or is skipped: on every store,
//     whatever fails and whenever the process ends. Rows and checkpoint agree.
//   - Folding the log again gives the same rows. So a projector must know the event and nothing else: no clock, no
//     input or output, no shared state. Functions that are given to ops may be called several times for one event.
//   - An event that cannot be folded becomes a [DeadLetter] with a reason, and later events of its subject are blocked;
//     the others go on. [Runner.Retry] and [Runner.Skip] decide about it, and a fold of the whole log does the same.
//   - The clock never affects what a fold makes of events: if a projector does not return in time, the Runner stops
//     with a [StopError].
//   - Rows that were folded from one log are never continued from another: see [MismatchError].
//   - A model of another version is rebuilt, beside the rows that serve. [Runner.Status] tells how far it has come.
//
// Test projectors with package projectiontest.
package projection
