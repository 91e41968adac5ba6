package projection

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/foldql/foldql/querydb"
)

// What a projection keeps beside its rows, as notes:
//
//	kind                                      ID                   holds
//	"projection"                              name                 where its rows are: header
//	"checkpoint:" TABLE ".g" N ":" name       partition            how far it has come there: checkpoint
//	"deadletter:" TABLE ".g" N ":" name       partition@offset     an event that it could not fold: AsideEvent
//	"decision:" name                          partition@offset     what was decided about such an event: replay
//	"completion"                              name                 whether its rows are complete, and what the log must
//	                                                               hold although they do not show it yet: completion
//
// TABLE and N are the table and its generation: what is on record about one generation says nothing about another, and who
// is late with a note of a former one changes nothing. A decision holds for every fold of the log.
const (
	kindHeader     = "projection"
	kindCheckpoint = "checkpoint:"
	kindDeadLetter = "deadletter:"
	kindDecision   = "decision:"
)

// cursor is how far a projection has come in one partition.
type cursor struct {
	Offset uint64 `json:"offset"`
	// Replayed counts the events, set aside before, that took effect after the one at Offset and before the next.
	Replayed int `json:"step,omitempty"`
}

func (c cursor) before(o cursor) bool {
	return c.Offset < o.Offset || c.Offset == o.Offset && c.Replayed < o.Replayed
}

// position is where the event stands that has brought the projection to the cursor, in the words of a row: see slotOf.
func (c cursor) position(slot string) querydb.Position {
	return querydb.Position{Partition: slot, Offset: c.Offset, Step: uint32(c.Replayed)}
}

// slotOf is the name under which rows remember positions of a partition. Those of another incarnation of it are no
// positions of this one.
func slotOf(partition, incarnation string) string {
	if incarnation == "" {
		return partition
	}
	return partition + "~" + incarnation
}

// checkpoint is how far a projection has come in one partition, committed with the rows that it covers. One at offset 0
// covers none: it claims the partition for the log that holds its anchor, before the first row is written.
type checkpoint struct {
	cursor
	Incarnation string `json:"incarnation,omitempty"` // of the partition
	// Anchor is of the last event that could be read among those that are covered, or that rows ahead of them may show.
	Anchor *anchor `json:"anchor,omitempty"`
	Tried  uint64  `json:"tried,omitempty"` // events so far: see bound.go
	// Watermark is that of the events so far: see watermark.go.
	Watermark time.Time `json:"watermark,omitzero"`
	revision  uint64    // of the note
}

// header is the note of where the rows of a projection are.
type header struct {
	// Version is the layout that the rows have: see querydb.Model.Version.
	Version string `json:"version"`
	// Table and Generation are where the rows are. Where the model's rows are elsewhere now, since its table has another
	// name or another model had it in between, what is on record says nothing about them.
	Table      string `json:"table"`
	Generation int    `json:"generation"`
	// TableID tells the table from one of the same name that was made, or restored, in its place: see querydb.DB.TableID.
	TableID string `json:"tableId,omitempty"`
	// Again says that the rows are to be begun anew, though they are as the model wants them: see RequestRebuild.
	Again bool `json:"again,omitempty"`
}

// kind is that of the notes about a generation of the rows.
func (h *header) kind(of, projection string) string {
	return of + h.Table + ".g" + strconv.Itoa(h.Generation) + ":" + projection
}

// build is what is on record about the rows of a projection.
type build struct {
	header
	revision   uint64 // of the header's note
	forgotten  bool   // the header was taken away: see Forget
	former     *former
	Partitions map[string]checkpoint
}

// with returns what is on record after the next commit, in which the partition has come to c.
func (b build) with(partition string, c checkpoint) build {
	b.Partitions = maps.Clone(b.Partitions)
	c.revision++
	b.Partitions[partition] = c
	return b
}

// note is the header as it follows the one of the revision, and no other.
func (h *header) note(projection string, revision uint64) querydb.Note {
	return querydb.Note{Kind: kindHeader, ID: projection, Value: encode(h), Read: true, Revision: revision}
}

// again is the header with the wish that the rows are begun anew. The rest of it stays, since it leads to the
// checkpoints, which the log must hold all the same.
func (h header) again(projection string, revision uint64) querydb.Note {
	h.Again = true
	return h.note(projection, revision)
}

// unchanged is a look at the header's note: the batch that it is in takes effect only where it is as it was read.
func (b *build) unchanged(projection string) querydb.Note {
	return querydb.Note{Kind: kindHeader, ID: projection, Read: true, Revision: b.revision, Check: true}
}

// notes are those of a commit after which the partition has come to c.
func (b *build) notes(projection, partition string, c checkpoint) []querydb.Note {
	return []querydb.Note{b.unchanged(projection), {
		Kind: b.kind(kindCheckpoint, projection), ID: partition, Value: encode(c), Read: true, Revision: c.revision,
	}}
}

// encode is the JSON of one of our own notes; they are made of strings, numbers and times within JSON's years.
func encode(note any) []byte {
	b, err := json.Marshal(note)
	if err != nil {
		panic(fmt.Sprintf("projection: encode %T: %v", note, err))
	}
	return b
}

// readBuild reads what is on record; the zero build where that is nothing.
func readBuild(ctx context.Context, db *querydb.DB, projection string) (b build, err error) {
	n, err := db.Note(ctx, kindHeader, projection)
	if err == nil && n.Value != nil {
		err = json.Unmarshal(n.Value, &b.header)
	}
	b.revision, b.forgotten = n.Revision, n.Value != nil && b.Table == ""
	switch {
	case err != nil:
	case n.Value == nil:
		err = b.readFormer(ctx, db, projection)
	default:
		b.Partitions, err = readCheckpoints(ctx, db, &b.header, projection)
	}
	if err != nil {
		return build{}, fmt.Errorf("read the checkpoints of %s: %w", projection, err)
	}
	return b, nil
}

func readCheckpoints(ctx context.Context, db *querydb.DB, h *header, projection string) (map[string]checkpoint, error) {
	all := map[string]checkpoint{}
	if h.Table == "" {
		return all, nil
	}
	return all, eachNote(ctx, db, h.kind(kindCheckpoint, projection), func(n querydb.Note) error {
		c := checkpoint{revision: n.Revision}
		err := json.Unmarshal(n.Value, &c)
		all[n.ID] = c
		return err
	})
}

// same reports whether what is on record has not changed from one reading to another.
func (b *build) same(o *build) bool {
	return b.revision == o.revision && maps.EqualFunc(b.Partitions, o.Partitions, func(x, y checkpoint) bool {
		return x.revision == y.revision
	})
}

// eachNote calls visit with every note of a kind, in order.
func eachNote(ctx context.Context, db *querydb.DB, kind string, visit func(querydb.Note) error) error {
	const page = 1000
	after := ""
	for {
		notes, err := db.Notes(ctx, kind, after, page)
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

// ResetNote is the note that takes away what is on record about a projection's rows: with it applied, the projection's next
// start drops its rows and folds the whole log, and so does one that runs on a Shared store. What was decided about
// set-aside events is not forgotten. The checkpoints are: a log that has lost what they cover is not found then.
func ResetNote(projection string) querydb.Note {
	// Not a deletion: the note's revisions go on, so that nobody who has read the former takes a later one for it.
	return querydb.Note{Kind: kindHeader, ID: projection, Value: encode(header{})}
}
