package projectiontest

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
)

// events are n events that need no data.
func events(n int) []Event {
	all := make([]Event, n)
	for i := range all {
		all[i].Type = "Deposited"
	}
	return all
}

// TestProjectorsThatAreWrongAreFound has projectors with the faults that fold well once, or that a spec must show.
func TestProjectorsThatAreWrongAreFound(t *testing.T) {
	calls := 0
	noted := map[string]int{}
	for _, c := range []struct {
		name string
		spec Spec[Account]
		want string
	}{
		{
			name: "a state of its own between events",
			spec: Spec[Account]{
				Projection: ProjectAccount(func(*eventlog.Event, projection.Meta) ([]projection.Op, error) {
					calls++
					return []projection.Op{accounts.Set(Account{"a", calls})}, nil
				}),
				Given: events(1),
				Want:  []Account{{"a", 1}},
			},
			want: "is the projector pure?",
		},
		{
			name: "a memory of the events that it has seen",
			spec: Spec[Account]{
				Projection: ProjectAccount(func(e *eventlog.Event, _ projection.Meta) ([]projection.Op, error) {
					noted[e.ID]++
					if noted[e.ID] > 3 {
						return nil, nil
					}
					return []projection.Op{accounts.Set(Account{e.ID, 1})}, nil
				}),
				Given: events(2),
				Want:  []Account{{"1", 1}, {"2", 1}},
			},
			want: "something else",
		},
		{
			name: "rows that are not wanted",
			spec: Spec[Account]{
				Projection: ProjectAccount(func(e *eventlog.Event, _ projection.Meta) ([]projection.Op, error) {
					return []projection.Op{accounts.Set(Account{e.ID, 1})}, nil
				}),
				Given: events(2),
				Want:  []Account{{"1", 1}},
			},
			want: "than wanted",
		},
		{
			name: "an event that nobody expects to be a dead letter",
			spec: Spec[Account]{Projection: ProjectAccount(deposits), Given: []Event{{Type: "Deposited", Data: "[]"}}},
			want: "than wanted",
		},
		{
			name: "an event that is a dead letter for another reason",
			spec: Spec[Account]{
				Projection:      ProjectAccount(deposits),
				Given:           []Event{{Type: "Deposited", Data: "[]"}},
				WantDeadLetters: []DeadLetter{{ID: "1", Reason: "the moon"}},
			},
			want: "the moon",
		},
		{
			name: "an event that is expected to be a dead letter and is not",
			spec: Spec[Account]{
				Projection:      ProjectAccount(deposits),
				Given:           []Event{{Type: "Deposited", Data: `{"owner": "a"}`}},
				Want:            []Account{{"a", 0}},
				WantDeadLetters: []DeadLetter{{ID: "1"}},
			},
			want: "than wanted",
		},
		{
			name: "a type that is misspelt",
			spec: Spec[Account]{Projection: ProjectAccount(deposits), Given: []Event{{Type: "Depositted"}}},
			want: `takes no "Depositted", but Deposited`,
		},
		{
			name: "a time that is none",
			spec: Spec[Account]{Projection: ProjectAccount(deposits), Given: []Event{{Type: "Deposited", Time: "yesterday"}}},
			want: "event 1: field Time",
		},
		{
			name: "data that has no JSON",
			spec: Spec[Account]{Projection: ProjectAccount(deposits), Given: []Event{{Type: "Deposited", Data: func() {}}}},
			want: "event 1: field Data",
		},
	} {
		c.spec.Codec = AccountCodec
		err := c.spec.testCase().check(t.Context())
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", c.name, err, c.want)
		}
	}
}

// TestDeadLettersAreComparedByEvent and not by their place among others.
func TestDeadLettersAreComparedByEvent(t *testing.T) {
	c := (&Spec[Account]{Codec: AccountCodec, Given: events(3), WantDeadLetters: []DeadLetter{{"2", "moon"}}}).testCase()
	got := c.unwanted(result{DeadLetters: []DeadLetter{{"1", "the sun"}, {"2", "the moon"}}})
	if want := "  event 1 (Deposited): want no dead letter, got dead letter \"the sun\"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestProjectionsOfSeveralGroupsAreNamed: each group is to be tested by itself.
func TestProjectionsOfSeveralGroupsAreNamed(t *testing.T) {
	one, two := ProjectAccount(deposits), ProjectAccount(deposits)
	one.Name, two.Name = "Book", "Loan"
	_, err := (&GroupSpec{Projections: []projection.Projection{one, two}}).testCase()
	if err == nil || !strings.Contains(err.Error(), "there are 2 groups of them, Book; Loan; give") {
		t.Errorf("of two groups: %v", err)
	}
}

// TestADeadLetterBlocksOnlyEventsOfItsSubject: so a spec without subjects may have rows that production has not.
func TestADeadLetterBlocksOnlyEventsOfItsSubject(t *testing.T) {
	given := func(subject string) []Event {
		return []Event{{Type: "Deposited", Subject: subject, Data: "[]"},
			{Type: "Deposited", Subject: subject, Data: `{"owner": "a"}`}}
	}
	Run(t, Spec[Account]{
		Projection: ProjectAccount(deposits), Codec: AccountCodec, Given: given("a"),
		WantDeadLetters: []DeadLetter{{ID: "1"}, {ID: "2", Reason: "an earlier event of the same subject"}},
	})
	Run(t, Spec[Account]{
		Projection: ProjectAccount(deposits), Codec: AccountCodec, Given: given(""),
		Want: []Account{{"a", 0}}, WantDeadLetters: []DeadLetter{{ID: "1"}},
	})
}

// TestAnEventIsAMinuteAfterTheOneBeforeByDefault also where that says its time, and what has expired by the latest time
// is gone, in whatever order the events are.
func TestAnEventIsAMinuteAfterTheOneBeforeByDefault(t *testing.T) {
	given := events(5)
	given[2].Time, given[4].Time = "2025-06-01T12:00:00+02:00", "2020-01-01T00:00:00Z"
	spec := Spec[Account]{Projection: ProjectAccount(deposits), Codec: AccountCodec, Given: given}
	made, err := spec.testCase().events()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range made {
		got = append(got, e.Time.Format(time.RFC3339))
	}
	want := []string{"2024-01-01T00:00:00Z", "2024-01-01T00:01:00Z", "2025-06-01T10:00:00Z", "2025-06-01T10:01:00Z",
		"2020-01-01T00:00:00Z"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("times of the events (-want +got):\n%s", diff)
	}
	if now := latestTime([][]eventlog.Event{made}); !now.Equal(made[3].Time) {
		t.Errorf("rows are read at %v, want the latest time, %v", now, made[3].Time)
	}
}

// TestAllDeadLettersAreCompared however many there are.
func TestAllDeadLettersAreCompared(t *testing.T) {
	given := events(1001)
	for i := range given {
		given[i].Data = "[]"
	}
	s := (&Spec[Account]{Projection: ProjectAccount(deposits), Codec: AccountCodec, Given: given}).testCase()
	made, err := s.events()
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := s.fold(t.Context(), once(made))
	if err != nil || len(got.DeadLetters) != len(given) || got.DeadLetters[1000].ID != "1001" {
		t.Errorf("%d dead letters of %d are compared, %v", len(got.DeadLetters), len(given), err)
	}
}

func TestRowsThatNobodyFoldsAreNoExpectation(t *testing.T) {
	for _, tt := range []struct {
		want    []Rows
		because string
	}{
		{[]Rows{RowsOf(matchCodec)}, "none of the projections folds Match"},
		{[]Rows{RowsOf(AccountCodec, Account{"a", 0}), RowsOf(AccountCodec)}, "rows of Account are there twice"},
	} {
		c, err := (&GroupSpec{
			Projections: []projection.Projection{ProjectAccount(deposits)}, Want: tt.want,
			Given: []Event{{Type: "Deposited", Data: `{"owner": "a"}`}},
		}).testCase()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.check(t.Context()); err == nil || !strings.Contains(err.Error(), tt.because) {
			t.Errorf("%v, want an error with %q", err, tt.because)
		}
	}
}

func TestLongSpecsAreStoppedAtABoundedNumberOfPlaces(t *testing.T) {
	for _, n := range []int{0, 1, 2, 99, 100, 101, 5000} {
		at := stops(n)
		if len(at) > maxStops {
			t.Errorf("%d events are stopped at %d places, want at most %d", n, len(at), maxStops)
		}
		if n > 1 && n <= maxStops && len(at) != n-1 {
			t.Errorf("%d events are stopped at %d places, want every one", n, len(at))
		}
	}
}

func TestEveryOtherBatchIsPartialEachAfterAnotherCommit(t *testing.T) {
	s := newShared(false)
	var at []int
	for range 8 {
		s.begin(true, 4)
		at = append(at, s.at)
	}
	if diff := cmp.Diff([]int{2, -1, 1, -1, 0, -1, 3, -1}, at); diff != "" {
		t.Errorf("failed after the commits (-want +got):\n%s", diff)
	}
	if s.begin(true, 1); s.at != 0 {
		t.Errorf("a batch of one commit fails after commit %d, want after its only one", s.at)
	}
}
