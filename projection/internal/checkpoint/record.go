package checkpoint

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"github.com/foldql/foldql/querydb"
)

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

// slot is what the rows that a Header and a completion are about are for. A slot is a part of the kinds of these two
// notes alone: those that name the generation of the rows stay as they are when the rows change to another slot.
type slot string

const (
	serves slot = ""        // the rows are those that serve
	builds slot = " build"  // they are built beside those that serve
	keeps  slot = " before" // they served before, and can again
)

func (s slot) header() string { return "projection" + string(s) }

func (s slot) completion() string { return "completion" + string(s) }

// slotOf is the slot of the rows that are folded into a DB.
func slotOf(db *querydb.DB) slot {
	if db.Generations().Build() {
		return builds
	}
	return serves
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
