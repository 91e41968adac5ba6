package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/foldql/foldql/querydb/dynamostore"
)

// DynamoDB reads the counters of a store in DynamoDB.
type DynamoDB struct{ Store *dynamostore.Store }

var (
	dynamoRequests  = describe("foldql_dynamodb_requests_total", "Requests sent, repeated ones too.")
	dynamoRetries   = describe("foldql_dynamodb_retries_total", "Requests sent again.")
	dynamoThrottled = describe("foldql_dynamodb_throttled_total",
		"Requests refused for being too many, or left undone in part, as a read of more than 16 MB is.")
	dynamoConflicts = describe("foldql_dynamodb_conflicts_total",
		"Requests that met a transaction about the same item, and were sent again.")
	dynamoConditions = describe("foldql_dynamodb_conditions_failed_total",
		"Writes that found another row than expected, or had been applied before.")
	dynamoReadUnits = describe("foldql_dynamodb_read_units_total", "Read units consumed.")
	dynamoSuspended = describe("foldql_dynamodb_suspended", "1 while queries are refused because DynamoDB does not "+
		"answer, else 0.")
	dynamoSuspends = describe("foldql_dynamodb_suspensions_total",
		"How often queries began to be refused because DynamoDB did not answer.")
	dynamoWriteUnits = describe("foldql_dynamodb_write_units_total", "Write units consumed by what took effect.")
)

// Describe implements prometheus.Collector.
func (m *DynamoDB) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		dynamoRequests, dynamoRetries, dynamoThrottled, dynamoConflicts, dynamoConditions, dynamoReadUnits,
		dynamoWriteUnits, dynamoSuspended, dynamoSuspends,
	} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (m *DynamoDB) Collect(to chan<- prometheus.Metric) {
	s := m.Store.Stats()
	counter(to, dynamoRequests, float64(s.Requests))
	counter(to, dynamoRetries, float64(s.Retries))
	counter(to, dynamoThrottled, float64(s.Throttled))
	counter(to, dynamoConflicts, float64(s.Conflicts))
	counter(to, dynamoConditions, float64(s.ConditionFailed))
	counter(to, dynamoReadUnits, s.ReadUnits)
	counter(to, dynamoWriteUnits, s.WriteUnits)
	suspended := 0.0
	if s.Suspended {
		suspended = 1
	}
	gauge(to, dynamoSuspended, suspended)
	counter(to, dynamoSuspends, float64(s.Suspensions))
}
