package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/foldql/foldql/server/internal/health"
)

// Directories says which directories can be written.
type Directories struct{ health.Directories }

var storageWritable = describe("foldql_storage_writable",
	"1 where the directory can be written, 0 where writes wait or are refused.", "directory")

// Describe implements prometheus.Collector.
func (m Directories) Describe(to chan<- *prometheus.Desc) { to <- storageWritable }

// Collect implements prometheus.Collector.
func (m Directories) Collect(to chan<- prometheus.Metric) {
	for _, one := range m.Directories {
		writable := 1.0
		if one.At.Writable() != nil {
			writable = 0
		}
		gauge(to, storageWritable, writable, one.Name)
	}
}
