package projections

import (
	"context"
	"log/slog"
	"testing"

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
	if _, err := one.Healthy(t.Context()); err != nil {
		t.Error(err)
	}
}
