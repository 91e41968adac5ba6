package projection_test

import (
	"testing"

	"github.com/foldql/foldql/projection/projectiontest"
)

// TestRowsOfASeriesReferToRowsOfItsGroup: their copies follow and are waited for as others are, and appending leaves
// them as they are. The history has every report, and no copies.
func TestRowsOfASeriesReferToRowsOfItsGroup(t *testing.T) {
	club := func(id, name string) projectiontest.Event {
		return projectiontest.Event{Type: "Club", Data: []ref{{Op: "club", ID: id, Text: name}}}
	}
	placed := func(id, club string) projectiontest.Event {
		return projectiontest.Event{Type: "Placed", Subject: "place of " + id, Data: Probe{ID: id, ClubID: club}}
	}
	read := func(id string, at, level int) projectiontest.Event {
		return projectiontest.Event{Type: "Read", Data: Probe{ID: id, At: at, Level: level}}
	}
	projectiontest.RunGroup(t, projectiontest.GroupSpec{
		Projections: probeProjections(),
		Given: []projectiontest.Event{
			club("A", "Ann's"), read("p", 10, 1), placed("p", "A"), read("p", 20, 2),
			club("A", "Anna's"),
			read("p", 15, 9), // late
			placed("q", "B"), // waits
			read("q", 5, 3), club("B", "Bob's"), read("q", 7, 4),
			placed("r", "C"), // waits to the end
			read("r", 1, 1),
		},
		Want: []projectiontest.Rows{
			projectiontest.RowsOf(probeCodec,
				Probe{ID: "p", At: 20, Level: 2, ClubID: "A", Club: &ClubCopy{"A", "Anna's"}},
				Probe{ID: "q", At: 7, Level: 4, ClubID: "B", Club: &ClubCopy{"B", "Bob's"}},
				Probe{ID: "r", At: 1, Level: 1},
			),
			projectiontest.RowsOf(probeEventCodec,
				ProbeEvent{"p", 10, 1, "0", 2}, ProbeEvent{"p", 15, 9, "0", 6}, ProbeEvent{"p", 20, 2, "0", 4},
				ProbeEvent{"q", 5, 3, "0", 8}, ProbeEvent{"q", 7, 4, "0", 10}, ProbeEvent{"r", 1, 1, "0", 12},
			),
		},
		WantDeadLetters: []projectiontest.DeadLetter{{ID: "11", Reason: `no Club with the identifier "C"`}},
	})
}
