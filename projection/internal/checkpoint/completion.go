package checkpoint

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/foldql/foldql/querydb"
)

// completion is a note that says whether a projection has folded a generation so far that its rows can be served. It is
// begun with the generation, in the same commit, and stays when it is done: rows
// that have been complete once are served from then on, however far they are behind.
type completion struct {
	Table      string `json:"table"`
	Generation int    `json:"generation"`
	// Goal is where the log ended when the generation was begun; nil where the source does not know its end: then the
	// rows are complete when the source has nothing more.
	Goal map[string]uint64 `json:"goal,omitempty"`
	Done bool              `json:"done"`
	// Claims are of the rows that the generation replaces.
	Claims Replaced `json:"claims,omitempty"`

	slot     slot
	revision uint64 // of the note
}

func (c completion) note(projection string) querydb.Note {
	return querydb.Note{Kind: c.slot.completion(), ID: projection, Value: encode(c), IfRevision: true,
		Revision: c.revision}
}

// readCompletion reads what is on record, about whichever generation; the zero completion where that is nothing.
func readCompletion(ctx context.Context, db *querydb.DB, projection string) (c completion, err error) {
	return readCompletionIn(ctx, db, slotOf(db), projection)
}

func readCompletionIn(ctx context.Context, db *querydb.DB, in slot, projection string) (c completion, err error) {
	n, err := db.Notes().Get(ctx, in.completion(), projection)
	if err == nil && n.Value != nil {
		err = json.Unmarshal(n.Value, &c)
	}
	if err != nil {
		return c, fmt.Errorf("read whether the rows of %s are complete: %w", projection, err)
	}
	c.slot, c.revision = in, n.Revision
	return c, nil
}

// Replaced are the furthest checkpoints, by partition, of rows that are being replaced. The log must go on holding
// the events that they cover, though the new rows do not show them yet: where an older log were taken meanwhile,
// events that were acknowledged would be lost, and others would take their offsets.
type Replaced map[string]Checkpoint

// reach is the offset of the last event that the checkpoint says something about.
func (c *Checkpoint) reach() uint64 {
	if c.Anchor == nil {
		return c.Offset
	}
	return max(c.Offset, c.Anchor.Offset)
}

// open are those that checkpoints have not come up to. The others are held by the checkpoints themselves.
func (c Replaced) open(checkpoints map[string]Checkpoint) Replaced {
	left := maps.Clone(c)
	maps.DeleteFunc(left, func(partition string, claim Checkpoint) bool {
		return checkpoints[partition].Offset >= claim.reach()
	})
	return left
}

// with are those when rows that have come to the checkpoints are replaced too.
func (c Replaced) with(checkpoints map[string]Checkpoint) Replaced {
	all := Replaced{}
	maps.Copy(all, c)
	for partition, at := range checkpoints {
		if claim := all[partition]; at.reach() > 0 && at.reach() >= claim.reach() {
			all[partition] = at
		}
	}
	return all
}
