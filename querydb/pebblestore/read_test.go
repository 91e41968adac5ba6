package pebblestore

import (
	"runtime"
	"strings"
	"testing"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// TestAPageTakesWhatItsRowsTake in memory, however many rows it might have had: of many pages, one row each, nobody is
// charged for more.
func TestAPageTakesWhatItsRowsTake(t *testing.T) {
	s := openCached(t, Options{})
	row := member(keys.Key{PK: "p", SK: strings.Repeat("x", 1000)}, 1, "g")
	applyAll(t, s, put(row))
	for _, index := range []int{driver.Primary, 0} {
		q := driver.Query{Index: index, PK: "p", Limit: 100, NoCache: true}
		if index == 0 {
			q.PK = "g"
		}
		ask(t, s, q) // what is used again is there from now on
		pages := make([]driver.Page, 1000)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		for i := range pages {
			pages[i] = ask(t, s, q)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		if took := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) / int64(len(pages)); took > 3000 {
			t.Errorf("index %d: a page of a row with a key of 1,000 bytes takes %d", index, took)
		}
		runtime.KeepAlive(pages)
	}
}
