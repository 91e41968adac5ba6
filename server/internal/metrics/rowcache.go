package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/foldql/foldql/querydb/driver"
)

// RowCache reads the counters of the row cache of a store.
type RowCache struct {
	Stats func() driver.CacheStats
}

var (
	rowCacheHits = describe("foldql_row_cache_hits_total",
		"Keys of rows that queries found in the row cache.")
	rowCacheMisses = describe("foldql_row_cache_misses_total",
		"Keys of rows that queries did not find there.")
	pageCacheHits = describe("foldql_row_cache_page_hits_total",
		"Pages that queries found in the row cache.")
	pageCacheMisses = describe("foldql_row_cache_page_misses_total",
		"Pages that queries did not find there.")
	answerCacheHits = describe("foldql_row_cache_answer_hits_total",
		"Operations that were answered from the row cache, without a read.")
	answerCacheMisses = describe("foldql_row_cache_answer_misses_total",
		"Operations whose answer was not there, or was no longer what the rows say.")
	rowCacheRows = describe("foldql_row_cache_rows",
		"Rows in the row cache, keys that are known to have no row, partitions of which it has pages, and answers.")
	rowCacheBytes = describe("foldql_row_cache_bytes", "About how many bytes the row cache takes.")
)

// Describe implements prometheus.Collector.
func (m *RowCache) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{rowCacheHits, rowCacheMisses, pageCacheHits, pageCacheMisses, answerCacheHits,
		answerCacheMisses, rowCacheRows, rowCacheBytes} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (m *RowCache) Collect(to chan<- prometheus.Metric) {
	s := m.Stats()
	counter(to, rowCacheHits, float64(s.Hits))
	counter(to, rowCacheMisses, float64(s.Misses))
	counter(to, pageCacheHits, float64(s.PageHits))
	counter(to, pageCacheMisses, float64(s.PageMisses))
	counter(to, answerCacheHits, float64(s.AnswerHits))
	counter(to, answerCacheMisses, float64(s.AnswerMisses))
	gauge(to, rowCacheRows, float64(s.Rows))
	gauge(to, rowCacheBytes, float64(s.Bytes))
}
