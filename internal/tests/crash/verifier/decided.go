package verifier

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
)

// decision is that an event was retried after the one at Moment, in the order of Seq there, or skipped.
type decision struct {
	note   querydb.Note
	Skip   bool
	Moment uint64
	Seq    int
	Beside []int // generations of rows that there were beside those in which it was decided
}

func readDecisions(ctx context.Context, db *querydb.DB, projection string) ([]decision, error) {
	notes, err := readNotes(ctx, db, "decision:"+projection)
	if err != nil {
		return nil, err
	}
	all := make([]decision, len(notes))
	for i, n := range notes {
		all[i].note = n
		if err := json.Unmarshal(n.Value, &all[i]); err != nil {
			return nil, fmt.Errorf("decision %s of %s: %w", n.ID, projection, err)
		}
	}
	return all, nil
}

// decided gives the fold in memory what was decided, while the store was folded, about events that had become dead
// letters: to try them at a certain moment, or to skip them.
func (p Project) decided(ctx context.Context, got, want *querydb.DB) error {
	for _, one := range projection.Group(p.Projections) {
		all, err := readDecisions(ctx, got, one.Name)
		if err != nil {
			return err
		}
		serving := got.Generations().Serving(one.Models()[0])
		for i := range all {
			if all[i].note.Value, err = inFirst(serving, all[i]); err != nil {
				return fmt.Errorf("decision %s of %s: %w", all[i].note.ID, one.Name, err)
			}
		}
		if err := putOnRecord(ctx, want, all); err != nil {
			return err
		}
	}
	return nil
}

// inFirst is the record of a decision for the rows of a fold in memory, which are of the first generation there is:
// what it says of a generation of the store it says of that one, and of others nothing.
func inFirst(generation int, d decision) ([]byte, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(d.note.Value, &all); err != nil {
		return nil, err
	}
	delete(all, "beside")
	if slices.Contains(d.Beside, generation) {
		all["beside"] = []byte("[0]")
	}
	return json.Marshal(all)
}

// putOnRecord puts decisions on record.
func putOnRecord(ctx context.Context, db *querydb.DB, all []decision) error {
	if len(all) == 0 {
		return nil
	}
	var b querydb.Batch
	for _, d := range all {
		b.Notes = append(b.Notes, d.note)
	}
	return db.Apply(ctx, b)
}
