package verifier

import (
	"context"
	"errors"
	"fmt"

	"github.com/foldql/foldql/eventlog/filesource"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
)

// ignored are the notes, by projection and ID, of dead letters that are not compared: others of the same subject were
// retried or skipped, and this one was tried again then, and failed. A fold of the whole log tries it at its own
// position, where it may succeed, as it should.
type ignored map[string]map[string]bool

// decided gives the fold in memory what was decided, while the store was folded, about events that had become dead
// letters: to retry them at a certain moment, or to skip them.
func (p Project) decided(ctx context.Context, events string, got, want *querydb.DB) (ignored, error) {
	all := ignored{}
	var subjects map[string]string
	for _, one := range projection.Group(p.Projections) {
		notes, err := readNotes(ctx, got, "decision:"+one.Name)
		if err != nil {
			return nil, err
		}
		if len(notes) == 0 {
			continue
		}
		if subjects == nil {
			if subjects, err = subjectsOf(ctx, events); err != nil {
				return nil, err
			}
		}
		var letters []querydb.Note
		kind, err := about(ctx, got, "deadletter", one.Name)
		if err == nil && kind != "" {
			letters, err = readNotes(ctx, got, kind)
		}
		if err != nil {
			return nil, err
		}
		left := waiting(notes, letters, subjects)
		for id := range left {
			notes = append(notes, querydb.Note{Kind: "decision:" + one.Name, ID: id, Value: []byte(`{"skip":true}`)})
		}
		all[one.Name] = left
		if err := want.Apply(ctx, querydb.Batch{Notes: notes}); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// waiting are the dead letters, by ID of their notes, that have the subject of one that was retried or skipped.
func waiting(decisions, letters []querydb.Note, subjects map[string]string) map[string]bool {
	touched := map[string]bool{}
	for _, n := range decisions {
		if s := subjects[n.ID]; s != "" {
			touched[s] = true
		}
	}
	left := map[string]bool{}
	for _, n := range letters {
		if touched[subjects[n.ID]] {
			left[n.ID] = true
		}
	}
	return left
}

// subjectsOf are source and subject of every event that has a subject, by the ID of its notes.
func subjectsOf(ctx context.Context, file string) (all map[string]string, err error) {
	source, err := filesource.Open(filesource.Options{Path: file})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	events, err := appendEvents(ctx, nil, source, filesource.Partition)
	all = map[string]string{}
	for _, e := range events {
		if e.Subject != "" {
			all[fmt.Sprintf("%s@%020d", e.Partition, e.Offset)] = e.Source + " " + e.Subject
		}
	}
	return all, err
}
