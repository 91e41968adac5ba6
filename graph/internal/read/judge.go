package read

import (
	"context"
	"errors"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/graph/internal/access"
	"github.com/foldql/foldql/graph/internal/allowance"
	"github.com/foldql/foldql/querydb/record"
)

// judging reads rows of a type for a viewer who is admitted to own rows only.
type judging struct {
	rd     *Reader
	viewer access.Viewer
	of     *catalog.Type
}

// rows has the rows of so many keys read; see [allowance.Left.Judge].
func (j judging) rows(ctx context.Context, keys int, read func(context.Context) (own int, err error)) error {
	most := j.rd.Config.Allowance
	err := most.Left(ctx).Judge(ctx, keys, read)
	if errors.Is(err, allowance.ErrClosed) {
		return graphqlerr.New(graphqlerr.LimitExceeded, "%s cannot be read: more than %d keys of the request lead to no row "+
			"that the caller may read; ask for fewer", j.of.Name, most.Hidden)
	}
	return err
}

// row has the row of one key read, and returns what the viewer gets of it.
func (j judging) row(ctx context.Context, read func(context.Context) (record.Record, error)) (rec record.Record,
	err error) {
	err = j.rows(ctx, 1, func(uncharged context.Context) (own int, err error) {
		found, err := read(uncharged)
		if err != nil || !j.viewer.Owns(j.of, found) {
			return 0, err
		}
		rec, err = j.viewer.Keep(ctx, j.of, found)
		return 1, err
	})
	if err != nil {
		return nil, err
	}
	return rec, nil
}
