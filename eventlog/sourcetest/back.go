package sourcetest

import (
	"context"
	"testing"

	"github.com/foldql/foldql/eventlog"
)

func lostEnd(t *testing.T, p Place) { goneBack(t, p, 0) }

func otherEnd(t *testing.T, p Place) { goneBack(t, p, 25) }

// goneBack has the log lose its last 10 events of 30, and take so many others in their place.
func goneBack(t *testing.T, p Place, others int) {
	if p.Restore == nil {
		return
	}
	s, _ := with(t, p, 20)
	name := one(t, s)
	p.Save(t)
	p.Add(t, more(10))
	all := untilRead(t, s, name, 30)
	p.Restore(t)
	if others > 0 {
		p.Add(t, more(10 + others)[10:])
	}
	untilWoken(t, s, eventlog.Offsets{name: all[29].Offset})
	for _, after := range []uint64{all[29].Offset, all[24].Offset, 0} {
		untilReplaced(t, s, name, after)
	}
}

// untilRead reads so many events; the source may not be reached for a while.
func untilRead(t testing.TB, s eventlog.Source, name string, n int) (all []eventlog.Event) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for len(all) < n {
		var err error
		if all, err = drain(ctx, s, name, 0, 100); ctx.Err() != nil {
			t.Fatalf("%d events of %d, %v", len(all), n, err)
		}
	}
	return all
}

// untilReplaced reads until that fails for good; the source may not be reached for a while.
func untilReplaced(t testing.TB, s eventlog.Source, name string, after uint64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		events, err := s.Read(ctx, name, after, 100)
		switch {
		case eventlog.Replaced(err):
			return
		case err == nil, ctx.Err() != nil:
			t.Fatalf("after %d of a log that has lost its end: %d events, %v", after, len(events), err)
		}
	}
}

// untilWoken waits until that ends: nobody waits for events after an offset that the log has not any more.
func untilWoken(t testing.TB, s eventlog.Source, at eventlog.Offsets) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		err := s.Wait(ctx, at)
		switch {
		case err == nil, eventlog.Replaced(err):
			return
		case ctx.Err() != nil:
			t.Fatalf("who waits is not told that the log has lost its end: %v", err)
		}
	}
}
