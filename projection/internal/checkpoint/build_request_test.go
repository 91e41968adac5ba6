package checkpoint_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/projection/internal/checkpoint"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// failing is a store that refuses its commits after some, but for those in the background.
type failing struct {
	*memstore.MultiWriter
	fails bool
	after int
}

var errFailing = errors.New("the store is out of order")

func (s *failing) Apply(ctx context.Context, b driver.Batch) error {
	if !driver.IsInBackground(ctx) && s.fails {
		if s.after--; s.after < 0 {
			return errFailing
		}
	}
	return s.MultiWriter.Apply(ctx, b)
}

// TestARequestForARebuildOutlastsAFailureBetweenTwoProjections of a table, whichever of them is asked for, and whether
// rows are being built already or not. No more generations are begun for that: others may have to make their tables.
func TestARequestForARebuildOutlastsAFailureBetweenTwoProjections(t *testing.T) {
	for asked := range 2 {
		for _, building := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d, building %t", asked, building), func(t *testing.T) {
				for after := 0; isRequestMet(t, asked, building, after); after++ {
					if after > 20 {
						t.Fatal("rows are begun in so many commits, and more")
					}
				}
			})
		}
	}
}

// isRequestMet asks for a rebuild of one of two projections, and begins it over a store that fails after some commits;
// false where there were no more of them.
func isRequestMet(t *testing.T, asked int, building bool, after int) (failed bool) {
	t.Helper()
	log := memlog.New(memlog.Options{})
	m := newModel("Note", "1")
	m.Writers = []querydb.Writer{{Name: "one"}, {Name: "two"}}
	store := &failing{MultiWriter: memstore.NewMultiWriter(memstore.Options{}), after: after}
	db, err := querydb.Open(t.Context(), store, []*querydb.Model{m}, querydb.Config{})
	if err != nil {
		t.Fatal(err)
	}
	build, err := db.Generations().ForBuild(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cfg := newProgram(t, store.MultiWriter, log, "1").cfg
	var all []checkpoint.Projection
	for _, w := range m.Writers {
		p := checkpoint.Projection{Name: w.Name, Models: []*querydb.Model{m}}
		all = append(all, p)
		if err := checkpoint.NewState(p, log, db, cfg, nobody{}).Open(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	begin := func() error { return checkpoint.Begin(t.Context(), db, build, log, all, cfg) }
	look := func() (found []checkpoint.Generations, asked, complete bool) {
		t.Helper()
		found, err := checkpoint.Look(t.Context(), db, all)
		if err != nil {
			t.Fatal(err)
		}
		complete = true
		for _, s := range found {
			asked = asked || s.Asked
			complete = complete && s.Building != nil && s.Building.Own
		}
		return found, asked, complete
	}
	was := 0
	if building {
		if err := begin(); err != nil {
			t.Fatal(err)
		}
		found, _, _ := look()
		was = found[0].Building.Tables[0].Generation
	}
	if err := checkpoint.RequestRebuild(t.Context(), db, all[asked]); err != nil {
		t.Fatal(err)
	}
	store.fails = true
	err = begin()
	store.fails = false
	if failed = err != nil; failed && !errors.Is(err, errFailing) {
		t.Fatal(err)
	}
	if _, asked, complete := look(); failed && !asked && !complete {
		t.Errorf("after a failure behind %d commits nobody has asked for rows, and not all are begun", after)
	}
	if err := begin(); err != nil { // as whoever finds that somebody has asked
		t.Fatal(err)
	}
	found, stillAsked, complete := look()
	if stillAsked || !complete {
		t.Errorf("after %d commits: all rows are begun %t, and asked for again %t", after, complete, stillAsked)
	} else if is := found[0].Building.Tables[0].Generation; is != was+1 {
		t.Errorf("after %d commits: generation %d is begun, want %d", after, is, was+1)
	}
	return failed
}
