package crash

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/internal/shop/sample"
	"github.com/foldql/foldql/internal/tests/crashfs"
)

// TestLossOfPowerTakesNothingAcknowledged runs the shop's whole way of writing, the log, the fold of every projection
// and the store of its rows, on a file system that loses what was not synced, or a random part of it, between any two
// of its operations. Each life goes on with the files that the one before left, and sends again what was not
// acknowledged.
//
// CRASH_SEEDS says how many rounds; CRASH_SEED repeats one: what is sent, and after how many operations the
// power goes, though not how goroutines take turns.
func TestLossOfPowerTakesNothingAcknowledged(t *testing.T) {
	rounds := 24
	if raceDetector { // it takes ten times as long
		rounds = 8
	}
	events := shopEvents(sample.Size{Customers: 8, Products: 10, Orders: 40, Statuses: 4, Lines: 3})
	undisturbed := crashfs.New()
	(&round{T: t, events: events, fs: undisturbed, rng: newRand(1)}).lastLife()
	want := dumpNamed(t, undisturbed)

	seeds := uint64(time.Now().UnixNano())
	t.Logf("seeds from %d", seeds)
	var crashes, appending, folding int
	for i := range uint64(count(t, "CRASH_SEEDS", rounds)) {
		seed := seeds + i
		if s := count(t, "CRASH_SEED", 0); s != 0 {
			seed = uint64(s)
		}
		r := &round{T: t, events: events, fs: crashfs.New(), rng: newRand(seed), acked: offsets{}, folded: offsets{}}
		r.lives(seed, want)
		crashes, appending, folding = crashes+r.crashes, appending+r.appending, folding+r.folding
		if t.Failed() {
			return
		}
	}
	t.Logf("%d crashes, %d of them amid appends and %d more amid folds; %d keys and values equal after each round",
		crashes, appending, folding, len(want))
	if min(appending, folding) < crashes/10 {
		t.Error("too few crashes came amid appends, or amid folds: the test proves little")
	}
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// shopEvents are those of a sample, and some that delete rows, that become dead letters, and that wait behind such.
func shopEvents(size sample.Size) []eventlog.Event {
	events := slices.Collect(sample.Events(size))
	at := events[len(events)-1].Time
	add := func(kind, source, subject, data string) {
		at = at.Add(time.Second)
		events = append(events, eventlog.Event{
			ID: fmt.Sprintf("%s/%s/%d", subject, kind, len(events)), Source: source, Type: kind, Subject: subject, Time: at,
			Data: []byte(data),
		})
	}
	for i := range 5 {
		product := sample.ProductID(2 * i)
		add("ProductRepriced", "/shop/products", product, fmt.Sprintf(`{"productId":%q,"price":%d.5}`, product, i))
		add("ProductRemoved", "/shop/products", product, fmt.Sprintf(`{"productId":%q}`, product))

		late := fmt.Sprint("late-", i) // its first event finds no row
		add("ProductRepriced", "/shop/products", late, fmt.Sprintf(`{"productId":%q,"price":1}`, late))
		add("ProductAdded", "/shop/products", late, fmt.Sprintf(
			`{"productId":%q,"category":"toys","brand":"Acme","name":"late","price":2,"addedAt":"2024-03-01T00:00:00Z"}`, late))

		broken := fmt.Sprint("broken-", i) // its first event cannot be decoded
		add("OrderPlaced", "/shop/orders", broken, fmt.Sprintf(`{"orderId":%q}`, broken))
		add("OrderStatusChanged", "/shop/orders", broken, fmt.Sprintf(
			`{"orderId":%q,"status":"paid","total":1,"changedAt":"2024-03-01T00:00:00Z"}`, broken))
	}
	return events
}

// round is a log and a store over their lives.
type round struct {
	*testing.T
	events    []eventlog.Event
	fs        *crashfs.FS
	rng       *rand.Rand
	acked     offsets // of the events that were acknowledged before the last crash
	folded    offsets // and, by projection, those up to which rows were said to be durable
	crashes   int
	appending int // crashes that came before all events were acknowledged
	folding   int // crashes that came afterwards, before all were folded
}

// offsets are those of events by their IDs, or those that projections have reached by their names.
type offsets map[string]uint64

// power is a file system that loses power before one of its operations.
type power struct {
	left  atomic.Int64 // operations
	cut   sync.Once
	lost  chan struct{} // closed when the power is gone
	from  *crashfs.FS
	after *crashfs.FS // what the crash leaves
	how   vfs.CrashCloneCfg

	mu            sync.Mutex
	acked, folded offsets // what has been answered
	known         struct{ acked, folded offsets }
}

// MaybeError crashes when its operation has come, and goes on as if nothing had happened: nobody looks at it any more.
func (p *power) MaybeError(errorfs.Op) error {
	if p.left.Add(-1) <= 0 {
		p.crash()
	}
	return nil
}

// crash takes down what had been answered, then the files: what is answered in between may be there or not.
func (p *power) crash() {
	p.cut.Do(func() {
		p.mu.Lock()
		p.known.acked, p.known.folded = maps.Clone(p.acked), maps.Clone(p.folded)
		p.mu.Unlock()
		p.after = p.from.CrashClone(p.how)
		close(p.lost)
	})
}

// lives crashes a few times in a row, ends the work, and compares what is there then.
func (r *round) lives(seed uint64, want []entry) {
	r.Helper()
	defer func() {
		if r.Failed() {
			r.Logf("CRASH_SEED=%d repeats the round", seed)
		}
	}()
	for range 1 + r.rng.IntN(5) {
		r.life(false)
	}
	r.life(true)
	r.lastLife()
	compare(r.T, dumpNamed(r.T, r.fs), want)
}

// life opens what is there, looks whether all of it is, and goes on until the power is lost: at any moment or, where
// the power is to fail amid folds, while they go over a log to which all events have been appended.
func (r *round) life(amidFolds bool) {
	r.Helper()
	r.crashes++
	p := &power{from: r.fs, lost: make(chan struct{}), acked: maps.Clone(r.acked), folded: maps.Clone(r.folded)}
	p.how.RNG = newRand(r.rng.Uint64())
	if r.rng.IntN(2) == 0 {
		p.how.UnsyncedDataPercent = r.rng.IntN(101)
	}
	p.left.Store(r.rng.Int64N(500) + 1)
	if r.rng.IntN(4) == 0 {
		p.left.Store(r.rng.Int64N(70) + 1) // while log and store are being opened
	}
	within := p.left.Load()
	if amidFolds {
		p.left.Store(math.MaxInt64)
	}
	h := r.open(errorfs.Wrap(r.fs, errorfs.InjectorFunc(p.MaybeError)))
	ctx, stop := context.WithCancel(r.Context())
	defer stop()
	var work sync.WaitGroup
	if amidFolds {
		h.append(ctx, p)
		p.left.Store(within)
	} else {
		work.Go(func() { h.append(ctx, p) })
	}
	h.fold(ctx, &work)
	done := make(chan struct{})
	go func() { work.Wait(); close(done) }()
	select {
	case <-p.lost:
		if len(p.known.acked) < len(r.events) {
			r.appending++
		} else {
			r.folding++
		}
		stop()
		<-done
	case <-done: // all is folded; the power goes while nothing happens
		h.decide()
		p.crash()
	}
	h.close()
	r.fs, r.acked, r.folded = p.after, p.known.acked, p.known.folded
}

// lastLife ends the work undisturbed.
func (r *round) lastLife() {
	r.Helper()
	h := r.open(r.fs)
	var work sync.WaitGroup
	work.Go(func() { h.append(r.Context(), &power{acked: offsets{}, folded: offsets{}}) })
	h.fold(r.Context(), &work)
	work.Wait()
	h.decide()
	h.dropped()
	h.close()
}
