package projection_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

func noted(i int, note string) ref {
	return ref{Op: "set", ID: fmt.Sprintf("%03d", i), Club: "A", Text: note}
}

// TestACascadeKeepsWhatEventsMakeMeanwhile: after each of its commits comes an event about the row that is next.
func TestACascadeKeepsWhatEventsMakeMeanwhile(t *testing.T) {
	const picks = 60
	events := [][]ref{{{Op: "club", ID: "A", Text: "old"}}}
	for i := range picks {
		events = append(events, []ref{noted(i, "plain")})
	}
	store := newFaultyStore()
	foldRefs(t, store, refMode{cascade: true}, 100, events...)
	events = append(events, []ref{{Op: "club", ID: "A", Text: "new"}})
	for i := range picks {
		change := noted(i, ", changed")
		change.Op = "note"
		events = append(events, []ref{change})
	}
	db, _ := foldRefs(t, store, refMode{cascade: true}, 1, events...) // one event a window, one row a commit
	for i := range picks {
		p := pickOf(t, db, noted(i, "").ID)
		if p.Club == nil || p.Club.Name != "new" || p.Note != "plain, changed" {
			t.Errorf("pick %d is %+v of club %+v: want it changed, and the new name", i, p, p.Club)
		}
	}
}

func pickOf(t *testing.T, db *querydb.DB, id string) (p Pick) {
	t.Helper()
	rows, err := db.Get(t.Context(), pickModel, []keys.Key{{PK: id}}, true)
	if err == nil {
		err = decodePick(rows[0].Record, &p)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// readSizes measures reads and commits of rows.
type readSizes struct {
	sizes
	read atomic.Int64 // bytes of the largest read
}

func (s *readSizes) Get(ctx context.Context, g driver.Get) ([]driver.Row, error) {
	rows, err := s.Driver.Get(ctx, g)
	bytes := int64(0)
	for i := range rows {
		bytes += int64(len(rows[i].Record))
	}
	for {
		most := s.read.Load()
		if bytes <= most || s.read.CompareAndSwap(most, bytes) {
			return rows, err
		}
	}
}

// TestACascadeToLargeRowsTakesFewAtOnce, so that it needs little memory: of rows that are large as they are, and of
// rows that the copies make large.
func TestACascadeToLargeRowsTakesFewAtOnce(t *testing.T) {
	const picks, most = 80, 9 << 20
	for name, size := range map[string]struct{ note, club int }{
		"large rows": {300_000, 10}, "large copies": {10, 300_000},
	} {
		store := &readSizes{sizes: sizes{Driver: &keptStore{memstore.New()}}}
		events := [][]ref{{{Op: "club", ID: "A", Text: "old"}}}
		for i := range picks {
			events = append(events, []ref{noted(i, strings.Repeat("x", size.note))})
		}
		foldRefs(t, store, refMode{cascade: true}, 10, events...)
		store.largest = 0
		store.read.Store(0)
		events = append(events, []ref{{Op: "club", ID: "A", Text: strings.Repeat("n", size.club)}})
		db, _ := foldRefs(t, store, refMode{cascade: true}, 1000, events...)
		for i := range picks {
			if p := pickOf(t, db, noted(i, "").ID); p.Club == nil || len(p.Club.Name) != size.club || len(p.Note) != size.note {
				t.Fatalf("%s: pick %d has a note of %d bytes and the club %+.20v", name, i, len(p.Note), p.Club)
			}
		}
		if read := store.read.Load(); read > most || store.largest > most {
			t.Errorf("%s: %d bytes are read at once, and %d in a commit: want at most %d", name, read, store.largest, most)
		}
		if store.largest < most/4 {
			t.Errorf("%s: a commit has %d bytes of rows at most: want more than a few", name, store.largest)
		}
	}
}
