// Package verify folds a log twice, each time into an empty store of its own, and compares what that gives: every row,
// its index keys, and the dead letters. Where they differ, a projector is not pure: it asks the clock, chance, the
// network or the order of a map, and a rebuild makes other rows than those that serve.
package verify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/shared"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/pebblestore"
	"github.com/foldql/foldql/server/internal/sources"
)

// Verifier verifies projections of one store and source, for one who asks at a time.
type Verifier struct {
	// DB has what was decided about dead letters. Its rows are neither read nor written.
	DB     *querydb.DB
	Source eventlog.Source
	Runner projection.RunnerConfig
	// Reserve is the free space, in bytes, below which a server writes nothing to the disks of its stores; 0 where none
	// runs.
	Reserve uint64
	// OnDisk reports whether a directory may be on one of these disks.
	OnDisk func(dir string) bool

	busy sync.Mutex
}

// ErrBusy says that somebody else has asked, and is not answered yet.
var ErrBusy = errors.New("a verification is going on already: wait until it is done")

// Verify verifies the named projections, and those that write to the same tables, by the events that there are now.
// tell is called now and then with how many events were folded, of so many in all folds.
func (v *Verifier) Verify(ctx context.Context, all []projection.Projection, named map[string]bool,
	tell func(folded, total uint64)) (results []Result, err error) {
	if !v.busy.TryLock() {
		return nil, ErrBusy
	}
	defer v.busy.Unlock()
	ends, err := sources.Heads(ctx, v.Source)
	if err != nil {
		return nil, err
	}
	of := &run{Verifier: v, src: shared.New(&sources.UpTo{Source: v.Source, Ends: ends}, 0)}
	var units [][]projection.Projection
	for _, u := range projection.Units(all) {
		if slices.ContainsFunc(u, func(p projection.Projection) bool { return named[p.Name] }) {
			units = append(units, u)
			of.total += sum(ends) * uint64(len(u)) * uint64(len(of.folds))
		}
	}
	of.tell = func(folded uint64) { tell(of.before+folded, of.total) }
	for _, u := range units {
		r, err := of.unit(ctx, u)
		if err != nil {
			return nil, v.withoutSpace(err)
		}
		results = append(results, r)
	}
	return results, nil
}

// run is one verification.
type run struct {
	*Verifier
	src           eventlog.Source // ends
	folds         [2]*fold
	before, total uint64 // events: of the folds that are done, and of all
	tell          func(folded uint64)
}

// Result is what a verification has found.
type Result struct {
	Projections []string     `json:"projections"`
	Rows        uint64       `json:"rows"` // compared
	DeadLetters int          `json:"deadLetters"`
	Differences uint64       `json:"differences"`
	First       []Difference `json:"first,omitempty"` // of the differences
}

// Difference is a row, or a dead letter, that is not the same in both folds.
type Difference struct {
	Model string `json:"model,omitempty"`
	Key   string `json:"key"` // of the row, or the event of the dead letter
	What  string `json:"what"`
}

// mostListed is how many differences a Result lists.
const mostListed = 100

func (r *Result) add(d Difference) {
	if r.Differences++; r.Differences <= mostListed {
		r.First = append(r.First, d)
	}
}

// unit verifies projections that write to the same tables: see projection.Units. The stores of the folds are in a
// temporary directory, and are removed in the end.
func (v *run) unit(ctx context.Context, unit []projection.Projection) (r Result, err error) {
	dir, err := os.MkdirTemp("", "foldql-verify-")
	if err != nil {
		return r, fmt.Errorf("make a directory for the rows of a fold: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	for i := range v.folds {
		if v.folds[i], err = v.open(ctx, filepath.Join(dir, fmt.Sprint(i)), unit); err != nil {
			return r, err
		}
		defer func() { err = errors.Join(err, v.folds[i].db.Close()) }()
		for _, p := range unit {
			if err := v.fold(ctx, v.folds[i], p, i); err != nil {
				return r, fmt.Errorf("fold %s: %w", p.Name, err)
			}
		}
	}
	for _, p := range unit {
		r.Projections = append(r.Projections, p.Name)
	}
	c := comparison{a: v.folds[0], b: v.folds[1], now: time.Now(), tell: seldom(func() { v.tell(0) }), Result: &r}
	return r, c.all(ctx)
}

// withoutSpace says of a disk that is full what to do about it.
func (v *Verifier) withoutSpace(err error) error {
	if !errors.Is(err, driver.ErrFull) {
		return err
	}
	why := ""
	if v.kept() > aboveReserve {
		why = fmt.Sprintf(" beside the space that the server keeps free for its data there (--reserve-mb, and %d MB more)",
			aboveReserve>>20)
	}
	return fmt.Errorf("the disk of %s is too full for the rows of two folds%s: free space, or start the program with "+
		"TMPDIR set to a directory on another disk: %w", os.TempDir(), why, err)
}

// fold is one of the two.
type fold struct {
	drv     *pebblestore.Store
	db      *querydb.DB
	models  []*querydb.Model
	letters map[string]string // reasons of dead letters, by projection and event
}

// aboveReserve is how much more space a verification leaves alone than the stores that are on the same disk: else it
// would be these that write nothing any more.
const aboveReserve = 128 << 20

// kept is how much space a verification leaves alone, in bytes.
func (v *Verifier) kept() uint64 {
	if v.Reserve == 0 || !v.OnDisk(os.TempDir()) {
		return aboveReserve
	}
	return v.Reserve + aboveReserve
}

// The memory of a store.
const (
	cacheBytes    = 32 << 20
	memTableBytes = 16 << 20
)

func (v *Verifier) open(ctx context.Context, dir string, unit []projection.Projection) (*fold, error) {
	f := &fold{letters: map[string]string{}}
	known := map[*querydb.Model]bool{}
	for i := range unit {
		for _, m := range unit[i].Models() {
			if !known[m] {
				known[m], f.models = true, append(f.models, m)
			}
		}
	}
	var err error
	f.drv, err = pebblestore.Open(pebblestore.Options{Dir: dir, CacheBytes: cacheBytes, MemTableBytes: memTableBytes,
		Reserve: v.kept(), Logger: v.Runner.Logger})
	if err != nil {
		return nil, err
	}
	if f.db, err = querydb.Open(ctx, f.drv, f.models, querydb.Config{Logger: v.Runner.Logger}); err != nil {
		return nil, errors.Join(err, f.drv.Close())
	}
	return f, nil
}

// fold folds the log to its end. The second fold has windows of half the length, which must not matter either.
func (v *run) fold(ctx context.Context, f *fold, p projection.Projection, i int) error {
	if err := projection.CopyDecisions(ctx, v.DB, f.db, p); err != nil {
		return err
	}
	cfg := v.Runner
	cfg.EndWhenFull = true // what it would wait for may be the space that it takes itself
	cfg.WindowEvents = (cfg.WindowEvents + i) / (i + 1)
	r, err := projection.NewRunner(p, v.src, f.db, cfg)
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	if err := watch(ctx, r, done, v.tell); err != nil {
		return err
	}
	v.before += folded(r)
	return f.readLetters(ctx, p.Name, r)
}

func (f *fold) readLetters(ctx context.Context, name string, r *projection.Runner) error {
	const page = 1000
	for after := ""; ; {
		some, err := r.DeadLetters(ctx, after, page)
		if err != nil {
			return err
		}
		for _, l := range some {
			f.letters[name+" "+l.Ref] = l.Reason
		}
		if len(some) < page {
			return nil
		}
		after = some[len(some)-1].Ref
	}
}
