package eventlog

import (
	"testing"
	"time"
)

func hashed() Event {
	return Event{
		ID: "1", Source: "/s", Type: "T", Subject: "a", Time: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC),
		PartitionKey: "k", DataSchema: "d", Extensions: map[string]string{"x": "1", "y": "2"},
		Data: []byte(`{"a": 1.0, "b": {"c": [1, 2], "d": "é<"}}`),
	}
}

func TestEventsThatSayTheSameHaveOneHash(t *testing.T) {
	first := hashed()
	want := ContentHash(&first)
	again := hashed()
	again.Data = []byte(`{"b":{"d":"\u00e9<","c":[1,2]},"a":1.0}`)
	again.Partition, again.Offset, again.Time = "7", 9, again.Time.In(time.FixedZone("", 3600))
	if got := ContentHash(&again); got != want {
		t.Errorf("hash %s, want %s", got, want)
	}
	// The form is on record in stores: it never changes.
	if want != "OUm39e-cDa16GJsA-5s6gslOfWQSp1Cye_x-6wOmVOc" {
		t.Errorf("hash %s", want)
	}
}

func TestEventsThatSayOtherThingsHaveOtherHashes(t *testing.T) {
	seen := map[string]int{}
	for i, change := range []func(*Event){
		func(*Event) {},
		func(e *Event) { e.ID = "2" },
		func(e *Event) { e.Source = "/t" },
		func(e *Event) { e.Type = "U" },
		func(e *Event) { e.Subject = "" },
		func(e *Event) { e.Subject, e.Type = "", "Ta" },
		func(e *Event) { e.Time = e.Time.Add(1) },
		func(e *Event) { e.Time = time.Time{} },
		func(e *Event) { e.PartitionKey = "" },
		func(e *Event) { e.DataSchema = "" },
		func(e *Event) { e.Extensions = nil },
		func(e *Event) { e.Extensions["x"] = "2" },
		func(e *Event) { e.Data = []byte(`{"a":1}`) },
		func(e *Event) { e.Data = []byte(`{"a":1.0,"b":{"c":[2,1],"d":"é<"}}`) },
		func(e *Event) { e.Data = []byte(`no JSON`) },
		func(e *Event) { e.Data = nil },
	} {
		e := hashed()
		change(&e)
		h := ContentHash(&e)
		if before, there := seen[h]; there {
			t.Errorf("changes %d and %d have one hash", before, i)
		}
		seen[h] = i
	}
}

func BenchmarkHash(b *testing.B) {
	e := hashed()
	for b.Loop() {
		ContentHash(&e)
	}
}
