package payload_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/cloudevents"
	"github.com/foldql/foldql/eventlog/payload"
)

const full = `
source: /orders
id: header nats-msg-id
type: subject 2
types: {created: OrderCreated}
subject: field order.id
time: field at
timeUnit: ms
partitionKey: text eu
dataSchema: header X-Schema
data: field payload
`

func parse(t testing.TB, text string) *payload.Mapping {
	t.Helper()
	m, err := payload.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestAMessageBecomesTheEventThatTheMappingSays(t *testing.T) {
	const simple = "source: /s\nid: position\ntype: field kind\n"
	headers := map[string][]string{"Nats-Msg-Id": {"m1"}, "X-Schema": {"urn:schema"}}
	for name, c := range map[string]struct {
		mapping string
		message payload.Message
		want    eventlog.Event
	}{
		"every place": {full, payload.Message{
			Body:    []byte(`{"at": 1705314600250, "order": {"x": null, "id": 7}, "payload": {"n": 1} }`),
			Headers: headers, Subject: "orders.created",
		}, eventlog.Event{
			ID: "m1", Source: "/orders", Type: "OrderCreated", Subject: "7", PartitionKey: "eu", DataSchema: "urn:schema",
			Time: time.Date(2024, 1, 15, 10, 30, 0, 250e6, time.UTC), Data: []byte(`{"n": 1}`),
		}},
		"a type that is not renamed, and a text as time": {full, payload.Message{
			Body:    []byte(`{"at": "2024-01-15T11:30:00+01:00", "order": {"id": "a\u0062"}, "payload": {}}`),
			Headers: headers, Subject: "orders.paid",
		}, eventlog.Event{
			ID: "m1", Source: "/orders", Type: "paid", Subject: "ab", PartitionKey: "eu", DataSchema: "urn:schema",
			Time: time.Date(2024, 1, 15, 10, 30, 0, 0, time.UTC), Data: []byte(`{}`),
		}},
		"what need not be there": {full, payload.Message{
			Body: []byte(`{"order": null, "at": null, "payload": {}}`), Headers: map[string][]string{"nats-msg-id": {"1"}},
			Subject: "a.b.c",
		}, eventlog.Event{ID: "1", Source: "/orders", Type: "b", PartitionKey: "eu", Data: []byte(`{}`)}},
		"the message is the data": {simple, payload.Message{
			Body: []byte(` {"kind": "Paid", "n": 1.50} `), Partition: "p", Offset: 12,
		}, eventlog.Event{ID: "p/12", Source: "/s", Type: "Paid", Data: []byte(`{"kind": "Paid", "n": 1.50}`)}},
		"a boolean": {simple, payload.Message{Body: []byte(`{"kind":true}`), Offset: 1},
			eventlog.Event{ID: "/1", Source: "/s", Type: "true", Data: []byte(`{"kind":true}`)}},
		"seconds before 1970": {simple + "time: field at\ntimeUnit: s", payload.Message{Body: []byte(`{"kind":"T","at":-1}`)},
			eventlog.Event{ID: "/0", Source: "/s", Type: "T", Time: time.Date(1969, 12, 31, 23, 59, 59, 0, time.UTC),
				Data: []byte(`{"kind":"T","at":-1}`)}},
	} {
		got, err := parse(t, c.mapping).Event(cloudevents.Decoder{}, &c.message)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		got.MessageHash = "" // see TestEventsOfAMessageHaveTheSameMessageHash
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestEventsOfAMessageHaveTheSameMessageHash, whatever the mappings make of it, and those of others have another.
func TestEventsOfAMessageHaveTheSameMessageHash(t *testing.T) {
	hash := func(mapping string, msg payload.Message) string {
		e, err := parse(t, mapping).Event(cloudevents.Decoder{}, &msg)
		if err != nil || e.MessageHash == "" {
			t.Fatalf("%+v, %v", e, err)
		}
		return e.MessageHash
	}
	const simple = "source: /s\nid: position\ntype: field kind\n"
	const otherwise = "source: /other\nid: field n\ntype: text T\ndata: field payload\n"
	headers := map[string][]string{"a": {"1"}}
	msg := payload.Message{Body: []byte(`{"kind": "K", "n": 1, "payload": {}}`), Subject: "s", Headers: headers}
	seen := map[string]bool{hash(simple, msg): true}
	if !seen[hash(otherwise, msg)] {
		t.Error("two mappings give events of one message two hashes")
	}
	for _, other := range []payload.Message{
		{Body: []byte(`{"kind": "K", "n": 2, "payload": {}}`), Subject: "s", Headers: headers},
		{Body: msg.Body, Subject: "s1", Headers: headers},
		{Body: msg.Body, Subject: "s", Headers: map[string][]string{"a": {"1", ""}}},
		{Body: msg.Body, Subject: "s", Headers: map[string][]string{"a1": {""}}},
		{Body: msg.Body, Subject: "s"},
		{Body: msg.Body, Subject: "s", Headers: headers, Stored: time.Unix(1, 0)},
		{Body: msg.Body, Subject: "s", Headers: headers, Stored: time.Unix(1, 1)},
		{Body: msg.Body, Subject: "s", Headers: map[string][]string{"a": {"b", "c", "d"}}},
		{Body: msg.Body, Subject: "s", Headers: map[string][]string{"a": {"b"}, "c": {"d"}}},
	} {
		was := hash(simple, other)
		if seen[was] {
			t.Errorf("%+v passes for another message", other)
		}
		seen[was] = true
	}
}

func TestAMessageThatIsNoEventSaysWhereItIsWrong(t *testing.T) {
	id := map[string][]string{"Nats-Msg-Id": {"m1"}}
	order := func(body string) payload.Message {
		return payload.Message{Body: []byte(body), Headers: id, Subject: "a.b"}
	}
	const body = `{"at": 1, "order": {"id": 7}, "payload": {}}`
	for name, c := range map[string]struct {
		message payload.Message
		want    string
	}{
		"no id":              {payload.Message{Body: []byte(body), Subject: "a.b"}, `id, from "header nats-msg-id": required`},
		"no type":            {payload.Message{Body: []byte(body), Headers: id, Subject: "a"}, `type, from "subject 2"`},
		"two ids":            {payload.Message{Headers: map[string][]string{"nats-msg-id": {"1", "2"}}}, "twice"},
		"no JSON":            {order("\xff"), "want an object"},
		"more than JSON":     {order(body + "}"), "not JSON"},
		"a list":             {order(`[]`), "want an object, got list"},
		"no data":            {order(`{}`), `from "field payload"`},
		"data of a kind":     {order(`{"payload": 1}`), "data: want an object"},
		"an object as id":    {order(`{"order": {"id": {}}, "payload": {}}`), `subject, from "field order.id": want a text`},
		"a path in a text":   {order(`{"order": "7", "payload": {}}`), "want an object, got string"},
		"twice":              {order(`{"at": 1, "at": 2, "payload": {}}`), "twice"},
		"no time":            {order(`{"at": "soon", "payload": {}}`), "time: want an RFC 3339"},
		"half a time":        {order(`{"at": 1.5, "payload": {}}`), "whole number"},
		"the year 60000":     {order(`{"at": 1800000000000000, "payload": {}}`), "timeUnit"},
		"control characters": {order(`{"order": {"id": "\u0000"}, "payload": {}}`), "subject: must not have control"},
		"too large":          {order(`{"payload": {"a": "` + strings.Repeat("a", 2000) + `"}}`), "more than 1000 bytes"},
	} {
		e, err := parse(t, full).Event(cloudevents.Decoder{MaxSize: 1000}, &c.message)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if name == "no data" && (e.ID != "m1" || e.Type != "b" || e.Source != "/orders") {
			t.Errorf("%s: what is known of the event is lost: %+v", name, e)
		}
		if name == "too large" && !errors.Is(err, cloudevents.ErrTooLarge) {
			t.Errorf("%s: %v does not say so", name, err)
		}
	}
}

// TestAMessageThatIsTooLargeKeepsItsIdentity, also where the data alone are not too large.
func TestAMessageThatIsTooLargeKeepsItsIdentity(t *testing.T) {
	long := strings.Repeat("a", 2000)
	for _, body := range []string{
		`{"payload": {"a": "` + long + `"}, "at": 1, "order": {"id": 7}}`,
		`{"payload": {}, "other": "` + long + `", "at": 1, "order": {"id": 7}}`,
	} {
		message := payload.Message{Body: []byte(body), Headers: map[string][]string{"Nats-Msg-Id": {"m1"}}, Subject: "a.b"}
		e, err := parse(t, full).Event(cloudevents.Decoder{MaxSize: 1000}, &message)
		if !errors.Is(err, cloudevents.ErrTooLarge) {
			t.Errorf("%.40s: %v", body, err)
		}
		if e.ID != "m1" || e.Source != "/orders" || e.Type != "b" || e.Subject != "7" {
			t.Errorf("%.40s: it is %q of %q, a %q about %q", body, e.ID, e.Source, e.Type, e.Subject)
		}
	}
}

func TestANumberIsNoTimeWithoutItsUnit(t *testing.T) {
	m := parse(t, "source: /s\nid: position\ntype: text T\ntime: field at")
	if _, err := m.Event(cloudevents.Decoder{}, &payload.Message{Body: []byte(`{"at":1}`)}); err == nil ||
		!strings.Contains(err.Error(), "write its timeUnit") {
		t.Errorf("%v", err)
	}
}

func TestAMappingThatIsNoneSaysWhatToWrite(t *testing.T) {
	const rest = "\nsource: /s\nid: field id\ntype: field type\n"
	for text, want := range map[string]string{
		"":                           "source is missing",
		"source: /s":                 "id is missing; write where it stands, such as id: field id",
		"source: /s\nid: position":   "type is missing",
		rest + "other: 1":            "unknown field",
		rest + "time: now":           "write field NAME, header NAME, subject N or text VALUE",
		rest + "time: position":      "which an id alone can be",
		rest + "time: field":         "field NAME, or field NAME.NAME",
		rest + "time: field a..b":    "field NAME, or field NAME.NAME",
		rest + "subject: header":     "header and what it is",
		rest + "subject: subject 0":  "counted from 1",
		rest + "subject: subject 1x": "counted from 1",
		rest + "timeUnit: h":         "write s, ms, us or ns",
		rest + "data: header X":      "data is",
		rest + "time: field " + strings.Repeat("a.", 16) + "a": "objects at most",
		strings.Repeat("#", payload.MaxSize+1):                 "may have",
		"{":                                                    "read the mapping",
	} {
		if _, err := payload.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %q", text, err, want)
		}
	}
}

func TestAMappingOfLinesWantsNothingOfAStream(t *testing.T) {
	if err := parse(t, full).OfLines(); err == nil || !strings.Contains(err.Error(), `"header nats-msg-id"`) {
		t.Errorf("%v", err)
	}
	if err := parse(t, "source: /s\nid: position\ntype: field type").OfLines(); err != nil {
		t.Error(err)
	}
}

// FuzzEvent: what becomes an event is one that CloudEvents can write and read.
func FuzzEvent(f *testing.F) {
	f.Add([]byte(`{"at": 1705314600250, "order": {"id": 7}, "payload": {"n": 1}}`), "orders.created", "m1")
	f.Add([]byte(`{"payload": {}}`), "a.b", "\x00")
	m := parse(f, full)
	f.Fuzz(func(t *testing.T, body []byte, subject, id string) {
		e, err := m.Event(cloudevents.Decoder{}, &payload.Message{
			Body: body, Subject: subject, Headers: map[string][]string{"Nats-Msg-Id": {id}},
		})
		if err != nil {
			return
		}
		if !json.Valid(body) {
			t.Fatalf("accepts %q", body)
		}
		again, err := cloudevents.Decoder{MaxSize: 1 << 30}.Decode(cloudevents.Append(nil, &e))
		if err != nil {
			t.Fatalf("%q is written as what cannot be read: %v", body, err)
		}
		again.MessageHash = e.MessageHash // which is not written
		if diff := cmp.Diff(e, again); diff != "" {
			t.Fatalf("%q (-want +got):\n%s", body, diff)
		}
	})
}

// FuzzParse: a mapping is read or refused.
func FuzzParse(f *testing.F) {
	f.Add([]byte(full))
	f.Add([]byte("source: &a [*a]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := payload.Parse(text)
		if (m == nil) == (err == nil) {
			t.Fatalf("%q: %v, %v", text, m, err)
		}
		if m != nil {
			_, _ = m.Event(cloudevents.Decoder{}, &payload.Message{Body: []byte(`{"id":1}`)}) // an event or an error
		}
	})
}

// BenchmarkEvent beside the same event as a CloudEvent.
func BenchmarkEvent(b *testing.B) {
	m := parse(b, full)
	msg := &payload.Message{
		Body:    []byte(`{"at":1705314600250,"order":{"id":"order-7"},"payload":{"orderId":"order-7","total":1250}}`),
		Headers: map[string][]string{"Nats-Msg-Id": {"m1"}}, Subject: "orders.created",
	}
	b.Run("mapped", func(b *testing.B) {
		for b.Loop() {
			if _, err := m.Event(cloudevents.Decoder{}, msg); err != nil {
				b.Fatal(err)
			}
		}
	})
	e, err := m.Event(cloudevents.Decoder{}, msg)
	if err != nil {
		b.Fatal(err)
	}
	text := cloudevents.Append(nil, &e)
	b.Run("cloudevent", func(b *testing.B) {
		for b.Loop() {
			if _, err := (cloudevents.Decoder{}).Decode(text); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// ExampleParse reads what an operator has written.
func ExampleParse() {
	m, err := payload.Parse([]byte("source: /orders\nid: field id\ntype: text OrderPlaced\n"))
	if err != nil {
		panic(err)
	}
	e, err := m.Event(cloudevents.Decoder{}, &payload.Message{Body: []byte(`{"id": "o-1", "total": 12}`)})
	if err != nil {
		panic(err)
	}
	os.Stdout.Write(cloudevents.Append(nil, &e))
	// Output: {"specversion":"1.0","id":"o-1","source":"/orders","type":"OrderPlaced","data":{"id": "o-1", "total": 12}}
}
