package server

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/server/internal/commands"
	"github.com/foldql/foldql/server/internal/config"
	"github.com/foldql/foldql/server/internal/logcheck"
	"github.com/foldql/foldql/server/internal/sources"
	"github.com/foldql/foldql/server/internal/stores"
)

// A server with --fold off only answers. It writes nothing at all to the store of the rows, not even the notes of its
// own, so that its credentials may be such that it cannot.

// foldsNothing reports whether other servers fold the rows, and this one only answers.
func (c *serveCommand) foldsNothing() bool { return c.Folding == "off" }

// foldsOptions are those of folds and rebuilds.
func foldsOptions() []string {
	return append(commands.FoldFlags(), "switch", "keep-former", "rebuild-share")
}

// checkFoldsNothing refuses options on the command line that would have no effect on a server that only answers. Its
// environment may well be that of servers which fold.
func (c *serveCommand) checkFoldsNothing(given []string) error {
	if !c.foldsNothing() {
		return nil
	}
	for _, name := range foldsOptions() {
		if slices.Contains(given, name) {
			return config.Wrong(name, "it has no effect with --fold=off; give it to the servers that fold")
		}
	}
	return nil
}

// nobodyFolds refuses a store that one process alone can open.
func nobodyFolds(store config.Store) error {
	return config.Wrong("fold", "with --fold=off nothing would update the rows, because no other process can open the "+
		"%s: store; use a store in DynamoDB that other servers fold into, or leave --fold=off out", store.Kind)
}

// bind binds the rows to the kind of source.
func (s *runningServer) bind(ctx context.Context, store config.Store, from config.Source) error {
	if s.cfg.foldsNothing() {
		return stores.CheckSource(ctx, s.db, store, from)
	}
	return stores.BindSource(ctx, s.db, store, from)
}

// findTokenKey finds the secret of page tokens, which the first server that folds keeps with the rows.
func (s *runningServer) findTokenKey(ctx context.Context) (err error) {
	if !s.cfg.foldsNothing() {
		s.tokenKey, err = stores.TokenKey(ctx, s.db)
		return err
	}
	if s.tokenKey, err = stores.RecordedTokenKey(ctx, s.db); errors.Is(err, stores.ErrNoServerYet) {
		return config.Wrong("fold", "off, and %w: start one that folds first, and this one when that answers", err)
	}
	return err
}

// logWithin is how long a server that only answers waits for the log when it starts.
const logWithin = 10 * time.Second

// compareLog compares the log with what is on record of the rows, and finds where it ends. A server that only answers
// does so without a log too.
func (s *runningServer) compareLog(ctx context.Context) (*projection.MismatchError, eventlog.Offsets, error) {
	if !s.cfg.foldsNothing() {
		other, err := logcheck.First(ctx, s.db, s.source, s.app.Projections)
		if err != nil && s.sourceIsAway(ctx) { // each projection compares them before it folds
			s.log.Warn("the copy of the log cannot be compared with the rows yet; they are served, and folded when it can be",
				"error", err)
			err = nil
		}
		if err != nil {
			return nil, nil, err
		}
		goal, err := sources.Heads(ctx, s.source.Source)
		return other, goal, err
	}
	soon, cancel := context.WithTimeout(ctx, logWithin)
	defer cancel()
	other, err := logcheck.Look(soon, s.db, s.source, s.app.Projections)
	var goal eventlog.Offsets
	if err == nil {
		goal, err = sources.Heads(soon, s.source.Source)
	}
	if err != nil && ctx.Err() == nil {
		s.log.Warn("the log cannot be compared with the rows; they are served, and how far they are behind is not known",
			"error", err)
		return nil, nil, nil
	}
	return other, goal, err
}

// sourceIsAway reports whether the source cannot be asked now of which a copy is folded.
func (s *runningServer) sourceIsAway(ctx context.Context) bool {
	if s.source.Mirror == nil || ctx.Err() != nil {
		return false
	}
	_, err := s.source.Mirror.Replaced(ctx)
	return err != nil
}
