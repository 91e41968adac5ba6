package checkpoint

import (
	"cmp"
	"context"
	"errors"
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
	layouts, err := querydb.Layouts(ctx, db, []*querydb.Model{t.model}, []int{t.serving.Number})
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
func (p *standing) confirm(ctx context.Context, db *querydb.DB, projection Projection, now time.Time) (bool, error) {
	age := now.Sub(p.identified)
	if !db.MultiWriter() || p.projection != projection.Name || !p.good() || p.former != nil || age < 0 ||
		age >= standingHolds {
		return false, nil
	}
	serving, err := querydb.RecordedAll(ctx, db, projection.Models)
	if err != nil {
		return false, err
	}
	for i := range p.tables {
		if !p.tables[i].serving.Same(serving[i]) {
			return false, nil
		}
	}
	whole, err := readCompletionIn(ctx, db, p.slot, projection.Name)
	if err != nil || whole.revision != p.whole.revision {
		return false, err
	}
	if p.Partitions, err = readCheckpoints(ctx, db, &p.Header, projection.Name); err != nil {
		return false, err
	}
	header, err := db.Notes().Get(ctx, p.slot.header(), projection.Name)
	p.seen = now
	return err == nil && header.Revision == p.revision, err
}

// good reports whether what is on record is about the rows that serve; else they are to be rebuilt.
func (p *location) good() bool { return !p.Again && p.isOfModels() }

// isOnlyAsked reports whether the rows are to be rebuilt for no other reason than that somebody has asked for it.
func (p *location) isOnlyAsked() bool { return p.Again && p.former == nil && p.isOfModels() }

// isOfModels reports whether what is on record is about the rows that serve, and these are of the projection's models.
func (p *location) isOfModels() bool {
	return len(p.Header.tables()) == len(p.tables) &&
		!slices.ContainsFunc(p.tables, func(t tableLocation) bool { return !t.good() })
}

func (t *tableLocation) good() bool {
	return t.was.Version == t.model.Version && t.unlike.Why == "" && t.here() && !t.lost()
}

// lost reports whether rows are lost: see tableLocation.lost.
func (p *location) lost() bool {
	return slices.ContainsFunc(p.tables, func(t tableLocation) bool { return t.lost() })
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
	return t.was.Table == t.model.Table && t.was.Generation == t.serving.Number
}

// joins reports whether another projection has begun the next generation of the table already, for this one too.
func (p *location) joins(t *tableLocation) bool {
	return !t.taken && t.model.MultiProjection() && t.serving.Begun && t.serving.Version == t.model.Version &&
		!(p.forgotten && (!p.Moved || p.Disowned)) && !t.here()
}

// isSuccessor reports whether what is on record, where it is not good, was begun by a process whose models have another
// form: nobody has asked for a rebuild, and the rows are not lost.
func (p *location) isSuccessor() bool {
	return p.Table != "" && !p.Again && !p.lost() &&
		slices.ContainsFunc(p.tables, func(t tableLocation) bool { return !t.good() && !p.joins(&t) })
}

// next is the generation that the projection writes to from its first event on, where what is on record is not good.
func (p *location) next(t *tableLocation) int {
	if p.joins(t) {
		return t.serving.Number
	}
	return t.serving.Next()
}

// begun are the generations that the projection has to begin itself, of each table once.
func (p *location) begun() (all []querydb.Successor) {
	for i := range p.tables {
		t := &p.tables[i]
		named := slices.ContainsFunc(all, func(s querydb.Successor) bool { return s.Model.Table == t.model.Table })
		if !named && !p.joins(t) {
			all = append(all, querydb.Successor{Model: t.model, Former: t.serving})
		}
	}
	return all
}

// TargetGenerations returns, without changing anything, the generation of each model's table that projections will
// write to when they open, aligned with them. Those of one unit, by their numbers, are built together. Where atStart is
// set, rows that are built on request alone count for nothing: those of a program without the values that the enums of
// the rows have gained.
func TargetGenerations(ctx context.Context, db *querydb.DB, all []Projection, units []int, atStart bool) (
	[]map[*querydb.Model]int, error) {
	surveys, err := lookSettled(ctx, db, all)
	if err != nil {
		return nil, err
	}
	built := map[int]bool{} // units whose rows are built beside those that serve
	for i := range surveys {
		s := &surveys[i]
		waits := atStart && s.Serving != nil && s.Serving.Gained
		built[units[i]] = built[units[i]] || s.Servable && !s.standing.good() && !waits
	}
	targets := make([]map[*querydb.Model]int, len(all))
	for i := range surveys {
		targets[i] = surveys[i].targets(built[units[i]], atStart)
	}
	return targets, nil
}

// lookSettled is Look, again and again while it finds rows that are not to be folded on, until two in a row find the
// same: what is on record may be of before, and the tables of after the commit in which another process has begun them.
func lookSettled(ctx context.Context, db *querydb.DB, all []Projection) ([]Survey, error) {
	surveys, err := Look(ctx, db, all)
	for range readsOfStanding {
		if err != nil || !db.MultiWriter() ||
			!slices.ContainsFunc(surveys, func(s Survey) bool { return !s.standing.good() }) {
			return surveys, err
		}
		former := surveys
		surveys, err = Look(ctx, db, all)
		if err == nil && slices.EqualFunc(surveys, former, isUnchanged) {
			return surveys, nil
		}
	}
	return nil, errors.New("find out which rows there are: others change them again and again; start again")
}

// isUnchanged reports whether two looks have found the rows that serve in one place.
func isUnchanged(a, b Survey) bool {
	p, o := &a.standing.location, &b.standing.location
	return p.revision == o.revision && slices.EqualFunc(p.tables, o.tables, func(t, u tableLocation) bool {
		return t.serving.Same(u.serving) && t.tableID == u.tableID && t.gone == u.gone && t.owner == u.owner
	})
}

// targets are the generations that the projection writes to when it opens: those that serve where it folds them, and
// builds none beside them. Else they are those of a build that goes on, or the next, as where a rebuild is asked for.
func (s *Survey) targets(built, atStart bool) map[*querydb.Model]int {
	at, all := &s.standing.location, map[*querydb.Model]int{}
	good := at.good()
	for i := range at.tables {
		t, next := &at.tables[i], at.next(&at.tables[i])
		if built && !t.serving.Begun {
			next = t.serving.NextBuilt()
		}
		switch {
		case good && !built, !built && atStart && s.Serving != nil && s.Serving.Gained:
			all[t.model] = t.serving.Number
		case at.Again:
			all[t.model] = next
		case s.Building != nil && s.Building.Own && !s.Building.Lost:
			all[t.model] = s.Building.Tables[i].Generation
		case s.Former != nil && s.Former.Own:
			all[t.model] = s.Former.Tables[i].Generation
		default:
			all[t.model] = next
		}
	}
	return all
}

// CheckUnknownRows returns a *querydb.UnknownRowsError, without changing anything, where the projection is to begin
// a table that holds rows of a fold that is not on record.
func CheckUnknownRows(ctx context.Context, db *querydb.DB, p Projection) error {
	at, err := readLocation(ctx, db, p)
	if err != nil {
		return err
	}
	return at.checkTarget(ctx, db)
}

func (p *location) checkTarget(ctx context.Context, db *querydb.DB) error {
	if p.good() {
		return nil
	}
	for _, s := range p.begun() {
		if err := db.Tables().CheckUnknownRows(ctx, s.Model, s.Former.Next()); err != nil {
			return err
		}
	}
	return nil
}

// RebuildReason returns, without changing anything, why a projection will rebuild from the whole log when it opens; ""
// where it will not, or has never folded anything.
func RebuildReason(ctx context.Context, db *querydb.DB, p Projection) (why string, err error) {
	at, err := readLocation(ctx, db, p)
	if err != nil || at.good() || at.fresh() {
		return "", err
	}
	return at.why(), nil
}

// fresh reports whether nothing is on record of the rows or of how far they are.
func (p *location) fresh() bool {
	return p.Table == "" && !p.forgotten &&
		!slices.ContainsFunc(p.tables, func(t tableLocation) bool { return t.serving.Begun })
}

// why says what is not as it was when the Header was written, where it is not good.
func (p *location) why() string {
	switch {
	case p.forgotten || p.Again:
		return "a rebuild was asked for"
	case p.Table == "":
		return noCheckpoint
	}
	for i := range p.tables {
		if t := &p.tables[i]; !t.good() {
			return t.why()
		}
	}
	return otherModels
}

func (t *tableLocation) why() string {
	was := &t.was
	if why := cmp.Or(was.differs(t.model), t.unlike.Why); why != "" {
		return why
	}
	switch {
	case t.gone:
		return fmt.Sprintf("table %s, which has its rows, is gone", was.Table)
	case t.here() && was.TableID != t.tableID:
		return fmt.Sprintf("table %s is another than the one that its rows were written to: it was recreated, or restored",
			was.Table)
	case t.here() && t.owner == querydb.ProvenanceMarkLost:
		return fmt.Sprintf("table %s has lost its rows", was.Table)
	case t.here() && t.owner == querydb.ProvenanceUnknown:
		return fmt.Sprintf("table %s holds the rows of another fold", was.Table)
	case t.here() && t.owner == querydb.ProvenanceNotesReplaced:
		return "the table of notes was restored or recreated, so that the rows may be newer than what is on record of them"
	}
	return fmt.Sprintf("table %s has generation %d, and the checkpoint is of generation %d", t.model.Table,
		t.serving.Number, was.Generation)
}

// Why rows are built anew, where it is no difference of one model.
const (
	otherModels  = "it folds other models than its rows were folded with"
	noCheckpoint = "it has no checkpoint, and the table has rows"
)

// recordOf is what is on record of the projection's i-th model; the zero value where that is nothing.
func (p Projection) recordOf(i int, recorded []TableRecord) (t TableRecord) {
	if i < len(recorded) && recorded[i].Model == p.recordName(p.Models[i]) {
		t = recorded[i]
	}
	return t
}

// differs says why what is on record is not about rows in the form that the model has, "" where it is.
func (t *TableRecord) differs(m *querydb.Model) string {
	switch {
	case t.Table == "":
		return fmt.Sprintf("%s was not folded together with the others before", m.Name)
	case t.Table != m.Table:
		return fmt.Sprintf("%s is in table %s, and its rows are in table %s", m.Name, m.Table, t.Table)
	case t.Version != m.Version:
		return fmt.Sprintf("%s has version %s, and its rows have version %s", m.Name, m.Version, t.Version)
	}
	return ""
}

// reindexed reports whether rows of the layout can be copied, with other index keys, to be those of the projection:
// see querydb.Layout.Reindexed.
func (p Projection) reindexed(stored *querydb.Layout) (former []int, ok bool) {
	if p.Reindex == nil || len(p.Models) != 1 {
		return nil, false
	}
	return stored.Reindexed(p.Models[0])
}

// Differs says why the rows that a program with the projections has folded are not those that one with p folds, as far
// as their schemas tell; "" where they are, and where none of them has folded into p's tables. The rows can be copied,
// with other index keys, on a store that allows it.
func (p Projection) Differs(all []Projection) (why string, copied bool) {
	at := slices.IndexFunc(all, func(was Projection) bool { return was.Name == p.Name })
	if at < 0 {
		if slices.ContainsFunc(all, p.meets) {
			why = noCheckpoint
		}
		return why, false
	}
	recorded := all[at].records()
	for i, m := range p.Models {
		was := p.recordOf(i, recorded)
		why := was.differs(m)
		if why == "" {
			why = enums.Of(all[at].Models[i]).Unlike(m).Why
		}
		if why != "" {
			if was.Table == m.Table {
				_, copied = p.reindexed(all[at].Models[i].Layout())
			}
			return why, copied
		}
	}
	if len(recorded) != len(p.Models) {
		why = otherModels
	}
	return why, false
}

// records are what is on record of the rows that the projection folds, as far as its schema tells.
func (p Projection) records() (all []TableRecord) {
	for _, m := range p.Models {
		all = append(all, TableRecord{Model: p.recordName(m), Version: m.Version, Table: m.Table})
	}
	return all
}

// meets reports whether both fold into one table.
func (p Projection) meets(o Projection) bool {
	return slices.ContainsFunc(p.Models, func(m *querydb.Model) bool {
		return slices.ContainsFunc(o.Models, func(n *querydb.Model) bool { return n.Table == m.Table })
	})
}
