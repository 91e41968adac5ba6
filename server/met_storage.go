package server

import "github.com/prometheus/client_golang/prometheus"

// storageMetrics says which directories can be written.
type storageMetrics struct{ storages }

var storageWritable = describe("storage_writable", "1 where the directory can be written, 0 where writes wait or are refused.", "directory")

// Describe implements prometheus.Collector.
func (m storageMetrics) Describe(to chan<- *prometheus.Desc) { to <- storageWritable }

// Collect implements prometheus.Collector.
func (m storageMetrics) Collect(to chan<- prometheus.Metric) {
	for _, one := range m.storages {
		writable := 1.0
		if one.at.Writable() != nil {
			writable = 0
		}
		gauge(to, storageWritable, writable, one.name)
	}
}
