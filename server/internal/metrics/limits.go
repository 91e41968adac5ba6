package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/foldql/foldql/graph/graphqlhttp"
	"github.com/foldql/foldql/server/internal/limits"
)

// Connections counts the connections of a server.
type Connections struct{ *limits.Connections }

// Inflight says what large requests take of memory.
type Inflight struct{ *graphqlhttp.MemoryBudget }

// Limits of connections and memory, as metrics.
var (
	connectionsOpen    = describe("foldql_connections", "Connections that are open.")
	connectionsRefused = describe("foldql_connections_refused_total",
		"Connections refused because there were as many as may be.")
	inflightBytes   = describe("foldql_inflight_bytes", "Bytes that large requests take while they are answered.")
	inflightRefused = describe("foldql_inflight_refused_total",
		"Requests refused because others took as many bytes as may be.")
)

// Describe implements prometheus.Collector.
func (m Connections) Describe(to chan<- *prometheus.Desc) {
	to <- connectionsOpen
	to <- connectionsRefused
}

// Collect implements prometheus.Collector.
func (m Connections) Collect(to chan<- prometheus.Metric) {
	gauge(to, connectionsOpen, float64(m.Count()))
	counter(to, connectionsRefused, float64(m.Refused.Load()))
}

// Describe implements prometheus.Collector.
func (m Inflight) Describe(to chan<- *prometheus.Desc) {
	to <- inflightBytes
	to <- inflightRefused
}

// Collect implements prometheus.Collector.
func (m Inflight) Collect(to chan<- prometheus.Metric) {
	gauge(to, inflightBytes, float64(m.Used()))
	counter(to, inflightRefused, float64(m.Refused()))
}
