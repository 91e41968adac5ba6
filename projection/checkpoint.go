package projection

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/foldql/foldql/querydb"
)

// Kinds of the notes that a projection keeps beside its rows; the ID of the first is the projection's name.
const (
	kindCheckpoint = "checkpoint"
	kindAside      = "aside:"  // + name
	kindReplay     = "replay:" // + name
)

// cursor is how far a projection has come in one partition.
type cursor struct {
	Offset uint64 `json:"offset"`
	// Replayed counts the events, set aside before, that took effect after the one at Offset and before the next.
	Replayed int `json:"replayed,omitempty"`
}

func (c cursor) before(o cursor) bool {
	return c.Offset < o.Offset || c.Offset == o.Offset && c.Replayed < o.Replayed
}

// position is where the event stands that has brought the projection to the cursor.
func (c cursor) position(partition string) querydb.Position {
	return querydb.Position{Partition: partition, Offset: c.Offset, Step: uint32(c.Replayed)}
}

// checkpoint is the note of how far a projection has come, committed with the rows that it covers.
type checkpoint struct {
	// Version is the layout that the rows have: see querydb.Model.Version.
	Version string `json:"version"`
	// Table and Generation are where the rows are. Where the model's rows are elsewhere now, since its table has another
	// name or another model had it in between, the checkpoint says nothing about them.
	Table      string            `json:"table"`
	Generation int               `json:"generation"`
	Partitions map[string]cursor `json:"partitions"`
	forgotten  bool              // it was taken away: see Forget
}

// covers reports whether the checkpoint is about rows of that layout at that place.
func (k checkpoint) covers(m *querydb.Model, generation int) bool {
	return k.Version == m.Version && k.Table == m.Table && k.Generation == generation
}

// with returns the checkpoint of the next commit, in which the partition has come to c.
func (k checkpoint) with(partition string, c cursor) checkpoint {
	k.Partitions = maps.Clone(k.Partitions)
	k.Partitions[partition] = c
	return k
}

// note is the checkpoint as it follows the one of the revision, and no other.
func (k checkpoint) note(projection string, revision uint64) querydb.Note {
	return querydb.Note{Kind: kindCheckpoint, ID: projection, Value: encode(k), Read: true, Revision: revision}
}

// encode is the JSON of one of our own notes; they are made of strings, numbers and times within JSON's years.
func encode(note any) []byte {
	b, err := json.Marshal(note)
	if err != nil {
		panic(fmt.Sprintf("projection: encode %T: %v", note, err))
	}
	return b
}

// readCheckpoint reads the note and its revision; the zero checkpoint where there is none.
func readCheckpoint(ctx context.Context, db *querydb.DB, projection string) (k checkpoint, revision uint64, err error) {
	n, err := db.Note(ctx, kindCheckpoint, projection)
	if err == nil && n.Value != nil {
		err = json.Unmarshal(n.Value, &k)
	}
	if err != nil {
		return checkpoint{}, 0, fmt.Errorf("read the checkpoint of %s: %w", projection, err)
	}
	k.forgotten = n.Value != nil && k.Table == ""
	if k.Partitions == nil {
		k.Partitions = map[string]cursor{}
	}
	return k, n.Revision, nil
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

// Forget is the note that takes a projection's checkpoint away: with it applied, the projection's next start drops its
// rows and folds the whole log, and so does one that runs on a Shared store. What was decided about set-aside events is
// not forgotten.
func Forget(projection string) querydb.Note {
	// Not a deletion: the note's revisions go on, so that nobody who has read the former takes a later one for it.
	return querydb.Note{Kind: kindCheckpoint, ID: projection, Value: encode(checkpoint{})}
}
