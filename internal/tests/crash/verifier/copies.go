package verifier

import (
	"context"
	"fmt"

	"github.com/foldql/foldql/querydb"
)

// copies compares which rows are on record as holding copies of which, and says of cascades that have not ended.
func (c *comparison) copies(ctx context.Context, projection string) error {
	want, err := notesAbout(ctx, c.want, "link", projection)
	if err != nil {
		return err
	}
	got, err := notesAbout(ctx, c.got, "link", projection)
	if err != nil {
		return err
	}
	for id := range want {
		if !got[id] {
			c.differ("%s has no link %q", projection, id)
		}
	}
	for id := range got {
		if !want[id] {
			c.differ("%s has a link that the events do not have: %q", projection, id)
		}
	}
	left, err := notesAbout(ctx, c.got, "cascade", projection)
	if err != nil {
		return err
	}
	for id := range left {
		c.differ("%s has a cascade that has not ended: %s", projection, id)
	}
	return nil
}

// notesAbout are the IDs of the notes of a sort.
func notesAbout(ctx context.Context, db *querydb.DB, sort, projection string) (map[string]bool, error) {
	kind, err := about(ctx, db, sort, projection)
	if kind == "" || err != nil {
		return nil, err
	}
	notes, err := readNotes(ctx, db, kind)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", kind, err)
	}
	all := map[string]bool{}
	for _, n := range notes {
		all[n.ID] = true
	}
	return all, nil
}
