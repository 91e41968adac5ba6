package main

import (
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/foldql/foldql/keys"
)

// form is a way in which keys are composed, with values to compose.
type form struct {
	name   string
	layout keys.Layout
	values []keys.Value
}

// forms are those of a read model's own table, and those of the models that share one.
func forms() ([]form, error) {
	id := func(name string) keys.Segment { return keys.Segment{Field: name, Kind: keys.KindString} }
	template, err := keys.ParseTemplate("team#{teamId}#member#{n:16}")
	if err != nil {
		return nil, err
	}
	member, err := template.Layout(keys.CasingLower, func(field string) keys.Kind {
		if field == "n" {
			return keys.KindInt
		}
		return keys.KindString
	})
	task := keys.EntityKey{
		Schema: keys.EntitySchema{Name: "work", Version: 1, Casing: keys.CasingLower}, Type: "Task",
		Collection: []string{"contributions", "assignments"}, Clustered: true, Casing: keys.CasingLower,
	}
	at := keys.DateTime(time.Date(2024, time.January, 15, 10, 30, 0, 123e6, time.UTC))
	return []form{
		{"one text", keys.Layout{Segments: []keys.Segment{id("orderId")}}, []keys.Value{keys.String("order-123")}},
		{"one date-time", keys.Layout{Segments: []keys.Segment{{Field: "at", Kind: keys.KindDateTime}}}, []keys.Value{at}},
		{"composite", keys.Layout{Segments: []keys.Segment{id("category"), id("productId")}, Sep: "/"},
			[]keys.Value{keys.String("books/used"), keys.String("prod-17")}},
		{"composite of number and date-time", keys.Layout{
			Segments: []keys.Segment{{Field: "n", Kind: keys.KindInt}, {Field: "at", Kind: keys.KindDateTime}}, Sep: "/",
		}, []keys.Value{keys.Int(-42), at}},
		{"entity, in a nested collection", task.SK(keys.Segment{Field: "projectId", Kind: keys.KindString},
			keys.Segment{Field: "taskId", Kind: keys.KindString}), []keys.Value{keys.String("Proj-Alpha"),
			keys.String("T-001")}},
		{"template", member, []keys.Value{keys.String("Team-7"), keys.Int(7)}},
	}, err
}

// compositions measures the composition of keys, and fails where a key takes more than the one allocation that it is.
func compositions(out io.Writer) error {
	all, err := forms()
	if err != nil {
		return err
	}
	fmt.Fprint(out, "\nkeys:\n")
	for _, f := range all {
		text, err := f.layout.Compose(f.values...)
		if err != nil {
			return fmt.Errorf("compose a key, %s: %w", f.name, err)
		}
		r := testing.Benchmark(func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = f.layout.Compose(f.values...) // it has just not failed
			}
		})
		fmt.Fprintf(out, "  %s: %d allocations, %d ns: %s\n", f.name, r.AllocsPerOp(), r.NsPerOp(), text)
		if r.AllocsPerOp() > 1 {
			return fmt.Errorf("a key, %s, takes %d allocations, and may take 1", f.name, r.AllocsPerOp())
		}
	}
	return nil
}
