package memstore_test

import (
	"testing"

	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/drivertest"
	"github.com/foldql/foldql/querydb/memstore"
)

func TestDriver(t *testing.T) {
	drivertest.Run(t, func(*testing.T, ...*driver.Table) driver.Driver {
		return memstore.New()
	}, drivertest.Options{Bytes: true})
}

func TestSharedDriver(t *testing.T) {
	drivertest.Run(t, func(*testing.T, ...*driver.Table) driver.Driver {
		return memstore.NewMultiWriter(memstore.Options{})
	}, drivertest.Options{Bytes: true})
}

func BenchmarkDriver(b *testing.B) {
	drivertest.Bench(b, 50_000, func(*testing.B) driver.Driver { return memstore.New() })
}
