package checkpoint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/record"
)

// Origin is where rows are copied from that are built beside those that serve: from these, where they differ in their
// index keys alone. No event is read then but those that follow. The process that copies does not fold into the rows that
// serve, which are of another form, and the store has no other process meanwhile.
type Origin struct {
	TableRecord
	// Indexes are those that have the keys of each index of the model: see querydb.Layout.Reindexed.
	Indexes []int `json:"indexes,omitempty"`
	// Checkpoints are those of the rows: with others, a former program has folded on between two starts.
	Checkpoints map[string]Checkpoint `json:"checkpoints"`
	// After is the key of the last row that was copied; nil before the first.
	After *rowKey `json:"after,omitempty"`
	Rows  uint64  `json:"rows"` // that were copied so far
}

// rowKey is a key as JSON keeps any bytes.
type rowKey struct{ PK, SK []byte }

func (k *rowKey) key() *keys.Key {
	if k == nil {
		return nil
	}
	return &keys.Key{PK: string(k.PK), SK: string(k.SK)}
}

// originOf finds where the rows of the projection can be copied from; nil where they are to be folded from the log.
// That somebody has asked for.
func originOf(ctx context.Context, db *querydb.DB, p Projection) (*Origin, error) {
	if p.Reindex == nil || len(p.Models) != 1 || !querydb.CanScan(db) {
		return nil, nil
	}
	b, err := readRecordIn(ctx, db, serves, p.Name)
	m := p.Models[0]
	if err != nil || b.former != nil || b.Again || b.Disowned || b.Table != m.Table || b.Version == m.Version {
		return nil, err
	}
	c, err := readCompletionIn(ctx, db, serves, p.Name)
	if err != nil || !c.Done || c.Table != b.Table || c.Generation != b.Generation {
		return nil, err
	}
	stored, err := db.Generations().Layout(ctx, m, b.Generation)
	if err != nil || stored == nil {
		return nil, err
	}
	former, ok := stored.Reindexed(m)
	if !ok {
		return nil, nil
	}
	return &Origin{TableRecord: b.TableRecord, Indexes: former, Checkpoints: b.Partitions}, nil
}

// CopiesRows reports whether rows of the projection that are begun now beside those that serve are copied.
func CopiesRows(ctx context.Context, db *querydb.DB, p Projection) (bool, error) {
	o, err := originOf(ctx, db, p)
	return o != nil, err
}

// isOf reports whether what is on record is still that of the rows that are copied.
func (o *Origin) isOf(b *Record) bool {
	return b.TableRecord == o.TableRecord && bytes.Equal(encode(b.Partitions), encode(o.Checkpoints))
}

// Copying reports whether rows are to be copied before events are folded: see CopyRows.
func (s *State) Copying() bool { return s.done.Origin != nil }

// CopyRows copies another page of rows, and, after the last, what is on record of them: how far they have come, and
// their dead letters. Where the rows that serve have changed since the first, it begins again; where some cannot be
// copied, it leaves the rows to the fold of the whole log.
func (s *State) CopyRows(ctx context.Context) error {
	if err := s.Open(ctx); err != nil || !s.Copying() {
		return err
	}
	from, err := readRecordIn(ctx, s.db, serves, s.p.Name)
	if err != nil {
		return err
	}
	if !s.done.Origin.isOf(&from) {
		next, err := originOf(ctx, s.db, s.p)
		if err != nil {
			return err
		}
		return s.beginAgain(ctx, next, "the rows that serve have changed meanwhile")
	}
	last, err := s.copyPage(ctx, &from)
	var impossible *uncopiedError
	if errors.As(err, &impossible) {
		return s.beginAgain(ctx, nil, err.Error())
	}
	if err != nil || !last {
		return err
	}
	return s.copied(ctx, &from)
}

// uncopiedError says why a row cannot be copied.
type uncopiedError struct{ error }

// Unwrap returns the reason.
func (e *uncopiedError) Unwrap() error { return e.error }

// beginAgain begins another generation in place of the one that is being copied.
func (s *State) beginAgain(ctx context.Context, origin *Origin, why string) error {
	s.log.WarnContext(ctx, "projection: the copy of the rows that serve is given up", "models", s.p.names(), "why", why)
	s.known = false
	p, err := readLocation(ctx, s.db, s.p)
	if err != nil {
		return err
	}
	whole, err := readCompletion(ctx, s.db, s.p.Name)
	if err != nil {
		return err
	}
	return s.restarter.restart(ctx, &p, whole, false, origin)
}

// copyPage copies rows in one commit, and reports whether they were the last.
func (s *State) copyPage(ctx context.Context, from *Record) (last bool, err error) {
	m, next := s.p.Models[0], *s.done.Origin
	rows, err := querydb.Scan(ctx, s.db, m, from.Generation, next.After.key(), s.cfg.CopyRows)
	if err != nil || len(rows) == 0 {
		return true, err
	}
	b := querydb.Batch{Writes: make([]querydb.Write, len(rows))}
	var build record.Builder
	for i, stored := range rows {
		row, err := s.p.Reindex(&build, next.Indexes, stored)
		if err == nil {
			err = s.db.Validate(m, &row)
		}
		if err != nil {
			return false, &uncopiedError{err}
		}
		b.Writes[i] = querydb.Write{Model: m, Row: row}
	}
	at := rows[len(rows)-1].Key
	next.After, next.Rows = &rowKey{[]byte(at.PK), []byte(at.SK)}, next.Rows+uint64(len(rows))
	header := s.done.Header
	header.Origin = &next
	b.Notes = []querydb.Note{header.note(s.done.slot, s.p.Name, s.done.revision)}
	if err := s.apply(ctx, b); err != nil {
		s.known = false
		return false, err
	}
	s.done.Header, s.done.revision = header, s.done.revision+1
	s.watch.Copied(next.Rows)
	return len(rows) < s.cfg.CopyRows, nil
}

// copied records of the copies what is on record of the rows that they are of.
func (s *State) copied(ctx context.Context, from *Record) error {
	if err := s.copyLetters(ctx, from); err != nil {
		return err
	}
	done := s.serving.completion
	done.Done, done.Claims = true, done.Claims.open(from.Partitions)
	header := s.done.Header
	header.Origin = nil
	notes := []querydb.Note{header.note(s.done.slot, s.p.Name, s.done.revision), done.note(s.p.Name)}
	for partition, c := range from.Partitions {
		notes = append(notes, querydb.Note{
			Kind: header.Kind(KindCheckpoint, s.p.Name), ID: partition, Value: encode(c), IfRevision: true,
		})
	}
	s.known = false
	if err := s.db.Apply(ctx, querydb.Batch{Notes: notes}); err != nil {
		return fmt.Errorf("record that the rows of %s are copied: %w", s.p.names(), err)
	}
	s.log.InfoContext(ctx, "projection: the rows that serve are copied, with the index keys of this program", "models",
		s.p.names(), "rows", s.done.Origin.Rows)
	return s.Open(ctx)
}

// copyLetters copies the dead letters, in place of those that an earlier attempt has copied.
func (s *State) copyLetters(ctx context.Context, from *Record) error {
	var letters []querydb.Note
	to := s.done.Kind(KindDeadLetter, s.p.Name)
	if err := dropKind(ctx, s.db, to); err != nil {
		return fmt.Errorf("drop former copies of the dead letters of %s: %w", s.p.names(), err)
	}
	err := eachNote(ctx, s.db, from.Kind(KindDeadLetter, s.p.Name), func(n querydb.Note) error {
		letters = append(letters, querydb.Note{Kind: to, ID: n.ID, Value: n.Value})
		return nil
	})
	if err != nil {
		return fmt.Errorf("read the dead letters of %s: %w", s.p.names(), err)
	}
	for some := range slices.Chunk(letters, s.cfg.CopyRows) {
		if err := s.db.Apply(ctx, querydb.Batch{Notes: some}); err != nil {
			return fmt.Errorf("copy the dead letters of %s: %w", s.p.names(), err)
		}
	}
	return nil
}
