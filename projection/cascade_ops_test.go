package projection_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// foldRefs folds the events on the store and returns its DB and the dead letters.
func foldRefs(
	t *testing.T, store driver.Driver, mode refMode, window int, events ...[]ref,
) (*querydb.DB, []projection.DeadLetter) {
	t.Helper()
	db := open(t, store, clubModel, pickModel)
	var all []eventlog.Event
	for _, ops := range events {
		all = append(all, refEvent("", ops...))
	}
	runner := refRunner(t, mode, logOf(t, all...), db, window)
	if err := runner.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	letters, err := runner.DeadLetters(t.Context(), "", 10)
	if err != nil {
		t.Fatal(err)
	}
	return db, letters
}

// TestAnOpSaysWhichCopiesFollowItsChange: with windows of one event and of all, on both kinds of stores.
func TestAnOpSaysWhichCopiesFollowItsChange(t *testing.T) {
	var (
		onRequest = refMode{onRequest: true}
		eventual  = refMode{cascade: true}
		nullable  = refMode{nullIfMissing: true}
	)
	toPicks := func(mode projection.CascadeMode) *projection.Cascade {
		return &projection.Cascade{Targets: []string{"Pick"}, Mode: mode}
	}
	notes := func(note string, mode projection.CascadeMode) *projection.Cascade {
		return &projection.Cascade{Filter: map[string]any{"note": note}, Mode: mode}
	}
	for _, tt := range []struct {
		name string
		mode refMode
		then []ref  // one event each, once picks a, b and c hold copies of club A with the name old
		want string // names in the copies of a, b and c, - for none; or others
	}{
		{"nobody unless an op asks", onRequest, []ref{{Op: "club", ID: "A", Text: "new"}}, "old old old"},
		{"all", onRequest, []ref{{Op: "club", ID: "A", Text: "new", Cascade: &projection.Cascade{}}}, "new new new"},
		{"all of a model", onRequest, []ref{{Op: "rename", ID: "A", Text: "new", Cascade: toPicks(projection.Eventual)}},
			"new new new"},
		{"all in the commit", onRequest,
			[]ref{{Op: "rename", ID: "A", Text: "new", Cascade: toPicks(projection.Transactional)}}, "new new new"},
		{"by a filter", onRequest, []ref{{Op: "club", ID: "A", Text: "new", Cascade: notes("x", projection.Eventual)}},
			"new old new"},
		{"by a filter in the commit", onRequest,
			[]ref{{Op: "club", ID: "A", Text: "new", Cascade: notes("x", projection.Transactional)}}, "new old new"},
		{"by a filter that none passes", onRequest,
			[]ref{{Op: "club", ID: "A", Text: "new", Cascade: notes("z", projection.Transactional)}}, "old old old"},
		{"by two filters of two changes", onRequest, []ref{
			{Op: "club", ID: "A", Text: "new", Cascade: notes("x", projection.Eventual)},
			{Op: "club", ID: "A", Text: "newer", Cascade: notes("y", projection.Eventual)},
		}, "newer newer newer|new newer new"}, // the first may have been done
		{"none in place of all", eventual, []ref{{Op: "club", ID: "A", Text: "new", NoCascade: true}}, "old old old"},
		{"none though a later event writes the row as it is", eventual,
			[]ref{{Op: "rename", ID: "A", Text: "new", NoCascade: true}, {Op: "rename", ID: "A", Text: "new"}}, "old old old"},
		{"none though an earlier event has written the row as it was", eventual,
			[]ref{{Op: "rename", ID: "A", Text: "old"}, {Op: "rename", ID: "A", Text: "new", NoCascade: true}}, "old old old"},
		{"an earlier change though, which a copy made in between lacks", eventual, []ref{
			{Op: "rename", ID: "A", Text: "mid"}, {Op: "set", ID: "a", Club: "A"}, {Op: "rename", ID: "A", Text: "old"},
			{Op: "rename", ID: "A", Text: "new", NoCascade: true},
		}, "old old old|old old new|old new new|new new new"}, // each as of when it follows
		{"some in place of all", eventual,
			[]ref{{Op: "club", ID: "A", Text: "new", Cascade: notes("y", projection.Eventual)}}, "old new old"},
		{"all though a change before asked for some", eventual, []ref{
			{Op: "club", ID: "A", Text: "new", Cascade: notes("y", projection.Eventual)},
			{Op: "club", ID: "A", Text: "newer"},
		}, "newer newer newer"},
		{"in the commit in place of after it", eventual,
			[]ref{{Op: "rename", ID: "A", Text: "new", Cascade: toPicks(projection.Transactional)}}, "new new new"},
		{"after the commit in place of in it", transactional,
			[]ref{{Op: "rename", ID: "A", Text: "new", Cascade: toPicks(projection.Eventual)}}, "new new new"},
		{"none in place of those in the commit", transactional,
			[]ref{{Op: "rename", ID: "A", Text: "new", NoCascade: true}}, "old old old"},
		{"the deletion by the schema", nullable, []ref{{Op: "noclub", ID: "A"}}, "- - -"},
		{"no deletion", nullable, []ref{{Op: "noclub", ID: "A", NoCascade: true}}, "old old old"},
		{"a change where only absence is by the schema", nullable,
			[]ref{{Op: "club", ID: "A", Text: "new", Cascade: &projection.Cascade{}}}, "new new new"},
	} {
		for _, window := range []int{1, 100} {
			for store, join := range refStores() {
				events := picksOfA()
				foldRefs(t, join(), tt.mode, window, events...) // before the rest: a window fills in copies as they end
				for _, op := range tt.then {
					events = append(events, []ref{op})
				}
				db, letters := foldRefs(t, join(), tt.mode, window, events...)
				if len(letters) > 0 {
					t.Fatalf("%s: dead letters %+v", tt.name, letters)
				}
				if got := copiedNames(t, db); !slices.Contains(strings.Split(tt.want, "|"), got) {
					t.Errorf("%s, on the store of %s, window %d: the copies are %q, want %q", tt.name, store, window, got, tt.want)
				}
			}
		}
	}
}

// picksOfA are the events by which picks a, b and c hold copies of club A with the name old.
func picksOfA() [][]ref {
	events := [][]ref{{{Op: "club", ID: "A", Text: "old"}}}
	for i, note := range []string{"x", "y", "x"} {
		events = append(events, []ref{{Op: "set", ID: "abc"[i : i+1], Club: "A", Text: note}})
	}
	return events
}

// TestCopiesFollowThatAnyOpOfTheEventHasFollow where several ops of one event change a row: what one of them says
// covers no other, and one that says nothing leaves it to the schema.
func TestCopiesFollowThatAnyOpOfTheEventHasFollow(t *testing.T) {
	silent := ref{Op: "rename", ID: "A", Text: "silent", NoCascade: true}
	plain := ref{Op: "rename", ID: "A", Text: "plain"}
	asking := func(note string, mode projection.CascadeMode) ref {
		return ref{Op: "rename", ID: "A", Text: "asked" + note, Cascade: &projection.Cascade{
			Targets: []string{"Pick"}, Filter: map[string]any{"note": note}, Mode: mode,
		}}
	}
	const after, now = projection.Eventual, projection.Transactional
	for _, tt := range []struct {
		name  string
		mode  refMode
		event []ref
		want  string
	}{
		{"none of one, the schema's of another", refMode{cascade: true}, []ref{silent, plain}, "plain plain plain"},
		{"the schema's of one, none of another", refMode{cascade: true}, []ref{plain, silent}, "silent silent silent"},
		{"likewise in the commit", transactional, []ref{silent, plain}, "plain plain plain"},
		{"in the commit, the other way round", transactional, []ref{plain, silent}, "silent silent silent"},
		{"none of all", transactional, []ref{silent, silent}, "old old old"},
		{"none of one, some of another", refMode{onRequest: true}, []ref{asking("x", after), silent}, "silent old silent"},
		{"some of one, the schema's of another", refMode{cascade: true}, []ref{asking("x", now), plain},
			"plain plain plain"},
		{"some of one, nobody by the schema", refMode{onRequest: true}, []ref{asking("y", now), plain}, "old plain old"},
		{"some of each", refMode{onRequest: true}, []ref{asking("x", after), asking("y", after)}, "askedy askedy askedy"},
		{"some of each in the commit", refMode{onRequest: true}, []ref{asking("x", now), asking("y", now)},
			"askedy askedy askedy"},
		{"some in the commit and some after it", refMode{cascade: true}, []ref{asking("y", now), asking("x", after)},
			"askedx askedx askedx"},
		{"some in the commit, none of another", transactional, []ref{asking("y", now), silent}, "old silent old"},
	} {
		for _, window := range []int{1, 100} {
			for store, join := range refStores() {
				events := picksOfA()
				foldRefs(t, join(), tt.mode, window, events...)
				db, letters := foldRefs(t, join(), tt.mode, window, append(events, tt.event)...)
				if got := copiedNames(t, db); got != tt.want || len(letters) > 0 {
					t.Errorf("%s, on the store of %s, window %d: the copies are %q, want %q; dead letters %+v",
						tt.name, store, window, got, tt.want, letters)
				}
			}
		}
	}
}

// TestNoCascadeIsNoErrorWhereNothingWouldFollow by the schema either.
func TestNoCascadeIsNoErrorWhereNothingWouldFollow(t *testing.T) {
	for store, join := range refStores() {
		db, letters := foldRefs(t, join(), refMode{}, 10, append(picksOfA(),
			[]ref{{Op: "rename", ID: "A", Text: "new", NoCascade: true}})...)
		if clubs, _ := refRows(t, db); clubs["A"].Name != "new" || len(letters) > 0 {
			t.Errorf("on the store of %s, the club is %+v; dead letters %+v", store, clubs["A"], letters)
		}
	}
}

// copiedNames are the names in the copies of picks a, b and c.
func copiedNames(t *testing.T, db *querydb.DB) string {
	t.Helper()
	_, picks := refRows(t, db)
	names := []string{"-", "-", "-"}
	for i, id := range []string{"a", "b", "c"} {
		if p := picks[id]; p.Club != nil {
			names[i] = p.Club.Name
		}
	}
	return strings.Join(names, " ")
}

// TestACascadeToNobodyIsADeadLetter: an op that asks for what the schema does not provide for says so.
func TestACascadeToNobodyIsADeadLetter(t *testing.T) {
	for _, tt := range []struct {
		name string
		mode refMode
		how  projection.Cascade
		want string
	}{
		{"no links", refMode{}, projection.Cascade{}, "cascade of Club: no reference to it keeps on record who holds copies"},
		{"another model", refMode{onRequest: true}, projection.Cascade{Targets: []string{"Match"}},
			"cascade of Club to Match: its rows hold no copies of it on record"},
		{"no such field", refMode{onRequest: true}, projection.Cascade{Filter: map[string]any{"season": "2025"}},
			"cascade of Club: rows of Pick cannot be chosen by season = 2025"},
		{"an object", refMode{onRequest: true}, projection.Cascade{Filter: map[string]any{"club": "A"}},
			"cascade of Club: rows of Pick cannot be chosen by club = A"},
		{"a list of values", refMode{onRequest: true}, projection.Cascade{Filter: map[string]any{"note": []any{"x"}}},
			"cascade of Club: rows of Pick cannot be chosen by note = [x]"},
	} {
		_, letters := foldRefs(t, refStores()["one writer"](), tt.mode, 10,
			[]ref{{Op: "club", ID: "A", Text: "old"}}, []ref{{Op: "club", ID: "A", Text: "new", Cascade: &tt.how}})
		if len(letters) != 1 || !strings.Contains(letters[0].Reason, tt.want) {
			t.Errorf("%s: dead letters %+v, want one with %q", tt.name, letters, tt.want)
		}
	}
}

// TestAChangeThatAnEventTakesBackAsksForNothing: an op whose event fails leaves no cascade behind.
func TestAChangeThatAnEventTakesBackAsksForNothing(t *testing.T) {
	db, letters := foldRefs(t, refStores()["one writer"](), refMode{cascade: true}, 10,
		[]ref{{Op: "club", ID: "A", Text: "old"}, {Op: "set", ID: "a", Club: "A"}},
		[]ref{{Op: "club", ID: "A", Text: "lost", NoCascade: true}, {Op: "update", ID: "e", Club: "A"}}, // there is no e
		[]ref{{Op: "club", ID: "A", Text: "new"}},
	)
	if len(letters) != 1 {
		t.Errorf("dead letters %+v, want that of the update", letters)
	}
	if d := cmp.Diff("new - -", copiedNames(t, db)); d != "" {
		t.Error(d)
	}
}

// TestAChangeThatNoCopyFollowedStaysSo where a later window writes the row as it is, whatever else it has copied of it.
func TestAChangeThatNoCopyFollowedStaysSo(t *testing.T) {
	before := [][]ref{
		{{Op: "club", ID: "A", Text: "old"}}, {{Op: "set", ID: "a", Club: "A"}, {Op: "set", ID: "b", Club: "A"}},
	}
	silent := []ref{{Op: "rename", ID: "A", Text: "new", NoCascade: true}}
	fails := []ref{{Op: "set", ID: "d", Club: "A"}, {Op: "set", ID: "e", Club: "none"}}
	for _, tt := range []struct {
		name string
		then [][][]ref // runs of events
		want string
	}{
		{"a row that is copied anew", [][][]ref{
			{silent}, {{{Op: "set", ID: "c", Club: "A"}}, {{Op: "rename", ID: "A", Text: "new"}}},
		}, "old old new"},
		{"a copy that its event takes back", [][][]ref{
			{{{Op: "rename", ID: "A", Text: "old"}}, fails, silent},
		}, "old old -"},
	} {
		for _, window := range []int{1, 100} {
			store, events := refStores()["one writer"](), before
			db, _ := foldRefs(t, store, refMode{cascade: true}, window, events...)
			for _, run := range tt.then {
				events = append(slices.Clip(events), run...)
				db, _ = foldRefs(t, store, refMode{cascade: true}, window, events...)
			}
			if got := copiedNames(t, db); got != tt.want {
				t.Errorf("%s, windows of %d: the copies are %q, want %q", tt.name, window, got, tt.want)
			}
		}
	}
}

// TestACascadeHasRoomWhereEventsBeforeItHaveTakenHoldersAway, in the same window or in another.
func TestACascadeHasRoomWhereEventsBeforeItHaveTakenHoldersAway(t *testing.T) {
	const most = 10_000
	var holders, some []ref
	for i := range most + 3 {
		holders = append(holders, ref{Op: "set", ID: fmt.Sprint("p", i), Club: "A"})
	}
	for i := range 5 {
		some = append(some, ref{Op: "delete", ID: fmt.Sprint("p", i)})
	}
	events := [][]ref{{{Op: "club", ID: "A", Text: "old"}}, holders[:most], holders[most:], some,
		{{Op: "rename", ID: "A", Text: "new"}}}
	for _, window := range []int{1, 100} {
		store := memstore.New()
		foldRefs(t, store, transactional, 1, events[:3]...)
		if _, letters := foldRefs(t, store, transactional, window, events...); len(letters) > 0 {
			t.Errorf("windows of %d: dead letters %+v, want none", window, letters)
		}
	}
}
