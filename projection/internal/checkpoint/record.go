package checkpoint

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/foldql/foldql/projection/internal/enums"
	"github.com/foldql/foldql/projection/internal/position"
	"github.com/foldql/foldql/querydb"
)

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

// Record is what is on record about the rows of a projection.
type Record struct {
	Header
	slot       slot
	revision   uint64 // of the Header's note
	forgotten  bool   // the Header was taken away: see NewResetNote
	former     *former
	Partitions map[string]Checkpoint
}

// With returns what is on record after the next commit, in which the partition has come to c.
func (r Record) With(partition string, c Checkpoint) Record {
	r.Partitions = maps.Clone(r.Partitions)
	c.revision++
	r.Partitions[partition] = c
	return r
}

// note is the Header as it follows the one of the revision in a slot, and no other.
func (h *Header) note(in slot, projection string, revision uint64) querydb.Note {
	return querydb.Note{Kind: in.header(), ID: projection, Value: encode(h), IfRevision: true, Revision: revision}
}

// again is the Header with the request that the rows are rebuilt. The rest of it stays, since it leads to the
// checkpoints, which the log must hold all the same.
func (h Header) again(projection string, revision uint64) querydb.Note {
	h.Again = true
	return h.note(serves, projection, revision)
}

// unchanged is a look at the Header's note: the batch that it is in takes effect only where it is as it was read.
func (r *Record) unchanged(projection string) querydb.Note {
	return querydb.Note{Kind: r.slot.header(), ID: projection, IfRevision: true, Revision: r.revision, CheckOnly: true}
}

// Notes are those of a commit after which the partition has come to c.
func (r *Record) Notes(projection, partition string, c Checkpoint) []querydb.Note {
	return []querydb.Note{r.unchanged(projection), {
		Kind: r.Kind(KindCheckpoint, projection), ID: partition, Value: encode(c), IfRevision: true, Revision: c.revision,
	}}
}

// readRecord reads what is on record; the zero Record where that is nothing.
func readRecord(ctx context.Context, db *querydb.DB, projection string) (b Record, err error) {
	return readRecordIn(ctx, db, slotOf(db), projection)
}

func readRecordIn(ctx context.Context, db *querydb.DB, in slot, projection string) (b Record, err error) {
	n, err := db.Notes().Get(ctx, in.header(), projection)
	if err == nil {
		b, err = recordOf(ctx, db, in, &n)
	}
	if err == nil && n.Value != nil {
		b.Partitions, err = readCheckpoints(ctx, db, &b.Header, projection)
	}
	if err != nil {
		return Record{}, fmt.Errorf("read the checkpoints of %s: %w", projection, err)
	}
	return b, nil
}

// recordOf is what the note of a Header says, or one of a former version where there is none, without the checkpoints
// that the Header leads to.
func recordOf(ctx context.Context, db *querydb.DB, in slot, n *querydb.Note) (b Record, err error) {
	b.slot, b.revision, b.Partitions = in, n.Revision, map[string]Checkpoint{}
	switch {
	case n.Value != nil:
		err = json.Unmarshal(n.Value, &b.Header)
		b.forgotten = b.Table == ""
	case in == serves:
		err = b.readFormer(ctx, db, n.ID)
	}
	return b, err
}

func readCheckpoints(ctx context.Context, db *querydb.DB, h *Header, projection string) (map[string]Checkpoint, error) {
	all := map[string]Checkpoint{}
	if h.Table == "" {
		return all, nil
	}
	return all, eachNote(ctx, db, h.Kind(KindCheckpoint, projection), func(n querydb.Note) error {
		c := Checkpoint{revision: n.Revision}
		err := json.Unmarshal(n.Value, &c)
		all[n.ID] = c
		return err
	})
}

// same reports whether what is on record has not changed from one reading to another.
func (r *Record) same(o *Record) bool {
	return r.revision == o.revision && maps.EqualFunc(r.Partitions, o.Partitions, func(x, y Checkpoint) bool {
		return x.revision == y.revision
	})
}

// DeadLetterKind is the kind of the notes of a projection's dead letters, by what is on record.
func DeadLetterKind(ctx context.Context, db *querydb.DB, projection string) (kind string, err error) {
	b, err := readRecord(ctx, db, projection)
	return b.letterKind(projection), err
}

// letterKind is the kind of the notes of the dead letters of the record's rows.
func (r *Record) letterKind(projection string) string {
	if r.former != nil {
		return formerLetter + projection
	}
	return r.Kind(KindDeadLetter, projection)
}

// Reach is the offset of the last event that the checkpoint says something about.
func (c *Checkpoint) Reach() uint64 {
	if c.Anchor == nil {
		return c.Offset
	}
	return max(c.Offset, c.Anchor.Offset)
}

func (r *Record) offsets() map[string]uint64 {
	all := map[string]uint64{}
	for partition, c := range r.Partitions {
		all[partition] = c.Offset
	}
	return all
}

// isOf reports whether the record is of rows of the generations, which are aligned with the models.
func (r *Record) isOf(models []*querydb.Model, generations []querydb.Generation) bool {
	return slices.ContainsFunc(r.tables(), func(t TableRecord) bool {
		i := slices.IndexFunc(models, func(m *querydb.Model) bool { return m.Table == t.Table })
		return i >= 0 && generations[i].Number == t.Generation
	})
}

// concerns reports whether the record is of rows of one of the tables.
func (r *Record) concerns(is func(table string) bool) bool {
	return r.Table != "" && slices.ContainsFunc(r.tables(), func(t TableRecord) bool { return is(t.Table) })
}

// A row has expired, for an event, when its end is not after the watermark: the greatest time of any event of the
// partition up to that one, whatever its type and whatever became of it. So what an event finds follows from the log
// alone, and a row that has expired for one event has expired for all that follow, late ones among them: nobody can
// see whether it has been removed since. The watermark is committed with the rows, and rows are removed only below
// it.

// Later is the later one of two times.
func Later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// ExpiryWatermark is that of the checkpoint. Former versions kept none: there it is the time of the last event that
// they folded.
func (c *Checkpoint) ExpiryWatermark() time.Time {
	if c.Watermark.IsZero() && c.Anchor != nil && c.Offset > 0 {
		return c.Anchor.Time
	}
	return c.Watermark
}

// expiryWatermark is that of all partitions, the lowest of theirs: no event that is to come finds a row that ended
// before. It is zero where nothing is known of one partition.
func (r *Record) expiryWatermark() (lowest time.Time) {
	for _, c := range r.Partitions {
		at := c.ExpiryWatermark()
		if at.IsZero() {
			return at
		}
		if lowest.IsZero() || at.Before(lowest) {
			lowest = at
		}
	}
	return lowest
}
