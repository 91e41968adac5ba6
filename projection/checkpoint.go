package projection

import (
	"context"
	"encoding/json"
	"errors"
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

// checkpoint is the note of how far a projection has come, committed with the rows that it covers.
type checkpoint struct {
	// Version is the layout that the rows have: see querydb.Model.Version.
	Version string `json:"version"`
	// Table and Generation are where the rows are. Where the model's rows are elsewhere now, since its table has another
	// name or another model had it in between, the checkpoint says nothing about them.
	Table      string `json:"table"`
	Generation int    `json:"generation"`
	// Commit counts the commits, so that one whose answer was lost can be told from one that did not happen.
	Commit     uint64            `json:"commit"`
	Partitions map[string]cursor `json:"partitions"`
}

// covers reports whether the checkpoint is about rows of that layout at that place.
func (k checkpoint) covers(m *querydb.Model, generation int) bool {
	return k.Version == m.Version && k.Table == m.Table && k.Generation == generation
}

// with returns the checkpoint of the next commit, in which the partition has come to c.
func (k checkpoint) with(partition string, c cursor) checkpoint {
	k.Partitions = maps.Clone(k.Partitions)
	k.Partitions[partition] = c
	k.Commit++
	return k
}

func (k checkpoint) note(projection string) querydb.Note {
	return querydb.Note{Kind: kindCheckpoint, ID: projection, Value: encode(k)}
}

// encode is the JSON of one of our own notes; they are made of strings, numbers and times within JSON's years.
func encode(note any) []byte {
	b, err := json.Marshal(note)
	if err != nil {
		panic(fmt.Sprintf("projection: encode %T: %v", note, err))
	}
	return b
}

// readCheckpoint reads the note; found is false where there is none.
func readCheckpoint(ctx context.Context, db *querydb.DB, projection string) (k checkpoint, found bool, err error) {
	b, err := db.ReadNote(ctx, kindCheckpoint, projection)
	if errors.Is(err, querydb.ErrNotFound) {
		return checkpoint{}, false, nil
	}
	if err != nil {
		return checkpoint{}, false, fmt.Errorf("read the checkpoint of %s: %w", projection, err)
	}
	if err := json.Unmarshal(b, &k); err != nil {
		return checkpoint{}, false, fmt.Errorf("read the checkpoint of %s: %w", projection, err)
	}
	if k.Partitions == nil {
		k.Partitions = map[string]cursor{}
	}
	return k, true, nil
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
// rows and folds the whole log. What was decided about set-aside events is not forgotten.
func Forget(projection string) querydb.Note {
	return querydb.Note{Kind: kindCheckpoint, ID: projection}
}
