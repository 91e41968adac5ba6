package server

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
)

// metricsHandler serves what is measured, from a registry of its own.
func metricsHandler(log *slog.Logger, own ...prometheus.Collector) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	registry.MustRegister(own...)
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn), ErrorHandling: promhttp.ContinueOnError,
	})
}

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("foldql_"+name, help, labels, nil)
}

// projectionMetrics asks the runners when it is asked itself.
type projectionMetrics struct {
	folds *folds
	log   *slog.Logger
}

var (
	projectionUp         = describe("projection_up", "1 where the projection is up to date or getting there, 0 where it is not to be trusted.", "projection")
	projectionEvents     = describe("projection_events_total", "Events folded since the start.", "projection")
	projectionRows       = describe("projection_rows_total", "Rows written since the start.", "projection")
	projectionCommits    = describe("projection_commits_total", "Commits since the start.", "projection")
	projectionAside      = describe("projection_events_aside", "Events set aside.", "projection")
	projectionLag        = describe("projection_lag_events", "Events behind the end of the source.", "projection")
	projectionCheckpoint = describe("projection_checkpoint", "Offset up to which rows are durable.", "projection", "partition")
	projectionHead       = describe("projection_head", "Offset of the last event of the source.", "projection", "partition")
)

// Describe implements prometheus.Collector.
func (m *projectionMetrics) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		projectionUp, projectionEvents, projectionRows, projectionCommits,
		projectionAside, projectionLag, projectionCheckpoint, projectionHead,
	} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (m *projectionMetrics) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	for _, f := range m.folds.all {
		s, err := f.healthy(ctx)
		if err != nil {
			m.log.Debug("projection is not well", "projection", f.name, "why", err)
		}
		up := 1.0
		if err != nil {
			up = 0
		}
		gauge(to, projectionUp, up, f.name)
		m.collect(to, f.name, &s)
	}
}

func (m *projectionMetrics) collect(to chan<- prometheus.Metric, name string, s *projection.Status) {
	counter(to, projectionEvents, float64(s.Events), name)
	counter(to, projectionRows, float64(s.Rows), name)
	counter(to, projectionCommits, float64(s.Commits), name)
	gauge(to, projectionAside, float64(s.DeadLetters), name)
	gauge(to, projectionLag, float64(s.Lag), name)
	for _, p := range s.Partitions {
		gauge(to, projectionCheckpoint, float64(p.Checkpoint), name, p.Partition)
		if p.HeadKnown {
			gauge(to, projectionHead, float64(p.Head), name, p.Partition)
		}
	}
}

// storeMetrics reads the counters of the store.
type storeMetrics struct{ db *querydb.DB }

var (
	storeReads    = describe("store_reads_total", "Reads of the store: batches of rows by key, and ranges.", "model", "read")
	storeRows     = describe("store_rows_read_total", "Rows that ranges returned, and keys that were asked for whole, whether a row was there or not.", "model", "read")
	storeExamined = describe("store_keys_examined_total", "Keys that ranges looked at.", "model")
	storeCommits  = describe("store_commits_total", "Commits that wrote rows.", "model")
	storeWrites   = describe("store_rows_written_total", "Rows written or deleted.", "model")
	storeErrors   = describe("store_errors_total", "Calls of the store that failed.", "model")
	storeSeconds  = describe("store_seconds_total", "Time that the store took.", "model", "call")
)

// Describe implements prometheus.Collector.
func (m *storeMetrics) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		storeReads, storeRows, storeExamined, storeCommits, storeWrites, storeErrors, storeSeconds,
	} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (m *storeMetrics) Collect(to chan<- prometheus.Metric) {
	for _, s := range m.db.Stats() {
		counter(to, storeReads, float64(s.Gets), s.Model, "get")
		counter(to, storeReads, float64(s.Queries), s.Model, "range")
		counter(to, storeRows, float64(s.KeysGot), s.Model, "get")
		counter(to, storeRows, float64(s.RowsQueried), s.Model, "range")
		counter(to, storeExamined, float64(s.Examined), s.Model)
		counter(to, storeCommits, float64(s.Batches), s.Model)
		counter(to, storeWrites, float64(s.Writes), s.Model)
		counter(to, storeErrors, float64(s.Errors), s.Model)
		counter(to, storeSeconds, s.GetTime.Seconds(), s.Model, "get")
		counter(to, storeSeconds, s.QueryTime.Seconds(), s.Model, "range")
		counter(to, storeSeconds, s.ApplyTime.Seconds(), s.Model, "apply")
	}
}

func counter(to chan<- prometheus.Metric, d *prometheus.Desc, value float64, labels ...string) {
	to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, value, labels...)
}

func gauge(to chan<- prometheus.Metric, d *prometheus.Desc, value float64, labels ...string) {
	to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
}
