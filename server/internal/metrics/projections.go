package metrics

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/server/internal/projections"
)

// Projections asks the runners when it is asked itself.
type Projections struct {
	Set *projections.Set
	Log *slog.Logger
}

var (
	projectionUp = describe("foldql_projection_up", "1 where the projection is up to date or getting there, 0 where it "+
		"is not to be trusted.", "projection")
	projectionModels = describe("foldql_projection_models",
		"1 for each model whose rows the projection folds; several where it is a group.", "projection", "model")
	projectionEvents      = describe("foldql_projection_events_total", "Events folded since the start.", "projection")
	projectionRows        = describe("foldql_projection_rows_total", "Rows written since the start.", "projection")
	projectionCommits     = describe("foldql_projection_commits_total", "Commits since the start.", "projection")
	projectionDeadLetters = describe("foldql_projection_dead_letters",
		"Events that could not be folded, and those blocked by them.", "projection")
	projectionCascades = describe("foldql_projection_cascades",
		"Rows that have changed and are yet to be followed by copies of them.", "projection")
	projectionFailedCascades = describe("foldql_projection_failed_cascades",
		"Rows of which some copies could not follow a change.", "projection")
	projectionLag = describe("foldql_projection_lag_events",
		"Events behind the end of the source; absent while the source does not say where it ends, and while the log is not "+
			"the one of the rows.", "projection")
	projectionCheckpoint = describe("foldql_projection_checkpoint", "Offset up to which rows are durable.", "projection",
		"partition")
	projectionFrozen = describe("foldql_projection_frozen",
		"1 where the rows that serve are of another version, and this server does not fold them.", "projection")
	projectionFollowing = describe("foldql_projection_following",
		"1 where this server only answers, from rows that others fold.", "projection")
	rebuildUp = describe("foldql_rebuild_up", "1 where rows that are built beside those that serve get on, 0 where their "+
		"build has stopped, or has failed for a minute.", "projection")
	rebuildFolded = describe("foldql_rebuild_folded_events",
		"Events folded into rows that are built beside those that serve.", "projection")
	rebuildLag = describe("foldql_rebuild_lag_events",
		"Events that rows which are built beside those that serve are behind the end of the source; absent while the source "+
			"does not say where it ends, and while the log is not the one of the rows.", "projection")
	rebuildRate = describe("foldql_rebuild_events_per_second", "Rate at which such rows are built.",
		"projection")
	rebuildDeadLetters    = describe("foldql_rebuild_dead_letters", "Dead letters of such rows.", "projection")
	rebuildNewDeadLetters = describe("foldql_rebuild_new_dead_letters",
		"Dead letters of such rows, once they could serve, that are none of the rows that serve: they are not switched to.",
		"projection")
	rebuildETA = describe("foldql_rebuild_eta_seconds",
		"Seconds until such rows are at the end of the source, at that rate; -1 where that is not known.", "projection")
	rebuildComplete = describe("foldql_rebuild_complete", "1 where such rows can serve.", "projection")
	projectionHead  = describe("foldql_projection_head", "Offset of the last event of the source.", "projection",
		"partition")
)

// Describe implements prometheus.Collector.
func (m *Projections) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		projectionUp, projectionModels, projectionEvents, projectionRows, projectionCommits,
		projectionDeadLetters, projectionCascades, projectionFailedCascades,
		projectionLag, projectionCheckpoint, projectionHead, projectionFrozen, projectionFollowing,
		rebuildUp, rebuildFolded, rebuildLag, rebuildRate, rebuildDeadLetters, rebuildNewDeadLetters,
		rebuildETA, rebuildComplete,
	} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (m *Projections) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	projections.VisitHealth(ctx, m.Set, func(f *projections.Running, s projection.Status, err error) {
		if err != nil {
			m.Log.Debug("projection is not well", "projection", f.Name, "why", err)
		}
		up := 1.0
		if err != nil {
			up = 0
		}
		gauge(to, projectionUp, up, f.Name)
		m.collect(to, f.Name, &s)
	})
}

func (m *Projections) collect(to chan<- prometheus.Metric, name string, s *projection.Status) {
	for _, model := range s.Models {
		gauge(to, projectionModels, 1, name, model)
	}
	counter(to, projectionEvents, float64(s.Events), name)
	counter(to, projectionRows, float64(s.Rows), name)
	counter(to, projectionCommits, float64(s.Commits), name)
	gauge(to, projectionDeadLetters, float64(s.DeadLetters), name)
	gauge(to, projectionCascades, float64(s.Cascades), name)
	gauge(to, projectionFailedCascades, float64(len(s.FailedCascades)), name)
	if s.LagKnown { // else 0 would pass for rows that are up to date
		gauge(to, projectionLag, float64(s.Lag), name)
	}
	gauge(to, projectionFrozen, oneIf(s.Frozen), name)
	gauge(to, projectionFollowing, oneIf(m.Set.FoldsNothing()), name)
	if b := s.Build; b != nil {
		gauge(to, rebuildUp, oneIf(projections.CheckBuild(b) == nil), name)
		gauge(to, rebuildFolded, float64(b.Folded), name)
		if b.LagKnown {
			gauge(to, rebuildLag, float64(b.Lag), name)
		}
		gauge(to, rebuildRate, b.EventsPerSecond, name)
		gauge(to, rebuildDeadLetters, float64(b.DeadLetters), name)
		gauge(to, rebuildNewDeadLetters, float64(b.NewDeadLetters), name)
		gauge(to, rebuildETA, b.ETASeconds, name)
		gauge(to, rebuildComplete, oneIf(b.Complete), name)
	}
	for _, p := range s.Partitions {
		gauge(to, projectionCheckpoint, float64(p.Checkpoint), name, p.Partition)
		if p.HeadKnown {
			gauge(to, projectionHead, float64(p.Head), name, p.Partition)
		}
	}
}

func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
