package pebblestore

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// TestASweepGoesOnWhereItsLastBatchEnded, past all that the batches before have removed, and misses no row that is
// written there meanwhile.
func TestASweepGoesOnWhereItsLastBatchEnded(t *testing.T) {
	s := openCached(t, Options{})
	ending := func(sk string, second int64) driver.Write {
		row := member(keys.Key{PK: "p", SK: sk}, 0, "g")
		row.Expires = time.Unix(second, 0)
		return put(row)
	}
	for i := range 5 {
		applyAll(t, s, ending(fmt.Sprint(i), int64(10+i)))
	}
	sweep := func(removed int, left ...string) {
		t.Helper()
		n, err := s.Sweep(t.Context(), listed, time.Unix(100, 0), 2)
		if err != nil || n != removed {
			t.Errorf("%d rows were removed, %v; want %d", n, err, removed)
		}
		page := ask(t, s, driver.Query{Index: driver.Primary, PK: "p", Limit: 10})
		var sks []string
		for i := range page.Rows {
			sks = append(sks, page.Rows[i].Key.SK)
		}
		if !slices.Equal(sks, left) {
			t.Errorf("the rows %q are left, want %q", sks, left)
		}
	}
	sweep(2, "2", "3", "4")
	applyAll(t, s, ending("early", 1), ending("first", 0))
	sweep(2, "4", "early", "first")
	sweep(2, "4") // as fewer than two follow, it begins again
	sweep(1)
	sweep(0)
	applyAll(t, s, ending("last", 0))
	sweep(1)
}
