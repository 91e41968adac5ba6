package pebblestore_test

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/drivertest"
	"github.com/foldql/foldql/querydb/pebblestore"
)

func open(t testing.TB, opts pebblestore.Options) *pebblestore.Store {
	t.Helper()
	s, err := pebblestore.Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestDriver(t *testing.T) {
	drivertest.Run(t, func(t *testing.T, _ ...*driver.Table) driver.Driver {
		return open(t, pebblestore.Options{Dir: "data", FS: vfs.NewMem()})
	}, drivertest.Options{Bytes: true})
}

func BenchmarkDriver(b *testing.B) {
	drivertest.Bench(b, 200_000, func(b *testing.B) driver.Driver {
		return open(b, pebblestore.Options{Dir: b.TempDir()})
	})
}
