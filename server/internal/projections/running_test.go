package projections

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb/memstore"
)

// TestAProjectionThatIsToldToEndIsHealthy: it stands still for a switch, and has not stopped.
func TestAProjectionThatIsToldToEndIsHealthy(t *testing.T) {
	v := openVersion(t, memstore.NewMultiWriter(memstore.Options{}), "1")
	log := memlog.New(memlog.Options{})
	defer log.Close()
	r, err := projection.NewRunner(v.p, log, v.db, projection.RunnerConfig{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	set, one := &Set{log: slog.New(slog.DiscardHandler)}, &Running{Runner: r, Name: "Order"}
	ctx, end := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		set.keepRunning(ctx, one)
	}()
	for running := false; !running; {
		s, err := r.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		running = s.State == projection.StateLive
	}
	end()
	<-done
	if _, err := one.healthy(t.Context(), projection.NewHeads(log)); err != nil {
		t.Error(err)
	}
}

// TestAProjectionThatIsToldToEndAndDoesNotGoOnIsNotHealthy: what it stands still for may hang.
func TestAProjectionThatIsToldToEndAndDoesNotGoOnIsNotHealthy(t *testing.T) {
	v := openVersion(t, memstore.NewMultiWriter(memstore.Options{}), "1")
	log := memlog.New(memlog.Options{})
	defer log.Close()
	old := func() time.Time { return time.Now().Add(-2 * silence) }
	r, err := projection.NewRunner(v.p, log, v.db,
		projection.RunnerConfig{Logger: slog.New(slog.DiscardHandler), Now: old})
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	end()
	set, one := &Set{log: slog.New(slog.DiscardHandler)}, &Running{Runner: r, Name: "Order"}
	set.keepRunning(ctx, one)
	if _, err := one.healthy(t.Context(), projection.NewHeads(log)); err == nil {
		t.Error("a projection that has stood still for long is healthy")
	}
}

// TestFrozenRowsAreUpWhileTheyOrThoseToFollowGetOn, as they are ready.
func TestFrozenRowsAreUpWhileTheyOrThoseToFollowGetOn(t *testing.T) {
	goal := eventlog.Offsets{"0": 5}
	stopped := &projection.BuildStatus{State: projection.StateStopped, Stop: &projection.StopError{}}
	dead := &projection.BuildStatus{State: projection.StateStopped, LastError: "the source has forgotten events"}
	fails := &projection.BuildStatus{State: projection.StateStalled, FailingSince: time.Now().Add(-time.Hour)}
	retries := &projection.BuildStatus{State: projection.StateStalled, FailingSince: time.Now()}
	for name, tc := range map[string]struct {
		at, lag uint64
		build   *projection.BuildStatus
		up      bool
	}{
		"others fold them":                  {8, 2, nil, true},
		"nobody folds them":                 {8, 4, nil, false},
		"never where the log ended":         {4, 1, nil, false},
		"others are built":                  {4, 4, &projection.BuildStatus{}, true},
		"others were built, up to an event": {8, 2, stopped, false},
		"others are built, slowly":          {4, 4, &projection.BuildStatus{State: projection.StateStalled}, true},
		"others were built, up to an error": {8, 2, dead, false},
		"others fail to be built":           {8, 4, fails, false},
		"others fail, and these are folded": {8, 2, fails, true},
		"others are tried again":            {4, 4, retries, true},
	} {
		s := projection.Status{Frozen: true, Lag: tc.lag, Build: tc.build,
			Partitions: []projection.PartitionStatus{{Partition: "0", Checkpoint: tc.at}}}
		if err := (frozenRows{&Running{Name: "Order"}}).healthy(&s, goal, 3); (err == nil) != tc.up {
			t.Errorf("%s: got error %v, want it up: %v", name, err, tc.up)
		}
	}
}

// TestFrozenRowsThatNobodyGetsOnWithAreNotHealthy, so that neither metrics nor readiness take them for good.
func TestFrozenRowsThatNobodyGetsOnWithAreNotHealthy(t *testing.T) {
	v := openVersion(t, memstore.NewMultiWriter(memstore.Options{}), "1")
	log := logOf(t, "T", "T")
	defer log.Close()
	r, err := projection.NewRunner(v.p, log, v.db, projection.RunnerConfig{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	set := &Set{keep: &Keep{}, source: log, ReadyLag: 2}
	one := &Running{Runner: r, Name: "Order", unit: &unit{set: set}}
	one.frozen.frozen, one.frozen.db, one.frozen.of = true, v.db, v.p
	if _, err := one.healthy(t.Context(), projection.NewHeads(log)); err != nil {
		t.Errorf("within the lag: %v", err)
	}
	set.ReadyLag = 1
	var stopped StoppedError
	if s, err := one.healthy(t.Context(), projection.NewHeads(log)); !errors.As(err, &stopped) {
		t.Errorf("rows that are %d events behind, and 1 may be: %v, want a StoppedError", s.Lag, err)
	}
}

// TestAServerThatAwaitsItsRowsSaysThatItRebuilds, with rows before them at the end of the log.
func TestAServerThatAwaitsItsRowsSaysThatItRebuilds(t *testing.T) {
	one := &Running{Name: "Order", unit: &unit{set: &Set{keep: &Keep{Rebuilt: true}}, found: survey{}}}
	var rebuilds RebuildingError
	if err := (frozenRows{one}).awaitSwitch(&projection.Status{Frozen: true}); !errors.As(err, &rebuilds) {
		t.Errorf("got error %v, want a RebuildingError", err)
	}
}

// TestRowsThatNobodyFoldsOnAreNotHealthyWhereAServerOnlyAnswers, so that metrics do not call them up.
func TestRowsThatNobodyFoldsOnAreNotHealthyWhereAServerOnlyAnswers(t *testing.T) {
	store := memstore.NewMultiWriter(memstore.Options{})
	first, v := openVersion(t, store, "1"), openVersion(t, store, "1")
	first.fold(t, first.db, "T")
	log := logOf(t, "T", "T")
	defer log.Close()
	r, err := projection.NewRunner(v.p, log, v.db, projection.RunnerConfig{Logger: slog.New(slog.DiscardHandler)})
	if err == nil {
		err = r.Follow(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	set := &Set{keep: &Keep{Off: true}, source: log, ReadyLag: 1}
	one := &Running{Runner: r, Name: "Order", unit: &unit{set: set}}
	set.All = []*Running{one}
	for _, lag := range []uint64{1, 0} {
		set.ReadyLag = lag
		VisitHealth(t.Context(), set, func(_ *Running, s projection.Status, err error) {
			if up := s.Lag <= lag; s.Lag != 1 || (err == nil) != up {
				t.Errorf("rows that are %d events behind, where %d may be missing: %v, want them healthy: %t", s.Lag, lag, err, up)
			}
		})
	}
}
