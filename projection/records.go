package projection

import (
	"context"
	"slices"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection/internal/checkpoint"
	"github.com/foldql/foldql/projection/internal/position"
	"github.com/foldql/foldql/projection/sourcehash"
	"github.com/foldql/foldql/querydb"
)

// record names what is on record of the projection.
func (p *Projection) record() checkpoint.Projection {
	of := checkpoint.Projection{
		Name: p.Name, Models: p.Models(), Code: sourcehash.Of(p.code()...), Program: p.program,
	}
	if len(of.Models) == 1 {
		of.Reindex = p.rows.Reindex
	}
	return of
}

// code are the values whose types' packages hold the code of the projection.
func (p *Projection) code() (all []any) {
	for _, one := range p.each() {
		all = append(all, one.Code...)
	}
	return all
}

// CodePackages returns the import paths of the packages whose code is compared by [CodeChanged].
func (p *Projection) CodePackages() []string { return sourcehash.Packages(p.code()...) }

// CodeChanged reports whether the rows that serve are those that the projection folds, by their version, and were begun
// by other code than the projection has: comments and formatting do not count, nor does a program that knows no hash of
// its code. It changes nothing.
func CodeChanged(ctx context.Context, db *querydb.DB, p Projection) (bool, error) {
	return checkpoint.CodeChanged(ctx, db, p.record())
}

// ErrCopying is of an act that has to wait until rows are copied into those that are built.
var ErrCopying = checkpoint.ErrCopying

// AcceptCode puts on record that the rows that serve, and those that are built beside them, are those of the
// projection's present code. It is ErrCopying while rows are copied into the latter.
func AcceptCode(ctx context.Context, db *querydb.DB, p Projection) error {
	return checkpoint.AcceptCode(ctx, db, p.record())
}

// TargetGenerations returns, aligned with the projections, the numbers of the generations that each will write to when
// it starts, one for each of its models. A generation is one build of a model's table: each rebuild folds the log into
// a new one. TargetGenerations changes nothing.
func TargetGenerations(
	ctx context.Context, db *querydb.DB, all []Projection,
) ([]map[*querydb.Model]int, error) {
	return checkpoint.TargetGenerations(ctx, db, records(all), unitNumbers(all), false)
}

// StartGenerations is [TargetGenerations] without rows that a start does not begin: where others have folded those that
// serve on lately, with more values of enums, a program without these only answers, until rows are asked for.
func StartGenerations(
	ctx context.Context, db *querydb.DB, all []Projection,
) ([]map[*querydb.Model]int, error) {
	return checkpoint.TargetGenerations(ctx, db, records(all), unitNumbers(all), true)
}

// unitNumbers are, aligned with the projections, the numbers of their [Units].
func unitNumbers(all []Projection) []int {
	of := map[string]int{}
	for i, unit := range Units(all) {
		for _, p := range unit {
			of[p.Name] = i
		}
	}
	numbers := make([]int, len(all))
	for i := range all {
		numbers[i] = of[all[i].Name]
	}
	return numbers
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

// CopiesRows reports whether [BeginBuild] would have the rows of the projection copied from those that serve, since
// they differ in their index keys alone, and not folded from the log. It changes nothing.
func CopiesRows(ctx context.Context, db *querydb.DB, p Projection) (bool, error) {
	return checkpoint.CopiesRows(ctx, db, p.record())
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

// SchemaChange returns why a program with projection p builds its rows anew, where former are the projections of the
// program that has folded those that are there: both as [Group] makes them. It is "" where they serve as they are, and
// where none of them has folded into p's tables. Copied says that rows need not be folded again on a store that one
// process writes to, because only their index keys change. It goes by what a start does: see [RebuildReason] and
// [CopiesRows].
func SchemaChange(former []Projection, p Projection) (why string, copied bool) {
	return p.record().Differs(records(former))
}

// MismatchError says that a source is not the one that rows were folded from, or has lost events of it.
//
// Its fields Projection, Partition and Record say what does not fit: Record is one of the Record constants.
// Offset is where the source is to hold the event that Event describes; Found is what it holds there, "" where it ends
// before, at End. Recreated says that the partition is another, whatever events it holds: it has another identity, and
// Identity is the one that it had, "" where that is not known; or the source says so, and Replaced is why.
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

// ErrOtherRows says that the rows that serve are complete, and not those that the projection folds: its models had
// another form when they were folded. See [RunnerConfig.KeepServing] and [BeginBuild].
var ErrOtherRows = checkpoint.ErrOtherRows

// ErrNotBuilt says that there is no generation that is being built for the projections of this program, or that it
// cannot serve yet.
var ErrNotBuilt = checkpoint.ErrNotBuilt

// Generations says which rows of a projection there are: those that serve, those that are being built beside them, and
// those that served before; nil for what there is not.
type Generations = checkpoint.Generations

// UseFound has the DB read and write the rows that serve of projections, as one [LookUp] has found them, all at once,
// and is false where it does not: of a table it knows of later ones by now.
func UseFound(db *querydb.DB, found []Generations) (uses bool, err error) {
	return checkpoint.UseFound(db, found)
}

// Rows is what is on record of rows of a projection.
type Rows = checkpoint.Rows

// LookUp returns which rows of the projections there are, aligned with them. It takes a few reads for all of them and,
// on a store whose tables others make, one for each table. It changes nothing.
func LookUp(ctx context.Context, db *querydb.DB, all []Projection) ([]Generations, error) {
	return checkpoint.Look(ctx, db, records(all))
}

// CountDeadLetters counts the dead letters that are on record of rows.
func CountDeadLetters(ctx context.Context, db *querydb.DB, of *Rows) (int, error) {
	return checkpoint.CountDeadLetters(ctx, db, of)
}

// BuiltOffsets returns how far the rows are on record, by partition, that the projection builds beside those that
// serve.
func BuiltOffsets(ctx context.Context, db *querydb.DB, p Projection) (eventlog.Offsets, error) {
	return checkpoint.BuiltPositions(ctx, db, p.Name)
}

// IsBuilt reports whether the rows of the projection that are being built beside those that serve are on record as
// complete. It reads less than [LookUp].
func IsBuilt(ctx context.Context, db *querydb.DB, p Projection) (bool, error) {
	return checkpoint.IsBuilt(ctx, db, p.record())
}

// Fingerprints are texts by the names of the projections that are on record, of this program and of others. That of a
// projection differs from an earlier one when [LookUp] may find other rows of it than it did then: other generations,
// rows that have become complete, a rebuild that was asked for or aborted. They take a few reads, however many
// projections the store has. On a store that one process writes to they say nothing.
func Fingerprints(ctx context.Context, db *querydb.DB) (map[string]string, error) {
	return checkpoint.Fingerprints(ctx, db)
}

// Units returns the projections in parts whose rows change generation together: those that write to the same tables.
func Units(all []Projection) [][]Projection { return parted(all, shareTable) }

// parted returns the projections in parts, each of those that belong together with another of the part.
func parted(all []Projection, together func(p, q *Projection) bool) (parts [][]Projection) {
	for _, p := range all {
		joined, others := []Projection{p}, parts[:0:0]
		for _, part := range parts {
			if slices.ContainsFunc(part, func(q Projection) bool { return together(&p, &q) }) {
				joined = append(part, joined...)
			} else {
				others = append(others, part)
			}
		}
		parts = append(others, joined)
	}
	return parts
}

func shareTable(p, q *Projection) bool {
	return slices.ContainsFunc(p.Models(), func(m *querydb.Model) bool {
		return slices.ContainsFunc(q.Models(), func(o *querydb.Model) bool { return o.Table == m.Table })
	})
}

// BeginBuild begins rows of the projections of a unit beside those that serve, in the form that their models have now,
// or goes on with those that were begun. On a store that one process writes to, rows that differ in their index keys
// alone are copied first: those of a model with a [querydb.Model.RowVersion]. A [Runner] over build, which is
// [querydb.Generations.ForBuild] of db, does that, and folds the rest of the log into them.
func BeginBuild(
	ctx context.Context, db, build *querydb.DB, src eventlog.Source, unit []Projection, cfg RunnerConfig,
) error {
	cfg = cfg.withDefaults()
	return checkpoint.Begin(ctx, db, build, src, records(unit), checkpoint.Config{
		Now: cfg.Now, CommitTimeout: cfg.CommitTimeout, Logger: cfg.Logger, Reread: func() {},
	})
}

// Rearrange has other rows of the projections of a unit serve, or drops some, in one commit. No Runner of this process
// may run on them meanwhile; [querydb.Generations.UseAll] has the DB read them afterwards. A switch to rows that are
// not complete, or not as far as those that serve, is [ErrNotBuilt], and changes nothing. Where it would drop rows
// that others need which are present, see [NeededBy], it is [querydb.ErrConflict].
func Rearrange(
	ctx context.Context, db *querydb.DB, how querydb.Rearrangement, unit []Projection, present Present,
) error {
	return checkpoint.Rearrange(ctx, db, how, records(unit), present, nil)
}

// Present are the projections of a program.
type Present = checkpoint.Present

// NeededBy returns the names of projections, of those present and none of the unit, that need a generation of the
// unit's tables which a rearrangement would drop: their rows serve from there, or would after a rollback, since their
// models had these tables before.
func NeededBy(
	ctx context.Context, db *querydb.DB, how querydb.Rearrangement, unit []Projection, present Present,
) ([]string, error) {
	return checkpoint.NeededBy(ctx, db, how, records(unit), present)
}

// FitsSwitch is [querydb.ErrTooLarge] where rows of the projections of a unit can never be switched to others, since
// one transaction of the store does not hold all that is on record of them, and of those that former programs had in
// their place. [BeginBuild] begins none then.
func FitsSwitch(ctx context.Context, db *querydb.DB, unit []Projection) error {
	return checkpoint.FitsSwitch(ctx, db, records(unit))
}

// SwitchToBuilt has rows of the projections of a unit serve that were as far as those that serve when these had come to
// the offsets: see [ServingOffsets]. Otherwise it is [Rearrange]. On a store that several processes write to, others
// may have folded the rows that serve further meanwhile, and go on with that: an answer may then be older than one
// before by as much as the new rows are behind the log.
func SwitchToBuilt(
	ctx context.Context, db *querydb.DB, unit []Projection, present Present, reached eventlog.Offsets,
) error {
	return checkpoint.Rearrange(ctx, db, querydb.SwitchToBuilt, records(unit), present, reached)
}

// CountNewDeadLetters returns how many dead letters the rows of a projection have that are built beside those that
// serve, and these have not.
func CountNewDeadLetters(ctx context.Context, db *querydb.DB, p Projection) (int, error) {
	return checkpoint.CountNewLetters(ctx, db, p.record())
}

// FormerDecisions returns how many events were decided about under names of projections that there are no more, as
// those that are folded together have another name by now, of rows that serve and that the projection folds: those that
// are built beside them know nothing of it. The names are those of all projections that there are.
func FormerDecisions(ctx context.Context, db *querydb.DB, p Projection, names []string) (int, error) {
	isCurrent := func(name string) bool { return name == p.Name || slices.Contains(names, name) }
	return checkpoint.FormerDecisions(ctx, db, p.record(), isCurrent)
}

// CopyDecisions has a projection that folds the log into another DB, from its first event on, retry and skip what was
// decided of it in a DB.
func CopyDecisions(ctx context.Context, from, to *querydb.DB, p Projection) error {
	return checkpoint.CopyDecisions(ctx, from, to, p.record())
}

// FurthestServingOffsets is ServingOffsets of those that are furthest, where several projections have folded rows of
// the models: rows that are to serve in their place must have come as far.
func FurthestServingOffsets(ctx context.Context, db *querydb.DB, p Projection) (eventlog.Offsets, error) {
	return checkpoint.FurthestServing(ctx, db, p.record())
}

// ServingOffsets returns how far the rows that serve of the projection's models have come, by partition, whoever folds
// them.
func ServingOffsets(ctx context.Context, db *querydb.DB, p Projection) (eventlog.Offsets, error) {
	return checkpoint.ServingPositions(ctx, db, p.record())
}

// ServingReached is [ServingOffsets] with whether there are dead letters, and rows that copies are yet to follow: of
// either it counts one at most. The generations tell these rows from others that serve later.
func ServingReached(ctx context.Context, db *querydb.DB, p Projection) (at Reached, generations map[string]int,
	err error) {
	s, err := checkpoint.LookAtServing(ctx, db, p.record())
	if err != nil {
		return at, nil, err
	}
	at.Offsets = s.Positions
	if s.DeadLetters {
		at.DeadLetters = 1
	}
	if s.Cascades {
		at.Cascades = 1
	}
	return at, s.Generations, nil
}

// Backlog is what rows lack of the events up to which they are folded: see the fields of [Status] of the same names.
type Backlog struct {
	DeadLetters    int
	Cascades       int
	FailedCascades []FailedCascade
}

// ServingBacklog reads what the rows that serve of the projection's models lack, whoever folds them. It reads each dead
// letter, and counts tasks that only another version can read as yet to be done.
func ServingBacklog(ctx context.Context, db *querydb.DB, p Projection) (Backlog, error) {
	b, err := checkpoint.ServingBacklog(ctx, db, p.record())
	return Backlog{b.DeadLetters, b.Cascades, failedCascades(b.FailedCascades)}, err
}

func records(all []Projection) []checkpoint.Projection {
	list := make([]checkpoint.Projection, len(all))
	for i := range all {
		list[i] = all[i].record()
	}
	return list
}
