package checkpoint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection/internal/deadletter"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/record"
)

// Origin is where rows are copied from that are built beside those that serve: from these, where they differ in their
// index keys alone. No event is read then but those that follow. The process that copies does not fold into the rows
// that serve, which are of another form, and the store has no other process meanwhile.
type Origin struct {
	TableRecord
	// Indexes are those that have the keys of each index of the model: see querydb.Layout.Reindexed.
	Indexes []int `json:"indexes,omitempty"`
	// Checkpoints are those of the rows: with others, a former program has folded on between two starts.
	Checkpoints map[string]Checkpoint `json:"checkpoints"`
	// After is the key of the last row that was copied; nil before the first.
	After *rowKey `json:"after,omitempty"`
	Rows  uint64  `json:"rows"` // that were copied so far
	// Code is that of the Header of the rows.
	Code string `json:"code,omitempty"`
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
	if !querydb.CanScan(db) {
		return nil, nil
	}
	b, err := readRecordIn(ctx, db, serves, p.Name)
	m := p.Models[0]
	if err != nil || b.former != nil || b.Again || b.Disowned || b.Table != m.Table || b.Version == m.Version ||
		b.Enums[p.recordName(m)].Unlike(m).Why != "" {
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
	former, ok := p.reindexed(stored)
	if !ok {
		return nil, nil
	}
	return &Origin{TableRecord: b.TableRecord, Indexes: former, Checkpoints: b.Partitions, Code: b.Code}, nil
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

// Copier copies the rows that serve into those that a State is to fold, before it does.
type Copier struct{ *State }

// Copying reports whether there are rows to copy: see CopyRows.
func (c Copier) Copying() bool { return c.done.Origin != nil }

// Copied is how many rows were copied so far.
func (c Copier) Copied() uint64 {
	if !c.Copying() {
		return 0
	}
	return c.done.Origin.Rows
}

// CopyRows copies another page of rows, and, after the last, what is on record of them: how far they have come, and
// their dead letters. Where the rows that serve have changed since the first, it begins again; where some cannot be
// copied, it leaves the rows to the fold of the whole log.
func (c Copier) CopyRows(ctx context.Context) error {
	if err := c.Open(ctx); err != nil || !c.Copying() {
		return err
	}
	from, err := readRecordIn(ctx, c.db, serves, c.p.Name)
	if err != nil {
		return err
	}
	if !c.done.Origin.isOf(&from) {
		next, err := originOf(ctx, c.db, c.p)
		if err != nil {
			return err
		}
		return c.beginAgain(ctx, next, "the rows that serve have changed meanwhile")
	}
	last, err := c.page(ctx, &from)
	var impossible *uncopiedError
	if errors.As(err, &impossible) {
		return c.beginAgain(ctx, nil, err.Error())
	}
	if err != nil || !last {
		return err
	}
	return c.end(ctx, &from)
}

// uncopiedError says why a row cannot be copied.
type uncopiedError struct{ error }

// Unwrap returns the reason.
func (e *uncopiedError) Unwrap() error { return e.error }

// beginAgain begins another generation in place of the one that is being copied.
func (c Copier) beginAgain(ctx context.Context, origin *Origin, why string) error {
	c.log.WarnContext(ctx, "projection: the copy of the rows that serve is given up", "models", c.p.names(), "why", why)
	c.known = false
	p, err := readLocation(ctx, c.db, c.p)
	if err != nil {
		return err
	}
	whole, err := readCompletion(ctx, c.db, c.p.Name)
	if err != nil {
		return err
	}
	return c.restarter.restart(ctx, &restartPlan{was: &p, former: whole, why: why, origin: origin})
}

// page copies rows in one commit, and reports whether they were the last.
func (c Copier) page(ctx context.Context, from *Record) (last bool, err error) {
	m, next := c.p.Models[0], *c.done.Origin
	rows, more, err := querydb.Scan(ctx, c.db, m, from.Generation, next.After.key(), c.cfg.CopyRows)
	if err != nil || len(rows) == 0 {
		return true, err
	}
	b := querydb.Batch{Writes: make([]querydb.Write, len(rows))}
	var build record.Builder
	for i, stored := range rows {
		row, err := c.p.Reindex(&build, next.Indexes, stored)
		if err == nil {
			err = c.db.Validate(m, &row)
		}
		if err != nil {
			return false, &uncopiedError{err}
		}
		b.Writes[i] = querydb.Write{Model: m, Row: row}
	}
	at := rows[len(rows)-1].Key
	next.After, next.Rows = &rowKey{[]byte(at.PK), []byte(at.SK)}, next.Rows+uint64(len(rows))
	header := c.done.Header
	header.Origin = &next
	b.Notes = []querydb.Note{header.note(c.done.slot, c.p.Name, c.done.revision)}
	if err := c.apply(ctx, b); err != nil {
		c.known = false
		if errors.Is(err, querydb.ErrConflict) { // one that has expired may have the unique key of another
			err = &uncopiedError{err}
		}
		return false, err
	}
	c.done.Header, c.done.revision = header, c.done.revision+1
	c.watch.Copied(next.Rows)
	return !more, nil
}

// end records of the copies what is on record of the rows that they are of.
func (c Copier) end(ctx context.Context, from *Record) error {
	if err := errors.Join(c.letters(ctx, from), c.decisions(ctx, from)); err != nil {
		return err
	}
	done := c.readiness.completion
	done.Done, done.Claims = true, done.Claims.open(from.Partitions)
	header := c.done.Header
	header.Origin = nil
	notes := []querydb.Note{header.note(c.done.slot, c.p.Name, c.done.revision), done.note(c.p.Name)}
	for partition, at := range from.Partitions {
		notes = append(notes, querydb.Note{
			Kind: header.Kind(KindCheckpoint, c.p.Name), ID: partition, Value: encode(at), IfRevision: true,
		})
	}
	c.known = false
	if err := c.db.Apply(ctx, querydb.Batch{Notes: notes}); err != nil {
		return fmt.Errorf("record that the rows of %s are copied: %w", c.p.names(), err)
	}
	c.log.InfoContext(ctx, "projection: the rows that serve are copied, with the index keys of this program", "models",
		c.p.names(), "rows", c.done.Origin.Rows)
	return c.Open(ctx)
}

// decisions has those that name the rows name the copies too: what those have folded by themselves these have.
func (c Copier) decisions(ctx context.Context, from *Record) error {
	var changed []querydb.Note
	err := eachNote(ctx, c.db, deadletter.KindDecision+c.p.Name, func(n querydb.Note) error {
		d, err := deadletter.ParseDecision(n)
		if err != nil {
			return fmt.Errorf("decision %s: %w", n.ID, err)
		}
		if slices.Contains(d.Beside, from.Generation) && !slices.Contains(d.Beside, c.done.Generation) {
			d.Beside = append(d.Beside, c.done.Generation)
			slices.Sort(d.Beside)
			changed = append(changed, d.Note(c.p.Name))
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read what was decided about dead letters of %s: %w", c.p.names(), err)
	}
	if err := c.write(ctx, changed); err != nil {
		return fmt.Errorf("record what was decided about dead letters of %s: %w", c.p.names(), err)
	}
	return nil
}

// write writes notes, in commits of the size of a page.
func (c Copier) write(ctx context.Context, all []querydb.Note) error {
	for some := range slices.Chunk(all, c.cfg.CopyRows) {
		if err := c.db.Apply(ctx, querydb.Batch{Notes: some}); err != nil {
			return err
		}
	}
	return nil
}

// letters copies the dead letters, in place of those that an earlier attempt has copied.
func (c Copier) letters(ctx context.Context, from *Record) error {
	var letters []querydb.Note
	to := c.done.Kind(KindDeadLetter, c.p.Name)
	if err := c.db.Notes().DeleteAll(ctx, to); err != nil {
		return fmt.Errorf("drop former copies of the dead letters of %s: %w", c.p.names(), err)
	}
	err := eachNote(ctx, c.db, from.Kind(KindDeadLetter, c.p.Name), func(n querydb.Note) error {
		letters = append(letters, querydb.Note{Kind: to, ID: n.ID, Value: n.Value})
		return nil
	})
	if err != nil {
		return fmt.Errorf("read the dead letters of %s: %w", c.p.names(), err)
	}
	if err := c.write(ctx, letters); err != nil {
		return fmt.Errorf("copy the dead letters of %s: %w", c.p.names(), err)
	}
	return nil
}
