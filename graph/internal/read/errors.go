package read

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/graph/internal/access"
	"github.com/foldql/foldql/graph/internal/requestlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/aggregate"
	"github.com/foldql/foldql/querydb/driver"
)

// Errors makes what clients see of the errors of reads, and logs the causes that they do not see.
type Errors struct{ logger *slog.Logger }

// Read makes what a client sees of an error that a read returned. An error that has a code stays as it is.
func (e Errors) Read(ctx context.Context, err error, what string) error {
	var rebuilding *querydb.RebuildingError
	var former *querydb.NotRebuiltError
	var part *aggregate.IncompleteError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &rebuilding):
		return rebuildingError(rebuilding)
	case errors.As(err, &former):
		return formerError(former)
	case errors.As(err, &part):
		requestlog.Log(ctx, e.logger, slog.LevelError, "an aggregate is incomplete", what, "error", err)
		return incompleteError(part, what)
	case graphqlerr.CodeOf(err) != "":
		return err
	case errors.Is(err, querydb.ErrHidden):
		return graphqlerr.New(graphqlerr.LimitExceeded, "%s cannot be read: too many rows that the caller may not see lie "+
			"where it is asked for; ask by a key or an index that has the owner in its partition key", what)
	case errors.Is(err, context.DeadlineExceeded):
		return graphqlerr.New(graphqlerr.Timeout, "the request ran out of time reading %s; ask for less, or again", what)
	case errors.Is(err, context.Canceled):
		return graphqlerr.New(graphqlerr.Unavailable, "the request was cancelled while reading %s", what)
	case errors.Is(err, querydb.ErrThrottled), errors.Is(err, querydb.ErrUnavailable):
		level := slog.LevelWarn
		if errors.Is(err, driver.ErrSuspended) { // for which there was a warning already
			level = slog.LevelDebug
		}
		requestlog.Log(ctx, e.logger, level, "read refused by the store", what, "error", err)
		return graphqlerr.New(graphqlerr.Unavailable, "the store of %s does not answer at the moment; try again", what)
	}
	return e.Internal(ctx, err, what)
}

// incompleteError names an aggregate whose items make no whole, in words and in the extensions: "aggregate", with the
// key of its partition and the reason.
func incompleteError(e *aggregate.IncompleteError, what string) error {
	err := graphqlerr.New(graphqlerr.AggregateIncomplete, "%s cannot be read: %s", what, e.Error())
	if e.Key == (keys.Key{}) {
		return err
	}
	return graphqlerr.WithExtension(err, "aggregate", map[string]any{"key": e.Key.PK, "reason": e.Reason})
}

// unreadable reports whether the error is one of a row itself, which tells that it is there: it is damaged, or changes
// faster than it can be read.
func unreadable(err error) bool {
	return errors.Is(err, driver.ErrDamaged) || errors.Is(err, aggregate.ErrTorn)
}

// hidesFrom reports whether a row that cannot be read is to be as one that is not there: what was read of it does not
// say that it is the viewer's. err is of that row alone.
func hidesFrom(v access.Viewer, t *catalog.Type, err error) bool {
	var torn *aggregate.TornError
	return unreadable(err) && !(errors.As(err, &torn) && v.Owns(t, torn.Root))
}

// logHidden logs what is wrong with a row of which the caller is not to know that it is there.
func (e Errors) logHidden(ctx context.Context, err error, what string) {
	requestlog.Log(ctx, e.logger, slog.LevelError, "a row cannot be read; a caller who may read own rows only is "+
		"answered as if it were not there", what, "error", err)
}

// unnamed is err, or, where that says of a row why it cannot be read, an error that names none: the caller is not to
// know of the rows of others among those that were read, nor of their keys.
func (e Errors) unnamed(ctx context.Context, err error, what string) error {
	if errors.Is(err, driver.ErrDamaged) {
		return e.Internal(ctx, err, what)
	}
	return err
}

// rebuildingError names rows that are being rebuilt, in words and in the extensions.
func rebuildingError(e *querydb.RebuildingError) error {
	err := graphqlerr.New(graphqlerr.Unavailable, "the rows of %s are being rebuilt, %d of %d events so far: %s",
		e.Model, e.Folded, e.Total, hint(&e.Progress))
	return graphqlerr.WithExtension(err, "rebuild", extension(e.Model, &e.Progress))
}

// formerError names what is not known of the rows that serve while others are built.
func formerError(e *querydb.NotRebuiltError) error {
	what := fmt.Sprintf("there are no rows of %s yet: they are being built", e.Model)
	if e.What != "" {
		what = fmt.Sprintf("%s is not known yet of the rows of %s: they are of a former schema, and being rebuilt", e.What,
			e.Model)
	}
	err := graphqlerr.New(graphqlerr.Rebuilding, "%s, %d of %d events so far: %s", what, e.Folded, e.Total,
		hint(&e.Progress))
	return graphqlerr.WithExtension(err, "rebuild", extension(e.Model, &e.Progress))
}

func hint(p *querydb.Progress) string {
	switch {
	case p.Stopped:
		return "the fold has stopped; contact the operator of the server"
	case p.Waits:
		return "the new rows are complete, and wait for the switch"
	}
	return "ask again later"
}

func extension(model string, p *querydb.Progress) map[string]any {
	progress := map[string]any{"model": model, "folded": p.Folded, "total": p.Total, "stopped": p.Stopped}
	if p.Waits {
		progress["waits"] = true
	}
	if p.ETASeconds >= 0 {
		progress["etaSeconds"] = math.Ceil(p.ETASeconds)
	}
	return progress
}

// Internal logs the cause, and returns an error that does not show it but says where the log has it.
func (e Errors) Internal(ctx context.Context, err error, what string) error {
	told := requestlog.Hide(ctx, e.logger, "read failed", what, "error", err)
	return graphqlerr.New(graphqlerr.Internal, "%s cannot be read: %s", what, told)
}

// userKey is read for a key that the client gave: a key that no row can have is the client's mistake.
func (e Errors) userKey(ctx context.Context, err error, what string) error {
	if errors.Is(err, querydb.ErrInvalid) || errors.Is(err, querydb.ErrTooLarge) {
		return graphqlerr.New(graphqlerr.BadUserInput, "%w", noKey(what))
	}
	return e.Read(ctx, err, what)
}

// noKey says that no row can have a key.
func noKey(what string) error {
	return fmt.Errorf("no row of %s can have this key: a key is neither empty nor longer than 2048 bytes (partition) or "+
		"1024 bytes (sort key)", what)
}

// CopyError returns an error that can be given a path of its own: one failed read may fail several fields.
func CopyError(err error) error {
	var gql *gqlerror.Error
	if !errors.As(err, &gql) {
		return err
	}
	fresh := *gql
	fresh.Path, fresh.Locations, fresh.Extensions = nil, nil, maps.Clone(gql.Extensions)
	return &fresh
}
