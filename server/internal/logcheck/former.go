package logcheck

import (
	"context"
	"fmt"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/server/internal/sources"
	"github.com/foldql/foldql/server/internal/stores"
)

// formerFirstNote is the note of earlier versions that names the first event which the rows were folded from. It is
// all that distinguishes one log from another until the checkpoints, which named no event then, are taken over.
const formerFirstNote = "first event"

// Former compares the first event of the source with that note, as long as any projection is still to be
// taken over; then the note is deleted.
func Former(
	ctx context.Context, db *querydb.DB, src *sources.Source, all []projection.Projection,
) (*projection.MismatchError, error) {
	wrong, over, err := former(ctx, db, src, all)
	if err == nil && over {
		err = DropFormerFirst(ctx, db)
	}
	return wrong, err
}

// former is Former that deletes nothing, and reports whether the note is there and over: all projections have been
// taken over.
func former(
	ctx context.Context, db *querydb.DB, src *sources.Source, all []projection.Projection,
) (wrong *projection.MismatchError, over bool, err error) {
	note, err := db.Notes().Get(ctx, stores.ServerNotes, formerFirstNote)
	if err != nil {
		return nil, false, fmt.Errorf("read the %s: %w", formerFirstNote, err)
	}
	if note.Value == nil {
		return nil, false, nil
	}
	for _, one := range all {
		needed, err := projection.NeedsUpgrade(ctx, db, one)
		if err != nil {
			return nil, false, err
		}
		if needed {
			wrong, err = beginsWith(ctx, src, one.Name, string(note.Value))
			return wrong, false, err
		}
	}
	return nil, true, nil
}

// DropFormerFirst deletes the note by which Former compares the log. Where there is none, it changes nothing.
func DropFormerFirst(ctx context.Context, db *querydb.DB) error {
	err := db.Apply(ctx, querydb.Batch{Notes: []querydb.Note{{Kind: stores.ServerNotes, ID: formerFirstNote}}})
	if err != nil {
		return fmt.Errorf("delete the %s: %w", formerFirstNote, err)
	}
	return nil
}

// beginsWith returns how the source contradicts the note, nil where it does not, or where its first event cannot be
// read or is forgotten.
func beginsWith(ctx context.Context, s *sources.Source, projectionName, noted string) (*projection.MismatchError,
	error) {
	if s.Growing {
		if err := s.Wait(ctx, eventlog.Offsets{}); err != nil && !sources.Ended(err) {
			return nil, err
		}
	}
	partitions, err := s.Partitions(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the partitions of the events: %w", err)
	}
	wrong := &projection.MismatchError{
		Projection: projectionName, Record: "note of the first event", Offset: 1, Event: "event " + noted,
	}
	unknown := false
	for _, p := range partitions {
		events, err := s.Read(ctx, p, 0, 1)
		if eventlog.ForgottenIn(err) != nil {
			unknown = true
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read the first event: %w", err)
		}
		if wrong.Partition == "" {
			wrong.Partition = p
		}
		if len(events) == 0 {
			continue
		}
		e := &events[0]
		if e.Malformed != nil || e.Offset > 1 {
			unknown = true
			continue
		}
		name := fmt.Sprintf("%q of %q", e.ID, e.Source)
		if name == noted {
			return nil, nil
		}
		if wrong.Found == "" {
			wrong.Partition, wrong.Offset, wrong.End, wrong.Found = p, e.Offset, e.Offset, "event "+name
		}
	}
	if unknown && wrong.Found == "" {
		return nil, nil
	}
	return wrong, nil
}
