package projection_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// damagedStore is a store in which club A cannot be read, once a dead letter is on record.
type damagedStore struct {
	*memstore.MultiWriter
	damaged bool
}

func (s *damagedStore) Get(ctx context.Context, g driver.Get) ([]driver.Row, error) {
	if s.damaged && g.Table.Name == clubModel.Table && slices.Contains(g.Keys, keys.Key{PK: "A"}) {
		return nil, fmt.Errorf("%w: club A is none that this store wrote", driver.ErrDamaged)
	}
	return s.MultiWriter.Get(ctx, g)
}

func (s *damagedStore) Apply(ctx context.Context, b driver.Batch) error {
	err := s.MultiWriter.Apply(ctx, b)
	for _, w := range b.Last {
		s.damaged = s.damaged || strings.HasPrefix(w.Row.Key.PK, "deadletter:")
	}
	return err
}

// TestAnAwaitedRowThatCannotBeReadHoldsUpNoEvents: the dead letter goes on waiting, and its window and those after it
// are folded, by whoever has made it a dead letter and by a later start.
func TestAnAwaitedRowThatCannotBeReadHoldsUpNoEvents(t *testing.T) {
	events := [][]ref{{{Op: "set", ID: "a", Club: "A"}}, {{Op: "club", ID: "B", Text: "Bob's"}},
		{{Op: "set", ID: "b", Club: "B"}}, {{Op: "set", ID: "c", Club: "B"}}}
	for _, window := range []int{1, 100} {
		shared := memstore.NewMultiWriter(memstore.Options{Now: epochNow})
		for _, n := range []int{3, 4} {
			store := &damagedStore{shared.Join(memstore.Options{Now: epochNow}), n > 3}
			db, letters := foldRefs(t, store, refMode{}, window, events[:n]...)
			if !store.damaged || len(letters) != 1 || letters[0].Ref != "0@1" {
				t.Errorf("windows of %d, %d events: dead letters %+v; want that of the first event alone", window, n, letters)
			}
			if p := pickOf(t, db, []string{"b", "c"}[n-3]); p.Club == nil || p.Club.Name != "Bob's" {
				t.Errorf("windows of %d, %d events: the last pick holds %+v, want club B", window, n, p.Club)
			}
		}
	}
}

// TestARowThatAppearedIsFoundBesideOneThatCannotBeRead, by a start that looks both up at once.
func TestARowThatAppearedIsFoundBesideOneThatCannotBeRead(t *testing.T) {
	events := [][]ref{{{Op: "set", ID: "a", Club: "A"}}, {{Op: "set", ID: "c", Club: "C"}},
		{{Op: "club", ID: "C", Text: "Cem's"}}}
	shared := memstore.NewMultiWriter(memstore.Options{Now: epochNow})
	endAfterClub(t, shared, events)
	store := &damagedStore{shared.Join(memstore.Options{Now: epochNow}), true}
	db, letters := foldRefs(t, store, refMode{}, 100, events...)
	if len(letters) != 1 || letters[0].Ref != "0@1" {
		t.Errorf("dead letters %+v; want that of the first event alone", letters)
	}
	if p := pickOf(t, db, "c"); p.Club == nil || p.Club.Name != "Cem's" {
		t.Errorf("the pick holds %+v, want club C", p.Club)
	}
}

// refusingStore is a store that refuses what is decided about dead letters.
type refusingStore struct{ *memstore.MultiWriter }

func (s refusingStore) Apply(ctx context.Context, b driver.Batch) error {
	for _, w := range b.Last {
		if strings.HasPrefix(w.Row.Key.PK, "decision:") {
			return fmt.Errorf("%w: a decision", driver.ErrInvalid)
		}
	}
	return s.MultiWriter.Apply(ctx, b)
}

// TestARetryThatTheStoreRefusesHoldsUpNoEvents, and none is blamed for it.
func TestARetryThatTheStoreRefusesHoldsUpNoEvents(t *testing.T) {
	events := [][]ref{{{Op: "set", ID: "a", Club: "A"}}, {{Op: "club", ID: "A", Text: "Ann's"}},
		{{Op: "set", ID: "b", Club: "A"}}}
	for _, window := range []int{1, 100} {
		store := refusingStore{memstore.NewMultiWriter(memstore.Options{Now: epochNow})}
		db, letters := foldRefs(t, store, refMode{}, window, events...)
		if len(letters) != 1 || letters[0].Ref != "0@1" {
			t.Errorf("windows of %d: dead letters %+v; want that of the first event alone", window, letters)
		}
		if p := pickOf(t, db, "b"); p.Club == nil || p.Club.Name != "Ann's" {
			t.Errorf("windows of %d: the last pick holds %+v, want club A", window, p.Club)
		}
	}
}

// endAfterClub folds the events in a process that ends when it has written a club, and before it retries who waits for
// that.
func endAfterClub(t *testing.T, shared *memstore.MultiWriter, events [][]ref) {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	defer end()
	opts := memstore.Options{Now: epochNow, After: func(c memstore.Commit) error {
		isClub := func(w driver.Write) bool { return w.Table.Name == clubModel.Table }
		if c.Number < c.Of-1 || !slices.ContainsFunc(c.Batch.Writes, isClub) {
			return nil
		}
		end()
		return errKilled
	}, Before: func(memstore.Commit) error {
		if ctx.Err() != nil {
			return errKilled
		}
		return nil
	}}
	log := openLog(t)
	for i, ops := range events {
		add(t, log, i, refEvent("", ops...))
	}
	log.End()
	db := open(t, shared.Join(opts), clubModel, pickModel)
	if err := refRunner(t, refMode{}, log, db, 1).Run(ctx); ctx.Err() == nil {
		t.Fatalf("the process has not ended amid its work: %v", err)
	}
}
