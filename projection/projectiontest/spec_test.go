package projectiontest

import (
	"strings"
	"testing"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/projection/internal/script"
)

// projecting is the script projection with another projector.
func projecting(project func(e *eventlog.Event, m projection.Meta) ([]projection.Op, error)) projection.Projection {
	p := script.Projection("script")
	p.Project = project
	return p
}

func row(version string, total int) script.Row {
	return script.Row{ID: "a", Version: version, Total: total}
}

// events are n events that need no data.
func events(n int) []Event {
	all := make([]Event, n)
	for i := range all {
		all[i].Type = script.EventType
	}
	return all
}

// TestProjectorsThatAreWrongAreFound has projectors with the faults that fold well once, or that a spec must show.
func TestProjectorsThatAreWrongAreFound(t *testing.T) {
	calls := 0
	noted := map[string]int{}
	at := func(n int) time.Time { return time.Date(2024, 1, 1, 0, n-1, 0, 0, time.UTC) }
	stamped := func(r script.Row, created, updated int) script.Row {
		r.CreatedAt, r.UpdatedAt = at(created), at(updated)
		return r
	}
	for _, c := range []struct {
		name string
		spec Spec[script.Row]
		want string
	}{
		{
			name: "a state of its own between events",
			spec: Spec[script.Row]{
				Projection: projecting(func(*eventlog.Event, projection.Meta) ([]projection.Op, error) {
					calls++
					return []projection.Op{script.Ops.Set(row("v1", calls))}, nil
				}),
				Given: events(1),
				Want:  []script.Row{stamped(row("v1", 1), 1, 1)},
			},
			want: "is the projector pure?",
		},
		{
			name: "a memory of the events that it has seen",
			spec: Spec[script.Row]{
				Projection: projecting(func(e *eventlog.Event, _ projection.Meta) ([]projection.Op, error) {
					noted[e.ID]++
					if noted[e.ID] > 3 {
						return nil, nil
					}
					return []projection.Op{script.Ops.Set(row("v"+e.ID, 1))}, nil
				}),
				Given: events(2),
				Want:  []script.Row{stamped(row("v1", 1), 1, 1), stamped(row("v2", 1), 2, 2)},
			},
			want: "something else",
		},
		{
			name: "rows that are not wanted",
			spec: Spec[script.Row]{
				Projection: projecting(func(e *eventlog.Event, _ projection.Meta) ([]projection.Op, error) {
					return []projection.Op{script.Ops.Set(row("v"+e.ID, 1))}, nil
				}),
				Given: events(2),
				Want:  []script.Row{stamped(row("v1", 1), 1, 1)},
			},
			want: "than wanted",
		},
		{
			name: "an event that nobody expects to be set aside",
			spec: Spec[script.Row]{Projection: script.Projection("script"), Given: []Event{{Type: script.EventType, Data: "[]"}}},
			want: "than wanted",
		},
		{
			name: "an event that is set aside for another reason",
			spec: Spec[script.Row]{
				Projection: script.Projection("script"),
				Given:      []Event{{Type: script.EventType, Data: "[]"}},
				WantAside:  []Aside{{ID: "1", Reason: "the moon"}},
			},
			want: "the moon",
		},
		{
			name: "an event that is expected to be set aside and is not",
			spec: Spec[script.Row]{
				Projection: script.Projection("script"),
				Given:      events(1),
				WantAside:  []Aside{{ID: "1"}},
			},
			want: "than wanted",
		},
		{
			name: "a time that is none",
			spec: Spec[script.Row]{Projection: script.Projection("script"), Given: []Event{{Time: "yesterday"}}},
			want: "event 1: Time",
		},
		{
			name: "data that has no JSON",
			spec: Spec[script.Row]{Projection: script.Projection("script"), Given: []Event{{Data: func() {}}}},
			want: "event 1: Data",
		},
	} {
		c.spec.Codec = script.Codec
		err := c.spec.check(t.Context())
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", c.name, err, c.want)
		}
	}
}

func TestLongSpecsAreStoppedAtABoundedNumberOfPlaces(t *testing.T) {
	for _, n := range []int{0, 1, 2, 99, 100, 101, 5000} {
		at := places(n)
		if len(at) > maxStops {
			t.Errorf("%d events are stopped at %d places, want at most %d", n, len(at), maxStops)
		}
		if n > 1 && n <= maxStops && len(at) != n-1 {
			t.Errorf("%d events are stopped at %d places, want every one", n, len(at))
		}
	}
}
