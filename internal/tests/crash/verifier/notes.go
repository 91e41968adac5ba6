package verifier

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/foldql/foldql/querydb"
)

// notes compares what a projection has noted: how far it has come, and which events are dead letters; the reason
// is not compared: it may hold a stack.
func (c *comparison) notes(ctx context.Context, projection string) error {
	want, err := positions(ctx, c.want, projection)
	if err != nil {
		return err
	}
	got, err := positions(ctx, c.got, projection)
	if err != nil {
		return err
	}
	if c.parted > 0 {
		var sum uint64
		for _, at := range got {
			sum += at.Offset
		}
		if sum != c.parted {
			c.differ("%s has folded %d events, want %d", projection, sum, c.parted)
		}
	} else if !maps.Equal(want, got) {
		c.differ("the checkpoint of %s is %v, want %v", projection, got, want)
	}
	wantLetters, err := deadLetters(ctx, c.want, projection)
	if err != nil {
		return err
	}
	gotLetters, err := deadLetters(ctx, c.got, projection)
	if err != nil {
		return err
	}
	c.verdict.DeadLetters += len(wantLetters)
	for _, id := range slices.Sorted(maps.Keys(wantLetters)) {
		if g, is := gotLetters[id]; !is {
			c.differ("%s has no dead letter %s: %s", projection, id, wantLetters[id])
		} else if g != wantLetters[id] {
			c.differ("%s has the dead letter %s as %s, want %s", projection, id, g, wantLetters[id])
		}
	}
	for _, id := range slices.Sorted(maps.Keys(gotLetters)) {
		if _, is := wantLetters[id]; !is {
			c.differ("%s has the dead letter %s, which can be folded: %s", projection, id, gotLetters[id])
		}
	}
	return nil
}

// position is where a projection stands in a partition, and how many retried events took effect there.
type position struct {
	Offset uint64
	Step   int
}

// about is the kind of notes of the given sort that are about the rows of a projection, "" where it has none.
func about(ctx context.Context, db *querydb.DB, sort, projection string) (kind string, err error) {
	text, err := db.Notes().Value(ctx, "projection", projection)
	if errors.Is(err, querydb.ErrNotFound) {
		return "", nil
	}
	var header struct {
		Table      string
		Generation int
	}
	if err == nil {
		err = json.Unmarshal(text, &header)
	}
	return fmt.Sprintf("%s:%s.g%d:%s", sort, header.Table, header.Generation, projection), err
}

func positions(ctx context.Context, db *querydb.DB, projection string) (map[string]position, error) {
	kind, err := about(ctx, db, "checkpoint", projection)
	if kind == "" || err != nil {
		return nil, err
	}
	notes, err := readNotes(ctx, db, kind)
	if err != nil {
		return nil, err
	}
	all := map[string]position{}
	for _, n := range notes {
		var at position
		if err := json.Unmarshal(n.Value, &at); err != nil {
			return nil, err
		}
		all[n.ID] = at
	}
	return all, nil
}

// deadLetters are those of a projection, by position, without their reasons and numbers.
func deadLetters(ctx context.Context, db *querydb.DB, projection string) (map[string]string, error) {
	all := map[string]string{}
	kind, err := about(ctx, db, "deadletter", projection)
	if kind == "" || err != nil {
		return all, err
	}
	notes, err := readNotes(ctx, db, kind)
	if err != nil {
		return nil, err
	}
	for _, n := range notes {
		var event map[string]any
		if err := json.Unmarshal(n.Value, &event); err != nil {
			return nil, err
		}
		if event["reason"] == "" {
			return nil, fmt.Errorf("event %s is a dead letter for no reason", n.ID)
		}
		delete(event, "reason")
		event["behind"] = event["behind"] != nil // it is the first that it has waited for, which may have been skipped
		if event["type"] == "" {
			delete(event, "time") // what is no event has that at which a stream has stored it
		}
		delete(event, "number") // an event that was decided about in time is not among those that were tried
		all[n.ID] = fmt.Sprint(event)
	}
	return all, nil
}

func readNotes(ctx context.Context, db *querydb.DB, kind string) (all []querydb.Note, err error) {
	const page = 500
	for after := ""; ; after = all[len(all)-1].ID {
		notes, err := db.Notes().List(ctx, kind, after, page)
		if err != nil {
			return nil, err
		}
		for _, n := range notes {
			all = append(all, querydb.Note{Kind: n.Kind, ID: n.ID, Value: n.Value})
		}
		if len(notes) < page {
			return all, nil
		}
	}
}
