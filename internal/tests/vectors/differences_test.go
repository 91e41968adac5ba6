package vectors

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// difference is one from the vectors that is meant: every item of ours that it is about has it.
type difference struct {
	types     string                     // of our items, as a pattern
	at        string                     // their sort keys, as a pattern
	attribute string                     // its name, as a pattern
	ours      string                     // what we have, as a pattern of letters and value; "" for no attribute
	change    func(theirs string) string // what we have, where it is made of what they have
	missing   bool                       // in theirs
	why       string
}

// Of rows, and of roots of aggregates, we know which events they hold, and how often they were written.
var (
	position = difference{attribute: `_pos\..*`, ours: `N [0-9.]+`, missing: true,
		why: "an event that comes a second time, or late, changes nothing: the row says how far it is"}
	writer = difference{attribute: `_by`, ours: `S .+`, missing: true,
		why: "which of the positions of a row is that of its last change"}
	revision = difference{types: `.*`, attribute: `_rev`, ours: `N [1-9][0-9]*`, missing: true,
		why: "a write that rests on a read takes effect only where nobody has written since"}
)

func (d difference) of(types string) difference { d.types = types; return d }

// id is the identifier beside a copy.
func id(types, attribute, value string) difference {
	return difference{types: types, attribute: attribute, ours: "S (" + value + ")", missing: true,
		why: "the id of a reference is a field, which is there before its copy, and says what the copy follows"}
}

// root says of roots of aggregates what their items have beside those of the vectors.
func root(kind string) []difference {
	return []difference{revision, position.of(kind), writer.of(kind), {
		types: kind, attribute: "_own", ours: `M {"_members":{"S":"[0-9a-f]{16}"}}`, missing: true,
		why: "a digest of the members, by which a read that falls between two items of a commit is noticed",
	}}
}

// differencesOfMatches are all that there are in items of matches.
var differencesOfMatches = append(root("MatchItem"), id("MatchItem", "venueId", "mcg"),
	id("MatchTeam", "teamId", "aus|ind"), id("MatchTeam", "coachId", "mcdonald|gambhir"),
	id("MatchPlayer", "playerId", "(cummins|smith|kohli)-01"))

// differencesOfCamps are all that there are in items of camps.
var differencesOfCamps = append(root("CampItem"), id("CampItem", "venueId", "mcg"),
	id("CampItem", "coachId", "gambhir"),
	difference{types: "CampCoach", attribute: "name", ours: "S Gautam Gambhir",
		why: "context never overwrites an item's own field; there the coach is called Summer Camp, as the camp is"},
	difference{types: "CampVenue", attribute: "name", ours: "S Melbourne Cricket Ground",
		why: "context never overwrites an item's own field"})

// differencesOfSelections are all that there are in rows with references.
var differencesOfSelections = []difference{
	revision, position.of("Selection"), writer.of("Selection"),
	id("Selection", "teamId", "aus"), id("Selection", "playerId", "(cummins|smith)-01"),
}

// differencesAfterCascade are those that there are besides, after a player has taken another name. There the first
// selection was moved from one player to another by an update that left its index key alone, and the third was made by
// an update of a row that was not there; so the query of the index finds neither.
var differencesAfterCascade = append([]difference{
	{types: "Selection", at: ".*[13]", attribute: "player", ours: `.*"Steven".*`,
		why: "a cascade reaches all copies, whichever way they came"},
	{types: "Selection", at: ".*1", attribute: "gsi1pk", ours: `S \$app#v1#selection#playerid_smith-01`,
		why: "keys of indexes are composed of the ids that the row has now"},
	{types: "Selection", at: ".*3", attribute: "squadId|selectionNumber|gsi1pk|gsi1sk", ours: `. .+`, missing: true,
		why: "a row has the fields of its key, and is in all indexes that it has the fields for, whichever op made it"},
}, differencesOfSelections...)

// differencesOfReadings are all that there are in rows and in the history of a time series.
var differencesOfReadings = []difference{
	revision, position.of("Reading|ReadingEvent"), writer.of("Reading|ReadingEvent"),
	{types: "Reading|ReadingEvent", attribute: "_writers", ours: `SS .*"ingest".*`, missing: true,
		why: "a row of several writers is there as long as one has written it and not deleted it"},
	{types: "Reading|ReadingEvent", attribute: "ts", change: fractions,
		why: "the order of a time series is that of moments, and a DateTime always has three digits of a fraction"},
	{types: "Reading", attribute: "gsi1sk", change: fractions, why: "it is composed of the moment"},
	{types: "ReadingEvent", attribute: "sk",
		change: func(theirs string) string { return fractions(theirs) + "#0#<offset>" },
		why:    "two events of one moment are both kept: the key goes on with where the event stands in its source"},
	{types: "ReadingEvent", attribute: "__edd_e__", ours: "S ReadingEvent",
		why: "the history is of a type of its own, so that no query of the rows finds it"},
	{types: "ReadingEvent", attribute: "_own", ours: `M {"_eventEnds":.*,"_eventOffset":.*,"_eventPartition":.*}`,
		missing: true, why: "what keys are composed of is read from fields, which the API does not show"},
	{types: "ReadingEvent", attribute: "_expires", ours: "N [0-9]+", missing: true,
		why: "for queries a row ends to the moment; DynamoDB removes it later, when it comes to it, by _ttl"},
}

// fractions gives moments the three digits of their fraction.
func fractions(text string) string {
	return strings.NewReplacer(":00Z", ":00.000Z", ":00z", ":00.000z").Replace(text)
}

// offsets are what differs from one run to another in keys of a history.
var offsets = regexp.MustCompile(`#0#[0-9]{16}$`)

// same fails where an item of ours is not the one of theirs in its place, but for the differences; and where an item
// does not have a difference that is about it, or no item has.
func same(t *testing.T, theirs, ours []attributes, differences []difference) {
	t.Helper()
	if len(theirs) != len(ours) || len(theirs) == 0 {
		t.Fatalf("there are %d items, and in the vectors %d: %v", len(ours), len(theirs), ours)
	}
	occurred := make([]bool, len(differences))
	for i := range theirs {
		sameItem(t, theirs[i].show(t), ours[i].show(t), differences, occurred)
	}
	for i, did := range occurred {
		if !did {
			t.Errorf("no item of type %s differs in %s", differences[i].types, differences[i].attribute)
		}
	}
}

func sameItem(t *testing.T, theirs, ours map[string]string, differences []difference, occurred []bool) {
	t.Helper()
	kind, _ := strings.CutPrefix(ours["__edd_e__"], "S ")
	sk := ours["sk"]
	ours["sk"] = offsets.ReplaceAllString(sk, "#0#<offset>")
	for i, d := range differences {
		if !whole(d.types, kind) || d.at != "" && !whole(d.at, sk) {
			continue
		}
		found := false
		for _, name := range slices.Collect(maps.Keys(ours)) {
			if !whole(d.attribute, name) {
				continue
			}
			want, there := theirs[name]
			if there == d.missing || want == ours[name] || !d.has(want, ours[name]) {
				continue
			}
			found, occurred[i] = true, true
			delete(theirs, name)
			delete(ours, name)
		}
		if !found {
			t.Errorf("%s does not differ in %s as it is meant to: %s, in the vectors %s", sk, d.attribute, ours, theirs)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(merged(theirs, ours))) {
		want, theyHave := theirs[name]
		got, weHave := ours[name]
		if theyHave != weHave || want != got && (!strings.HasSuffix(want, " <time>") || !whole(times, got)) {
			t.Errorf("%s: %s is %q, and %q in the vectors", sk, name, got, want)
		}
	}
}

// times is what there is in place of the times that differ from one run of the original system to another.
const times = `S [0-9-]{10}T[0-9:.]{12}Z|N [0-9]+`

func (d difference) has(theirs, ours string) bool {
	if d.change != nil {
		return ours == d.change(theirs)
	}
	return whole(d.ours, ours)
}

func whole(pattern, text string) bool {
	return regexp.MustCompile("^(?:" + pattern + ")$").MatchString(text)
}

func merged(a, b map[string]string) map[string]string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}
