package metrics

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/graph/graphqlhttp"
)

// Operations counts and times the operations of the API, as an interceptor of all of them.
type Operations struct {
	requests *prometheus.CounterVec
	errors   *prometheus.CounterVec
	seconds  *prometheus.HistogramVec

	names []string // of operations that have series of their own

	mu    sync.RWMutex
	known map[string]*operation
}

// operation is what is measured of the operations of one name.
type operation struct {
	requests prometheus.Counter
	seconds  prometheus.Observer
}

var _ interface {
	graphqlhttp.Interceptor
	prometheus.Collector
} = (*Operations)(nil)

// Clients choose the names of operations, and could fill the metrics with them. So an operation goes by its name only
// where the configuration has it; any other by the one field of Query that it asks, of which the schema has so many and
// no more.
const (
	severalFields = "several"
	noOperation   = "invalid" // the request is not of an operation that can be carried out
)

// NewOperations makes the metrics of operations; those of the names have series of their own.
func NewOperations(names []string) *Operations {
	return &Operations{
		names: names,
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "foldql_graphql_requests_total", Help: "Operations answered.",
		}, []string{"operation"}),
		errors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "foldql_graphql_errors_total", Help: "Errors in answers, by their code; `other` for one that is " +
				"not in the list.",
		}, []string{"code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "foldql_graphql_seconds", Help: "Time from the request to its answer.",
			Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"operation"}),
		known: map[string]*operation{},
	}
}

// Intercept implements graphqlhttp.Interceptor.
func (o *Operations) Intercept(ctx context.Context, op *graphqlhttp.Operation,
	next func(context.Context) *graphql.Response) *graphql.Response {
	m := o.measured(op)
	resp := next(ctx)
	m.requests.Inc()
	m.seconds.Observe(time.Since(op.Began).Seconds())
	for _, err := range resp.Errors {
		o.errors.WithLabelValues(code(err)).Inc()
	}
	return resp
}

// otherCode stands for codes that only resolvers of the program's own give: there could be any number of these.
const otherCode = "other"

// code is how metrics call the code of an error.
func code(err error) string {
	switch c := graphqlerr.CodeOf(err); {
	case c == "":
		return string(graphqlerr.Internal)
	case !c.IsListed():
		return otherCode
	default:
		return string(c)
	}
}

// Label is how metrics call the operation of a request, nil where it has none.
func (o *Operations) Label(op *ast.OperationDefinition) string {
	switch {
	case op == nil:
		return noOperation
	case slices.Contains(o.names, op.Name):
		return op.Name
	}
	if field, one := graphqlhttp.RootField(op); one {
		return field
	}
	return severalFields
}

// measured returns what is measured of the operation of a request.
func (o *Operations) measured(of *graphqlhttp.Operation) *operation {
	if of.Memo == nil {
		return o.labelled(o.Label(of.Definition))
	}
	known, ok := of.Memo.Load().(*operation)
	if !ok {
		known = o.labelled(o.Label(of.Definition))
		of.Memo.Store(known)
	}
	return known
}

// labelled returns what is measured of the operations of a label.
func (o *Operations) labelled(label string) *operation {
	o.mu.RLock()
	m := o.known[label]
	o.mu.RUnlock()
	if m != nil {
		return m
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if m = o.known[label]; m == nil {
		m = &operation{o.requests.WithLabelValues(label), o.seconds.WithLabelValues(label)}
		o.known[label] = m
	}
	return m
}

// Describe implements prometheus.Collector.
func (o *Operations) Describe(to chan<- *prometheus.Desc) {
	o.requests.Describe(to)
	o.errors.Describe(to)
	o.seconds.Describe(to)
}

// Collect implements prometheus.Collector.
func (o *Operations) Collect(to chan<- prometheus.Metric) {
	o.requests.Collect(to)
	o.errors.Collect(to)
	o.seconds.Collect(to)
}
