package server

import (
	"context"

	"github.com/foldql/foldql/querydb"
)

// claimSource binds the rows to the kind of source that they are folded from: a checkpoint in a file means nothing in
// the log.
func claimSource(ctx context.Context, db *querydb.DB, store storePlace, source sourcePlace) error {
	kind, err := keepFirst(ctx, db, sourceNote, []byte(source.kind))
	if err == nil && string(kind) != source.kind {
		err = wrongConfig("events", "the rows of %s are folded from %s:, not from %s:; choose that, or another store",
			store, kind, source.kind)
	}
	return err
}
