// Package diff says what a change of the schemas of a project does: to clients of its API, and to the rows of its
// models when a server of the new program starts.
package diff

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/projection/rates"
)

// Schemas are those of a project: the API that it serves, and its models and events.
type Schemas struct {
	API   *ast.Schema
	Model *schema.Model
}

// Report is what a change of schemas does.
type Report struct {
	API    []Change `json:"api"`
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

// Change is one of the API.
type Change struct {
	Effect Effect `json:"effect"`
	At     string `json:"at"` // Task.title, Query.Task(id:)
	What   string `json:"what"`
	// Clients are those that see it, and what breaks for them; "" where it is compatible.
	Clients string `json:"clients,omitempty"`
}

// Compare says what the change from former schemas to the present ones does.
func Compare(was, now *Schemas) Report {
	r := Report{API: compareAPI(was.API, now.API), Models: compareModels(was.Model, now.Model)}
	r.API = append(r.API, compareAccess(was.Model, now.Model)...)
	r.API = append(r.API, comparePlaces(was.Model, now.Model)...)
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

// Breaks reports whether there are clients that break.
func (r *Report) Breaks() bool {
	return slices.ContainsFunc(r.API, func(c Change) bool { return c.Effect == Breaking })
}
