package projection_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/foldql/foldql/querydb/memstore"
)

// TestADeadLetterThatWaitsCostsNoLookAtThoseBeforeIt: on a shared store the row may have appeared meanwhile, and is
// looked up once more; but not those that others wait for.
func TestADeadLetterThatWaitsCostsNoLookAtThoseBeforeIt(t *testing.T) {
	const n = 100
	var events [][]ref
	for i := range n {
		events = append(events, []ref{{Op: "set", ID: fmt.Sprint("p", i), Club: fmt.Sprint("c", i)}})
	}
	read := 0
	store := memstore.NewMultiWriter(memstore.Options{Now: func() time.Time { return epoch }})
	_, letters := foldRefs(t, counted{store, &read}, refMode{}, 1, events...)
	if len(letters) != 10 { // foldRefs lists ten
		t.Fatalf("%d dead letters: this shows nothing", len(letters))
	}
	if most := 8 * n; read > most {
		t.Errorf("%d events that wait read %d keys, want %d at most", n, read, most)
	}
}
