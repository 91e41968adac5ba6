// Package metrics holds everything that /metrics shows. The name of each metric stands in the file of what it measures,
// and in the table of docs/operations/reference.md.
package metrics

import (
	"log/slog"
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Handler serves what is measured, from a registry of its own.
func Handler(log *slog.Logger, own ...prometheus.Collector) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	registry.MustRegister(own...)
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn), ErrorHandling: promhttp.ContinueOnError,
	})
}

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

func counter(to chan<- prometheus.Metric, d *prometheus.Desc, value float64, labels ...string) {
	to <- constant(d, prometheus.CounterValue, value, labels)
}

func gauge(to chan<- prometheus.Metric, d *prometheus.Desc, value float64, labels ...string) {
	to <- constant(d, prometheus.GaugeValue, value, labels)
}

// constant takes labels with any bytes, as a source of the program's own may name its partitions by: a panic here is in
// a goroutine of the registry, and would end the server.
func constant(d *prometheus.Desc, kind prometheus.ValueType, value float64, labels []string) prometheus.Metric {
	for i, label := range labels {
		labels[i] = strings.ToValidUTF8(label, "\uFFFD")
	}
	return prometheus.MustNewConstMetric(d, kind, value, labels...)
}
