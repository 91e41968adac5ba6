// Package projectiontest tests projectors: given events, expect rows.
//
// A [Spec] is one case, and a [GroupSpec] one of several models that refer to each other. [Run] and [RunGroup] fold its
// events and compare the rows, and then, by themselves, fold them again in the ways in which events reach a projection
// in production: projected again, cut into windows of every size, stopped after every event and resumed by a new
// runner, ended after every commit, be it of copies that follow or of a retry, each commit's answer lost, a second fold
// of the whole log; and on a store that others write to, such as DynamoDB, with commits interrupted after every write,
// so that the events of a window reach rows that have some of them already. Every way must give the same rows and the
// same dead letters. Where one does not, the test names the rows and the paths in them.
package projectiontest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
)

// Spec says which rows a projection makes of events. R is the model's row.
type Spec[R any] struct {
	Projection projection.Projection
	Codec      *querydb.Codec[R]
	Given      []Event
	// Types are those that Given may have beside the types that the projection takes, such as all of the project's
	// event.Types.
	Types eventlog.Types
	// Want are all rows that there are in the end, in any order. A row that has expired by the latest time of an event is
	// not there.
	Want []R
	// WantDeadLetters are the events that become dead letters, in the order of Given; by default none may be.
	WantDeadLetters []DeadLetter
	// Options refine the comparison of rows. Empty and nil lists are equal already.
	Options []gocmp.Option
}

// GroupSpec is a [Spec] of projections whose models are connected by references, and are folded together: see
// [projection.Group].
type GroupSpec struct {
	Projections []projection.Projection
	Given       []Event
	Types       eventlog.Types // see Spec.Types
	// Want are the rows of each of the models, with the copies that they hold. A model that is left out has any rows.
	Want            []Rows
	WantDeadLetters []DeadLetter   // see Spec.WantDeadLetters
	Options         []gocmp.Option // see Spec.Options
}

// Event is an event of a Spec. Whatever is left out gets a value that suits most cases.
type Event struct {
	ID      string // the event's number in Given, "1", "2" …
	Source  string // the stream of the model that takes it, "/test" where it has none
	Type    string // one that the projection takes, or one of Types
	Version int    // of the data, 1 by default
	// Subject is that which producers send. There is none by default, and a dead letter without one blocks no other event,
	// so that there are rows in the end that there are not in production.
	Subject string
	// Time is an RFC 3339 date-time, by default a minute after that of the event before, the first 2024-01-01T00:00:00Z.
	Time string
	// Data is the event's data: a value of its generated type, JSON as a string or bytes, or another value that
	// encoding/json makes it of. By default {}. A list that may not be null is given in a value even where it is empty.
	Data any
}

// DeadLetter is an event that is expected to become a dead letter.
type DeadLetter struct {
	ID     string
	Reason string // a part of the reason
}

// Run folds the events of the spec in every way and fails the test at the first way that does not give what is wanted.
func Run[R any](t testing.TB, s Spec[R]) {
	t.Helper()
	c := s.testCase()
	if err := c.check(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// RunGroup is [Run] for a group.
func RunGroup(t testing.TB, s GroupSpec) {
	t.Helper()
	c, err := s.testCase()
	if err == nil {
		err = c.check(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (s *Spec[R]) testCase() *testCase {
	return &testCase{
		projection: s.Projection, members: []projection.Projection{s.Projection}, given: s.Given, types: s.Types,
		want: []Rows{RowsOf(s.Codec, s.Want...)}, wantDeadLetters: s.WantDeadLetters, more: s.Options,
	}
}

func (s *GroupSpec) testCase() (*testCase, error) {
	group := projection.Group(s.Projections)
	if len(group) != 1 {
		names := make([]string, len(group))
		for i := range group {
			names[i] = group[i].Name
		}
		return nil, fmt.Errorf("the models of the projections are not connected by references: there are %d groups of them, "+
			"%s; give Projections those of one group, and test each by itself", len(group), strings.Join(names, "; "))
	}
	return &testCase{
		projection: group[0], members: s.Projections, given: s.Given, types: s.Types, want: s.Want,
		wantDeadLetters: s.WantDeadLetters, more: s.Options,
	}, nil
}

// testCase is a Spec or a GroupSpec.
type testCase struct {
	projection      projection.Projection
	members         []projection.Projection // of which the projection consists
	given           []Event
	types           eventlog.Types
	want            []Rows
	wantDeadLetters []DeadLetter
	more            []gocmp.Option
}

// check returns what is wrong, nil for nothing.
func (s *testCase) check(ctx context.Context) error {
	if err := s.checkWant(); err != nil {
		return err
	}
	events, err := s.events()
	if err != nil {
		return err
	}
	first, _, err := s.fold(ctx, once(events))
	if err != nil {
		return fmt.Errorf("fold the events: %w", err)
	}
	if diff := s.unwanted(first); diff != "" {
		return fmt.Errorf("the fold gives something else than wanted:\n%s", diff)
	}
	for _, w := range ways(events) {
		if err := s.same(ctx, first, w); err != nil {
			return err
		}
	}
	for _, w := range []way{eachByItself(events), amongOthers(eachByItself(events))} {
		_, commits, err := s.fold(ctx, w)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		for _, n := range append(stops(commits), commits) {
			if err := s.same(ctx, first, ended(w, n)); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkWant returns what is wrong with the models whose rows are wanted.
func (s *testCase) checkWant() error {
	models := s.projection.Models()
	for i, of := range s.want {
		m := of.model()
		if !slices.Contains(models, m) {
			return fmt.Errorf("the field Want: none of the projections folds %s", m.Name)
		}
		if slices.ContainsFunc(s.want[:i], func(o Rows) bool { return o.model() == m }) {
			return fmt.Errorf("the field Want: rows of %s are there twice; name all of them in one RowsOf", m.Name)
		}
	}
	return nil
}

// same returns how what comes of the events in one way differs from what came first, nil for not.
func (s *testCase) same(ctx context.Context, first result, w way) error {
	got, _, err := s.fold(ctx, w)
	if err != nil {
		return fmt.Errorf("%s: %w", w.name, err)
	}
	if diff := s.compare(first, got, "folded once", "now"); diff != "" {
		return fmt.Errorf("%s gives something else:\n%s", w.name, diff)
	}
	return nil
}

func (s *testCase) events() ([]eventlog.Event, error) {
	at := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	takes := s.takes()
	events := make([]eventlog.Event, len(s.given))
	for i, g := range s.given {
		if !slices.Contains(takes, g.Type) && s.types[g.Type] == nil {
			return nil, fmt.Errorf("event %d: Type: projection %s takes no %q, but %s; name it in Types if it is to "+
				"be passed over",
				i+1, s.projection.Name, g.Type, strings.Join(takes, ", "))
		}
		e, err := g.event()
		if err != nil {
			return nil, fmt.Errorf("event %d: %w", i+1, err)
		}
		if e.ID == "" {
			e.ID = strconv.Itoa(i + 1)
		}
		if g.Source == "" {
			e.Source = s.source(g.Type)
		}
		if g.Time == "" {
			e.Time = at
		}
		events[i] = e
		at = e.Time.Add(time.Minute)
	}
	return events, nil
}

// takes are the types of events that the projections take.
func (s *testCase) takes() (all []string) {
	for _, p := range s.members {
		all = append(all, p.Events...)
	}
	return all
}

// source is that of an event that says none: a projection with a source of its own would pass over others.
func (s *testCase) source(eventType string) string {
	for _, p := range s.members {
		if p.EventSource != "" && slices.Contains(p.Events, eventType) {
			return p.EventSource
		}
	}
	return "/test"
}

// event makes the event, but for what follows from its place and from who takes it.
func (e *Event) event() (eventlog.Event, error) {
	event := eventlog.Event{ID: e.ID, Source: e.Source, Type: e.Type, Subject: e.Subject}
	if e.Version > 1 {
		event.Extensions = map[string]string{eventlog.VersionAttribute: strconv.Itoa(e.Version)}
	}
	var err error
	if e.Time != "" {
		if event.Time, err = time.Parse(time.RFC3339Nano, e.Time); err != nil {
			return event, fmt.Errorf("field Time: %w", err)
		}
		event.Time = event.Time.UTC()
	}
	if event.Data, err = dataOf(e.Data); err != nil {
		return event, fmt.Errorf("field Data: %w", err)
	}
	return event, nil
}

func dataOf(data any) ([]byte, error) {
	switch d := data.(type) {
	case nil:
		return []byte("{}"), nil
	case string:
		return []byte(d), nil
	case []byte:
		return d, nil
	}
	return json.Marshal(data)
}
