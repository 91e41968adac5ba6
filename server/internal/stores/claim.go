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
	if err == nil && string(kind) != source.Bound() {
		err = config.Wrong("events", "the rows of %s are folded from %s:, not from %s:; choose that, or another store",
			store, kind, source.Kind)
	}
	return err
}
