package cloudevents_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/foldql/foldql/eventlog/cloudevents"
)

// TestEventsKeepTheirValuesWhateverCameBefore: strings that events share are those of their own text, also after the
// text is written over.
func TestEventsKeepTheirValuesWhateverCameBefore(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	pick := func(of string) string { return fmt.Sprint(of, random.IntN(200)) }
	type values struct{ source, kind, schema string }
	var d cloudevents.Decoder
	var got, want []values
	buf := make([]byte, 0, 1000)
	for i := range 5_000 {
		v := values{pick("/s"), pick("T"), pick("https://example.com/")}
		buf = fmt.Appendf(buf[:0],
			`{"specversion":"1.0","id":"%d","source":"%s","type":"%s","dataschema":"%s","time":"2024-01-15T10:30:00Z","data":{}}`,
			i, v.source, v.kind, v.schema)
		e, err := d.Decode(buf)
		if err != nil {
			t.Fatal(err)
		}
		got, want = append(got, values{e.Source, e.Type, e.DataSchema}), append(want, v)
		clear(buf)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("event %d has %+v, want %+v", i, got[i], want[i])
		}
	}
}

// TestAnEventLikeTheOneBeforeTakesMemoryForItsNamesAlone: for its id and its subject, of which each is new.
func TestAnEventLikeTheOneBeforeTakesMemoryForItsNamesAlone(t *testing.T) {
	text := `{"specversion":"1.0","id":"some-id","source":"/some","type":"ItemSold","subject":"some-subject",` +
		`"time":"2024-01-15T10:30:00.123Z","datacontenttype":"application/json","data":{"amount":1}}`
	const events = 1000
	batch := []byte("[" + strings.Repeat(text+",", events-1) + text + "]")
	var d cloudevents.Decoder
	n := testing.AllocsPerRun(10, func() {
		if _, err := d.DecodeBatch(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	})
	if n > 2*events+50 { // the rest is the list of the events, which grows
		t.Errorf("%v allocations for %d events", n, events)
	}
}
