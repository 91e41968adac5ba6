package dynamostore

import (
	"testing"

	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/drivertest"
	"github.com/foldql/foldql/querydb/dynamostore/internal/client"
)

func TestDriver(t *testing.T) {
	atEach(t, func(t *testing.T, e dynamolocal.Engine) {
		drivertest.Run(t, func(t *testing.T, tables ...*driver.Table) driver.Driver {
			return openWith(t, e, Config{}, tables...)
		}, drivertest.Options{Known: dynamolocal.Defects[e]})
	})
}

func atEach(t *testing.T, prove func(t *testing.T, e dynamolocal.Engine)) {
	for _, e := range dynamolocal.Engines() {
		t.Run(string(e), func(t *testing.T) { prove(t, e) })
	}
}

// open returns a store in a place of its own at the engine.
func open(t testing.TB, e dynamolocal.Engine, cfg Config) *Store {
	t.Helper()
	place := dynamolocal.Start(t, e)
	place.Setenv(t)
	cfg.Prefix = place.Prefix
	s, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// openWith returns a store whose tables are there.
func openWith(t testing.TB, e dynamolocal.Engine, cfg Config, tables ...*driver.Table) *Store {
	t.Helper()
	s := open(t, e, cfg)
	if err := s.ApplyTables(t.Context(), Tables{Needed: tables}, false, func(string) {}); err != nil {
		t.Fatal(err)
	}
	s.client.Counters = client.Counters{}
	return s
}
