// Package checkpoint keeps what is on record of a projection beside its rows: where they are, how far they have come,
// whether they can be served, and which events the log must go on holding. It has them rebuilt where that is wrong.
//
// Notes (notes.go) say of the rows of a projection (projection.go) how far they are (record.go) and whether they are
// complete (completion.go). location.go finds these rows, formertable.go those in tables that the models had before.
// survey.go looks at all generations, serving.go at how far the rows that serve are, and backlog.go at the dead
// letters and copies that wait. start.go says what the next start does with the rows, and why. A State (state.go) is
// what a fold goes by; restart.go begins its rows anew. build.go begins rows beside those that serve, copyrows.go
// copies rows into them, and rearrange.go switches to them, or back. decisions.go has what was decided about dead
// letters. mismatch.go compares what is on record with the log, and acceptlog.go takes another log. program.go has
// what a program adds to the versions of models: its code, and the values of enums. upgrade.go takes over what earlier
// versions have on record.
package checkpoint

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/foldql/foldql/querydb"
)

// What a projection keeps beside its rows, as notes:
//
//	kind                                      ID                   holds
//	"projection"                              name                 where its rows are: Header
//	"checkpoint:" TABLE ".g" N ":" name       partition            how far it has come there: Checkpoint
//	"deadletter:" TABLE ".g" N ":" name       partition@offset     a dead letter: deadletter.Letter
//	"link:" TABLE ".g" N ":" name             see cascade.Link     which row holds a copy of which: cascade.Link
//	"linkversion:" TABLE ".g" N ":" name      as the links       which of them a commit has found: cascade.LinkVersion
//	"cascade:" TABLE ".g" N ":" name          see cascade.Task     a row that its copies are to follow: cascade.Task
//	"taskversion:" TABLE ".g" N ":" name      see cascade.TaskVersionID  which of them a commit has found
//	"decision:" name                          partition@offset     what was decided about it: deadletter.Decision
//	"decided"                                 name                 is written anew where others are to read decisions
//	"completion"                              name                 whether its rows are complete, and what the log must
//	                                                               hold although they do not show it yet: completion
//	"rates"                                   name                 how fast it was folded last: see package rates
//
// Of rows that are built beside those that serve there are such notes too, a Header and a completion, under kinds of
// their own, and of the rows that served before them: see slot.
//
// TABLE and N are the table and its generation: what is on record about one generation says nothing about another,
// and who is late with a note of a former one changes nothing. A decision holds for every fold of the log by a
// projection of that name.
const (
	KindCheckpoint  = "checkpoint:"
	KindDeadLetter  = "deadletter:"
	KindLink        = "link:"
	KindLinkVersion = "linkversion:"
	KindCascade     = "cascade:"
	KindTaskVersion = "taskversion:"
	kindTold        = "decided"
)

// kindsOfGeneration are those that go with the rows of a generation.
var kindsOfGeneration = [...]string{KindCheckpoint, KindDeadLetter, KindCascade, KindLink, KindLinkVersion,
	KindTaskVersion}

// slot is what the rows that a Header and a completion are about are for. A slot is a part of the kinds of these two
// notes alone: those that name the generation of the rows stay as they are when the rows change to another slot.
type slot string

const (
	serves slot = ""        // the rows are those that serve
	builds slot = " build"  // they are built beside those that serve
	keeps  slot = " before" // they served before, and can again
)

func (s slot) header() string     { return "projection" + string(s) }
func (s slot) completion() string { return "completion" + string(s) }

// slotOf is the slot of the rows that are folded into a DB.
func slotOf(db *querydb.DB) slot {
	if db.Generations().Build() {
		return builds
	}
	return serves
}

// encode is the JSON of one of our own notes; they are made of strings, numbers and times within JSON's years.
func encode(note any) []byte {
	b, err := json.Marshal(note)
	if err != nil {
		panic(fmt.Sprintf("projection: encode %T: %v", note, err))
	}
	return b
}

// eachNote calls visit with every note of a kind, in order.
func eachNote(ctx context.Context, db *querydb.DB, kind string, visit func(querydb.Note) error) error {
	const page = 1000
	after := ""
	for {
		notes, err := db.Notes().List(ctx, kind, after, page)
		if err != nil {
			return err
		}
		for _, n := range notes {
			if err := visit(n); err != nil {
				return fmt.Errorf("note %s %s: %w", kind, n.ID, err)
			}
			after = n.ID
		}
		if len(notes) < page {
			return nil
		}
	}
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

// readHeader reads the header in a slot, which is the zero Header where there is none.
func readHeader(ctx context.Context, db *querydb.DB, in slot, projection string) (h Header, err error) {
	n, err := db.Notes().Get(ctx, in.header(), projection)
	if err != nil || n.Value == nil {
		return h, err
	}
	if err := json.Unmarshal(n.Value, &h); err != nil {
		return h, DamageError{err}
	}
	return h, nil
}

// eachOther visits the headers of the projection's rows in other slots than that of the State.
func eachOther(ctx context.Context, s *State, visit func(*Header) error) error {
	for _, in := range []slot{serves, builds, keeps} {
		if in == slotOf(s.db) {
			continue
		}
		h, err := readHeader(ctx, s.db, in, s.p.Name)
		if err != nil {
			return err
		}
		if h.Table == "" {
			continue
		}
		if err := visit(&h); err != nil {
			return err
		}
	}
	return nil
}

// leftover are the notes of generations that nobody reads any more. The commit that has others follow these records
// them, so that the next start drops what an interruption, or an error of the store, has left.
type leftover struct {
	kinds    []string
	recorded []querydb.Note // of them, in that commit
}

// leave adds the notes about a generation of the rows of a projection.
func (l *leftover) leave(h *Header, projection string) {
	if h.Table == "" {
		return
	}
	for _, kind := range kindsOfGeneration {
		l.kinds = append(l.kinds, h.Kind(kind, projection))
	}
}

// notes are what a commit records of them.
func (l *leftover) notes() []querydb.Note {
	if len(l.kinds) > 0 {
		l.recorded = []querydb.Note{querydb.LeftoverNote(l.kinds)}
	}
	return l.recorded
}

// drop begins to delete them, and then what is on record of them.
func (l *leftover) drop(db *querydb.DB) {
	for _, n := range l.recorded {
		db.Notes().DropLeftover(n)
	}
}
