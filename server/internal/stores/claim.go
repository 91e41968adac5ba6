package stores

import (
	"context"

	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/server/internal/config"
)

// BindSource binds the rows to the kind of source that they are folded from: a checkpoint in a file means nothing in
// the log.
func BindSource(ctx context.Context, db *querydb.DB, store config.Store, source config.Source) error {
	kind, err := keepFirst(ctx, db, sourceNote, []byte(source.Bound()))
	if err != nil {
		return err
	}
	return boundTo(kind, store, source)
}

// CheckSource is BindSource of a server that puts nothing on record. Rows that nobody has bound fit every source.
func CheckSource(ctx context.Context, db *querydb.DB, store config.Store, source config.Source) error {
	note, err := read(ctx, db, sourceNote)
	if err != nil || note.Value == nil {
		return err
	}
	return boundTo(note.Value, store, source)
}

// boundTo refuses a source of another kind than that of the rows.
func boundTo(kind []byte, store config.Store, source config.Source) error {
	if string(kind) == source.Bound() {
		return nil
	}
	return config.Wrong("events", "the rows of %s are folded from %s:, not from %s:; choose that, or another store",
		store, kind, source.Kind)
}
