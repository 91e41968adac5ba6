package server

import (
	"slices"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/graph"
	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// vote is a row of a second model, which refers to a task and holds a copy of its title.
type vote struct{ ID, TaskID, Title string }

func newVoteModel() *querydb.Model {
	m := newTaskModel()
	m.Name, m.Table = "Vote", "Vote"
	m.Fields = []driver.Field{
		{Name: "voteId", Scalar: "ID"}, {Name: "taskId", Scalar: "ID"},
		{Name: "task", Nullable: true, Object: []driver.Field{{Name: "title", Scalar: "String"}}},
	}
	m.PK.Layout.Segments = []keys.Segment{{Field: "voteId", Kind: keys.KindString}}
	return m
}

func voteOps(m, tasks *querydb.Model) *projection.Ops[vote, string, string] {
	return &projection.Ops[vote, string, string]{
		Codec: &querydb.Codec[vote]{
			Model: m,
			Encode: func(b *record.Builder, v *vote) {
				b.String(v.ID)
				b.String(v.TaskID)
				b.BeginObject()
				b.String(v.Title)
				b.EndObject()
			},
			Decode: func(rec record.Record, v *vote) error {
				var copied [1][]byte
				record.Object(rec.JSON(2), copied[:])
				v.ID, _ = record.String(rec.JSON(0))
				v.TaskID, _ = record.String(rec.JSON(1))
				v.Title, _ = record.String(copied[0])
				return nil
			},
			Value: func(v *vote, field int) keys.Value { return keys.String([]string{v.ID, v.TaskID}[field]) },
			Clone: func(v *vote) vote { return *v },
			References: querydb.ReferencesOf[vote]{{
				Path: "task", Field: 2, ID: 1, Source: tasks,
				Identifier: func(v *vote, _ int) string { return v.TaskID },
				Fill:       fillTitle,
				Keep:       func(v *vote, _ int, from *vote, _ int) { v.Title = from.Title },
				Filled:     func(v *vote, _ int) bool { return v.Title != "" },
			}},
		},
		Key:       func(id string) (keys.Key, error) { return keys.Key{PK: id}, nil },
		Partition: func(id string) (string, error) { return id, nil },
	}
}

func fillTitle(v *vote, _ int, source any) {
	v.Title = ""
	if t, ok := source.(*task); ok {
		v.Title = t.Title
	}
}

const votesSDL = `
type Task { taskId: ID! title: String! }
type Vote { voteId: ID! taskId: ID! }
type Query { Task(id: ID!, consistent: Boolean): Task, Vote(id: ID!, consistent: Boolean): Vote }
`

// newGroup makes a project of two models that are folded together: each task has a vote of the same id.
func newGroup() App {
	p := newProject(false)
	tasks, votes := p.Models[0], newVoteModel()
	ops := voteOps(votes, tasks)
	schema := gqlparser.MustLoadSchema(&ast.Source{Input: votesSDL})
	p.SDL, p.Schema = votesSDL, func(*graph.Runtime) graphql.ExecutableSchema { return plannedOnly{schema} }
	p.Catalog.Types["Vote"] = &catalog.Type{Name: "Vote", Model: votes, Owner: -1, Fields: map[string]*catalog.Field{
		"voteId": {Name: "voteId", Ordinal: 0}, "taskId": {Name: "taskId", Ordinal: 1},
	}}
	p.Catalog.Queries["Vote"] = &catalog.Query{
		Name: "Vote", Kind: catalog.QueryOne, Type: "Vote", Index: driver.Primary,
		PK: []catalog.KeyArg{{Name: "id", Kind: keys.KindString}},
	}
	p.Models = append(p.Models, votes)
	p.Projections = projection.Group(append(p.Projections, projection.New(ops, projection.Projection{
		Name: "Votes", Events: []string{"TaskAdded"},
		Project: func(e *eventlog.Event, _ projection.Meta) ([]projection.Op, error) {
			added, err := readTask(e.Data)
			return []projection.Op{ops.Set(vote{ID: added.ID, TaskID: added.ID})}, err
		},
	})))
	return p.App
}

// TestOperatorsSeeTheModelsOfAGroup beside its name, which has its projections: in metrics, at /admin and in the log.
func TestOperatorsSeeTheModelsOfAGroup(t *testing.T) {
	s := serve(t, newGroup(), start{args: []string{"--store", "memory:"}})
	s.append(t, slices.Collect(taskEvents(1, 3))...)
	s.until(t, "folded", func() bool { return s.statusOf(t).Projections[0].Rows == 6 })

	if got := s.statusOf(t).Projections; len(got) != 1 || got[0].Projection != "Tasks+Votes" || got[0].DeadLetters != 0 {
		t.Errorf("projections are %+v, want one group Tasks+Votes without dead letters", got)
	} else if d := cmp.Diff([]string{"Task", "Vote"}, got[0].Models); d != "" {
		t.Errorf("models of the group (-want +got):\n%s", d)
	}
	_, metrics := s.request(t, "GET", "/metrics", "")
	for _, want := range []string{
		`foldql_projection_models{model="Vote",projection="Tasks+Votes"} 1`,
		`foldql_projection_models{model="Task",projection="Tasks+Votes"} 1`,
		`foldql_projection_events_total{projection="Tasks+Votes"} 3`,
	} {
		if !strings.Contains(metrics, want+"\n") {
			t.Errorf("/metrics does not have %s", want)
		}
	}
	if got := strings.Count(metrics, "\nfoldql_projection_models{"); got != 2 {
		t.Errorf("/metrics has %d models, want 2", got)
	}
	starts := `"msg":"projection starts","projection":"Tasks+Votes","models":"Task, Vote"`
	if n := strings.Count(s.stderr.String(), starts); n != 1 {
		t.Errorf("the log has %d lines %s, want 1:\n%s", n, starts, &s.stderr)
	}
}
