package projection

import (
	"context"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection/internal/checkpoint"
	"github.com/foldql/foldql/projection/internal/position"
	"github.com/foldql/foldql/querydb"
)

// record names what is on record of the projection.
func (p *Projection) record() checkpoint.Projection {
	return checkpoint.Projection{Name: p.Name, Model: p.Model}
}

// TargetGeneration tells, without a change of anything, which generation of its model's table a projection will write
// to when it opens.
func TargetGeneration(ctx context.Context, db *querydb.DB, p Projection) (generation int, err error) {
	return checkpoint.TargetGeneration(ctx, db, p.record())
}

// CheckTarget returns a [querydb.UnknownRowsError], without a change of anything, where the projection is to begin a
// table that holds rows of a fold that is not on record.
func CheckTarget(ctx context.Context, db *querydb.DB, p Projection) error {
	return checkpoint.CheckTarget(ctx, db, p.record())
}

// RebuildReason tells, without a change of anything, why a projection will rebuild from the whole log when it opens; ""
// where it will not, or has never folded anything.
func RebuildReason(ctx context.Context, db *querydb.DB, p Projection) (why string, err error) {
	return checkpoint.RebuildReason(ctx, db, p.record())
}

// RequestRebuild has the projection drop its rows and rebuild from the whole log when it opens next, as
// [Runner.Rebuild] does, and passes over tables that hold rows of a fold that is not on record: see
// [querydb.UnknownRowsError]. It does not compare the log with what is on record; the start does, and folds nothing
// where [Mismatches] finds any.
func RequestRebuild(ctx context.Context, db *querydb.DB, p Projection) error {
	return checkpoint.RequestRebuild(ctx, db, p.record())
}

// ResetNote is the note that takes away what is on record about a projection's rows: with it applied, the
// projection's next start drops its rows and folds the whole log, and so does one that runs on a store that several
// processes write. What was decided about dead letters stays. The checkpoints do not: a log that has lost what they
// cover is not found then.
func ResetNote(projection string) querydb.Note { return checkpoint.ResetNote(projection) }

// NeedsUpgrade reports whether what is on record about the projection has the form of an earlier version, and is
// converted when it runs.
func NeedsUpgrade(ctx context.Context, db *querydb.DB, p Projection) (bool, error) {
	return checkpoint.NeedsUpgrade(ctx, db, p.record())
}

// MismatchError says that a source is not the one that rows were folded from, or has lost events of it.
//
// Its fields Projection, Partition and Record say what does not fit: Record is one of the constants below, or the
// words of another record. Offset is where the source is to hold the event that Event describes; Found is what it
// holds there, "" where it ends before, at End. Remade says that the partition has been recreated: it has another
// identity, whatever events it holds.
type MismatchError = position.MismatchError

// What can be at odds with a source: see [MismatchError].
const (
	RecordCheckpoint = position.RecordCheckpoint // how far the rows have come
	RecordReplaced   = position.RecordReplaced   // how far rows had come that are being replaced
	RecordDeadLetter = position.RecordDeadLetter // an event that could not be folded
	RecordDecision   = position.RecordDecision   // to retry or skip such an event
)

// Mismatches tells, without a change of anything, what is on record about a projection that the source contradicts:
// nothing must be appended to it, nor folded from it, as long as there is any.
func Mismatches(ctx context.Context, db *querydb.DB, src eventlog.Source, p Projection) ([]*MismatchError, error) {
	return checkpoint.Mismatches(ctx, db, src, p.record())
}

// AgreedOffsets tells, by partition, the last offset at which the source holds an event that is on record about the
// projection: between that and a mismatch behind it the source may hold others.
func AgreedOffsets(ctx context.Context, db *querydb.DB, src eventlog.Source, p Projection) (map[string]uint64, error) {
	return checkpoint.AgreedOffsets(ctx, db, src, p.record())
}

// AcceptLog has the projection take the source as it is: what was decided about events that the source does not hold is
// dropped, and so is what is on record of the rows and of those that they replace, so that the next start folds the
// whole source anew. It may be repeated.
func AcceptLog(ctx context.Context, db *querydb.DB, src eventlog.Source, p Projection) error {
	return checkpoint.AcceptLog(ctx, db, src, p.record())
}
