package graph

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/internal/execute"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// The joins of a ward go in a circle: to its patients, and from each of them back to it.
const wardSDL = `
type Ward { id: ID! patientIds: [ID!]! patients: [Patient!]! }
type Patient { id: ID! name: String! secret: String wardId: ID! ward: Ward }
type Query { Ward(id: ID!, consistent: Boolean): Ward }
`

func newWards() *catalog.Catalog {
	types := map[string]*catalog.Type{
		"Ward": {Model: model("Ward", stored("id", "ID", "patientIds", "[ID]"), []int{0}, nil), Owner: -1},
		"Patient": {Model: model("Patient", stored("id", "ID", "name", "String", "secret", "String?", "wardId", "ID"),
			[]int{0}, nil), Owner: -1},
	}
	for name, t := range types {
		t.Name, t.Fields = name, map[string]*catalog.Field{}
		for i, f := range t.Model.Fields {
			t.Fields[f.Name] = &catalog.Field{Name: f.Name, Ordinal: i}
		}
	}
	types["Ward"].Fields["patients"] = &catalog.Field{Name: "patients", Ordinal: 1,
		Join: &catalog.Join{Target: "Patient", Many: true, Index: driver.Primary}}
	types["Patient"].Fields["ward"] = &catalog.Field{Name: "ward", Ordinal: 3, Join: &catalog.Join{Target: "Ward",
		Index: driver.Primary}}
	types["Patient"].Fields["secret"].Rule = &catalog.Rule{Groups: []string{"Doctor"}}
	return &catalog.Catalog{Types: types, Secured: true, Queries: map[string]*catalog.Query{
		"Ward": {Name: "Ward", Kind: catalog.QueryOne, Type: "Ward", Index: driver.Primary,
			PK: []catalog.KeyArg{{Name: "id", Kind: keys.KindString}}},
	}}
}

// around is a query that goes around the circle n times, and asks for the selection at its end.
func around(n int, selection string) string {
	return `{ Ward(id: "A") { ` + strings.Repeat("patients { ward { ", n) + selection + strings.Repeat(" } }", n) + ` } }`
}

// wards are one ward of 20 patients whose names are long, answered by plans and by the reference.
func wards(t *testing.T, cfg Config) map[string]*bench {
	t.Helper()
	return wardsOn(t, cfg, memstore.New())
}

func wardsOn(t *testing.T, cfg Config, drv driver.Driver) map[string]*bench {
	t.Helper()
	plans := newBenchOf(t, newWards(), wardSDL, cfg, drv)
	var ids []string
	for i := range 20 {
		ids = append(ids, fmt.Sprint("p", i))
		plans.put(t, "Patient", row{"id": ids[i], "name": strings.Repeat("x", 1000), "secret": "x", "wardId": "A"})
	}
	plans.put(t, "Ward", row{"id": "A", "patientIds": ids})
	resolvers, slow := *plans, *plans.rt
	slow.cfg.ResolversOnly = true
	resolvers.exec = executor.New(WithCompiledPlans(&reference{plans.foreign, plans}, &slow))
	return map[string]*bench{"plans": plans, "resolvers": &resolvers}
}

// TestAnswersEndWhereTheyAreTooLarge, although the rows that they tell again and again are few.
func TestAnswersEndWhereTheyAreTooLarge(t *testing.T) {
	tests := []struct {
		name, query string
		ok          bool
	}{
		{"400 objects in a circle", around(2, "id"), true},
		{"as many objects as there may be, and more", around(3, "id"), false},
		{"three million objects", around(5, "id"), false},
		{"few objects with long texts", around(1, "patients { name }"), true},
		{"one text under many names", around(1, `patients { a: name b: name c: name d: name }`), false},
		{"long texts under an alias of their list",
			around(1, `a: patients { name } b: patients { name } c: patients { name }`), false},
		{"errors", around(1, `patients { `+aliases(20, "secret")+` }`), false},
	}
	for way, b := range wards(t, Config{MaxAnswerBytes: 1 << 20}) {
		for _, tt := range tests {
			t.Run(way+"/"+tt.name, func(t *testing.T) {
				b.store.reset()
				got := b.do(as(t.Context(), "ann"), tt.query, nil)
				if tt.ok {
					if got.Errors != nil || got.Data == nil {
						t.Fatalf("errors %.200v, wanted none", got.Errors)
					}
					return
				}
				others := slices.DeleteFunc(slices.Clone(got.Errors), func(err string) bool {
					return strings.HasPrefix(err, "FORBIDDEN ")
				})
				if got.Data != nil || len(others) != 1 || !strings.HasPrefix(others[0], "LIMIT_EXCEEDED ") {
					t.Errorf("data %.100v, errors %.200v; wanted no data, and one error LIMIT_EXCEEDED", got.Data, others)
				}
				if most := 1<<20/execute.ObjectBytes/execute.ErrorObjects + execute.LookEvery; len(got.Errors) > most {
					t.Errorf("%d errors, wanted %d at most", len(got.Errors), most)
				}
			})
		}
	}
}

func aliases(n int, field string) (all string) {
	for i := range n {
		all += fmt.Sprintf("a%d: %s ", i, field)
	}
	return all
}

// TestTheErrorOfALargeAnswerNamesTheLimitAndTheMend: what to ask for instead.
func TestTheErrorOfALargeAnswerNamesTheLimitAndTheMend(t *testing.T) {
	for way, b := range wards(t, Config{MaxAnswerBytes: 1 << 20}) {
		ctx := graphql.StartOperationTrace(t.Context())
		op, errs := b.exec.CreateOperationContext(ctx, &graphql.RawParams{Query: around(4, "id")})
		if errs != nil {
			t.Fatal(errs)
		}
		handler, ctx := b.exec.DispatchOperation(ctx, op)
		resp := handler(ctx)
		if len(resp.Errors) != 1 {
			t.Fatalf("%s: errors %v, wanted one", way, resp.Errors)
		}
		for _, part := range []string{"1048576 bytes", "4096 objects", "ask for smaller pages"} {
			if !strings.Contains(resp.Errors[0].Message, part) {
				t.Errorf("%s: %q does not say %q", way, resp.Errors[0].Message, part)
			}
		}
	}
}

// TestAnswersEndWithTheirTime, although nothing is left to be read.
func TestAnswersEndWithTheirTime(t *testing.T) {
	const rounds = 4
	for way, gets := range map[string]int{"plans": 1 + 2*rounds, "resolvers": 3} { // resolvers read each row once
		drv := &lastGet{Driver: memstore.New()}
		b := wardsOn(t, Config{AuthOff: true, MaxAnswerBytes: 1 << 30}, drv)[way]
		ctx, cancel := context.WithCancelCause(t.Context())
		drv.left, drv.then = gets, func() { cancel(context.DeadlineExceeded) }
		got := b.do(ended{ctx}, around(rounds, "id"), nil)
		if len(got.Errors) != 1 || !strings.HasPrefix(got.Errors[0], "TIMEOUT ") || got.Data != nil || drv.left != 0 {
			t.Errorf("%s: data %.100v, errors %.200v, %d reads left; wanted no data and one error TIMEOUT", way, got.Data,
				got.Errors, drv.left)
		}
	}
}

// lastGet does something after so many reads.
type lastGet struct {
	driver.Driver
	left int
	then func()
}

func (d *lastGet) Get(ctx context.Context, g driver.Get) ([]driver.Row, error) {
	rows, err := d.Driver.Get(ctx, g)
	if d.left--; d.left == 0 {
		d.then()
	}
	return rows, err
}

// ended is a context whose deadline is when it is cancelled.
type ended struct{ context.Context }

func (e ended) Err() error {
	if e.Context.Err() == nil {
		return nil
	}
	return context.Cause(e.Context)
}
