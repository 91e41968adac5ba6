package checkpoint

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/foldql/foldql/querydb"
)

// kindCompletion is the kind of the notes that say whether a projection has folded a generation so far that its rows
// can be served; the ID is the projection's name.
const kindCompletion = "completion"

// completion is such a note. It is begun with the generation, in the same commit, and stays when it is done: rows
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

	revision uint64 // of the note
}

func (c completion) note(projection string) querydb.Note {
	return querydb.Note{Kind: kindCompletion, ID: projection, Value: encode(c), IfRevision: true, Revision: c.revision}
}

// readCompletion reads what is on record, about whichever generation; the zero completion where that is nothing.
func readCompletion(ctx context.Context, db *querydb.DB, projection string) (c completion, err error) {
	n, err := db.Notes().Get(ctx, kindCompletion, projection)
	if err == nil && n.Value != nil {
		err = json.Unmarshal(n.Value, &c)
	}
	if err != nil {
		return c, fmt.Errorf("read whether the rows of %s are complete: %w", projection, err)
	}
	c.revision = n.Revision
	return c, nil
}
