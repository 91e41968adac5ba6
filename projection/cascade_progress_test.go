package projection_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
)

// silentAfter is a log whose events after an offset are there, and are not read while the context lasts.
type silentAfter struct {
	eventlog.Source
	last uint64
}

func (s silentAfter) Read(ctx context.Context, partition string, after uint64, limit int) ([]eventlog.Event, error) {
	if after < s.last {
		return s.Source.Read(ctx, partition, after, min(limit, int(s.last-after)))
	}
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

// TestCopiesThatFollowTheirRowsAreProgress, though events wait for them meanwhile: a status that calls it a stall keeps
// a server from getting requests.
func TestCopiesThatFollowTheirRowsAreProgress(t *testing.T) {
	events := []eventlog.Event{refEvent("", ref{Op: "club", ID: "A", Text: "old"})}
	for i := range 2998 { // whole windows with the others: the rest of one would wait
		events = append(events, refEvent("", ref{Op: "set", ID: fmt.Sprint("pick", i), Club: "A"}))
	}
	last := uint64(len(events) + 1)
	log := openLog(t, append(events, refEvent("", ref{Op: "club", ID: "A", Text: "new"}), refEvent(""))...)
	store, c, cfg := newFaultyStore(), &clock{at: epoch}, quick()
	cfg.Now, cfg.WindowEvents = c.now, 1000
	r, err := projection.NewRunner(refGroup(refMode{cascade: true}), silentAfter{log, last},
		open(t, store, clubModel, pickModel), cfg)
	if err != nil {
		t.Fatal(err)
	}
	commits := 0 // with every event folded that is read
	store.after = func(int) error {
		s, err := r.Status(context.Background())
		if err != nil || s.State == projection.StateStalled {
			t.Errorf("after %d commits that took 20 s each, it is %s, %v", commits, s.State, err)
		}
		if r.Reached().Offsets["0"] == last {
			commits++
		}
		c.move(20 * time.Second)
		return nil
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	limit := time.Now().Add(time.Minute)
	for at := r.Reached(); at.Offsets["0"] < last || at.Cascades > 0; at = r.Reached() {
		if time.Now().After(limit) {
			t.Fatalf("the rows are at %v, with %d of which copies are yet to follow", at.Offsets, at.Cascades)
		}
		time.Sleep(time.Millisecond)
	}
	stop()
	<-done
	if commits < 3 {
		t.Errorf("copies have followed in %d commits, want several", commits)
	}
}
