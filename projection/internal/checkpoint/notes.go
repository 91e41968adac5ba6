// Package checkpoint keeps what is on record of a projection beside its rows: where they are, how far they have come,
// whether they can be served, and which events the log must go on holding. It has them rebuilt where that is wrong.
package checkpoint

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/foldql/foldql/projection/internal/enums"
	"github.com/foldql/foldql/projection/internal/position"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/record"
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
// their own, and of the rows that served before them: see record.go.
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

// Checkpoint is how far a projection has come in one partition, committed with the rows that it covers. One at offset 0
// covers none: it claims the partition for the log that holds its anchor, before the first row is written.
type Checkpoint struct {
	position.Cursor
	Incarnation string `json:"incarnation,omitempty"` // of the partition
	// Anchor is of the last event that could be read among those that are covered, or that rows ahead of them may show.
	Anchor *position.Anchor `json:"anchor,omitempty"`
	Tried  uint64           `json:"tried,omitempty"` // events so far: see deadletter.Limit
	// Watermark is that of the events so far: see ExpiryWatermark.
	Watermark time.Time `json:"watermark,omitzero"`
	revision  uint64    // of the note
}

// Header is the note of where the rows of a projection are.
type Header struct {
	TableRecord
	// Others are of the models that the projection folds beside the first.
	Others []TableRecord `json:"others,omitempty"`
	// Again says that the rows are to be rebuilt, though they are as the models want them: see RequestRebuild.
	Again bool `json:"again,omitempty"`
	// Disowned says that the rows were folded from another log than the one to be folded: nobody is to see them.
	Disowned bool `json:"disowned,omitempty"`
	// Moved says, of a Header without a table, that rows of other projections serve in their place: see Rearrange.
	Moved bool `json:"moved,omitempty"`
	// Code is a hash of the code of the projectors that the rows were begun with, "" where that is not known.
	Code string `json:"code,omitempty"`
	// Enums are what the enums of the rows may be, by TableRecord.Model: see recordEnums.
	Enums map[string]enums.Fields `json:"enums,omitempty"`
	// Origin is where the rows are copied from before the first event is folded; nil where they are not, or have been.
	Origin *Origin `json:"origin,omitempty"`
}

// TableRecord is where the rows of one model are.
type TableRecord struct {
	// Model is the name of the model, "" where the projection folds only one.
	Model string `json:"model,omitempty"`
	// Version is the layout that the rows have: see querydb.Model.Version.
	Version string `json:"version"`
	// Table and Generation are where the rows are. Where the model has another table by now, they serve from there until
	// others are built: see elsewhere. Where another model had the table in between, this says nothing of the rows in it.
	Table      string `json:"table"`
	Generation int    `json:"generation"`
	// TableID tells the table from one of the same name that was made, or restored, in its place: see
	// querydb.Tables.ID.
	TableID string `json:"tableId,omitempty"`
}

// tables are those of all models.
func (h *Header) tables() []TableRecord { return append([]TableRecord{h.TableRecord}, h.Others...) }

// version is that of the projection which folds the rows: of all its models together.
func (h *Header) version() string {
	var all []string
	for _, t := range h.tables() {
		all = append(all, t.Version)
	}
	return strings.Join(all, "+")
}

// generations are those of the tables that the rows are in.
func (h *Header) generations() map[string]int {
	all := map[string]int{}
	for _, t := range h.tables() {
		all[t.Table] = t.Generation
	}
	return all
}

// Kind is that of the notes about a generation of the rows. Each rebuild begins another generation of every table, so
// the first names it.
func (h *Header) Kind(of, projection string) string {
	return of + h.Table + ".g" + strconv.Itoa(h.Generation) + ":" + projection
}

// Projection names what is on record of.
type Projection struct {
	Name   string
	Models []*querydb.Model // whose rows it folds, at least one
	// Reindex gives a stored row the index keys of the model: see querydb.Reindex. It is nil where the projection folds
	// several models.
	Reindex func(b *record.Builder, former []int, stored querydb.Row) (querydb.Row, error)
	// Code is a hash of the code that folds, "" where the program knows none.
	Code string
	// Program are the models that each projection of the program folds, by its name; nil where others are not known.
	Program map[string][]*querydb.Model
}

// others says whose the rows are that serve in the model's table, where they are on record in the name of another
// projection: together that they are of the model, which the other folds too, or has folded together with p; others
// that they are of models which the other, a projection of the program, folds in its place. Where the program has no
// such projection any more, it is neither.
func (p Projection) others(name string, m *querydb.Model) (together, others bool) {
	folds, present := p.Program[name]
	own := strings.Split(p.Name, "+")
	together = slices.Contains(folds, m) ||
		slices.ContainsFunc(strings.Split(name, "+"), func(n string) bool { return slices.Contains(own, n) })
	return together, present && !together && m.Entity == nil
}

// recordName is by which a TableRecord names the model.
func (p Projection) recordName(m *querydb.Model) string {
	if len(p.Models) == 1 {
		return ""
	}
	return m.Name
}

// names are those of the models, for people.
func (p Projection) names() string {
	names := make([]string, len(p.Models))
	for i, m := range p.Models {
		names[i] = m.Name
	}
	return strings.Join(names, ", ")
}

// writer is the name under which the rows are written: its own where it is one of several projections that write them,
// "" where it writes them whole.
func (p Projection) writer() string {
	if p.isWriterOf(p.Models[0]) {
		return p.Name
	}
	return ""
}

func (p Projection) isWriterOf(m *querydb.Model) bool {
	return slices.ContainsFunc(m.Writers, func(w querydb.Writer) bool { return w.Name == p.Name })
}

// writers are those whose rows of the model it folds, as querydb.Rebuilds names them: a group folds what all of them
// write.
func (p Projection) writers(m *querydb.Model) []string {
	switch {
	case p.isWriterOf(m):
		return []string{p.Name}
	case len(m.Writers) == 0:
		return []string{""}
	}
	var all []string
	for _, w := range m.Writers {
		all = append(all, w.Name)
	}
	return all
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
