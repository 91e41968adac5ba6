package aggregate_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/foldql/foldql/querydb/aggregate"
	"github.com/foldql/foldql/querydb/driver"
)

const final = `["t",["t","Team"],null,null,[["b",["b","Bo"],2],["a",["a","Al"],10]]]`

func finalMatch() driver.Row {
	return rowOf(`"m1"`, `"Final"`, `"2025"`, `"v"`, `["v","Venue"]`, `["y","x"]`, `[["y","Yo"],["x","Xi"]]`,
		final, `["t",["t","Team"],"k",["k","Kai"],[]]`)
}

// decomposed are the items of a row, which may not fail.
func decomposed(t interface{ Fatal(...any) }, p *aggregate.Plan, row driver.Row) []driver.Row {
	items, err := p.Decompose(&row)
	if err != nil {
		t.Fatal(err)
	}
	return items
}

func TestAnObjectHasItemsUnderTheKeysOfTheSeed(t *testing.T) {
	p := newPlan()
	var got []string
	for _, item := range decomposed(t, p, finalMatch()) {
		var texts []string
		for i := range item.Record.Len() - 1 { // the last of the root is the digest
			texts = append(texts, string(item.Record.JSON(i)))
		}
		got = append(got, strings.TrimPrefix(item.Key.SK, prefix)+" "+strings.TrimPrefix(item.Indexes[0].SK, prefix)+" "+
			strings.Join(texts, " "))
	}
	want := []string{
		`matchitem match#final "m1" "Final" "2025" "v"`,
		`matchcoach#teamnumber#0000000000000002 matchcoach#teamnumber#0000000000000002 "k" "Kai" "2025"`,
		`matchplayer#teamnumber#0000000000000001#a matchplayer#teamnumber#0000000000000001#a "a" ["a","Al"] 10 "2025"`,
		`matchplayer#teamnumber#0000000000000001#b matchplayer#teamnumber#0000000000000001#b "b" ["b","Bo"] 2 "2025"`,
		`matchteam#teamnumber#0000000000000001 matchteam#teamnumber#0000000000000001 "t" ["t","Team"]  "2025"`,
		`matchteam#teamnumber#0000000000000002 matchteam#teamnumber#0000000000000002 "t" ["t","Team"] "k" "2025"`,
		`matchumpire#x matchumpire#x "x" "Xi"`,
		`matchumpire#y matchumpire#y "y" "Yo"`,
		`matchvenue matchvenue "v" "Venue"`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestAnObjectComesBackWhole: elements come in the order of their sort keys or of a field, all else as it was.
func TestAnObjectComesBackWhole(t *testing.T) {
	p := newPlan()
	rapid.Check(t, func(t *rapid.T) {
		row := drawMatch(t)
		items := decomposed(t, p, row)
		once, err := p.Assemble(items)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range []int{0, 1, 2, 3, 4} {
			if got, want := string(once.Record.JSON(f)), string(row.Record.JSON(f)); got != want {
				t.Fatalf("field %d is %s, want %s", f, got, want)
			}
		}
		for f := range row.Record.Len() {
			if got, want := sorted(once.Record.JSON(f)), sorted(row.Record.JSON(f)); got != want {
				t.Fatalf("field %d is %s, want the characters of %s", f, once.Record.JSON(f), row.Record.JSON(f))
			}
		}
		again := decomposed(t, p, driver.Row{Key: row.Key, Record: once.Record, Indexes: row.Indexes})
		if diff := cmp.Diff(items, again); diff != "" {
			t.Fatal(diff)
		}
		twice, err := p.Assemble(again)
		if err != nil || string(twice.Record) != string(once.Record) {
			t.Fatalf("read again it is %s, %v, want %s", twice.Record, err, once.Record)
		}
		toRead, err := p.AssembleToRead(again)
		if err != nil {
			t.Fatal(err)
		}
		same := decomposed(t, p, driver.Row{Key: row.Key, Record: toRead.Record, Indexes: row.Indexes})
		if diff := cmp.Diff(items, same); diff != "" {
			t.Fatalf("what is only read is another object: %s", diff)
		}
	})
}

func sorted(text []byte) string {
	chars := slices.Clone(text)
	slices.Sort(chars)
	return string(chars)
}

func TestElementsComeInTheOrderOfTheirField(t *testing.T) {
	p := newPlan()
	whole, err := p.Assemble(decomposed(t, p, finalMatch()))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(whole.Record.JSON(7)); got != final {
		t.Errorf("the players are %s, want those of %s", got, final)
	}
	if got := string(whole.Record.JSON(5)); got != `["x","y"]` {
		t.Errorf("the identifiers of umpires are %s, want those of the umpires as they come", got)
	}
}

// TestAnyChangeOfItemsIsNoticed: an item of another commit makes a torn object, whichever it is.
func TestAnyChangeOfItemsIsNoticed(t *testing.T) {
	p := newPlan()
	rapid.Check(t, func(t *rapid.T) {
		before, after := decomposed(t, p, drawMatch(t)), decomposed(t, p, drawMatch(t))
		cut := rapid.IntRange(1, len(before)).Draw(t, "cut")
		mixed := slices.Concat(before[:1], after[1:])
		if rapid.Bool().Draw(t, "lost") && cut < len(before) {
			mixed = slices.Concat(before[:cut], before[cut+1:])
		}
		_, err := p.Assemble(mixed)
		same := cmp.Equal(mixed[1:], before[1:])
		if torn := errors.Is(err, aggregate.ErrTorn); torn == same {
			t.Fatalf("torn is %v, the items are the same: %v (%v)", torn, same, err)
		}
	})
}

func TestTornItemsSayWhatIsMissingToo(t *testing.T) {
	p := newPlan()
	_, err := p.Assemble(slices.DeleteFunc(decomposed(t, p, finalMatch()), func(item driver.Row) bool {
		return item.Kind == "MatchVenue"
	}))
	const want = "it has no venue, an item of type MatchVenue"
	if !errors.Is(err, aggregate.ErrTorn) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want ErrTorn that says %q", err, want)
	}
}

// undigested takes the digest off the root, as one that another program has written has none.
func undigested(items []driver.Row) []driver.Row {
	root := &items[0]
	texts := make([]string, root.Record.Len())
	for i := range texts[:len(texts)-1] {
		texts[i] = string(root.Record.JSON(i))
	}
	texts[len(texts)-1] = "null"
	root.Record = rowOf(texts...).Record
	return items
}

func TestItemsThatMakeNoWholeSayWhatIsMissing(t *testing.T) {
	p := newPlan()
	without := func(kinds ...string) []driver.Row {
		return slices.DeleteFunc(undigested(decomposed(t, p, finalMatch())), func(item driver.Row) bool {
			return slices.Contains(kinds, item.Kind)
		})
	}
	stray := func(sk, kind string) []driver.Row {
		items := without()
		extra := items[1]
		extra.Key.SK, extra.Kind = prefix+sk, kind
		return append(items, extra)
	}
	for want, items := range map[string][]driver.Row{
		"it has no root, an item of type MatchItem":   without("MatchItem"),
		"it has no venue, an item of type MatchVenue": without("MatchVenue"),
		"no team1, an item of type MatchTeam, no team2, an item of type MatchTeam": without("MatchTeam", "MatchPlayer",
			"MatchCoach"),
		"is no part of it": stray("matchteam#teamnumber#3", "MatchTeam"),
	} {
		_, err := p.Assemble(items)
		if !errors.Is(err, driver.ErrDamaged) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error of damaged items that says %q", err, want)
		}
	}
	if row, err := p.Assemble(without("MatchCoach")); err != nil || row.Record == nil {
		t.Errorf("without a coach, who may be missing: %v", err)
	}
	if row, err := p.Assemble(nil); err != nil || row.Record != nil {
		t.Errorf("no items: %v, %v, want no row", row, err)
	}
}

func TestTwoElementsOfOneKeyAreRefused(t *testing.T) {
	row := rowOf(`"m1"`, `"F"`, `"s"`, `"v"`, `["v","V"]`, `["x","X"]`, `[["x","a"],["X","b"]]`, final, final)
	_, err := newPlan().Decompose(&row)
	if !errors.Is(err, driver.ErrInvalid) || !strings.Contains(err.Error(), "two elements of umpires") {
		t.Errorf("%v, want an error that names the elements", err)
	}
}

// TestOnlyWhatDiffersIsWritten: after the writes of a change, the items are those of the new object.
func TestOnlyWhatDiffersIsWritten(t *testing.T) {
	p := newPlan()
	rapid.Check(t, func(t *rapid.T) {
		before, after := decomposed(t, p, drawMatch(t)), decomposed(t, p, drawMatch(t))
		have := map[string]driver.Row{}
		for _, item := range before[1:] {
			have[item.Key.SK] = item
		}
		aggregate.Changes(before, after, func(item *driver.Row, kind driver.WriteKind) {
			old, there := have[item.Key.SK]
			if kind == driver.Delete {
				if !there {
					t.Fatalf("%s is deleted, and was not there", item.Key.SK)
				}
				delete(have, item.Key.SK)
				return
			}
			if there && cmp.Equal(old, *item) {
				t.Fatalf("%s is written, and has not changed", item.Key.SK)
			}
			have[item.Key.SK] = *item
		})
		want := map[string]driver.Row{}
		for _, item := range after[1:] {
			want[item.Key.SK] = item
		}
		if diff := cmp.Diff(want, have); diff != "" {
			t.Fatal(diff)
		}
	})
}
