// Package diff says what a change of the schemas of a project does: to clients of its API, to events of its log, and to
// the rows of its models when a server of the new program starts.
package diff

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/eventlock"
	"github.com/foldql/foldql/projection/rates"
)

// Schemas are those of a project: the API that it serves, its models and events, and what events of a log may hold.
type Schemas struct {
	API   *ast.Schema
	Model *schema.Model
	Lock  *eventlock.Lock
}

// Report is what a change of schemas does.
type Report struct {
	API    []Change `json:"api"`
	Events []Change `json:"events"` // that a log may have, and the schemas do not fit
	Models []Model  `json:"models"`
}

// Effect is what a change of the API does to clients that were written before it.
type Effect string

// The effects, the worst first.
const (
	Breaking   Effect = "breaking"   // some of their operations fail, or have answers that they cannot read
	Noticeable Effect = "noticeable" // their operations go on, and answers may be others
	Compatible Effect = "compatible" // they see nothing of it
)

var effects = []Effect{Breaking, Noticeable, Compatible}

// Change is one of the API, or of the events.
type Change struct {
	Effect Effect `json:"effect"`
	At     string `json:"at"` // Task.title, Query.Task(id:), or TaskAdded.title of an event
	What   string `json:"what"`
	// Clients are those that see it, and what breaks for them; "" where it is compatible.
	Clients string `json:"clients,omitempty"`
}

// Compare says what the change from former schemas to the present ones does.
func Compare(was, now *Schemas) Report {
	r := Report{API: compareAPI(was.API, now.API), Events: compareEvents(was.Lock, now.Model),
		Models: compareModels(was.Model, now.Model)}
	r.API = append(r.API, compareAccess(was.Model, now.Model)...)
	r.API = append(r.API, comparePlaces(was.Model, now.Model)...)
	r.API = append(r.API, compareIdentifiers(was.Model, now.Model)...)
	slices.SortStableFunc(r.API, func(a, b Change) int {
		return cmp.Compare(slices.Index(effects, a.Effect), slices.Index(effects, b.Effect))
	})
	return r
}

// Forecast says of the models how long the next start works on their rows, by measurements of their projections.
func (r *Report) Forecast(by map[string]rates.Forecast) {
	for i := range r.Models {
		m := &r.Models[i]
		for _, name := range m.Projections {
			f := by[name] // without a measurement where there is none of the name
			switch m.Start {
			case Rebuild:
				m.Takes = append(m.Takes, fmt.Sprintf("projection %s: %s", name, f.Rebuild()))
			case Indexes:
				m.Takes = append(m.Takes, fmt.Sprintf("projection %s: %s", name, f.IndexBuild()),
					fmt.Sprintf("on DynamoDB: %s", f.Rebuild()))
			}
		}
	}
}

// Breaks reports whether there are clients that break, or events that a log may have and that the schemas do not fit.
func (r *Report) Breaks() bool {
	return len(r.Events) > 0 || slices.ContainsFunc(r.API, func(c Change) bool { return c.Effect == Breaking })
}
