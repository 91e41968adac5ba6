package cloudevents_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/cloudevents"
)

// TestABadHeaderLeavesAnEventItsIdentity, wherever its name stands among the others.
func TestABadHeaderLeavesAnEventItsIdentity(t *testing.T) {
	whole := eventlog.Event{ID: "1", Source: "/é", Type: "T", Subject: "s"}
	for name, c := range map[string]struct {
		header, value string
		want          eventlog.Event
	}{
		"an extension whose name is none":  {"Ce-A-B", "x", whole},
		"an empty attribute":               {"Ce-Dataschema", "", whole},
		"an attribute that is not encoded": {"Ce-A", "%4", whole},
		"a content type that is not JSON":  {"Content-Type", "text/plain", whole},
		"an id with a control character":   {"Ce-Id", "%01", eventlog.Event{Source: "/é", Type: "T", Subject: "s"}},
		"a source that is not encoded":     {"Ce-Source", "%", eventlog.Event{ID: "1", Type: "T", Subject: "s"}},
		"a type that is empty":             {"Ce-Type", "", eventlog.Event{ID: "1", Source: "/é", Subject: "s"}},
	} {
		h := http.Header{"Ce-Specversion": {"1.0"}, "Ce-Id": {"1"}, "Ce-Source": {"/%C3%A9"}, "Ce-Type": {"T"},
			"Ce-Subject": {"s"}}
		h.Set(c.header, c.value)
		got, err := cloudevents.Decoder{}.DecodeBinary(h, []byte(`{}`))
		if err == nil {
			t.Errorf("%s: it is read", name)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
