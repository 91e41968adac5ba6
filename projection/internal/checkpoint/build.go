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
	if err != nil || !serving.good() {
		return serving.why(), err
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

func (r *Record) offsets() map[string]uint64 {
	all := map[string]uint64{}
	for partition, c := range r.Partitions {
		all[partition] = c.Offset
	}
	return all
}

// BuiltPositions returns how far the rows are on record that a projection builds beside those that serve.
func BuiltPositions(ctx context.Context, db *querydb.DB, projection string) (map[string]uint64, error) {
	b, err := readRecordIn(ctx, db, builds, projection)
	return b.offsets(), err
}

// ServingPositions returns how far the rows that serve of the models are, by what whoever folds them has on record.
func ServingPositions(ctx context.Context, db *querydb.DB, p Projection) (map[string]uint64, error) {
	var s ServingStatus
	err := eachServing(ctx, db, p, func(_ string, b *Record) error {
		s.add(b)
		return nil
	})
	return s.Positions, err
}

// FurthestServing is ServingPositions of those that are furthest, where several projections have folded rows of the
// models: rows that are to serve in their place must have come as far.
func FurthestServing(ctx context.Context, db *querydb.DB, p Projection) (map[string]uint64, error) {
	furthest := map[string]uint64{}
	err := eachServing(ctx, db, p, func(_ string, b *Record) error {
		for partition, offset := range b.offsets() {
			furthest[partition] = max(furthest[partition], offset)
		}
		return nil
	})
	return furthest, err
}

// ServingStatus is where rows that serve stand, by what whoever folds them has on record.
type ServingStatus struct {
	Positions   map[string]uint64
	Generations map[string]int // by the name of the projection and the table
	DeadLetters bool           // there are some
	Cascades    bool           // rows are yet to be followed by copies of them
}

// LookAtServing reads where the rows that serve of the models stand.
func LookAtServing(ctx context.Context, db *querydb.DB, p Projection) (s ServingStatus, err error) {
	s.Generations = map[string]int{}
	err = eachServing(ctx, db, p, func(name string, b *Record) error {
		s.add(b)
		for _, t := range b.tables() {
			s.Generations[name+" "+t.Table] = t.Generation
		}
		// After the positions: copies that are yet to follow are on record with these.
		for kind, are := range map[string]*bool{KindDeadLetter: &s.DeadLetters, KindCascade: &s.Cascades} {
			some, err := db.Notes().List(ctx, b.Kind(kind, name), "", 1)
			if err != nil {
				return err
			}
			*are = *are || len(some) > 0
		}
		return nil
	})
	return s, err
}

// add adds the positions of a projection, of which the lowest count.
func (s *ServingStatus) add(b *Record) {
	own := b.offsets()
	if s.Positions == nil {
		s.Positions = own
		return
	}
	for partition, offset := range s.Positions {
		s.Positions[partition] = min(offset, own[partition])
	}
}

// eachServing visits what is on record of every projection that has folded rows of the models that serve. Not all of
// the slot's records are of such rows: where another projection has begun the next generation of a table, since models
// are grouped otherwise, say, the record of the one before it stays. Of rows that serve from tables which the models
// had before, there is the projection's own.
func eachServing(ctx context.Context, db *querydb.DB, p Projection, visit func(name string, b *Record) error) error {
	for left := readsOfServing; ; left-- {
		names, all, err := recordsInServing(ctx, db, p)
		if err != nil {
			return err
		}
		serving, err := querydb.RecordedAll(ctx, db, p.Models)
		if err != nil {
			return err
		}
		elsewhere, err := p.servesElsewhere(ctx, db, serving, names, all)
		if err != nil {
			return err
		}
		models := p.Models
		if len(models) > 1 && len(all) > 1 {
			if models, serving, err = withRows(ctx, db, models, serving); err != nil {
				return err
			}
		}
		visited := false
		for i := range all {
			if elsewhere && names[i] != p.Name || !elsewhere && !all[i].isOf(models, serving) {
				continue
			}
			visited = true
			if err := visit(names[i], &all[i]); err != nil {
				return err
			}
		}
		if visited || len(all) == 0 || left == 1 { // else others have switched between the two reads, maybe
			return nil
		}
	}
}

// withRows are the models, with their generations, whose rows have been complete; all where none of them have: records
// of rows that nobody reads yet say nothing of those that are read.
func withRows(ctx context.Context, db *querydb.DB, models []*querydb.Model, at []querydb.Generation) (
	some []*querydb.Model, those []querydb.Generation, err error) {
	layouts, err := querydb.Layouts(ctx, db, models, at)
	if err != nil {
		return nil, nil, err
	}
	for i, m := range models {
		if at[i].Begun && layouts[i] != nil && layouts[i].HasRows() {
			some, those = append(some, m), append(those, at[i])
		}
	}
	if some == nil {
		return models, at, nil
	}
	return some, those, nil
}

// readsOfServing is how often the records are read where they are of no rows that serve by now: a switch is one change.
const readsOfServing = 3

// recordsInServing are the records of the slot that concern tables of the projection, and its own, with their names.
func recordsInServing(ctx context.Context, db *querydb.DB, p Projection) (names []string, all []Record, err error) {
	err = eachHeader(ctx, db, serves, func(name string, b *Record) bool {
		return name == p.Name || b.concerns(p.hasTable)
	}, func(name string, b *Record) error {
		names, all = append(names, name), append(all, *b)
		return nil
	})
	return names, all, err
}

// hasTable reports whether the projection folds into the table.
func (p Projection) hasTable(table string) bool {
	return slices.ContainsFunc(p.Models, func(m *querydb.Model) bool { return m.Table == table })
}

// isOf reports whether the record is of rows of the generations, which are aligned with the models.
func (r *Record) isOf(models []*querydb.Model, generations []querydb.Generation) bool {
	return slices.ContainsFunc(r.tables(), func(t TableRecord) bool {
		i := slices.IndexFunc(models, func(m *querydb.Model) bool { return m.Table == t.Table })
		return i >= 0 && generations[i].Number == t.Generation
	})
}

// tablesOf are the tables of the projections' models, each once.
func tablesOf(ctx context.Context, db *querydb.DB, all []Projection) (tables map[string]querydb.Successor, err error) {
	tables = map[string]querydb.Successor{}
	for _, p := range all {
		for _, m := range p.Models {
			if _, known := tables[m.Table]; known {
				continue
			}
			at, err := db.Generations().Recorded(ctx, m)
			if err != nil {
				return nil, err
			}
			tables[m.Table] = querydb.Successor{Model: m, Former: at}
		}
	}
	return tables, nil
}

// eachHeader visits what is on record of projections in a slot.
func eachHeader(ctx context.Context, db *querydb.DB, in slot, of func(name string, b *Record) bool,
	visit func(name string, b *Record) error) error {
	return eachRecord(ctx, db, in, of, func(name string, b *Record) (err error) {
		if b.Partitions, err = readCheckpoints(ctx, db, &b.Header, name); err != nil {
			return err
		}
		return visit(name, b)
	})
}

// eachRecord is eachHeader without the checkpoints of the records.
func eachRecord(ctx context.Context, db *querydb.DB, in slot, of func(name string, b *Record) bool,
	visit func(name string, b *Record) error) error {
	return eachNote(ctx, db, in.header(), func(n querydb.Note) error {
		b, err := recordOf(ctx, db, in, &n)
		if err != nil || b.Table == "" || !of(n.ID, &b) {
			return err
		}
		return visit(n.ID, &b)
	})
}

// concerns reports whether the record is of rows of one of the tables.
func (r *Record) concerns(is func(table string) bool) bool {
	return r.Table != "" && slices.ContainsFunc(r.tables(), func(t TableRecord) bool { return is(t.Table) })
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

// Fingerprints are texts by the names of projections: that of one differs from an earlier one when its rows have
// changed generation since, have become complete, or a rebuild was asked for or aborted. They take a few reads, however
// many projections there are.
func Fingerprints(ctx context.Context, db *querydb.DB) (map[string]string, error) {
	all := map[string]string{}
	for _, in := range []slot{serves, builds, keeps} {
		for _, kind := range []string{in.header(), in.completion()} {
			if err := eachNote(ctx, db, kind, func(n querydb.Note) error {
				// a note that was deleted and written anew may have the revision that it had
				all[n.ID] += fmt.Sprintf("%s %d %s\n", kind, n.Revision, n.Value)
				return nil
			}); err != nil {
				return nil, fmt.Errorf("look whether rows have changed generation: %w", err)
			}
		}
	}
	return all, nil
}
