package frame

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
)

// FuzzFrame reads back what is written, whatever the texts are.
func FuzzFrame(f *testing.F) {
	f.Add("id", "/source", "Type", "subject", "key", "schema", "name", "value", int64(1705314600), int64(123456789),
		[]byte(`{}`))
	f.Add("", "", "", "", "", "", "", "", int64(-62135596800), int64(0), []byte{})
	f.Fuzz(func(t *testing.T, id, source, kind, subject, key, schema, name, value string, sec, nano int64, data []byte) {
		want := eventlog.Event{
			ID: id, Source: source, Type: kind, Subject: subject, PartitionKey: key, DataSchema: schema,
			Time: time.Unix(sec%1e11, nano&0x1fffffff).UTC(), Data: data,
		}
		if name != "" {
			want.Extensions = map[string]string{name: value, name + "2": value}
		}
		got, err := Parse(Append(nil, &want))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("-want +got:\n%s", diff)
		}
	})
}

// FuzzDamagedFrame never panics.
func FuzzDamagedFrame(f *testing.F) {
	f.Add(Append(nil, &eventlog.Event{ID: "a", Extensions: map[string]string{"x": "y"}, Data: []byte(`{}`)}))
	f.Add([]byte{5, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := Parse(b)
		if err == nil && len(e.Data) > len(b) {
			t.Fatal("more data than there is")
		}
	})
}

func TestATornFrameIsAnError(t *testing.T) {
	whole := Append(nil, &eventlog.Event{
		ID: "a", Source: "/s", Type: "T", Extensions: map[string]string{"x": "y"}, Time: time.Unix(1705314600, 5),
	})
	for n := range whole {
		if _, err := Parse(whole[:n]); err == nil {
			t.Errorf("the first %d of %d bytes were read", n, len(whole))
		}
	}
}

func BenchmarkParse(b *testing.B) {
	frame := Append(nil, &eventlog.Event{
		ID: "nedb@1.1.3:VersionPublished", Source: "/registry", Type: "VersionPublished", Subject: "nedb",
		Time: time.Unix(1705314600, 0), Data: make([]byte, 1000),
	})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(frame); err != nil {
			b.Fatal(err)
		}
	}
}
