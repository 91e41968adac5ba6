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
