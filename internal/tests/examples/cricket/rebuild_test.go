package cricket

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/internal/tests/exampleserver"
)

// asked are queries of every model that shares the table, with the copies and the parts of their rows.
var asked = []string{
	`{ Team(id: "aus") { name country ranking } Venue(id: "mcg") { name city } }`,
	`{ Coach(id: "mcdonald") { name team { name } } Player(id: "cummins-01") { firstName } }`,
	`{ SquadSelection(squadId: "aus#2024-25#BGT", selectionNumber: 2) { team { name } player { firstName } isCaptain } }`,
	`{ SquadSelectionByPlayer(playerId: "smith-01") { items { squadId team { name } player { firstName } } } }`,
	`{ MatchBySeason(season: "2024-25") { items { id venue { name } team1 { team { name } coach { name } ` +
		`players { player { firstName } battingPosition isCaptain } } team2 { players { player { lastName } } } } } }`,
}

func answers(t *testing.T, s *exampleserver.Server) (all []string) {
	t.Helper()
	for _, query := range asked {
		all = append(all, s.Ask(t, query))
	}
	return all
}

// TestATableThatModelsShareIsRebuiltAsAWhole: models that are connected by references, whose copies follow changes that
// come before, during and after the build; and two folds of the log make the same items.
func TestATableThatModelsShareIsRebuiltAsAWhole(t *testing.T) {
	events := sample(t)
	renamed := slices.IndexFunc(events, func(e []byte) bool { return bytes.Contains(e, []byte(`"VenueRenamed"`)) })
	whole, s := exampleserver.StartEmbedded(t), exampleserver.StartEmbedded(t)
	whole.Append(t, events...)
	want := answers(t, whole)

	s.Append(t, events[:renamed]...)
	s.Rebuild(t, "Team")
	s.Append(t, events[renamed:]...) // a venue and a player that rows have copies of
	units := s.Rebuilt(t)
	if len(units) != 1 || len(units[0]) < 6 {
		t.Errorf("what is rebuilt together: %v, want all models of the table", units)
	}
	if diff := cmp.Diff(want, answers(t, s)); diff != "" {
		t.Errorf("after the switch (-without a rebuild +with):\n%s", diff)
	}
	again := []byte(`{"specversion": "1.0", "id": "renamed again", "source": "/cricket", "type": "VenueRenamed", ` +
		`"subject": "venue/mcg", "time": "2024-12-31T09:00:00Z", "data": {"venueId": "mcg", "name": "The G"}}`)
	for _, one := range []*exampleserver.Server{whole, s} {
		one.Append(t, again)
	}
	if diff := cmp.Diff(answers(t, whole), answers(t, s)); diff != "" {
		t.Errorf("after a change that copies follow (-without a rebuild +with):\n%s", diff)
	}
	if slices.Equal(want, answers(t, s)) {
		t.Error("no copy has followed the change")
	}
	if rows, differences := s.Verify(t, "Match"); rows < 20 || differences != nil {
		t.Errorf("two folds: %d rows, and the differences %s", rows, differences)
	}
}
