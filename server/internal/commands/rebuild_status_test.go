package commands

import (
	"testing"

	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/server/internal/projections"
)

// TestRebuildStatusDoesNotPassAnUnknownLagForNone: while the source is away, it says how far the rows are all the same,
// and what fails.
func TestRebuildStatusDoesNotPassAnUnknownLagForNone(t *testing.T) {
	const away = "the source of events does not say where it ends: no route to host"
	for want, at := range map[string]projection.BuildStatus{
		"built, 0 events behind": {Folded: 9, Total: 9, Complete: true, LagKnown: true},
		"4 of 9 events, 2/s":     {Folded: 4, Total: 9, Lag: 5, LagKnown: true, EventsPerSecond: 2, ETASeconds: -1},

		"built; how far behind is not known":          {Folded: 9, Complete: true},
		"built; how far behind is not known; " + away: {Folded: 9, Complete: true, LastError: away},

		"4 events folded; how far behind is not known":          {Folded: 4, Total: 6, Lag: 2, ETASeconds: -1},
		"4 events folded; how far behind is not known; " + away: {Folded: 4, LastError: away},

		"0 events folded; how far behind is not known": {ETASeconds: -1},

		"rows cannot be begun": {LastError: "rows cannot be begun"},
		"no such table":        {Folded: 4, Total: 9, Lag: 5, LagKnown: true, LastError: "no such table"},
	} {
		r := projections.Rebuild{Building: &projections.Generation{Complete: at.Complete},
			Progress: map[string]*projection.BuildStatus{"Orders": &at}}
		if got := buildingState(&r); got != want {
			t.Errorf("%+v is told as %q, want %q", at, got, want)
		}
	}
}

// TestRebuildStatusTellsOfTheProjectionOfAGroupThatIsLast, of the same one each time, also while no lag is known.
func TestRebuildStatusTellsOfTheProjectionOfAGroupThatIsLast(t *testing.T) {
	const unknown = "; how far behind is not known"
	type progress = map[string]*projection.BuildStatus
	for want, all := range map[string]progress{
		"3 of 9 events, 2/s": {"A": {Folded: 9, Total: 9, Complete: true, LagKnown: true},
			"B": {Folded: 3, Total: 9, Lag: 6, LagKnown: true, EventsPerSecond: 2, ETASeconds: -1},
			"C": {Folded: 5, Total: 9, Lag: 4, LagKnown: true, EventsPerSecond: 2, ETASeconds: -1}},
		"no such table": {"A": {Folded: 2, Total: 9, Lag: 7, LagKnown: true},
			"B": {Folded: 5, Total: 9, Lag: 4, LagKnown: true, LastError: "no such table"}},
		"4 events folded" + unknown: {"A": {Folded: 9, Complete: true}, "B": {Folded: 4}, "C": {Folded: 5}},
		"8 events folded" + unknown + "; away": {"A": {Folded: 9, Complete: true, LastError: "away"}, "B": {Folded: 4},
			"C": {Folded: 8, LastError: "away"}},
	} {
		r := projections.Rebuild{Building: &projections.Generation{}, Progress: all}
		for range 20 { // the order of a map is another each time
			if got := buildingState(&r); got != want {
				t.Fatalf("it tells %q, want %q", got, want)
			}
		}
	}
}
