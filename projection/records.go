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
	return checkpoint.Projection{Name: p.Name, Models: p.Models()}
}

// TargetGenerations returns the numbers of the generations that a projection will write to when it starts, one for each
// of its models. A generation is one build of a model's table: each rebuild folds the log into a new one.
// TargetGenerations changes nothing.
func TargetGenerations(ctx context.Context, db *querydb.DB, p Projection) (map[*querydb.Model]int, error) {
	return checkpoint.TargetGenerations(ctx, db, p.record())
}

// CheckUnknownRows returns a [querydb.UnknownRowsError] if the projection is about to build a table that holds rows of
// which there is no record. It changes nothing.
func CheckUnknownRows(ctx context.Context, db *querydb.DB, p Projection) error {
	return checkpoint.CheckUnknownRows(ctx, db, p.record())
}

// RebuildReason returns why a projection will rebuild from the whole log when it starts, "" if it will not or has never
// folded anything. It changes nothing.
func RebuildReason(ctx context.Context, db *querydb.DB, p Projection) (why string, err error) {
	return checkpoint.RebuildReason(ctx, db, p.record())
}

// RequestRebuild makes the projection drop its rows and rebuild from the whole log at its next start, as
// [Runner.Rebuild] does. It skips tables that hold rows of which there is no record: see [querydb.UnknownRowsError]. It
// does not compare the log with the records; the start does, and folds nothing if [FindMismatches] finds any.
func RequestRebuild(ctx context.Context, db *querydb.DB, p Projection) error {
	return checkpoint.RequestRebuild(ctx, db, p.record())
}

// NewResetNote makes a note that, once [querydb.DB.Apply] has written it, makes the projection drop its rows and fold
// the whole log again: at its next start or, if it runs on a store that several processes write, at once. Decisions
// about dead letters are kept. Checkpoints are not, so a log that has lost events which they covered goes unnoticed.
func NewResetNote(projection string) querydb.Note { return checkpoint.NewResetNote(projection) }

// NeedsUpgrade reports whether the records of the projection have the format of an earlier version. A run converts
// them.
func NeedsUpgrade(ctx context.Context, db *querydb.DB, p Projection) (bool, error) {
	return checkpoint.NeedsUpgrade(ctx, db, p.record())
}

// MismatchError says that a source is not the one that rows were folded from, or has lost events of it.
//
// Its fields Projection, Partition and Record say what does not fit: Record is one of the Record constants.
// Offset is where the source is to hold the event that Event describes; Found is what it holds there, "" where it ends
// before, at End. Recreated says that the partition has been recreated: it has another identity, whatever events it
// holds.
type MismatchError = position.MismatchError

// The values of [MismatchError].Record: what is on record that the source contradicts.
const (
	RecordCheckpoint         = position.RecordCheckpoint         // how far the rows have come
	RecordReplacedCheckpoint = position.RecordReplacedCheckpoint // how far rows had come that are being replaced
	RecordDeadLetter         = position.RecordDeadLetter         // an event that could not be folded
	RecordDecision           = position.RecordDecision           // a decision to retry or skip a dead letter
)

// FindMismatches returns the records of a projection that the source contradicts. As long as there are any, nothing
// must be appended to the source or folded from it. It changes nothing.
func FindMismatches(ctx context.Context, db *querydb.DB, src eventlog.Source, p Projection) ([]*MismatchError, error) {
	return checkpoint.FindMismatches(ctx, db, src, p.record())
}

// LastMatchingOffsets returns, by partition, the last offset at which the source holds the very event that is on
// record. Between that offset and a mismatch after it the source may hold other events.
func LastMatchingOffsets(
	ctx context.Context, db *querydb.DB, src eventlog.Source, p Projection,
) (map[string]uint64, error) {
	return checkpoint.LastMatchingOffsets(ctx, db, src, p.record())
}

// AdoptSource makes the projection take a log that was restored or replaced as its own. It drops the decisions about
// events that the source does not hold, and the checkpoints of the rows and of those that they replace, so that the
// next start folds the whole source again. It may be repeated.
func AdoptSource(ctx context.Context, db *querydb.DB, src eventlog.Source, p Projection) error {
	return checkpoint.AdoptSource(ctx, db, src, p.record())
}
