package server

import (
	"context"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/foldql/foldql/graph/graphqlerr"
)

// operations counts and times the operations of the API, as one of gqlgen's extensions.
type operations struct {
	requests *prometheus.CounterVec
	errors   *prometheus.CounterVec
	seconds  *prometheus.HistogramVec

	mu    sync.RWMutex
	known map[string]*operation
}

// operation is what is measured of the operations of one name.
type operation struct {
	requests prometheus.Counter
	seconds  prometheus.Observer
}

var _ interface {
	graphql.HandlerExtension
	graphql.ResponseInterceptor
	prometheus.Collector
} = (*operations)(nil)

// Clients choose the names of operations, so only the first so many are told apart; all others are "other". An operation
// without a name is "anonymous".
const (
	mostNames = 200
	longName  = 64
	otherName = "other"
	noName    = "anonymous"
)

func newOperations() *operations {
	return &operations{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "foldql_graphql_requests_total", Help: "Operations answered.",
		}, []string{"operation"}),
		errors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "foldql_graphql_errors_total", Help: "Errors in answers, by their code.",
		}, []string{"code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "foldql_graphql_seconds", Help: "Time from the request to its answer.",
			Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"operation"}),
		known: map[string]*operation{},
	}
}

// ExtensionName implements graphql.HandlerExtension.
func (o *operations) ExtensionName() string { return "Metrics" }

// Validate implements graphql.HandlerExtension.
func (o *operations) Validate(graphql.ExecutableSchema) error { return nil }

// InterceptResponse implements graphql.ResponseInterceptor.
func (o *operations) InterceptResponse(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
	resp := next(ctx)
	if resp == nil { // no answer follows
		return nil
	}
	op := graphql.GetOperationContext(ctx)
	name := ""
	if op.Operation != nil { // else the request names what is not there, or wrong
		name = op.Operation.Name
	}
	m := o.named(name)
	m.requests.Inc()
	if began := op.Stats.OperationStart; !began.IsZero() {
		m.seconds.Observe(time.Since(began).Seconds())
	}
	for _, err := range resp.Errors {
		o.errors.WithLabelValues(code(err)).Inc()
	}
	return resp
}

// code is the code of an error, of the closed list.
func code(err error) string {
	if c := graphqlerr.CodeOf(err); c != "" {
		return string(c)
	}
	return string(graphqlerr.Internal)
}

// named returns what is measured of the operations of a name.
func (o *operations) named(name string) *operation {
	switch {
	case name == "":
		name = noName
	case len(name) > longName:
		name = otherName
	}
	o.mu.RLock()
	m := o.known[name]
	o.mu.RUnlock()
	if m != nil {
		return m
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.known) >= mostNames {
		name = otherName
	}
	if m = o.known[name]; m == nil {
		m = &operation{o.requests.WithLabelValues(name), o.seconds.WithLabelValues(name)}
		o.known[name] = m
	}
	return m
}

// Describe implements prometheus.Collector.
func (o *operations) Describe(to chan<- *prometheus.Desc) {
	o.requests.Describe(to)
	o.errors.Describe(to)
	o.seconds.Describe(to)
}

// Collect implements prometheus.Collector.
func (o *operations) Collect(to chan<- prometheus.Metric) {
	o.requests.Collect(to)
	o.errors.Collect(to)
	o.seconds.Collect(to)
}
