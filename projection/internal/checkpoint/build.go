package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection/internal/cascade"
	"github.com/foldql/foldql/querydb"
)

// ErrOtherRows says that the rows that serve are not those that this program folds: another version of it has folded
// them, or a rebuild was asked for. They are complete, and go on serving while others are built beside them.
var ErrOtherRows = errors.New("the rows that serve are not those that this program folds")

// ErrNotBuilt says that there is no generation that is being built, in the form that this program's models have.
var ErrNotBuilt = errors.New("no generation is being built")

// Begin begins a generation of the tables of the projections beside the one that serves, in the form that the models
// have. One program folds it from the first event on, or copies the rows that serve: see Origin. What was being built
// in another form is dropped; what is being built in this one goes on, unless a rebuild is asked for, which may be of
// other code. The projections are all those that write to the tables; build is the DB's ForBuild. Nothing is begun that
// could never be switched to: see FitsSwitch.
func Begin(ctx context.Context, db, build *querydb.DB, src eventlog.Source, all []Projection, cfg Config) error {
	if err := FitsSwitch(ctx, db, all); err != nil {
		return err
	}
	origins := make([]*Origin, len(all))
	for i, p := range all {
		var err error
		if origins[i], err = originOf(ctx, db, p); err != nil {
			return err
		}
	}
	// One that is begun may take others of its tables along that were good: these are begun then too.
	for range all {
		begun := false
		for i, p := range all {
			began, err := beginOne(ctx, db, build, src, p, all, origins[i], cfg)
			if err != nil {
				return err
			}
			begun = begun || began
		}
		if !begun {
			break
		}
	}
	return nil
}

// beginOne begins the rows of one projection of all those that write to the tables, unless what is being built is what
// it builds.
func beginOne(ctx context.Context, db, build *querydb.DB, src eventlog.Source, p Projection, all []Projection,
	origin *Origin, cfg Config) (begun bool, err error) {
	if err := build.Generations().UseAll(ctx, p.Models); err != nil { // whatever was built before
		return false, err
	}
	s := NewState(p, src, build, cfg, unwatched{})
	at, err := readLocation(ctx, build, p)
	if err != nil {
		return false, err
	}
	met, err := requestMet(ctx, db, p)
	if err == nil && len(met) > 0 {
		met, err = requestPassedOn(ctx, db, build, &at, all, met)
	}
	if err != nil || at.good() && len(met) == 0 {
		return false, err
	}
	was, err := readCompletion(ctx, build, p.Name)
	if err != nil {
		return false, err
	}
	why, err := reasonBeside(ctx, db, p, all)
	if err != nil {
		return false, err
	}
	return true, s.restarter.restart(ctx, &restartPlan{was: &at, former: was, why: why, origin: origin, more: met})
}

// reasonBeside is why rows are built beside those that serve, which the record of what was built before does not tell.
// The projections are all those that write to the tables.
func reasonBeside(ctx context.Context, db *querydb.DB, p Projection, all []Projection) (string, error) {
	serving, err := readLocation(ctx, db, p)
	if err != nil {
		return "", err
	}
	if !serving.good() {
		return serving.reason(ctx, db, p)
	}
	for _, other := range all {
		at, err := readLocation(ctx, db, other)
		if err != nil || !at.good() {
			return sharedTable, err
		}
	}
	return askedFor, nil
}

// requestMet is the note that takes away the request for a rebuild, in the commit that begins it; none where nobody has
// asked for one.
func requestMet(ctx context.Context, db *querydb.DB, p Projection) ([]querydb.Note, error) {
	b, err := readRecord(ctx, db, p.Name)
	if err != nil || !b.Again || b.former != nil {
		return nil, err
	}
	b.Again = false
	return []querydb.Note{b.note(serves, p.Name, b.revision)}, nil
}

// requestPassedOn adds, to the note with which the request for a rebuild is met at a location, those that ask for one
// of the other projections that are yet to be begun with it: so the request outlasts a failure before these are.
func requestPassedOn(ctx context.Context, db, build *querydb.DB, met *location, all []Projection,
	notes []querydb.Note) ([]querydb.Note, error) {
	begun := met.begun()
	for _, p := range all {
		at, err := readLocation(ctx, build, p)
		if err != nil {
			return nil, err
		}
		taken := slices.ContainsFunc(begun, func(s querydb.Successor) bool { return p.hasTable(s.Model.Table) })
		if p.Name == notes[0].ID || at.good() && !taken {
			continue
		}
		b, err := readRecord(ctx, db, p.Name)
		if err != nil {
			return nil, err
		}
		if b.Table != "" && b.former == nil && !b.Again {
			notes = append(notes, b.again(p.Name, b.revision))
		}
	}
	return notes, nil
}

// unwatched is a Watch of nobody.
type unwatched struct{}

func (unwatched) Building(bool, map[string]uint64) {}
func (unwatched) Rebuild() querydb.Progress        { return querydb.Progress{ETASeconds: -1} }
func (unwatched) Copied(uint64)                    {}
func (unwatched) Opened(map[string]Checkpoint, int, *cascade.Tasks) {
}

// IsBuilt reports whether the rows that a projection builds beside those that serve are on record as complete.
func IsBuilt(ctx context.Context, db *querydb.DB, p Projection) (bool, error) {
	notes, err := db.Notes().GetAll(ctx, []keys.Key{
		{PK: builds.header(), SK: p.Name}, {PK: builds.completion(), SK: p.Name},
	})
	if err != nil {
		return false, err
	}
	b, err := recordOf(ctx, db, builds, &notes[0])
	var c completion
	if err == nil {
		c, err = completionIn(builds, &notes[1])
	}
	if err != nil {
		return false, fmt.Errorf("read which rows of %s are built: %w", p.Name, err)
	}
	return b.Table != "" && c.Done && c.Table == b.Table && c.Generation == b.Generation, nil
}
