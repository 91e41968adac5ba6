package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/foldql/foldql/querydb"
)

// Store reads the counters of the store.
type Store struct{ DB *querydb.DB }

var (
	storeReads = describe("foldql_store_reads_total", "Reads of the store: batches of rows by key, and ranges.",
		"model", "read")
	storeRows = describe("foldql_store_rows_read_total", "Rows that ranges returned, and keys that were asked for whole, "+
		"whether a row was there or not.", "model", "read")
	storeExamined = describe("foldql_store_keys_examined_total", "Keys that ranges looked at.", "model")
	storeCommits  = describe("foldql_store_commits_total", "Commits that wrote rows.", "model")
	storeWrites   = describe("foldql_store_rows_written_total", "Rows written or deleted.", "model")
	storeErrors   = describe("foldql_store_errors_total", "Calls of the store that failed, but for those that their "+
		"caller gave up, and commits that others were ahead of.", "model")
	storeSeconds = describe("foldql_store_seconds_total", "Time that the store took.", "model", "call")
)

// Describe implements prometheus.Collector.
func (m *Store) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		storeReads, storeRows, storeExamined, storeCommits, storeWrites, storeErrors, storeSeconds,
	} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (m *Store) Collect(to chan<- prometheus.Metric) {
	for _, s := range m.DB.Stats() {
		counter(to, storeReads, float64(s.Gets), s.Model, "get")
		counter(to, storeReads, float64(s.Queries), s.Model, "range")
		counter(to, storeRows, float64(s.KeysRequested), s.Model, "get")
		counter(to, storeRows, float64(s.RowsReturned), s.Model, "range")
		counter(to, storeExamined, float64(s.Examined), s.Model)
		counter(to, storeCommits, float64(s.Batches), s.Model)
		counter(to, storeWrites, float64(s.Writes), s.Model)
		counter(to, storeErrors, float64(s.Errors), s.Model)
		counter(to, storeSeconds, s.GetTime.Seconds(), s.Model, "get")
		counter(to, storeSeconds, s.QueryTime.Seconds(), s.Model, "range")
		counter(to, storeSeconds, s.ApplyTime.Seconds(), s.Model, "apply")
	}
}
