package httpsource_test

import (
	"context"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/httpsource"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/eventlog/sourcetest"
)

// wrapped is a source as a server wraps it.
type wrapped struct{ eventlog.Source }

func (w wrapped) Unwrap() eventlog.Source { return w.Source }

// fromSixth is a log without its first five events, which are not wanted.
func fromSixth(l eventlog.Source) eventlog.Source {
	return wrapped{&eventlog.Tail{Source: l, After: eventlog.Offsets{"0": 5}}}
}

// addTo appends the next events to a log that has some.
func addTo(t *testing.T, l eventlog.Log, n int) {
	t.Helper()
	head, err := l.Head(t.Context(), "0")
	if err != nil {
		t.Fatal(err)
	}
	appendTo(t, l, sourcetest.Events(int(head) + n)[head:])
}

// TestNobodyMissesEventsThatAreNoLongerWantedThere: who follows from among them, in the same process or in another, is
// told that they are forgotten. Whoever has read none, or all, is given what follows.
func TestNobodyMissesEventsThatAreNoLongerWantedThere(t *testing.T) {
	log := memlog.New(memlog.Options{})
	addTo(t, log, 9)
	u := serve(t, log)
	same := open(t, u.url)
	if events, err := same.Read(t.Context(), "0", 0, 3); err != nil || len(events) != 3 {
		t.Fatalf("%d events, %v", len(events), err)
	}
	u.now(fromSixth(log))
	for name, src := range map[string]eventlog.Source{"the same process": same, "another": open(t, u.url)} {
		want := &eventlog.ForgottenError{Partition: "0", After: 3, First: 6}
		events, err := src.Read(t.Context(), "0", 3, 10)
		if diff := gocmp.Diff(want, eventlog.ForgottenIn(err)); diff != "" {
			t.Errorf("%s: %d events, %v (-want +got):\n%s", name, len(events), err, diff)
		}
		err = src.Wait(t.Context(), eventlog.Offsets{"0": 3})
		if diff := gocmp.Diff(want, eventlog.ForgottenIn(err)); diff != "" {
			t.Errorf("%s: a wait: %v (-want +got):\n%s", name, err, diff)
		}
		for _, after := range []uint64{0, 5} {
			if events, err := src.Read(t.Context(), "0", after, 10); err != nil || len(events) != 4 || events[0].Offset != 6 {
				t.Errorf("%s: %d events after %d, %v; want four from the sixth on", name, len(events), after, err)
			}
		}
	}
}

// TestWhoHasReadAllGoesOnWhileWhatComesIsNotThere: a beginning beyond the end of the stream takes nothing from a reader
// that is at the end, and neither is the log another one. An event that is not wanted is missed.
func TestWhoHasReadAllGoesOnWhileWhatComesIsNotThere(t *testing.T) {
	log := memlog.New(memlog.Options{})
	addTo(t, log, 3)
	u := serve(t, log)
	same := open(t, u.url)
	if events, err := same.Read(t.Context(), "0", 0, 10); err != nil || len(events) != 3 {
		t.Fatalf("%d events, %v", len(events), err)
	}
	u.now(fromSixth(log))
	all := map[string]eventlog.Source{"the same process": same, "another": open(t, u.url)}
	for name, src := range all {
		if head, ends, err := eventlog.EndsBefore(t.Context(), src, "0", 3); err != nil || ends {
			t.Errorf("%s: the log ends at %d, %v; want 3", name, head, err)
		}
		if events, err := src.Read(t.Context(), "0", 3, 10); err != nil || len(events) != 0 {
			t.Errorf("%s: %d events, %v; want none yet", name, len(events), err)
		}
		if through, err := src.(eventlog.SparseSource).EmptyThrough(t.Context(), "0", 3); err != nil || through != 3 {
			t.Errorf("%s: no event up to %d, %v; want 3", name, through, err)
		}
	}
	addTo(t, log, 1)
	for name, src := range all {
		_, err := src.Read(t.Context(), "0", 3, 10)
		want := &eventlog.ForgottenError{Partition: "0", After: 3, First: 6}
		if diff := gocmp.Diff(want, eventlog.ForgottenIn(err)); diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

// growing is a log that gets more events when it is asked for the n-th time, before it answers.
type growing struct {
	eventlog.Log
	n    int
	grow func()
}

func (g *growing) asked() {
	if g.n--; g.n == 0 {
		g.grow()
	}
}

func (g *growing) Head(ctx context.Context, partition string) (uint64, error) {
	g.asked()
	return g.Log.Head(ctx, partition)
}

func (g *growing) Read(ctx context.Context, partition string, after uint64, most int) ([]eventlog.Event, error) {
	g.asked()
	return g.Log.Read(ctx, partition, after, most)
}

// TestWhatComesWhileAReadBeginsIsNotPassedOver: it is found that the reader is at the end, and then it is not.
func TestWhatComesWhileAReadBeginsIsNotPassedOver(t *testing.T) {
	for what, ask := range map[string]func(*httpsource.Source) (uint64, error){
		"a read": func(src *httpsource.Source) (uint64, error) {
			events, err := src.Read(t.Context(), "0", 3, 10)
			return 3 + uint64(len(events)), err
		},
		"a look for what is empty": func(src *httpsource.Source) (uint64, error) {
			return src.EmptyThrough(t.Context(), "0", 3)
		},
	} {
		for n := range 8 {
			inner := memlog.New(memlog.Options{})
			addTo(t, inner, 3)
			log := &growing{Log: inner, grow: func() { addTo(t, inner, 4) }}
			src := open(t, serve(t, fromSixth(log)).url)
			log.n = n
			if at, err := ask(src); at > 3 || err != nil && eventlog.ForgottenIn(err) == nil {
				t.Errorf("more comes when the log is asked for the %d. time: %s is at %d, %v", n, what, at, err)
			}
		}
	}
}

// TestAFollowerStaysAtTheBeginningWhileNothingIsWanted: at the end of such events, it would look like one that has read
// them.
func TestAFollowerStaysAtTheBeginningWhileNothingIsWanted(t *testing.T) {
	log := memlog.New(memlog.Options{})
	addTo(t, log, 3)
	src := open(t, serve(t, fromSixth(log)).url)
	for _, want := range []uint64{0, 5} {
		through, err := src.EmptyThrough(t.Context(), "0", 0)
		if err != nil || through != want {
			t.Errorf("there is no event up to %d, %v; want %d", through, err, want)
		}
		addTo(t, log, 2)
	}
	for _, after := range []uint64{0, 5} {
		if events, err := src.Read(t.Context(), "0", after, 10); err != nil || len(events) != 2 || events[0].Offset != 6 {
			t.Errorf("%d events after %d, %v; want two from the sixth on", len(events), after, err)
		}
	}
}
