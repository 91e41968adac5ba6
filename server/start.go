package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/foldql/foldql/eventlog/httpsource"
	"github.com/foldql/foldql/internal/disk"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/server/internal/backup"
	"github.com/foldql/foldql/server/internal/commands"
	"github.com/foldql/foldql/server/internal/config"
	"github.com/foldql/foldql/server/internal/health"
	"github.com/foldql/foldql/server/internal/limits"
	"github.com/foldql/foldql/server/internal/metrics"
	"github.com/foldql/foldql/server/internal/projections"
	"github.com/foldql/foldql/server/internal/sources"
	"github.com/foldql/foldql/server/internal/stores"
	"github.com/foldql/foldql/server/internal/verify"
)

// runningServer is a server from its start to its end.
type runningServer struct {
	routes
	runner      projection.RunnerConfig
	entrance    health.Entrance
	operators   health.Entrance // at --admin-listen
	listener    net.Listener
	connections *limits.Connections
	http        *http.Server
	failed      chan error // what the listener died of
	stopFolds   context.CancelFunc
	following   *following // of the decisions of another server; nil where none are followed
	end         time.Time  // when all must have ended; zero for whenever it has
}

// open opens the store and the source, and starts the projections.
func (s *runningServer) open(ctx context.Context, p *program) error {
	store, from, err := s.cfg.Data.Parse()
	if err == nil {
		err = s.cfg.RowCache.Of(&store)
	}
	if err != nil {
		return err
	}
	if s.cfg.foldsNothing() && store.Kind != config.DynamoDB {
		return nobodyFolds(store)
	}
	if s.cfg.Sample && from.Kind != config.Log {
		return config.Wrong("sample", "sample events are appended to a log; choose --events log:, or leave --sample out")
	}
	rows, err := p.OpenStore(ctx, store, &s.cfg.Data)
	if err != nil {
		return err
	}
	s.db = rows.DB
	if err := s.bind(ctx, store, from); err != nil {
		return err
	}
	if s.source, err = p.OpenSource(from, store, s.cfg.Reserve(), s.cfg.MaxEvent); err != nil {
		return err
	}
	s.observe(rows)
	s.backups.Parts = commands.BackupParts(rows, s.source)
	if err := s.backups.RemoveLeft(); err != nil {
		s.log.Warn("the files of a backup or a restore that was given up stay; the next one removes them", "error", err)
	}
	other, err := s.prepare(ctx)
	if err != nil {
		return err
	}
	return s.start(ctx, other)
}

// observe has /readyz and /metrics tell of the rows, and of the copy of the events where there is one.
func (s *runningServer) observe(rows *stores.Rows) {
	if rows.Dynamo != nil {
		s.measured = append(s.measured, &metrics.DynamoDB{Store: rows.Dynamo})
	}
	if rows.CacheStats != nil {
		s.measured = append(s.measured, &metrics.RowCache{Stats: rows.CacheStats})
	}
	s.storages.Add("rows", rows.Driver)
	if s.source.Mirror != nil {
		s.storages.Add("mirror", s.source.Mirror)
	}
}

// prepare makes all that requests are answered with, over the store and the source that are open. It starts nothing,
// because the project's resolvers, which are made here, may panic. What it returns says that the log is not the one
// that the rows are folded from; nil where it is.
func (s *runningServer) prepare(ctx context.Context) (other *projection.MismatchError, err error) {
	if err := s.findTokenKey(ctx); err != nil {
		return nil, err
	}
	other, goal, err := s.compareLog(ctx)
	if err != nil {
		return nil, err
	}
	if other == nil {
		if err := s.sample(ctx); err != nil {
			return nil, err
		}
	}
	if s.folds, err = projections.New(s.app.Projections, s.source.Source, s.db, goal, s.runner); err != nil {
		return nil, err
	}
	if s.builds, err = projection.NewBudget(s.cfg.RebuildShare, s.cfg.IdleShare()); err != nil {
		return nil, err
	}
	err = s.folds.KeepServing(ctx, projections.Keep{
		DB: s.db, Manual: s.cfg.Switch == "manual", Former: s.cfg.KeepFormer, Budget: s.builds,
		Rebuilt: s.cfg.ReadyWhen == "rebuilt", Off: s.cfg.foldsNothing(),
	})
	if err != nil {
		return nil, err
	}
	s.verifies = &verify.Verifier{DB: s.db, Source: s.source.Source, Runner: s.runner,
		Reserve: s.cfg.Reserve(), OnDisk: s.mayHoldStores}
	s.verifies.Runner.Budget = s.builds
	if err := s.folds.Prepare(ctx); err != nil {
		return nil, err
	}
	if s.cfg.foldsNothing() {
		s.log.Info("this server folds nothing (--fold=off): it answers from rows that other servers fold")
	}
	s.folds.ReadyLag, s.folds.Resumes = s.cfg.ReadyLag, true
	if s.source.Log != nil {
		s.storages.Add("log", s.source.Log)
		s.source.Log = s.folds.Guard(s.source.Log)
	}
	db := s.db // of which somebody may ask while it is closed
	s.health = &health.Health{Folds: s.folds, Storages: s.storages,
		Answers: func(ctx context.Context) error { return querydb.CheckAvailable(ctx, db) }}
	s.api = s.newAPI()
	return other, nil
}

// mayHoldStores reports whether a directory may be on the disk of a store. An embedding program alone knows where its
// stores are.
func (s *runningServer) mayHoldStores(dir string) bool {
	return errors.Is(s.backups.WhyNone, backup.ErrEmbedded) || slices.ContainsFunc(s.backups.Parts,
		func(p backup.Part) bool { return disk.MayShareSpace(p.Dir, dir) })
}

// start starts what prepare has made. Where another log is there than that of the rows, nothing is folded.
func (s *runningServer) start(ctx context.Context, other *projection.MismatchError) error {
	folding, stop := context.WithCancel(context.WithoutCancel(ctx)) // ends when requests have
	if other == nil {
		if err := s.followDecisions(ctx, folding); err != nil {
			stop()
			return err
		}
		s.folds.Start(folding)
	} else if err := projections.StandStill(ctx, s.folds, other); err != nil {
		stop()
		return err
	}
	s.stopFolds = stop
	go s.health.Announce(folding, s.log)
	go s.documents.Follow(folding, s.documentCheck)
	return nil
}

func (s *runningServer) sample(ctx context.Context) error {
	if !s.cfg.Sample {
		return nil
	}
	if s.app.Sample == nil {
		return config.Wrong("sample", "this project has no sample events; set App.Sample, or leave --sample out")
	}
	n, err := sources.AppendSample(ctx, s.source.Log, s.app.Sample, s.app.Events)
	if n > 0 {
		s.log.Info("sample events appended", "events", n)
	}
	return err
}

// followDecisions takes over what was decided about dead letters at the server whose log this one folds: before the
// first event is folded, and from then on until the second context ends.
func (s *runningServer) followDecisions(ctx, folding context.Context) error {
	if s.source.Upstream == nil || s.cfg.foldsNothing() {
		return nil
	}
	u := &projections.Upstream{
		Folds: s.folds, From: httpsource.Following{Source: s.source.Upstream}, Log: s.log,
	}
	if err := u.Begin(ctx); err != nil {
		err = fmt.Errorf("take over what was decided about dead letters at the server that is followed: %w", err)
		if s.source.Mirror == nil {
			return err
		}
		s.log.Warn("continuing with the events that are copied; trying again", "error", err) // the source may be away
	}
	s.following = follow(folding, u)
	return nil
}
