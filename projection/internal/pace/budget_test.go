package pace

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestAllWhoShareABudgetTakeNoMoreThanItTogether, however many they are, each an equal part of it with two goroutines,
// of which no more work at once than there are places; and they take all of it.
func TestAllWhoShareABudgetTakeNoMoreThanItTogether(t *testing.T) {
	for _, c := range []struct {
		share               float64
		cpus, members, most int
	}{
		{0.5, 2, 1, 1}, {0.5, 2, 2, 1}, {0.5, 2, 11, 1}, {0.25, 8, 3, 2}, {0.75, 4, 6, 3}, {1, 4, 4, 4}, {1, 2, 6, 2},
		{0.01, 1, 5, 1},
	} {
		t.Run(fmt.Sprintf("%v of %d for %d", c.share, c.cpus, c.members), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				whole := 6 * time.Second // some 40,000 pieces of work
				if c.share*float64(c.cpus) < 1 {
					whole = 30 * time.Second // there are fewer of them
				}
				ctx, cancel := context.WithTimeout(t.Context(), whole)
				defer cancel()
				b := newBudget(c.share, c.share, c.cpus)
				worked := make([]atomic.Int64, c.members)
				var now, most atomic.Int64 // who works at once: no two wake at a time that is drawn
				var all sync.WaitGroup
				for i := range c.members {
					m := b.Join(false)
					m.Works(true)
					m.Works(true) // counts once
					for g := range 2 {
						random := rand.New(rand.NewPCG(uint64(i), uint64(g)))
						all.Go(func() {
							turns := m.NewTurns()
							for turns.Begin(ctx) == nil {
								for range 1 + random.IntN(100) {
									if n := now.Add(1); ctx.Err() == nil { // in the end all hurry
										most.Store(max(n, most.Load()))
									}
									d := time.Duration(random.IntN(int(mostAtOnce / 2)))
									time.Sleep(d) // works
									now.Add(-1)
									worked[i].Add(int64(d))
									turns.Rest()
								}
								turns.End()
							}
						})
					}
				}
				all.Wait()
				total, together := 0.0, min(c.share*float64(c.cpus), float64(c.members))
				for i := range worked {
					own := float64(worked[i].Load()) / float64(whole)
					total += own
					if part := together / float64(c.members); own > part*1.01+0.001 {
						t.Errorf("one works %.3f of the time, more than %.3f", own, part)
					}
				}
				if total > together*1.01+0.001 || total < together*0.9 {
					t.Errorf("all work for %.3f processors, want about %.3f", total, together)
				}
				if got := most.Load(); got > int64(c.most) {
					t.Errorf("%d work at once, want %d at most", got, c.most)
				}
			})
		})
	}
}

// TestThePartIsSmallerWhileSomebodyAsks, for a while after each question, and so are the places.
func TestThePartIsSmallerWhileSomebodyAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(0.1, 0.4, 8)
		want := func(when string, passes time.Duration, atOnce int) {
			t.Helper()
			if got := b.Passes(time.Second).Round(time.Millisecond); got != passes {
				t.Errorf("%s the work of a second takes %v, want %v", when, got, passes)
			}
			n, room := 0, b.room()
			for b.places.TryAcquire(room) {
				n++
			}
			b.places.Release(int64(n) * room)
			if n != atOnce {
				t.Errorf("%s %d work at once, want %d", when, n, atOnce)
			}
		}
		for range 10 {
			b.Join(false).Works(true)
		}
		want("before anybody asks", 3125*time.Millisecond, 3)
		for range 3 {
			b.Asked()
			want("while somebody asks", 12500*time.Millisecond, 1)
			time.Sleep(quiet - 1)
		}
		want("not long after that", 12500*time.Millisecond, 1)
		time.Sleep(time.Nanosecond)
		want("when nobody has asked for a while", 3125*time.Millisecond, 3)
	})
}

// TestWhoHasNothingToDoLeavesItsPartToTheOthers as long as that is so.
func TestWhoHasNothingToDoLeavesItsPartToTheOthers(t *testing.T) {
	b := newBudget(0.25, 0.25, 2)
	all := []*Member{b.Join(false), b.Join(false), b.Join(false), b.Join(false)}
	for _, m := range all {
		m.Works(true)
	}
	if got, want := b.Passes(time.Second), 8*time.Second; got != want {
		t.Errorf("of four, one that works for a second takes %v, want %v", got, want)
	}
	for _, m := range all[1:] {
		m.Works(false)
	}
	if got, want := b.Passes(time.Second), 2*time.Second; got != want {
		t.Errorf("alone, one that works for a second takes %v, want %v", got, want)
	}
}

// TestOneThatWaitsForOthersTakesNobodysPlace nor part, and is bounded all the same, as if it were alone.
func TestOneThatWaitsForOthersTakesNobodysPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(0.25, 0.25, 2)
		local, waiting := b.Join(false).NewTurns(), b.Join(true)
		for range 3 {
			b.Join(true).Works(true)
			b.Join(false).Works(true)
		}
		waiting.Works(true)
		if got, want := b.Passes(time.Second), 6*time.Second; got != want {
			t.Errorf("beside three that work and some that wait, the work of a second takes %v, want %v", got, want)
		}
		remote := waiting.NewTurns()
		for _, turns := range []*Turns{local, remote} {
			if err := turns.Begin(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Second) // works
		began := time.Now()
		remote.Rest()
		if waited := time.Since(began); waited > 0 {
			t.Errorf("it rests for %v amid its turn: a commit of what it has read would be late", waited)
		}
		remote.End()
		if err := remote.Begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(began); waited < time.Second-mostCredit || waited > time.Second {
			t.Errorf("after a second it waits for %v, want about a second", waited)
		}
		remote.End()
		local.End()
	})
}

// TestOneThatWaitsAsideLeavesItsPlaceToAnother, and has worked nevertheless.
func TestOneThatWaitsAsideLeavesItsPlaceToAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(0.25, 0.25, 2)
		one, other := b.Join(false).NewTurns(), b.Join(false).NewTurns()
		if err := one.Begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		one.Aside(func() {
			if err := other.Begin(t.Context()); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Second)
			other.End()
		})
		if took := time.Since(began); took < 2*time.Second-mostCredit || took > 2*time.Second {
			t.Errorf("a second aside took %v, want about two", took)
		}
		one.End()
	})
}

// TestATurnThatHungIsNotPaidForAtLength: what was stopped for an hour took no processor's time.
func TestATurnThatHungIsNotPaidForAtLength(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(0.25, 0.25, 2)
		m := b.Join(false)
		turns := m.NewTurns()
		if err := turns.Begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour) // hangs
		turns.End()
		began := time.Now()
		if err := m.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(began); waited > b.Passes(mostCounted) {
			t.Errorf("after an hour it waits for %v, want %v at most", waited, b.Passes(mostCounted))
		}
	})
}

// TestATurnEndsWithItsContext: nobody waits for a turn, or rests, for longer.
func TestATurnEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(0.001, 0.001, 1)
		m := b.Join(false)
		ctx, cancel := context.WithCancel(t.Context())
		turns := m.NewTurns()
		if err := turns.Begin(ctx); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second) // works
		cancel()
		began := time.Now()
		turns.Rest()
		turns.End()
		if err := m.NewTurns().Begin(ctx); err != context.Canceled {
			t.Errorf("a turn whose context has ended begins: %v", err)
		}
		if waited := time.Since(began); waited > 0 {
			t.Errorf("it waited for %v after the end of its context", waited)
		}
		fresh := b.Join(false).NewTurns() // the place is free
		if err := fresh.Begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		fresh.End()
	})
}

func TestABudgetIsAPart(t *testing.T) {
	for _, parts := range [][2]float64{{0, 0.5}, {-1, 0.5}, {0.5, 1.1}, {0.5, 0.4}} {
		if _, err := New(parts[0], parts[1]); err == nil {
			t.Errorf("a budget of %v is taken", parts)
		}
	}
}
