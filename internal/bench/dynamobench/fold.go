package dynamobench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/internal/bench/measurement"
	"github.com/foldql/foldql/internal/bench/peers"
	"github.com/foldql/foldql/internal/shop/projection/projectors"
	"github.com/foldql/foldql/internal/shop/sample"
)

// foldBeside measures the fold of the shop beside a bare loop over the SDK that makes the very requests that the fold
// has made, in turns, each time into tables that are new. It returns the account of the last fold.
func (e *engine) foldBeside(ctx context.Context, out io.Writer, rounds int) (folded account, err error) {
	events, n, err := shopLog(ctx)
	if err != nil {
		return account{}, err
	}
	scripts, err := e.recordFolds(ctx, events)
	if err != nil {
		return account{}, err
	}
	if err := e.countFlights(ctx, out, events); err != nil {
		return account{}, err
	}
	fmt.Fprintf(out, "\nfold of %d events of the shop into %d read models, by %d requests, beside a bare loop that makes "+
		"the same ones:\n",
		n, len(scripts), requests(scripts))
	var mine, bare effort
	for round := range 2 * rounds { // so that either is as often the first
		var took [2]effort
		for i := range took {
			if way := (i + round) % 2; way == 0 {
				folded, took[0], err = e.timeFold(ctx, events)
			} else {
				took[1], err = e.timeBare(ctx, scripts)
			}
			if err != nil {
				return account{}, err
			}
		}
		mine.add(took[0])
		bare.add(took[1])
		fmt.Fprintf(out, "  round %d\n    foldql %s\n    bare   %s\n", round+1, took[0].rate(n, scripts),
			took[1].rate(n, scripts))
	}
	fmt.Fprintf(out, "  foldql to bare, over all rounds: %.2f of the rate; CPU of the program itself: %.2f of what "+
		"bare takes\n",
		bare.wall.Seconds()/mine.wall.Seconds(), mine.cpu.Seconds()/bare.cpu.Seconds())
	return folded, nil
}

// effort is what a fold took, or the loop beside it: on the clock, and of the CPU, without the engine's.
type effort struct{ wall, cpu time.Duration }

func (e *effort) add(o effort) { e.wall, e.cpu = e.wall+o.wall, e.cpu+o.cpu }

func (e effort) rate(events int, scripts []script) string {
	s, n := e.wall.Seconds(), float64(requests(scripts))
	return fmt.Sprintf("%.2f s, %.0f events/s, %.0f requests/s, %.0f µs of CPU for each", s, float64(events)/s, n/s,
		e.cpu.Seconds()/n*1e6)
}

// measured does it, and says what it took.
func measured(do func() error) (took effort, err error) {
	runtime.GC() // what others have left is not its to clear away
	before, err := measurement.OwnCPU()
	if err != nil {
		return took, err
	}
	began := time.Now()
	if err := do(); err != nil {
		return took, err
	}
	took.wall = time.Since(began)
	after, err := measurement.OwnCPU()
	took.cpu = after - before
	return took, err
}

// shopLog is the events of the shop, in memory.
func shopLog(ctx context.Context) (events eventlog.Source, n int, err error) {
	log := memlog.New(memlog.Options{})
	var all []eventlog.Event
	for e := range sample.Events(peers.Size) {
		all = append(all, e)
	}
	if _, err := log.Append(ctx, all); err != nil {
		return nil, 0, err
	}
	log.End()
	return log, len(all), nil
}

// recordFolds folds with one projection at a time, so that it is known whose requests are whose.
func (e *engine) recordFolds(ctx context.Context, events eventlog.Source) (scripts []script, err error) {
	r, err := newRecorder(e.URL)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	at := e.newAccount()
	at.url = r.URL
	db, err := at.open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	all := projectors.Projections()
	for i := range all {
		r.take()
		if err := foldInto(ctx, db, events, all[i:i+1]); err != nil {
			return nil, err
		}
		s, err := scriptOf(r.take())
		if err != nil {
			return nil, err
		}
		scripts = append(scripts, s)
	}
	return scripts, nil
}

// countFlights folds once more, to see how many requests are in flight at most.
func (e *engine) countFlights(ctx context.Context, out io.Writer, events eventlog.Source) (err error) {
	r, err := newRecorder(e.URL)
	if err != nil {
		return err
	}
	defer r.Close()
	at := e.newAccount()
	at.url = r.URL
	db, err := at.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := foldInto(ctx, db, events, projectors.Projections()); err != nil {
		return err
	}
	most := r.most.Load()
	fmt.Fprintf(out, "\nrequests in flight: %d at most, seen on the wire during a fold; %d are configured\n",
		most, inFlight)
	if most > inFlight {
		return fmt.Errorf("%d requests were in flight, and %d may be", most, inFlight)
	}
	return nil
}

func (e *engine) timeFold(ctx context.Context, events eventlog.Source) (at account, took effort, err error) {
	at = e.newAccount()
	db, err := at.open(ctx)
	if err != nil {
		return at, took, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	took, err = measured(func() error { return foldInto(ctx, db, events, projectors.Projections()) })
	return at, took, err
}

func (e *engine) timeBare(ctx context.Context, scripts []script) (took effort, err error) {
	at := e.newAccount()
	db, err := at.open(ctx) // the tables are the same
	if err != nil {
		return took, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	client, err := at.client(ctx)
	if err != nil {
		return took, err
	}
	return measured(func() error { return playAll(ctx, client, scripts) })
}
