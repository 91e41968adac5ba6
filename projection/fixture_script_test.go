package projection_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
)

// The projector under which the engine is tested: its events say in JSON which ops they ask for. It and its model are
// written by hand as the generator would write them.

// EventType is the type of the events that the projection takes.
const EventType = "Script"

// Step is one op that an event asks for.
type Step struct {
	Op       string     `json:"op"` // set create update upsert follow patch delete wipe fail panic goexit hang
	ID       string     `json:"id,omitempty"`
	Version  string     `json:"version,omitempty"`
	Customer *string    `json:"customer,omitempty"`
	Rank     *int       `json:"rank,omitempty"`
	Total    int        `json:"total,omitempty"`
	Note     string     `json:"note,omitempty"`
	Expires  *time.Time `json:"expires,omitempty"`
	Clear    []string   `json:"clear,omitempty"`  // fields that a patch clears
	Remove   []string   `json:"remove,omitempty"` // fields that a patch removes
}

// Data is the data of an event.
type Data struct {
	Steps []Step `json:"steps"`
}

// JSON returns the data of an event that asks for the steps.
func JSON(steps ...Step) []byte {
	b, err := json.Marshal(Data{steps})
	if err != nil {
		panic(err)
	}
	return b
}

// Projection is the projection under the name.
func Projection(name string) projection.Projection { return ProjectionOf(name, Ops) }

// ProjectionOf is the projection, of the rows of another model.
func ProjectionOf(name string, o *OpsOf) projection.Projection {
	return projection.New(o, projection.Projection{
		Name:   name,
		Events: []string{EventType},
		Project: func(e *eventlog.Event, _ projection.Meta) ([]projection.Op, error) {
			var d Data
			if err := json.Unmarshal(e.Data, &d); err != nil {
				return nil, err
			}
			ops := make([]projection.Op, len(d.Steps))
			for i, s := range d.Steps {
				var err error
				if ops[i], err = s.op(o); err != nil {
					return nil, err
				}
			}
			return ops, nil
		},
	})
}

func (s Step) op(o *OpsOf) (projection.Op, error) {
	key := Key{s.ID, s.Version}
	switch s.Op {
	case "set":
		return o.Set(s.row()), nil
	case "create":
		return o.Create(s.row()), nil
	case "update":
		return o.Update(key, s.Change), nil
	case "upsert":
		return o.Upsert(key, Row{}, s.Change), nil
	case "follow":
		return o.Follow(s.ID, s.Following), nil
	case "patch":
		return s.patch(o, key)
	case "delete":
		return o.Delete(key), nil
	case "wipe":
		return o.DeletePartition(s.ID), nil
	case "panic":
		panic("as the script says")
	case "goexit":
		runtime.Goexit()
	case "hang":
		hang()
	}
	return nil, fmt.Errorf("the script says %q", s.Op)
}

func (s Step) row() Row {
	row := Row{ID: s.ID, Version: s.Version}
	row.Customer, row.Rank, row.Total, row.Expires = s.Customer, s.Rank, s.Total, s.Expires
	if s.Note != "" {
		row.Notes = []string{s.Note}
	}
	s.spoil(&row)
	return row
}

// spoil makes the row one that cannot be stored where the note says "break" or "cut". "goexit" and "hang" never return.
func (s Step) spoil(row *Row) {
	switch s.Note {
	case "break":
		row.Total = Unstorable
	case "cut":
		row.Customer = ptr("café"[:4])
	case "goexit":
		runtime.Goexit()
	case "hang":
		hang()
	}
}

// hanging is closed when what hangs is to go on: see hang.
var hanging atomic.Pointer[chan struct{}]

// hang is code that does not return, until the test is over.
func hang() { <-*hanging.Load() }

// hangUntilReleased lets the script hang until release is called, at the latest until the end of the test.
func hangUntilReleased(t testing.TB) (release func()) {
	t.Helper()
	held := make(chan struct{})
	release = sync.OnceFunc(func() { close(held) })
	hanging.Store(&held)
	t.Cleanup(release)
	return release
}

// Unstorable is no Int.
const Unstorable = 1 << 40

// Change is what an update does to a row. A note "rename" changes its key, "break" makes it one that cannot be stored.
func (s Step) Change(row *Row) {
	row.Customer, row.Rank = s.Customer, s.Rank
	row.Total += s.Total
	if s.Note != "" {
		row.Notes = append(row.Notes, s.Note)
	}
	if s.Note == "rename" {
		row.ID += "x"
	}
	s.spoil(row)
}

// Following is the row that a follow adds after the latest: it carries the customer and the notes on.
func (s Step) Following(latest Row) Row {
	next := s.row()
	next.Customer = latest.Customer
	next.Total += latest.Total
	next.Notes = append(latest.Notes, next.Notes...)
	if most, counts := strings.CutPrefix(s.Version, counting); counts {
		next.Version = versionAfter(latest.Version, most)
	}
	return next
}

// counting is how the Version of a follow begins that makes the version after the latest, and v1 after the most that
// follows in it: which row it writes cannot be known before the latest is.
const counting = "v+"

func versionAfter(latest, most string) string {
	n, m := 0, 0
	fmt.Sscanf(latest, "v%d", &n) // no version yet reads as 0
	fmt.Sscanf(most, "%d", &m)
	return fmt.Sprintf("v%d", n%m+1)
}

func (s Step) patch(o *OpsOf, key Key) (projection.Op, error) {
	p := o.Patch(key)
	if s.Customer != nil {
		p.Set(Fields.Customer.Assign(*s.Customer))
	}
	if s.Rank != nil {
		p.Set(Fields.Rank.Assign(*s.Rank))
	}
	if s.Total != 0 {
		p.Set(Fields.Total.Assign(s.Total))
	}
	refs := map[string]projection.FieldRef[Row]{
		"customer": Fields.Customer, "rank": Fields.Rank, "total": Fields.Total, "id": Fields.ID,
	}
	for _, name := range s.Clear {
		p.Clear(refs[name])
	}
	for _, name := range s.Remove {
		p.Remove(refs[name])
	}
	return p, nil
}
