package crash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/embeddedlog"
	"github.com/foldql/foldql/internal/shop/model"
	"github.com/foldql/foldql/internal/shop/projection/projectors"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/pebblestore"
)

// instance is what runs during a life.
type instance struct {
	*round
	rng     *rand.Rand
	log     *embeddedlog.Log
	db      *querydb.DB
	runners map[string]*projection.Runner
}

// open opens log and store, and checks that they have what was acknowledged.
func (r *round) open(fs vfs.FS) *instance {
	r.Helper()
	h := &instance{round: r, rng: newRand(r.rng.Uint64()), runners: map[string]*projection.Runner{}}
	log, err := embeddedlog.Open(embeddedlog.Options{Dir: "log", FS: fs})
	if err != nil {
		r.Fatalf("crash %d: %v", r.crashes, err)
	}
	store, err := pebblestore.Open(pebblestore.Options{Dir: "rows", FS: fs, CacheBytes: 1 << 20, MemTableBytes: 32 << 10})
	if err != nil {
		r.Fatalf("crash %d: %v", r.crashes, err)
	}
	db, err := querydb.Open(r.Context(), store, model.All, querydb.Config{})
	if err != nil {
		r.Fatalf("crash %d: %v", r.crashes, err)
	}
	h.log, h.db = log, db
	for _, p := range projectors.Projections() {
		window := 1 + h.rng.IntN(8)
		if h.runners[p.Name], err = projection.NewRunner(p, &ending{log, uint64(len(r.events))}, db,
			projection.RunnerConfig{WindowEvents: window}); err != nil {
			r.Fatal(err)
		}
	}
	h.look()
	return h
}

func (h *instance) close() {
	h.Helper()
	if err := errors.Join(h.db.Close(), h.log.Close()); err != nil {
		h.Fatalf("crash %d: %v", h.crashes, err)
	}
}

// ending is a log that has ended when all events are in it.
type ending struct {
	*embeddedlog.Log
	events uint64
}

func (e *ending) Wait(ctx context.Context, after eventlog.Offsets) error {
	if after[embeddedlog.Partition] >= e.events {
		return io.EOF
	}
	return e.Log.Wait(ctx, after)
}

// look checks that every acknowledged event is at its acknowledged position, that every row said to be durable is
// covered by its checkpoint, and that no checkpoint is ahead of the log.
func (h *instance) look() {
	h.Helper()
	at := offsets{}
	head, err := h.log.Head(h.Context(), embeddedlog.Partition)
	if err != nil {
		h.Fatal(err)
	}
	for after := uint64(0); after < head; {
		events, err := h.log.Read(h.Context(), embeddedlog.Partition, after, 100)
		if err != nil || len(events) == 0 {
			h.Fatalf("crash %d: read after %d of %d: %d events, error %v", h.crashes, after, head, len(events), err)
		}
		for i := range events {
			at[events[i].ID] = events[i].Offset
		}
		after += uint64(len(events))
	}
	for id, offset := range h.acked {
		if at[id] != offset {
			h.Errorf("crash %d: event %s was acknowledged at %d and is at %d (0: nowhere) of %d", h.crashes, id, offset,
				at[id], head)
		}
	}
	for name := range h.runners {
		if done := h.checkpoint(name); done < h.folded[name] || done > head {
			h.Errorf("crash %d: the checkpoint of %s is %d; rows were durable up to %d, and the log ends at %d",
				h.crashes, name, done, h.folded[name], head)
		}
	}
	if h.Failed() {
		h.FailNow() // nobody sends again what was acknowledged, so the work would not end
	}
}

// checkpoint reads how far a projection has come, 0 where it has not begun.
func (h *instance) checkpoint(name string) uint64 {
	h.Helper()
	header, err := h.db.Notes().Value(h.Context(), "projection", name)
	if errors.Is(err, querydb.ErrNotFound) {
		return 0
	}
	var at struct {
		Table      string
		Generation int
	}
	if err == nil {
		err = json.Unmarshal(header, &at)
	}
	var note []byte
	if err == nil {
		kind := fmt.Sprintf("checkpoint:%s.g%d:%s", at.Table, at.Generation, name)
		note, err = h.db.Notes().Value(h.Context(), kind, embeddedlog.Partition)
	}
	if errors.Is(err, querydb.ErrNotFound) {
		return 0
	}
	var c struct{ Offset uint64 }
	if err == nil {
		err = json.Unmarshal(note, &c)
	}
	if err != nil {
		h.Fatalf("crash %d: read the checkpoint of %s: %v", h.crashes, name, err)
	}
	return c.Offset
}

// append sends every event that was not acknowledged, in batches, until the power goes.
func (h *instance) append(ctx context.Context, p *power) {
	rest := slices.DeleteFunc(slices.Clone(h.events), func(e eventlog.Event) bool {
		_, there := p.acked[e.ID]
		return there
	})
	for len(rest) > 0 && ctx.Err() == nil {
		batch := rest[:1+h.rng.IntN(min(len(rest), 4))]
		at, err := h.log.Append(ctx, batch)
		if err != nil {
			if ctx.Err() == nil {
				h.Errorf("crash %d: append: %v", h.crashes, err)
			}
			return
		}
		if err := h.note(p, batch, at); err != nil {
			h.Errorf("crash %d: %v", h.crashes, err)
			return
		}
		rest = rest[len(batch):]
	}
}

// note takes down an answer, and how far the projections say they are.
func (h *instance) note(p *power, events []eventlog.Event, at []eventlog.AppendResult) error {
	folded := offsets{}
	for name, runner := range h.runners {
		status, err := runner.Status(context.Background())
		if err != nil {
			return err
		}
		for _, partition := range status.Partitions {
			folded[name] = partition.Checkpoint
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range events {
		p.acked[events[i].ID] = at[i].Offset
	}
	maps.Copy(p.folded, folded)
	return nil
}

// fold starts every projection; each ends when it has folded all events.
func (h *instance) fold(ctx context.Context, work *sync.WaitGroup) {
	for name, runner := range h.runners {
		work.Go(func() {
			if err := runner.Run(ctx); err != nil && ctx.Err() == nil {
				h.Errorf("crash %d: projection %s: %v", h.crashes, name, err)
			}
		})
	}
}

// decide skips the products' events that became dead letters, which lets those behind them take effect. Those of orders
// stay.
func (h *instance) decide() {
	h.Helper()
	products := h.runners["Product"]
	letters, err := products.DeadLetters(h.Context(), "", 100)
	if err != nil {
		h.Fatalf("crash %d: %v", h.crashes, err)
	}
	for _, e := range letters {
		if e.BlockedBy != "" {
			continue
		}
		if err := products.Skip(h.Context(), e.Ref); err != nil {
			h.Fatalf("crash %d: %v", h.crashes, err)
		}
	}
}

// dropped returns when nothing is left to be removed in the background. There is nothing to wait on but the notes.
func (h *instance) dropped() {
	h.Helper()
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	limit := time.After(time.Minute)
	for {
		notes, err := h.db.Notes().List(h.Context(), "drop", "", 1)
		if err != nil {
			h.Fatal(err)
		}
		if len(notes) == 0 {
			return
		}
		select {
		case <-look.C:
		case <-limit:
			h.Fatal("former generations of tables are still there after a minute")
		}
	}
}
