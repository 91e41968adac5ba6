package checkpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection/internal/cascade"
	"github.com/foldql/foldql/querydb"
)

// ErrOtherRows says that the rows that serve are not those that this program folds: another version of it has folded
// them, or a rebuild was asked for. They are complete, and go on serving while others are built beside them.
var ErrOtherRows = errors.New("the rows that serve are not those that this program folds")

// ErrNotBuilt says that there is no generation that is being built, in the form that this program's models have.
var ErrNotBuilt = errors.New("no generation is being built")

// servable reports whether rows of all tables can be served, though not folded by this program: they have been
// complete, how they are laid out is on record, and they are still there.
func (p *location) servable(ctx context.Context, db *querydb.DB) (bool, error) {
	if p.Disowned || p.forgotten && !p.Moved {
		return false, nil
	}
	for i := range p.tables {
		t := &p.tables[i]
		if !t.serving.Begun || t.gone || t.lost() || t.owner != querydb.ProvenanceRecorded {
			return false, nil
		}
		l, err := db.Generations().Layout(ctx, t.model, t.serving.Number)
		if err != nil || l == nil || !l.HasRows() {
			return false, err
		}
	}
	return true, nil
}

// Begin begins a generation of the tables of the projections beside the one that serves, in the form that the models
// have. One program folds it from the first event on, or copies the rows that serve: see Origin. What was being built
// in another form is dropped; what is being built in this one goes on. The projections are all those that write to the
// tables; build is the DB's ForBuild. Nothing is begun that could never be switched to: see FitsSwitch.
func Begin(ctx context.Context, db, build *querydb.DB, src eventlog.Source, all []Projection, cfg Config) error {
	if err := FitsSwitch(db, all); err != nil {
		return err
	}
	origins := make([]*Origin, len(all))
	for i, p := range all {
		var err error
		if origins[i], err = originOf(ctx, db, p); err != nil {
			return err
		}
		if err = withoutRequest(ctx, db, p); err != nil {
			return err
		}
	}
	for i, p := range all {
		if err := build.Generations().UseAll(ctx, p.Models); err != nil { // whatever was built before
			return err
		}
		s := NewState(p, src, build, cfg, unwatched{})
		at, err := readLocation(ctx, build, p)
		if err != nil || at.good() {
			if err != nil {
				return err
			}
			continue
		}
		was, err := readCompletion(ctx, build, p.Name)
		if err != nil {
			return err
		}
		if err := s.restarter.restart(ctx, &at, was, false, origins[i]); err != nil {
			return err
		}
	}
	return nil
}

// withoutRequest takes away the request for a rebuild, which is met by the generation that begins.
func withoutRequest(ctx context.Context, db *querydb.DB, p Projection) error {
	b, err := readRecord(ctx, db, p.Name)
	if err != nil || !b.Again || b.former != nil {
		return err
	}
	b.Again = false
	return db.Apply(ctx, querydb.Batch{Notes: []querydb.Note{b.note(serves, p.Name, b.revision)}})
}

// unwatched is a Watch of nobody.
type unwatched struct{}

func (unwatched) Building(bool, map[string]uint64) {}
func (unwatched) Rebuild() querydb.Progress        { return querydb.Progress{ETASeconds: -1} }
func (unwatched) Copied(uint64)                    {}
func (unwatched) Opened(map[string]Checkpoint, int, *cascade.Tasks) {
}

// Rows is what is on record of rows of a projection.
type Rows struct {
	Tables      []TableRecord
	Partitions  map[string]uint64 // offsets up to which they are durable
	DeadLetters int
	Complete    bool // they have been those of the whole log
	// Own says that they have the form that this program's models have, so that it can fold them.
	Own bool
	// Asked says that somebody has asked for a rebuild of them.
	Asked bool
	// CodeChanged: they are Own, and other code has begun them than this program has.
	CodeChanged bool
}

// Survey is what there is of rows of a projection: nil for what there is not.
type Survey struct {
	Serving, Building, Former *Rows
	// Servable says that the rows that serve can be read: they are complete, or have been.
	Servable bool
	// Held, Since and Aborted are as in querydb.Beside.
	Held, Aborted bool
	Since         time.Time
	standing      *standing // of the rows that serve; nil where there are none
}

// Look surveys the rows of a projection.
func Look(ctx context.Context, db *querydb.DB, p Projection) (s Survey, err error) {
	began := time.Now().Round(0) // as State.now
	at, err := readLocation(ctx, db, p)
	if err != nil {
		return s, err
	}
	if s.Servable, err = at.servable(ctx, db); err != nil {
		return s, err
	}
	for i := range at.tables {
		beside := at.tables[i].serving.Beside()
		s.Held = s.Held || beside.Held
		s.Aborted = s.Aborted || beside.Aborted == at.tables[i].model.Version
		if beside.Former >= 0 && beside.Since.After(s.Since) {
			s.Since = beside.Since
		}
	}
	for in, to := range map[slot]**Rows{builds: &s.Building, keeps: &s.Former} {
		if *to, err = rowsIn(ctx, db, in, p, &at); err != nil {
			return s, err
		}
	}
	if at.Table == "" {
		return s, nil
	}
	s.standing = &standing{location: at, projection: p.Name, seen: began, identified: began}
	if s.standing.whole, err = readCompletionIn(ctx, db, serves, p.Name); err != nil {
		return s, err
	}
	s.Serving, err = rowsOf(ctx, db, &at.Record, &s.standing.whole, p, &at)
	return s, err
}

// rowsIn is what is on record of the rows in a slot; nil where that is nothing.
func rowsIn(ctx context.Context, db *querydb.DB, in slot, p Projection, at *location) (*Rows, error) {
	b, err := readRecordIn(ctx, db, in, p.Name)
	if err != nil || b.Table == "" {
		return nil, err
	}
	c, err := readCompletionIn(ctx, db, in, p.Name)
	if err != nil {
		return nil, err
	}
	return rowsOf(ctx, db, &b, &c, p, at)
}

// rowsOf is what the records of rows say.
func rowsOf(ctx context.Context, db *querydb.DB, b *Record, c *completion, p Projection, at *location) (*Rows, error) {
	rows := &Rows{Tables: b.tables(), Complete: c.Done, Own: true, Asked: b.Again, Partitions: b.offsets()}
	recorded := b.tables()
	rows.Own = len(recorded) == len(p.Models)
	for i, m := range p.Models {
		rows.Own = rows.Own && recorded[i].Model == p.recordName(m) && recorded[i].Version == m.Version &&
			recorded[i].Table == m.Table && recorded[i].Generation == at.tables[i].numberIn(b.slot)
	}
	rows.CodeChanged = rows.Own && b.codeDiffers(p) && (b.slot != serves || at.good())
	err := eachNote(ctx, db, b.Kind(KindDeadLetter, p.Name), func(querydb.Note) error { rows.DeadLetters++; return nil })
	return rows, err
}

// numberIn is the number of the table's generation in a slot; -1 where there is none.
func (t *tableLocation) numberIn(in slot) int {
	switch beside := t.serving.Beside(); in {
	case builds:
		return beside.Building
	case keeps:
		return beside.Former
	}
	return t.serving.Number
}

func (b *Record) offsets() map[string]uint64 {
	all := map[string]uint64{}
	for partition, c := range b.Partitions {
		all[partition] = c.Offset
	}
	return all
}

// ServingPositions returns how far the rows that serve of the models are, by what whoever folds them has on record.
func ServingPositions(ctx context.Context, db *querydb.DB, p Projection) (map[string]uint64, error) {
	of := func(table string) bool {
		return slices.ContainsFunc(p.Models, func(m *querydb.Model) bool { return m.Table == table })
	}
	var all map[string]uint64
	err := eachHeader(ctx, db, serves, of, func(name string, b *Record) error {
		own := b.offsets()
		if all == nil {
			all = own
			return nil
		}
		for partition, offset := range all {
			all[partition] = min(offset, own[partition])
		}
		return nil
	})
	return all, err
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

// eachHeader visits what is on record, in a slot, of every projection that has folded rows of one of the tables.
func eachHeader(ctx context.Context, db *querydb.DB, in slot, of func(table string) bool,
	visit func(name string, b *Record) error) error {
	concerns := func(t TableRecord) bool { return of(t.Table) }
	var names []string
	if err := eachNote(ctx, db, in.header(), func(n querydb.Note) error {
		var h Header
		if err := json.Unmarshal(n.Value, &h); err != nil {
			return err
		}
		if slices.ContainsFunc(h.tables(), concerns) {
			names = append(names, n.ID)
		}
		return nil
	}); err != nil {
		return err
	}
	for _, name := range names {
		b, err := readRecordIn(ctx, db, in, name)
		if err != nil {
			return err
		}
		if b.Table == "" || !slices.ContainsFunc(b.tables(), concerns) { // it has changed meanwhile
			continue
		}
		if err := visit(name, &b); err != nil {
			return err
		}
	}
	return nil
}

// IsBuilt reports whether the rows that a projection builds beside those that serve are on record as complete.
func IsBuilt(ctx context.Context, db *querydb.DB, p Projection) (bool, error) {
	n, err := db.Notes().Get(ctx, builds.header(), p.Name)
	if err != nil || n.Value == nil {
		return false, err
	}
	var h Header
	if err := json.Unmarshal(n.Value, &h); err != nil {
		return false, fmt.Errorf("read which rows of %s are built: %w", p.Name, err)
	}
	c, err := readCompletionIn(ctx, db, builds, p.Name)
	return err == nil && c.Done && c.Table == h.Table && c.Generation == h.Generation, err
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
