package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore"
)

// openDynamo opens rows in DynamoDB, where the tables are as the models need them.
func openDynamo(ctx context.Context, cfg dynamostore.Config, app *App, log *slog.Logger) (*rows, error) {
	cfg.Log = log
	drv, err := dynamostore.Open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if err := drv.CheckTables(ctx, []*driver.Table{querydb.NotesTable()}); err != nil {
		return nil, errors.Join(err, drv.Close())
	}
	db, err := querydb.Open(ctx, drv, app.Models, querydb.Config{Log: log})
	if err != nil {
		return nil, errors.Join(err, drv.Close())
	}
	needed, err := neededTables(ctx, db, app)
	if err == nil {
		err = drv.CheckTables(ctx, needed)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &rows{DB: db, driver: drv, measured: []prometheus.Collector{&dynamoMetrics{drv}}}, nil
}

// neededTables are the tables that the projections will write to, and those that are read beside.
func neededTables(ctx context.Context, db *querydb.DB, app *App) ([]*driver.Table, error) {
	list, folded := []*driver.Table{querydb.NotesTable()}, map[*querydb.Model]bool{}
	for _, p := range app.Projections {
		g, err := projection.TargetGeneration(ctx, db, p)
		if err != nil {
			return nil, fmt.Errorf("find the table that %s writes to: %w", p.Name, err)
		}
		list = append(list, querydb.TableOf(p.Model, g))
		folded[p.Model] = true
	}
	for _, m := range app.Models {
		if folded[m] {
			continue
		}
		g, err := db.Generation(ctx, m)
		if err != nil {
			return nil, err
		}
		list = append(list, querydb.TableOf(m, g.Number))
	}
	return list, nil
}

// firstTables are the tables that are needed where nothing has ever been written.
func firstTables(app *App) []*driver.Table {
	list := []*driver.Table{querydb.NotesTable()}
	for _, m := range app.Models {
		list = append(list, querydb.TableOf(m, 0))
	}
	return list
}

// dynamoMetrics reads the counters of a store in DynamoDB.
type dynamoMetrics struct{ store *dynamostore.Store }

var (
	dynamoRequests   = describe("dynamodb_requests_total", "Requests sent, repeated ones too.")
	dynamoRetries    = describe("dynamodb_retries_total", "Requests sent again.")
	dynamoThrottled  = describe("dynamodb_throttled_total", "Requests refused for being too many, or left undone in part.")
	dynamoConditions = describe("dynamodb_conditions_failed_total", "Writes that met another row than they supposed, or had been applied before.")
	dynamoReadUnits  = describe("dynamodb_read_units_total", "Read units consumed.")
	dynamoSuspended  = describe("dynamodb_suspended", "1 while queries are refused because DynamoDB does not answer, else 0.")
	dynamoSuspends   = describe("dynamodb_suspensions_total", "How often queries began to be refused because DynamoDB did not answer.")
	dynamoWriteUnits = describe("dynamodb_write_units_total", "Write units consumed by what took effect.")
)

// Describe implements prometheus.Collector.
func (m *dynamoMetrics) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		dynamoRequests, dynamoRetries, dynamoThrottled, dynamoConditions, dynamoReadUnits, dynamoWriteUnits,
		dynamoSuspended, dynamoSuspends,
	} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (m *dynamoMetrics) Collect(to chan<- prometheus.Metric) {
	s := m.store.Stats()
	counter(to, dynamoRequests, float64(s.Requests))
	counter(to, dynamoRetries, float64(s.Retries))
	counter(to, dynamoThrottled, float64(s.Throttled))
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
