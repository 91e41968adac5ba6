package checkpoint

import (
	"context"
	"slices"
	"time"

	"github.com/foldql/foldql/querydb"
)

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

// Follower reads what others have on record of rows, for a process that does not fold them. It is used by one goroutine
// at a time.
type Follower struct {
	State   *State
	letters letterTally
}

const (
	// prepareEvery is how often, at most, it is looked whether rows that others fold are complete.
	prepareEvery = time.Second
	// reviewEvery is how often, at least, it is looked for dead letters: they are decided about without a move of a
	// checkpoint.
	reviewEvery = 5 * time.Second
)

// Look reads how far others have come, and has queries read these rows as Prepare does. It puts nothing on record, and
// fails as Prepare does.
func (f *Follower) Look(ctx context.Context) error {
	b, err := readRecord(ctx, f.State.db, f.State.p.Name)
	if err != nil {
		return err
	}
	return f.look(ctx, b)
}

// LookAgain is Look for the rows that it has found before, and reports whether they still serve. Where others do,
// queries go on reading the former ones, as far as these have come.
func (f *Follower) LookAgain(ctx context.Context) (same bool, err error) {
	b, err := readRecord(ctx, f.State.db, f.State.p.Name)
	if err != nil {
		return true, err
	}
	if was := &f.State.done; was.Table != "" && !slices.Equal(b.tables(), was.tables()) {
		return false, nil
	}
	return true, f.look(ctx, b)
}

func (f *Follower) look(ctx context.Context, b Record) error {
	s := f.State
	now := s.now()
	anew := !s.known || b.revision != s.done.revision
	if anew || !s.IsComplete() && now.Sub(s.identified) >= prepareEvery {
		s.known, s.found = false, nil
		if err := s.Prepare(ctx); err != nil {
			return err
		}
		s.identified = now
	}
	if anew || !b.same(&s.done) || now.Sub(s.seen) >= reviewEvery {
		err := f.letters.look(ctx, s.db, b.Kind(KindDeadLetter, s.p.Name))
		if err != nil {
			return err
		}
		if s.Tasks, err = readTasks(ctx, s.db, b.Kind(KindCascade, s.p.Name)); err != nil {
			return err
		}
		s.seen = now
	}
	s.done, s.known = b, true
	s.watch.Opened(b.Partitions, f.letters.known, s.Tasks)
	counted, err := f.letters.countOn(ctx, s.db, s.now)
	if counted {
		s.watch.Opened(b.Partitions, f.letters.known, s.Tasks)
	}
	return err
}
