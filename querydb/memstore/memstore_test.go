package memstore_test

import (
	"testing"

	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/drivertest"
	"github.com/foldql/foldql/querydb/memstore"
)

func TestDriver(t *testing.T) {
	drivertest.Run(t, func(*testing.T) driver.Driver { return memstore.New() })
}

func BenchmarkDriver(b *testing.B) {
	drivertest.Bench(b, 50_000, func(*testing.B) driver.Driver { return memstore.New() })
}
