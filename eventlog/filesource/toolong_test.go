package filesource_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/cloudevents"
	"github.com/foldql/foldql/eventlog/filesource"
	"github.com/foldql/foldql/eventlog/payload"
)

// TestALineThatIsTooLongKeepsItsIdentity, wherever that stands: also after data that are not kept.
func TestALineThatIsTooLongKeepsItsIdentity(t *testing.T) {
	long := `{"subject":"none","list":["` + strings.Repeat(`\"x`, 100_000) + `"]}`
	rest := `"specversion":"1.0","id":"1","source":"/s","type":"T","subject":"s"`
	for _, text := range []string{`{"data":` + long + `,` + rest + `}`, `{` + rest + `,"data":` + long + `}`} {
		check(t, text, filesource.Options{})
	}
	const written = "source: /s\nid: field n\ntype: text T\nsubject: field order.id\ndata: field data"
	mapping, err := payload.Parse([]byte(written))
	if err != nil {
		t.Fatal(err)
	}
	check(t, `{"data":`+long+`,"order":{"lines":[{"id":2}],"id":"s"},"n":1}`, filesource.Options{Mapping: mapping})
}

// check reads a line that is too long, and one after it that is not.
func check(t *testing.T, text string, o filesource.Options) {
	t.Helper()
	o.Path, o.MaxSize = filepath.Join(t.TempDir(), "e.jsonl"), 1000
	write(t, o.Path, []byte(text+"\n"+good+"\n"))
	events, err := open(t, o).Read(t.Context(), "0", 0, 100)
	if err != nil || len(events) != 2 {
		t.Fatalf("%d events, %v", len(events), err)
	}
	e := events[0]
	if !errors.Is(e.Malformed, cloudevents.ErrTooLarge) || string(e.Data) != text[:1000] || e.MessageHash != "" {
		t.Errorf("%.30s: %v, with %d bytes of data", text, e.Malformed, len(e.Data))
	}
	want := eventlog.Event{ID: "1", Source: "/s", Type: "T", Subject: "s"}
	if e.ID != want.ID || e.Source != want.Source || e.Type != want.Type || e.Subject != want.Subject {
		t.Errorf("%.30s: it is %q of %q, a %q about %q", text, e.ID, e.Source, e.Type, e.Subject)
	}
}
