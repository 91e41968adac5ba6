package projectiontest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
)

// A match is an object with parts; its rows are only compared here, and never stored.
type (
	match struct {
		Season   string
		Day      int
		StartsAt time.Time
		VenueID  string
		Venue    *venueCopy
		Team1    sheet
		Tags     []string
	}
	venueCopy struct{ ID, Name string }
	sheet     struct {
		CoachID string
		Players []player
	}
	player struct {
		PlayerID  string
		Position  int
		IsCaptain bool
	}
)

var (
	venueFields  = []querydb.Field{{Name: "id", Scalar: "ID"}, {Name: "name", Scalar: "String"}}
	playerFields = []querydb.Field{
		{Name: "playerId", Scalar: "ID"}, {Name: "position", Scalar: "Int"}, {Name: "isCaptain", Scalar: "Boolean"},
	}
	sheetFields = []querydb.Field{
		{Name: "coachId", Scalar: "ID"}, {Name: "players", Object: playerFields, List: true},
	}
	matchCodec = &querydb.Codec[match]{
		Model: &querydb.Model{
			Name: "Match",
			Fields: []querydb.Field{
				{Name: "season", Scalar: "String"}, {Name: "day", Scalar: "Int"}, {Name: "startsAt", Scalar: "DateTime"},
				{Name: "venueId", Scalar: "ID"}, {Name: "venue", Object: venueFields, Nullable: true},
				{Name: "team1", Object: sheetFields}, {Name: "tags", Scalar: "String", List: true},
			},
			PK: querydb.Half{
				Layout: keys.Layout{Segments: []keys.Segment{{Field: "season", Kind: keys.KindString}}}, Fields: []int{0},
			},
			SK: querydb.Half{
				Layout: keys.Layout{Segments: []keys.Segment{{Field: "day", Kind: keys.KindInt}}}, Fields: []int{1},
			},
		},
	}
)

// matchOf is a match that each change has changed.
func matchOf(changes ...func(*match)) match {
	m := match{
		Season: "2025", Day: 1, StartsAt: time.Date(2025, 1, 3, 10, 0, 0, 0, time.UTC),
		VenueID: "mcg", Venue: &venueCopy{"mcg", "MCG"},
		Team1: sheet{CoachID: "c", Players: []player{{"ann", 1, true}, {"bob", 2, false}, {"cid", 3, false}}},
	}
	for _, change := range changes {
		change(&m)
	}
	return m
}

func TestAFailureNamesThePathsThatDiffer(t *testing.T) {
	want := matchOf()
	for _, tt := range []struct {
		name    string
		got     []match
		options []cmp.Option
		want    []string
	}{
		{name: "nothing", got: []match{want}},
		{name: "a field of an element of a list of a part", got: []match{matchOf(func(m *match) {
			m.Team1.Players[2].IsCaptain = true
		})}, want: []string{`Match(season: "2025", day: 1): team1.players[2].isCaptain: want false, got true`}},
		{name: "most of an element", got: []match{matchOf(func(m *match) { m.Team1.Players[1] = player{"dan", 2, true} })},
			want: []string{
				`Match(season: "2025", day: 1): team1.players[1].playerId: want "bob", got "dan"`,
				`Match(season: "2025", day: 1): team1.players[1].isCaptain: want false, got true`,
			}},
		{name: "an element too many", got: []match{matchOf(func(m *match) {
			m.Team1.Players = append(m.Team1.Players, player{PlayerID: "dan"})
		})}, want: []string{
			`Match(season: "2025", day: 1): team1.players[3]: want nothing, got ` +
				`{playerId: "dan", position: 0, isCaptain: false}`,
		}},
		{name: "no elements", got: []match{matchOf(func(m *match) { m.Team1.Players = m.Team1.Players[:2] })},
			want: []string{
				`Match(season: "2025", day: 1): team1.players[2]: want {playerId: "cid", position: 3, isCaptain: false}, got nothing`,
			}},
		{name: "a field of a copy, and its identifier", got: []match{matchOf(func(m *match) {
			m.VenueID, m.Venue.Name = "gabba", "The MCG"
		})}, want: []string{
			`Match(season: "2025", day: 1): venueId: want "mcg", got "gabba"`,
			`Match(season: "2025", day: 1): venue.name: want "MCG", got "The MCG"`,
		}},
		{name: "a copy that is not filled in", got: []match{matchOf(func(m *match) { m.Venue = nil })},
			want: []string{`Match(season: "2025", day: 1): venue: want {id: "mcg", name: "MCG"}, got null`}},
		{name: "a time and a list of texts", got: []match{matchOf(func(m *match) {
			m.StartsAt, m.Tags = m.StartsAt.Add(time.Hour), []string{"x"}
		})}, want: []string{
			`Match(season: "2025", day: 1): startsAt: want 2025-01-03T10:00:00Z, got 2025-01-03T11:00:00Z`,
			`Match(season: "2025", day: 1): tags: want [], got ["x"]`,
		}},
		{name: "other rows", got: []match{{Season: "2025", Day: 2}}, want: []string{
			`Match(season: "2025", day: 1): want {season: "2025", day: 1, startsAt: 2025-01-03T10:00:00Z, ` +
				`venueId: "mcg", venue: {id: "mcg", name: "MCG"}, team1: {coachId: "c", players: [` +
				`{playerId: "ann", position: 1, isCaptain: true}, {playerId: "bob", position: 2, isCaptain: false}, ` +
				`{playerId: "cid", position: 3, isCaptain: false}]}, tags: []}, got nothing`,
			`Match(season: "2025", day: 2): want nothing, got {season: "2025", day: 2, ` +
				`startsAt: 0001-01-01T00:00:00Z, venueId: "", venue: null, ` +
				`team1: {coachId: "", players: []}, tags: []}`,
		}},
		{name: "what options leave out", got: []match{matchOf(func(m *match) { m.Team1.Players[0].Position, m.Day = 9, 1 })},
			options: []cmp.Option{cmpopts.IgnoreFields(player{}, "Position")}},
		{name: "what is left when lists are sorted",
			got: []match{matchOf(func(m *match) { slices.Reverse(m.Team1.Players); m.Team1.Players[0].Position = 4 })},
			options: []cmp.Option{
				cmpopts.SortSlices(func(a, b player) bool { return a.PlayerID < b.PlayerID }),
			},
			want: []string{`Match(season: "2025", day: 1): team1.players[2].position: want 3, got 4`}},
	} {
		c := testCase{want: []Rows{RowsOf(matchCodec, want)}, more: tt.options}
		a, b := result{Rows: map[string][]any{"Match": {want}}}, result{Rows: map[string][]any{"Match": nil}}
		for _, m := range tt.got {
			b.Rows["Match"] = append(b.Rows["Match"], m)
		}
		var got []string
		for line := range strings.Lines(c.compare(a, b, "want", "got")) {
			got = append(got, strings.TrimSpace(line))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestAFailureNamesDeadLettersThatDiffer(t *testing.T) {
	c := testCase{given: []Event{{Type: "RocketLaunched"}, {ID: "3"}, {ID: "4", Type: "RocketLanded"}}}
	got := c.compare(
		result{DeadLetters: []DeadLetter{{"1", "the moon"}, {"2", "blocked"}, {"3", "no row"}}},
		result{DeadLetters: []DeadLetter{{"1", "the sun"}, {"3", "no row"}, {"4", "too large"}}}, "want", "got")
	want := "  event 1 (RocketLaunched): want dead letter \"the moon\", got dead letter \"the sun\"\n" +
		"  event 2: want dead letter \"blocked\", got no dead letter\n" +
		"  event 4 (RocketLanded): want no dead letter, got dead letter \"too large\"\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAFailureIsNotEndless(t *testing.T) {
	b := matchOf()
	for i := range 100 {
		b.Team1.Players = append(b.Team1.Players, player{Position: i})
	}
	c := testCase{want: []Rows{RowsOf(matchCodec)}}
	got := c.compare(result{Rows: map[string][]any{"Match": {matchOf()}}}, result{Rows: map[string][]any{"Match": {b}}},
		"want", "got")
	lines := strings.Count(got, "\n")
	if lines != mostDifferences+1 || !strings.HasSuffix(got, "and in 80 other places\n") {
		t.Errorf("it has %d lines:\n%s", lines, got)
	}
}
