package projectiontest

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
)

// result is what a fold leaves.
type result struct {
	Rows        map[string][]any // by model, in the order of their keys
	DeadLetters []DeadLetter
}

// fold folds the events in one way, and returns what the last leg left, and in how many commits.
func (s *testCase) fold(ctx context.Context, w way) (got result, commits int, err error) {
	store := newStore(w)
	now := latestTime(w.legs)
	db, err := querydb.Open(ctx, store, s.projection.Models(), querydb.Config{
		Now:    func() time.Time { return now },
		Logger: slog.New(slog.DiscardHandler), // what fails is made to fail
	})
	if err != nil {
		return got, 0, err
	}
	defer db.Close()
	var runner *projection.Runner
	for i, leg := range w.legs {
		if i > 0 && w.forget {
			if err := s.forget(ctx, db); err != nil {
				return got, 0, err
			}
		}
		running, end := context.WithCancel(ctx)
		ends := 0
		if i == 0 {
			ends = w.ends
		}
		store.process().begin(ends, end)
		runner, err = s.run(running, db, leg, w.window)
		if end(); err != nil && (ends == 0 || ctx.Err() != nil) {
			return got, 0, err
		}
	}
	got, err = s.result(ctx, db, runner, store)
	return got, store.process().count(), err
}

// alone has rows read that no other projection of theirs writes.
func (s *testCase) alone(db *querydb.DB) error {
	for _, m := range s.projection.Models() {
		for _, w := range m.Writers {
			if slices.Contains(s.projection.Members(), w.Name) {
				continue
			}
			if err := db.Rebuilds().MarkComplete(m, w.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

// run folds a log of the events to its end.
func (s *testCase) run(ctx context.Context, db *querydb.DB, events []eventlog.Event, window int) (*projection.Runner,
	error) {
	log := memlog.New(memlog.Options{})
	defer log.Close()
	for _, e := range events {
		if _, err := log.Append(ctx, []eventlog.Event{e}); err != nil {
			return nil, err
		}
	}
	log.End()
	runner, err := projection.NewRunner(s.projection, log, db, projection.RunnerConfig{
		WindowEvents: window, MaxDeadLetterPercent: 100, MinBackoff: time.Nanosecond, MaxBackoff: time.Nanosecond,
	})
	if err != nil {
		return nil, err
	}
	return runner, runner.Run(ctx)
}

// forget makes the projection begin again: without its checkpoint it drops the rows and folds the whole log.
func (s *testCase) forget(ctx context.Context, db *querydb.DB) error {
	return db.Apply(ctx, querydb.Batch{Notes: []querydb.Note{projection.NewResetNote(s.projection.Name)}})
}

// latestTime is the greatest time of an event, in whatever order they are: what has expired by then is gone.
func latestTime(legs [][]eventlog.Event) time.Time {
	var latest time.Time
	for _, leg := range legs {
		for _, e := range leg {
			if e.Time.After(latest) {
				latest = e.Time
			}
		}
	}
	return latest
}

// result reads every row that was ever written, and the dead letters.
func (s *testCase) result(
	ctx context.Context, db *querydb.DB, runner *projection.Runner, in store,
) (got result, err error) {
	if err := s.alone(db); err != nil {
		return got, err
	}
	got.Rows = map[string][]any{}
	for _, of := range s.want {
		rows, err := db.Get(ctx, of.model(), in.keys(of.model()), true)
		if err != nil {
			return got, err
		}
		for i := range rows {
			if rows[i].Record == nil {
				continue
			}
			row, err := of.decode(&rows[i])
			if err != nil {
				return got, fmt.Errorf("%s row %q: %w", of.model().Name, rows[i].Key, err)
			}
			got.Rows[of.model().Name] = append(got.Rows[of.model().Name], row)
		}
	}
	got.DeadLetters, err = deadLetters(ctx, runner)
	return got, err
}

// deadLetters are all that the runner has.
func deadLetters(ctx context.Context, runner *projection.Runner) (all []DeadLetter, err error) {
	const atOnce = 1000
	for after := ""; ; {
		letters, err := runner.DeadLetters(ctx, after, atOnce)
		if err != nil {
			return nil, err
		}
		for _, l := range letters {
			all = append(all, DeadLetter{ID: l.ID, Reason: firstLine(l.Reason)})
			after = l.Ref
		}
		if len(letters) < atOnce {
			return all, nil
		}
	}
}

// firstLine leaves out the stack of a panic, which differs from way to way.
func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// unwanted returns the difference between what is wanted and what came, "" for none.
func (s *testCase) unwanted(got result) string {
	want := result{Rows: map[string][]any{}, DeadLetters: slices.Clone(s.wantDeadLetters)}
	for _, of := range s.want {
		if rows := of.want(); len(rows) > 0 {
			want.Rows[of.model().Name] = rows
		}
	}
	for i := range want.DeadLetters {
		wanted := &want.DeadLetters[i]
		came := slices.IndexFunc(got.DeadLetters, func(l DeadLetter) bool {
			return l.ID == wanted.ID && strings.Contains(l.Reason, wanted.Reason)
		})
		if came >= 0 {
			wanted.Reason = got.DeadLetters[came].Reason
		}
	}
	return s.compare(want, got, "want", "got")
}

// compare names the places where two results differ, "" where they do not. The words say which is which.
func (s *testCase) compare(a, b result, wordA, wordB string) string {
	diff := gocmp.Diff(a, b, s.options()...)
	if diff == "" {
		return ""
	}
	var all []difference
	for _, of := range s.want {
		all = append(all, rowDifferences(of, a.Rows[of.model().Name], b.Rows[of.model().Name], s.options())...)
	}
	if all = append(all, s.letterDifferences(a.DeadLetters, b.DeadLetters)...); len(all) > 0 {
		return showDifferences(all, wordA, wordB)
	}
	return diff // which the options find only in the whole
}

func compareKeys(a, b keys.Key) int {
	return cmp.Or(cmp.Compare(a.PK, b.PK), cmp.Compare(a.SK, b.SK))
}

func (s *testCase) options() []gocmp.Option {
	return append([]gocmp.Option{cmpopts.EquateEmpty()}, s.more...)
}
