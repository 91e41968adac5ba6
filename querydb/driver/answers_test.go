package driver

import "testing"

// TestNothingIsNotedForAnAnswerThatWillNotBeKept: the read that is going on hears of it, and later ones have no Trace.
func TestNothingIsNotedForAnAnswerThatWillNotBeKept(t *testing.T) {
	for name, already := range map[string]int{"it depends on the time": 1, "it depends on too much": mostNoted} {
		trace := new(Trace)
		ctx := WithTrace(t.Context(), trace)
		for i := range already {
			if TraceOf(ctx) != trace || !trace.Note(uint64(i)) {
				t.Fatalf("%s: after %d notes no more are taken", name, i)
			}
		}
		if already < mostNoted {
			trace.Break()
		}
		if trace.Note(0) {
			t.Errorf("%s: the read goes on", name)
		}
		if TraceOf(ctx) != nil {
			t.Errorf("%s: later reads note what they look at", name)
		}
		if _, ok := trace.Noted(); ok {
			t.Errorf("%s: it may be kept", name)
		}
	}
}
