package cloudevents_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/foldql/foldql/eventlog/cloudevents"
)

// withExtensions is an event with so many extension attributes.
func withExtensions(n int) string {
	var b strings.Builder
	b.WriteString(`{"specversion":"1.0","id":"a","source":"/s","type":"T"`)
	for i := range n {
		fmt.Fprintf(&b, `,"x%d":1`, i)
	}
	return b.String() + `,"data":{}}`
}

// TestExtensionsAreCounted: each new name was compared with all before it, so that a megabyte of them never ended.
func TestExtensionsAreCounted(t *testing.T) {
	var d cloudevents.Decoder
	most := withExtensions(cloudevents.MaxExtensions)
	if e, err := d.Decode([]byte(most)); err != nil || len(e.Extensions) != cloudevents.MaxExtensions {
		t.Errorf("as many as there may be: %d, error %v", len(e.Extensions), err)
	}
	const want = "the event has more than 100 extension attributes"
	if _, err := d.Decode([]byte(withExtensions(cloudevents.MaxExtensions + 1))); err == nil ||
		!strings.HasSuffix(err.Error(), want) {
		t.Errorf("one more: %v", err)
	}
	if _, err := d.DecodeBatch(t.Context(), []byte("["+withExtensions(100_000)+"]")); err == nil ||
		!strings.HasSuffix(err.Error(), want) {
		t.Errorf("a megabyte of them in a batch: %v", err)
	}
	h := http.Header{"Ce-Id": {"a"}, "Ce-Source": {"/s"}, "Ce-Type": {"T"}, "Ce-Specversion": {"1.0"}}
	for i := range cloudevents.MaxExtensions + 1 {
		h.Set(fmt.Sprint("Ce-X", i), "1")
	}
	if _, err := d.DecodeBinary(h, []byte("{}")); err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("in headers: %v", err)
	}
}

// TestALargeEventOfABatchIsNotReadToItsEnd: what is beyond the size of an event is not looked at, whatever stands
// there.
func TestALargeEventOfABatchIsNotReadToItsEnd(t *testing.T) {
	d := cloudevents.Decoder{MaxSize: 1000}
	text := `[{"id":"a","subject":"` + strings.Repeat("s", 1000) + `",here is no JSON`
	if _, err := d.DecodeBatch(t.Context(), []byte(text)); !errors.Is(err, cloudevents.ErrTooLarge) {
		t.Errorf("error %v", err)
	}
}

func TestBatchesAreBounded(t *testing.T) {
	one := withExtensions(0)
	batch := "[" + strings.Repeat(one+",", cloudevents.MaxBatch-1) + one
	if events, err := (cloudevents.Decoder{}).DecodeBatch(t.Context(), []byte(batch+"]")); err != nil ||
		len(events) != cloudevents.MaxBatch {
		t.Errorf("as many events as there may be: %d, error %v", len(events), err)
	}
	_, err := cloudevents.Decoder{}.DecodeBatch(t.Context(), []byte(batch+","+one+"]"))
	if err == nil || err.Error() != "batch: more than 10000 events: send them in several batches" {
		t.Errorf("one more: %v", err)
	}
}

// TestDecodingABatchEndsWithItsContext: nobody waits for the rest once the client has gone.
func TestDecodingABatchEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (cloudevents.Decoder{}).DecodeBatch(ctx, []byte("["+full+","+full+"]")); !errors.Is(err,
		context.Canceled) {
		t.Errorf("error %v", err)
	}
}
