package projection_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

// TestALiveFoldOfReferencesWithSweepsEqualsARebuild: deals refer to clubs and to each other. Those that have expired
// are removed at random moments, or never. Copies follow in the commit of a change, if at all, since what others hold
// hangs on when they follow. To look for what few runs find, raise -count.
func TestALiveFoldOfReferencesWithSweepsEqualsARebuild(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	removed := 0
	for range 80 {
		form := drawEndingForm(r)
		codec, events := form.codec(), drawEndingEvents(t, r, form)
		last := lastOf(events)

		rebuilt := keptStores["plain"]()
		want := restOf(t, rebuilt, codec, foldDeals(t, rebuilt, codec, 1, events), last)

		kind, window := pick(r, "plain", "shared"), 2+r.IntN(12)
		live, done := keptStores[kind](), 0
		var letters []projection.DeadLetter
		for done < len(events) {
			done += 1 + r.IntN(min(6, len(events)-done))
			letters = foldDeals(t, live, codec, window, events[:done])
			if r.IntN(4) > 0 {
				removed += sweepDeals(t, live, codec, lastOf(events[:done]))
			}
		}
		if diff := cmp.Diff(want, restOf(t, live, codec, letters, last)); diff != "" {
			for i, e := range events {
				t.Logf("event %d, second %v, subject %q: %s", i+1, e.Time.Sub(epoch).Seconds(), e.Subject, e.Data)
			}
			t.Fatalf("%+v, %s store, windows of %d: rows and dead letters differ from those of a rebuild (-want +got):\n%s",
				*form, kind, window, diff)
		}
	}
	if removed == 0 {
		t.Error("no row was removed: the property does not test what it says")
	}
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// drawEndingForm draws what deals are like that expire, and whose copies follow in the commit of a change or not.
func drawEndingForm(r *rand.Rand) *dealForm {
	nullable := refMode{cascade: true, transactional: true, nullIfMissing: true}
	modes := []refMode{{}, {onRequest: true}, transactional, nullable, nullable, nullable}
	return &dealForm{
		expires: true, unique: r.IntN(3) == 0, club: pick(r, modes...), host: pick(r, modes...), former: pick(r, modes...),
	}
}

// drawEndingEvents draws events of two clubs and four deals, of which many end within a few events.
func drawEndingEvents(t *testing.T, r *rand.Rand, form *dealForm) (events []eventlog.Event) {
	second := 0
	for range 1 + r.IntN(16) {
		steps := drawAimedSteps(r, second)
		for range 1 + r.IntN(3) - len(steps)/2 {
			steps = append(steps, drawEndingStep(r, form, second))
		}
		e := dealEvent(t, second, steps...)
		if r.IntN(4) == 0 {
			e.Subject = pick(r, "s1", "s2")
		}
		events = append(events, e)
		second += r.IntN(3)
	}
	return events
}

// drawAimedSteps draws steps for most events, and none for the others: ones that end a deal, empty its partition, or
// both, and refer to it; that refer to a deal which ends soon; or that change the club which such deals hold copies of.
func drawAimedSteps(r *rand.Rand, second int) (steps []dealStep) {
	lease := Deal{ID: pick(r, "a", "b"), Code: "x", ClubID: "A", Ends: after(second - r.IntN(3))}
	holder := dealStep{Op: "deal", Deal: Deal{ID: pick(r, "c", "d"), Code: pick(r, "", "x"), FormerID: lease.ID}}
	ops := []string{"nodeals"}
	switch r.IntN(8) {
	case 0:
	case 1:
		ops = []string{"deal"}
	case 2:
		ops = pick(r, []string{"nodeal"}, []string{"deal", "nodeals"})
	case 3, 4:
		ops, lease.Ends, lease.Code = []string{"deal"}, after(second+1+r.IntN(2)), ""
	case 5:
		return []dealStep{{Op: "club", ID: "A", Text: pick(r, "t", "u", "v", "w")}}
	default:
		return nil
	}
	for _, op := range ops {
		steps = append(steps, dealStep{Op: op, ID: lease.ID, Deal: lease})
	}
	return slices.Insert(steps, r.IntN(2)*len(steps), holder)
}

// drawEndingStep draws an op. One that asks for copies to follow is of a model whose copies are on record: elsewhere
// its event would be a dead letter.
func drawEndingStep(r *rand.Rand, form *dealForm, second int) dealStep {
	s := dealStep{
		Op: pick(r, "club", "club", "newclub", "rename", "noclub", "noclubs", "deal", "deal", "deal", "newdeal", "note",
			"note", "change", "upsert", "patch", "nodeal", "nodeals"),
		Text: pick(r, "t", "u", "v", "w"),
	}
	recorded := form.former != (refMode{})
	switch s.Op {
	case "club", "newclub", "rename", "noclub", "noclubs":
		s.ID, recorded = pick(r, "A", "A", "B"), form.club != (refMode{}) || form.host != (refMode{})
	default:
		s.ID = pick(r, "a", "b", "c", "d")
		s.Deal = Deal{
			ID: s.ID, Note: s.Text, ClubID: pick(r, "A", "A", "B", ""), HostID: pick(r, "A", "B", ""),
			FormerID: pick(r, "a", "b", "", ""), Season: pick(r, "24", "25"), Code: pick(r, "", "x", s.ID),
		}
		if r.IntN(3) == 0 {
			s.Deal.Ends = after(second + r.IntN(8))
		}
	}
	switch r.IntN(8) {
	case 0:
		s.Silent = true
	case 1:
		if recorded {
			s.Cascade = &projection.Cascade{Mode: projection.Transactional}
			if r.IntN(2) > 0 {
				s.Cascade.Filter = map[string]any{"season": "24"}
			}
		}
	}
	return s
}

// dealsAtRest is what is to be the same however events are folded. Of dead letters it tells which wait for a row.
type dealsAtRest struct {
	Clubs   map[string]Club
	Deals   map[string]Deal
	Stored  map[string]string // of the deals
	Letters map[string]bool
}

// restOf reads the rows that are there at that time.
func restOf(t *testing.T, store driver.Driver, codec *querydb.Codec[Deal], letters []projection.DeadLetter,
	at time.Time) *dealsAtRest {
	t.Helper()
	s := &dealsAtRest{map[string]Club{}, map[string]Deal{}, map[string]string{}, map[string]bool{}}
	for _, l := range letters {
		s.Letters[l.Ref] = l.RefNotFound != nil
	}
	db := openDeals(t, store, codec).ForFold("")
	stored := func(m *querydb.Model, ids string) []querydb.Row {
		var wanted []keys.Key
		for _, id := range ids {
			wanted = append(wanted, keys.Key{PK: string(id)})
		}
		rows, err := db.Get(t.Context(), m, wanted, true)
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	for _, row := range stored(clubModel, "AB") {
		var c Club
		if row.Record == nil {
			continue
		}
		if err := clubCodec.Decode(row.Record, &c); err != nil {
			t.Fatal(err)
		}
		s.Clubs[c.ID] = c
	}
	for _, row := range stored(codec.Model, "abcd") {
		var d Deal
		if row.Record == nil || row.Expired(at) {
			continue
		}
		if err := codec.Decode(row.Record, &d); err != nil {
			t.Fatal(err)
		}
		s.Deals[d.ID], s.Stored[d.ID] = d, fmt.Sprint(row.Indexes, row.Position)
	}
	return s
}
