package projection_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// A store removes rows that have expired by itself, and knows of no links: these lead nowhere then.

// expiring folds many picks of a club, removes all but one as a store does, and renames the club now and then.
type expiring struct {
	*testing.T
	store  func() driver.Driver
	mode   refMode
	events [][]ref
}

func newExpiring(t *testing.T, store func() driver.Driver, mode refMode, picks int) *expiring {
	x := &expiring{T: t, store: store, mode: mode, events: [][]ref{{{Op: "club", ID: "A", Text: "old"}}}}
	for i := range picks {
		x.events = append(x.events, []ref{noted(i, "")})
	}
	db, _ := foldRefs(t, store(), mode, 1000, x.events...)
	var b querydb.Batch
	for i := range picks - 1 {
		key, err := x.mode.picks().Key(noted(i, "").ID)
		if err != nil {
			t.Fatal(err)
		}
		b.Writes = append(b.Writes, querydb.Write{Model: pickModel, Row: querydb.Row{Key: key}})
	}
	for len(b.Writes) > 0 {
		n := min(90, len(b.Writes))
		if err := db.Apply(t.Context(), querydb.Batch{Writes: b.Writes[:n]}); err != nil {
			t.Fatal(err)
		}
		b.Writes = b.Writes[n:]
	}
	return x
}

// rename renames the club, wants the pick that is left to follow, and returns how many links there are.
func (x *expiring) rename(left int) (links int) {
	x.Helper()
	name := fmt.Sprint("new", len(x.events))
	x.events = append(x.events, []ref{{Op: "club", ID: "A", Text: name}})
	db, letters := foldRefs(x.T, x.store(), x.mode, 1000, x.events...)
	if len(letters) > 0 {
		x.Fatalf("dead letter: %s", letters[0].Reason)
	}
	if p := pickOf(x.T, db, noted(left, "").ID); p.Club == nil || p.Club.Name != name {
		x.Fatalf("the pick holds %+v, want the name %s", p.Club, name)
	}
	for after := ""; ; {
		notes, err := db.Notes().List(x.Context(), "link:Club.g0:clubs+picks", after, 1000)
		if err != nil {
			x.Fatal(err)
		}
		if links += len(notes); len(notes) < 1000 {
			return links
		}
		after = notes[len(notes)-1].ID
	}
}

// TestLinksOfRowsThatHaveExpiredAreTakenAway by the cascade that finds them to lead nowhere.
func TestLinksOfRowsThatHaveExpiredAreTakenAway(t *testing.T) {
	for _, picks := range []int{40, 100} { // followed by ops, and by replacing copies
		for name, join := range refStores() {
			t.Run(fmt.Sprint(picks, " on the store of ", name), func(t *testing.T) {
				x := newExpiring(t, join, refMode{cascade: true}, picks)
				links := picks
				for range 10 {
					if links = x.rename(picks - 1); links == 1 {
						return
					}
				}
				t.Errorf("%d links are left, want 1", links)
			})
		}
	}
}

// TestRowsThatHaveExpiredDoNotCountAsCopiesInTheCommit: else a row that many others have referred to could never change
// again.
func TestRowsThatHaveExpiredDoNotCountAsCopiesInTheCommit(t *testing.T) {
	const picks = 10_050
	store := &keptStore{memstore.New()}
	x := newExpiring(t, func() driver.Driver { return store }, refMode{cascade: true, transactional: true}, picks)
	if links := x.rename(picks - 1); links >= picks {
		t.Errorf("%d links are left, want fewer", links)
	}
	x.rename(picks - 1)
}

// TestRowsThatHaveExpiredDoNotCountOnAStoreOfSeveralWriters, whose commits hold few rows.
func TestRowsThatHaveExpiredDoNotCountOnAStoreOfSeveralWriters(t *testing.T) {
	x := newExpiring(t, refStores()["several writers"], refMode{cascade: true, transactional: true}, 300)
	x.rename(299)
	x.rename(299)
}

// revivedStore has a row made again just before the link to it is taken away.
type revivedStore struct {
	*memstore.MultiWriter
	key  string
	made driver.Write // of the row, as it was first written
	done bool
}

func (s *revivedStore) Apply(ctx context.Context, b driver.Batch) error {
	for _, w := range b.Writes {
		if w.Row.Key.PK == s.key && w.Kind == driver.Put && w.Table.Name == "Pick" && s.made.Table == nil {
			s.made = w
		}
	}
	for _, w := range b.Last {
		if s.done || w.Kind != driver.Delete || !strings.HasPrefix(w.Row.Key.PK, "link:") ||
			!strings.Contains(w.Row.Key.SK, "="+s.key) {
			continue
		}
		s.done = true
		again := driver.Write{Table: s.made.Table, Kind: driver.Put, Row: s.made.Row}
		again.Row.Position, again.Row.Revision = driver.Position{}, 0
		if err := s.MultiWriter.Apply(ctx, driver.Batch{Writes: []driver.Write{again}}); err != nil {
			return err
		}
	}
	return s.MultiWriter.Apply(ctx, b)
}

// TestALinkStaysWhoseRowAnotherProcessMakesAgain while the cascade that found none takes the link away, whatever has
// become of the link itself meanwhile.
func TestALinkStaysWhoseRowAnotherProcessMakesAgain(t *testing.T) {
	for name, mode := range map[string]refMode{
		"after the commit": {cascade: true}, "in the commit": {cascade: true, transactional: true},
	} {
		t.Run(name, func(t *testing.T) {
			now := func() time.Time { return epoch }
			several := memstore.NewMultiWriter(memstore.Options{Now: now})
			store := &revivedStore{key: noted(3, "").ID}
			x := newExpiring(t, func() driver.Driver {
				store.MultiWriter = several.Join(memstore.Options{Now: now})
				return store
			}, mode, 120)
			links := 0
			for n := 0; n < 20 && !store.done; n++ {
				links = x.rename(119)
			}
			if !store.done || links == 0 {
				t.Fatalf("the row was made again: %t; %d links are left", store.done, links)
			}
			x.rename(3)
		})
	}
}
