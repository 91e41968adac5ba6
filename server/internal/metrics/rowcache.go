package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/foldql/foldql/querydb/pebblestore"
)

// RowCache reads the counters of an embedded store's memory for rows.
type RowCache struct{ Store *pebblestore.Store }

var (
	rowCacheHits = describe("foldql_row_cache_hits_total",
		"Keys of rows that queries found in the memory of an embedded store.")
	rowCacheMisses = describe("foldql_row_cache_misses_total",
		"Keys of rows that they did not find there, and read from its files.")
	rowCacheRows = describe("foldql_row_cache_rows",
		"Rows in that memory, and keys that are known to have no row.")
	rowCacheBytes = describe("foldql_row_cache_bytes", "About how many bytes they take.")
)

// Describe implements prometheus.Collector.
func (m *RowCache) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{rowCacheHits, rowCacheMisses, rowCacheRows, rowCacheBytes} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (m *RowCache) Collect(to chan<- prometheus.Metric) {
	s := m.Store.CacheStats()
	counter(to, rowCacheHits, float64(s.Hits))
	counter(to, rowCacheMisses, float64(s.Misses))
	gauge(to, rowCacheRows, float64(s.Rows))
	gauge(to, rowCacheBytes, float64(s.Bytes))
}
