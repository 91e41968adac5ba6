package checkpoint

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/foldql/foldql/projection/internal/enums"
	"github.com/foldql/foldql/querydb"
)

// location is where the rows of a projection are and how far they are, by what is on record.
type location struct {
	Record
	tables []tableLocation // of each model of the projection
}

// tableLocation is where the rows of one model are.
type tableLocation struct {
	model   *querydb.Model
	was     TableRecord // what is on record; the zero value where that is nothing
	serving querydb.Generation
	// of the table of the generation that serves, "" where the store has no such thing, or the table is gone
	tableID string
	gone    bool // the table
	owner   querydb.Provenance
	// unlike says why the rows are not those of the model though the version is: see enums.Fields.Unlike.
	unlike enums.Difference
	// taken says that another projection has folded the model's rows that are there, as one that has another name by now
	// has: see findTaken.
	taken bool
	// elsewhere is where the rows of the model serve that has another table by now; nil where there are none.
	elsewhere *elsewhere
	// others says that the rows that serve in the table are of other models, which had it before, and regrouped that
	// another projection has folded those of this one, whatever is on record in the name of its own.
	others, regrouped bool
}

func readLocation(ctx context.Context, db *querydb.DB, projection Projection) (p location, err error) {
	if p.Record, err = readRecord(ctx, db, projection.Name); err != nil {
		return p, err
	}
	all := []location{p}
	err = locate(ctx, db, all, []Projection{projection})
	return all[0], err
}

// locate finds where the tables are of rows of projections, of which is known what is on record.
func locate(ctx context.Context, db *querydb.DB, all []location, of []Projection) error {
	var models []*querydb.Model
	for _, p := range of {
		models = append(models, p.Models...)
	}
	serving, err := querydb.RecordedAll(ctx, db, models)
	if err != nil {
		return err
	}
	numbers := make([]int, len(models))
	for i := range serving {
		numbers[i] = serving[i].Number
	}
	are, err := db.Tables().Identify(ctx, models, numbers)
	if err != nil {
		return err
	}
	next := 0
	for i := range all {
		at, recorded := &all[i], all[i].Header.tables()
		for j, m := range of[i].Models {
			at.tables = append(at.tables, tableLocation{
				model: m, was: of[i].recordOf(j, recorded), serving: serving[next], tableID: are[next].ID,
				gone: are[next].ID == "" && db.Tables().HasIDs(), owner: are[next].Provenance,
			})
			next++
		}
		if err := compareEnums(ctx, db, at, of[i]); err != nil {
			return err
		}
		if err := at.findElsewhere(ctx, db, of[i]); err != nil {
			return err
		}
		if at.former != nil {
			at.TableID = at.tables[0].tableID // what was in place when it was taken over
			at.tables[0].was.TableID = at.TableID
		}
	}
	return findTaken(ctx, db, all, of)
}

// findTaken finds the tables in whose generation projections would join the others, were it not that rows of their
// models are there already: they would be folded twice.
func findTaken(ctx context.Context, db *querydb.DB, all []location, of []Projection) error {
	for i := range all {
		at := &all[i]
		for k := range at.tables {
			t := &at.tables[k]
			if !at.joins(t) || len(t.model.Writers) > 1 && of[i].isWriterOf(t.model) { // then it has a part of the rows
				continue
			}
			var err error
			if t.taken, err = isTaken(ctx, db, at.slot, of[i], t); err != nil {
				return err
			}
		}
		for k := range at.tables { // models of one table begin its next generation together
			at.tables[k].taken = slices.ContainsFunc(at.tables, func(t tableLocation) bool {
				return t.taken && t.model.Table == at.tables[k].model.Table
			})
		}
	}
	return nil
}

// isTaken reports whether rows of a model of the projection are in the generation of the table that serves. Layouts
// tell of rows that were complete, and records of others.
func isTaken(ctx context.Context, db *querydb.DB, in slot, p Projection, t *tableLocation) (taken bool, err error) {
	layouts, err := querydb.Layouts(ctx, db, []*querydb.Model{t.model}, []querydb.Generation{t.serving})
	if err != nil || layouts[0] != nil && layouts[0].HasRows() {
		return err == nil, err
	}
	err = eachNote(ctx, db, in.header(), func(n querydb.Note) error {
		b, err := recordOf(ctx, db, in, &n)
		taken = taken || n.ID != p.Name && slices.ContainsFunc(b.tables(), func(r TableRecord) bool {
			return r.Table == t.model.Table && r.Generation == t.serving.Number && r.mayBeOf(n.ID, t.model, p)
		})
		return err
	})
	return taken, err
}

// mayBeOf reports whether the record of a projection of that name may be of rows of a model that p folds. Where it
// names no model, it is of one alone, and the name tells: that of the model, or of one of the projections that are
// folded together in p.
func (t *TableRecord) mayBeOf(name string, m *querydb.Model, p Projection) bool {
	if t.Model != "" {
		return t.Model == m.Name
	}
	return name == m.Name || slices.Contains(strings.Split(p.Name, "+"), name)
}

// standing is where the rows of a projection stood at a moment, and how complete they were.
type standing struct {
	location
	projection string // its name
	whole      completion
	// seen is before that was read last, and identified before the tables were looked at.
	seen, identified time.Time
}

// readStanding reads where the rows of a projection stand as it was at one moment: on a shared store others may change
// generation between two reads, and half of each would look like rows that are lost.
func readStanding(
	ctx context.Context, db *querydb.DB, projection Projection, now func() time.Time,
) (p standing, err error) {
	p.projection = projection.Name
	for range readsOfStanding {
		p.seen = now()
		p.identified = p.seen
		if p.location, err = readLocation(ctx, db, projection); err != nil {
			return p, err
		}
		if p.whole, err = readCompletion(ctx, db, projection.Name); err != nil || !db.MultiWriter() {
			return p, err
		}
		now, err := db.Notes().Get(ctx, p.slot.header(), projection.Name)
		if err != nil || now.Revision == p.revision {
			return p, err
		}
	}
	return p, fmt.Errorf("read what is on record of %s: others change it again and again", projection.Name)
}

// readsOfStanding is how often the reads are begun anew: a switch is one change.
const readsOfStanding = 10

// standingHolds is for how long it is enough to look whether what is on record is still what it was: tables are lost
// without a word on record.
const standingHolds = 5 * time.Second

// confirm reports whether rows that were good still stand where they stood, but for their checkpoints, which it reads
// anew. That takes four reads where another reading takes several for each table. Another projection may begin the next
// generation of a table without a change of the header of this one, so the generations are compared too.
func (s *standing) confirm(ctx context.Context, db *querydb.DB, projection Projection, now time.Time) (bool, error) {
	age := now.Sub(s.identified)
	if !db.MultiWriter() || s.projection != projection.Name || !s.good() || s.former != nil || age < 0 ||
		age >= standingHolds {
		return false, nil
	}
	serving, err := querydb.RecordedAll(ctx, db, projection.Models)
	if err != nil {
		return false, err
	}
	for i := range s.tables {
		if !s.tables[i].serving.Same(serving[i]) {
			return false, nil
		}
	}
	whole, err := readCompletionIn(ctx, db, s.slot, projection.Name)
	if err != nil || whole.revision != s.whole.revision {
		return false, err
	}
	if s.Partitions, err = readCheckpoints(ctx, db, &s.Header, projection.Name); err != nil {
		return false, err
	}
	header, err := db.Notes().Get(ctx, s.slot.header(), projection.Name)
	s.seen = now
	return err == nil && header.Revision == s.revision, err
}

// good reports whether what is on record is about the rows that serve; else they are to be rebuilt.
func (l *location) good() bool { return !l.Again && l.isOfModels() }

// isOnlyAsked reports whether the rows are to be rebuilt for no other reason than that somebody has asked for it.
func (l *location) isOnlyAsked() bool { return l.Again && l.former == nil && l.isOfModels() }

// isOfModels reports whether what is on record is about the rows that serve, and these are of the projection's models.
func (l *location) isOfModels() bool {
	return len(l.Header.tables()) == len(l.tables) &&
		!slices.ContainsFunc(l.tables, func(t tableLocation) bool { return !t.good() })
}

func (t *tableLocation) good() bool {
	return t.was.Version == t.model.Version && t.unlike.Why == "" && t.here() && !t.lost()
}

// lost reports whether rows are lost: see tableLocation.lost.
func (l *location) lost() bool {
	return slices.ContainsFunc(l.tables, func(t tableLocation) bool { return t.lost() })
}

// lost reports whether the table that the rows were written to is gone, or another one of its name is in its place:
// then it holds no rows, or rows of an earlier time. Or the rows are not those that are on record: see
// querydb.Provenance.
func (t *tableLocation) lost() bool {
	return t.here() && (t.gone || t.was.isLost(querydb.Identity{ID: t.tableID, Provenance: t.owner}))
}

// isLost is tableLocation.lost of rows whose table is that one by now.
func (t *TableRecord) isLost(now querydb.Identity) bool {
	return t.TableID != now.ID || now.Provenance != querydb.ProvenanceRecorded &&
		now.Provenance != querydb.ProvenanceUnmarked
}

// here reports whether what is on record is about the generation that serves.
func (t *tableLocation) here() bool {
	return t.was.Table == t.model.Table && t.was.Generation == t.serving.Number && !t.serving.BuildsNone()
}

// joins reports whether another projection has begun the next generation of the table already, for this one too.
func (l *location) joins(t *tableLocation) bool {
	return !t.taken && t.model.MultiProjection() && t.serving.Begun && t.serving.Version == t.model.Version &&
		!(l.forgotten && (!l.Moved || l.Disowned)) && !t.here()
}

// isSuccessor reports whether what is on record, where it is not good, was begun by a process whose models have another
// form: nobody has asked for a rebuild, and the rows are not lost.
func (l *location) isSuccessor() bool {
	return l.Table != "" && !l.Again && !l.lost() &&
		slices.ContainsFunc(l.tables, func(t tableLocation) bool { return !t.good() && !l.joins(&t) })
}

// next is the generation that the projection writes to from its first event on, where what is on record is not good.
func (l *location) next(t *tableLocation) int {
	if l.joins(t) {
		return t.serving.Number
	}
	return t.serving.Next()
}

// begun are the generations that the projection has to begin itself, of each table once.
func (l *location) begun() (all []querydb.Successor) {
	for i := range l.tables {
		t := &l.tables[i]
		named := slices.ContainsFunc(all, func(s querydb.Successor) bool { return s.Model.Table == t.model.Table })
		if !named && !l.joins(t) {
			all = append(all, querydb.Successor{Model: t.model, Former: t.serving})
		}
	}
	return all
}

// Why rows are built anew, where it is no difference of one model.
const (
	otherModels  = "it folds other models than its rows were folded with"
	noCheckpoint = "it has no checkpoint, and the table has rows"
	firstFold    = "it has folded nothing yet"
	askedFor     = "a rebuild was asked for"
	sharedTable  = "another projection writes to a table of it, which is rebuilt"
)
