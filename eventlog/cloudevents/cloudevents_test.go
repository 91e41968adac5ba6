package cloudevents_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/cloudevents"
	"github.com/foldql/foldql/eventlog/sourcetest"
)

const full = `{"specversion":"1.0","id":"a\u00e9","source":"/s","type":"T","subject":"x","time":"2024-01-15T12:30:00.123456789+02:00",` +
	`"partitionkey":"p","dataschema":"https://example.com","datacontenttype":"application/json","traceparent":"00-1",` +
	`"sampled":true,"rank":-7,"nothing":null,"data":{ "n" : 1 }}`

func fullEvent() eventlog.Event {
	return eventlog.Event{
		ID: "aé", Source: "/s", Type: "T", Subject: "x", Time: time.Date(2024, 1, 15, 10, 30, 0, 123456789, time.UTC),
		PartitionKey: "p", DataSchema: "https://example.com", Data: []byte(`{ "n" : 1 }`),
		Extensions: map[string]string{"traceparent": "00-1", "sampled": "true", "rank": "-7"},
	}
}

func TestEveryAttributeIsRead(t *testing.T) {
	got, err := cloudevents.Decoder{}.Decode([]byte(full))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(fullEvent(), got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestFaultsNameTheEventAndTheAttribute(t *testing.T) {
	const base = `{"specversion":"1.0","id":"a","source":"/s","type":"T","data":{}}`
	cases := []struct{ old, new, want string }{
		{`"1.0"`, `"0.3"`, `event (id "a"): specversion: want "1.0", got "0.3"`},
		{`"specversion":"1.0",`, ``, `event (id "a"): specversion: required, but missing`},
		{`"id":"a",`, ``, `event: id: required, but missing`},
		{`"source":"/s",`, ``, `event (id "a"): source: required, but missing`},
		{`"type":"T",`, ``, `event (id "a"): type: required, but missing`},
		{`"T"`, `null`, `event (id "a"): type: required, but missing`},
		{`,"data":{}`, ``, `event (id "a"): data: required, but missing`},
		{`{}`, `[]`, `event (id "a"): data: want an object, got list`},
		{`{}`, `null`, `event (id "a"): data: want an object, got null`},
		{`{}`, `{"a":1,"a":2}`, `event (id "a"): data: not JSON: the name "a" is given twice at byte 69`},
		{`{}`, `{"a":}`, `event (id "a"): data: not JSON: want a value, got '}' at byte 67`},
		{`{}`, "{\"a\":\"\xff\"}", `event (id "a"): data: not JSON: invalid UTF-8 in the string at byte 68`},
		{`"a"`, `""`, `event: id: must not be empty`},
		{`"a"`, `"a\u0000"`, `event: id: must not have control characters or noncharacters`},
		{`"a"`, `"a\ufdd0"`, `event: id: must not have control characters or noncharacters`},
		{`"a"`, `7`, `event: id: want string, got number`},
		{`"type"`, `"time":"yesterday","type"`, `event (id "a"): time: want an RFC 3339 date-time, got "yesterday"`},
		{`"type"`, `"id":"b","type"`, `event (id "a"): id: given twice`},
		{`"type"`, `"subject":null,"subject":"b","type"`, `event (id "a"): subject: given twice`},
		{`"type"`, `"subject":"` + strings.Repeat("<", cloudevents.MaxName+1) + `","type"`,
			`event (id "a"): subject: has 2049 bytes, and may have 2048`},
		{`"type"`, `"ext":"1","ext":"1","type"`, `event (id "a"): ext: given twice`},
		{`"type"`, `"Ext":"1","type"`, `event (id "a"): Ext: the name of an attribute has lower-case letters ` +
			`and digits only`},
		{`"type"`, `"":"1","type"`, `event (id "a"): "": an attribute without a name`},
		{`"type"`, `"ext":1.5,"type"`, `event (id "a"): ext: want an integer of 32 bits, got 1.5`},
		{`"type"`, `"ext":[1],"type"`, `event (id "a"): ext: want a string, a boolean or an integer, got list`},
		{`"type"`, `"datacontenttype":"text/xml","type"`, `event (id "a"): datacontenttype: want a JSON media type, ` +
			`got "text/xml"`},
		{`"type"`, `"data_base64":"e30=","type"`, `event (id "a"): data: given twice`},
		{`"data":{}`, `"data_base64":"e30"`, `event (id "a"): data_base64: not base64 (RFC 4648, with padding)`},
		{`"data":{}`, `"data_base64":"W10="`, `event (id "a"): data_base64: want an object, got list`},
		{`"data":{}`, `"data_base64":{}`, `event (id "a"): data_base64: want string, got object`},
		{base, base + `,`, `event (id "a"): not JSON: want the end of the text, got ',' at byte 65`},
		{base, `[]`, `event: want an object, got list`},
		{base, `null`, `event: want an object, got null`},
		{base, `no event`, `event: not JSON: want {, got 'n' at byte 0`},
		{base, `"unfinished`, `event: not JSON: want {, got '"' at byte 0`},
		{base, ``, `event: not JSON: want {, got the end of the text at byte 0`},
	}
	for _, c := range cases {
		_, err := cloudevents.Decoder{}.Decode([]byte(strings.Replace(base, c.old, c.new, 1)))
		if err == nil || err.Error() != c.want {
			t.Errorf("%s for %s\ngot  %v\nwant %s", c.new, c.old, err, c.want)
		}
		batch := `[` + base + `,` + strings.Replace(base, c.old, c.new, 1) + `]`
		_, err = cloudevents.Decoder{}.DecodeBatch(t.Context(), []byte(batch))
		var bad *cloudevents.Error
		if !errors.As(err, &bad) || bad.Index == 0 {
			t.Errorf("%s for %s in a batch: %v", c.new, c.old, err)
		}
	}
}

func TestDataMayBeBase64(t *testing.T) {
	got, err := cloudevents.Decoder{}.Decode([]byte(
		`{"specversion":"1.0","id":"a","source":"/s","type":"T","datacontenttype":"application/order+json","data_base64":"eyJuIjoxfQ=="}`))
	if err != nil || string(got.Data) != `{"n":1}` || got.Extensions["datacontenttype"] != "application/order+json" {
		t.Errorf("%+v, error %v", got, err)
	}
}

func TestSizesAreBounded(t *testing.T) {
	d := cloudevents.Decoder{MaxSize: len(full)}
	if _, err := d.Decode([]byte(full)); err != nil {
		t.Errorf("an event of the size that it may have: %v", err)
	}
	large := strings.Replace(full, ` "n" `, ` "n"  `, 1)
	if _, err := d.Decode([]byte(large)); !errors.Is(err, cloudevents.ErrTooLarge) {
		t.Errorf("an event of one byte more: %v", err)
	}
	if _, err := d.DecodeBatch(t.Context(), []byte(`[ `+full+` , `+full+` ]`)); err != nil {
		t.Errorf("a batch of such events: %v", err)
	}
	_, err := d.DecodeBatch(t.Context(), []byte(`[`+full+`,`+large+`]`))
	if !errors.Is(err, cloudevents.ErrTooLarge) || !strings.HasPrefix(err.Error(), `event 1 (id "aé")`) {
		t.Errorf("a batch with a larger one: %v", err)
	}
	h := http.Header{"Ce-Id": {"a"}, "Ce-Source": {"/s"}, "Ce-Type": {"T"}, "Ce-Specversion": {"1.0"}}
	_, err = d.DecodeBinary(h, []byte(`{"a":"`+strings.Repeat("x", len(full))+`"}`))
	if !errors.Is(err, cloudevents.ErrTooLarge) {
		t.Errorf("a larger one in binary mode: %v", err)
	}
}

func TestBatchesAreArrays(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:               `batch: not JSON: want [, got '{' at byte 0`,
		`[` + full:         `batch: not JSON: want ',' or ']', got the end of the text at byte 292`,
		`[` + full + `,]`:  `batch: not JSON: want a value after ',', got ']' at byte 293`,
		`[` + full + `] x`: `batch: not JSON: want the end of the text, got 'x' at byte 294`,
	} {
		if _, err := (cloudevents.Decoder{}).DecodeBatch(t.Context(), []byte(text)); err == nil || err.Error() != want {
			t.Errorf("%.20s…\ngot  %v\nwant %s", text, err, want)
		}
	}
	if events, err := (cloudevents.Decoder{}).DecodeBatch(t.Context(), []byte(" [ ] ")); err != nil || len(events) != 0 {
		t.Errorf("an empty batch: %v, %v", events, err)
	}
}

func TestBinaryModeReadsHeaders(t *testing.T) {
	h := http.Header{
		"Ce-Specversion": {"1.0"}, "Ce-Id": {"a%C3%A9%20%22"}, "Ce-Source": {`"/s \"q\""`}, "Ce-Type": {"T"},
		"Ce-Time": {"2024-01-15T12:30:00+02:00"}, "Ce-Partitionkey": {"p"}, "Ce-Ext1": {"plain"},
		"Content-Type": {"application/json; charset=utf-8"}, "Accept": {"*/*"},
	}
	got, err := cloudevents.Decoder{}.DecodeBinary(h, []byte(` {"n":1} `))
	if err != nil {
		t.Fatal(err)
	}
	want := eventlog.Event{
		ID: `aé "`, Source: `/s "q"`, Type: "T", Time: time.Date(2024, 1, 15, 10, 30, 0, 0, time.UTC), PartitionKey: "p",
		Extensions: map[string]string{"ext1": "plain"}, Data: []byte(`{"n":1}`),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestBinaryModeRefuses(t *testing.T) {
	cases := []struct{ header, value, body, want string }{
		{"Ce-Id", "%C3", `{}`, `event: id: the header is not percent-encoded UTF-8`},
		{"Ce-Id", "%4", `{}`, `event: id: the header is not percent-encoded UTF-8`},
		{"Ce-Id", "", `{}`, `event: id: must not be empty`},
		{"Ce-Data", "{}", `{}`, `event (id "a"): data: must not be a header of its own in the binary mode`},
		{"Ce-Not-Allowed", "1", `{}`, `event (id "a"): not-allowed: the name of an attribute has lower-case letters ` +
			`and digits only`},
		{"Content-Type", "text/plain", `{}`, `event (id "a"): datacontenttype: want a JSON media type, got "text/plain"`},
		{"Ce-Ext", "1", ``, `event (id "a"): data: not JSON: want a value, got the end of the text at byte 0`},
		{"Ce-Ext", "1", `7`, `event (id "a"): data: want an object, got number`},
		{"Ce-Ext", "1", `{} {}`, `event (id "a"): data: not JSON: want the end of the text, got '{' at byte 3`},
		{"Ce-Type", "T\x7f", `{}`, `event (id "a"): type: must not have control characters or noncharacters`},
	}
	for _, c := range cases {
		h := http.Header{"Ce-Id": {"a"}, "Ce-Source": {"/s"}, "Ce-Type": {"T"}, "Ce-Specversion": {"1.0"}}
		h.Set(c.header, c.value)
		_, err := cloudevents.Decoder{}.DecodeBinary(h, []byte(c.body))
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: %q\ngot  %v\nwant %s", c.header, c.value, err, c.want)
		}
	}
	h := http.Header{"Ce-Id": {"a", "b"}, "Ce-Source": {"/s"}, "Ce-Type": {"T"}, "Ce-Specversion": {"1.0"}}
	if _, err := (cloudevents.Decoder{}).DecodeBinary(h, []byte(`{}`)); err == nil ||
		err.Error() != `event: id: given twice` {
		t.Errorf("two ids: %v", err)
	}
}

func TestEventsAreReadBackAsTheyWereWritten(t *testing.T) {
	events := append(sourcetest.Events(100), fullEvent())
	events[0].ID = "\"\\/\u2028 \U0001f6b2"
	for i := range events {
		got, err := cloudevents.Decoder{}.Decode(cloudevents.Append(nil, &events[i]))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(events[i], got); diff != "" {
			t.Fatalf("-want +got:\n%s", diff)
		}
	}
	got, err := cloudevents.Decoder{}.DecodeBatch(t.Context(), cloudevents.AppendBatch(nil, events))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(events, got); diff != "" {
		t.Errorf("batch (-want +got):\n%s", diff)
	}
}

// FuzzDecode accepts JSON only, and what it accepts it can write and read again.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(full))
	f.Add([]byte(`{"specversion":"1.0","id":"a","source":"/s","type":"T","data_base64":"e30="}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		e, err := cloudevents.Decoder{}.Decode(text)
		if err != nil {
			return
		}
		if !json.Valid(text) || !json.Valid(e.Data) {
			t.Fatalf("accepts %q", text)
		}
		again, err := cloudevents.Decoder{MaxSize: 1 << 30}.Decode(cloudevents.Append(nil, &e))
		if err != nil {
			t.Fatalf("%q is written as what cannot be read: %v", text, err)
		}
		if diff := cmp.Diff(e, again); diff != "" {
			t.Fatalf("%q (-want +got):\n%s", text, diff)
		}
	})
}

// FuzzDecodeBatch accepts what reading event by event accepts.
func FuzzDecodeBatch(f *testing.F) {
	f.Add([]byte(`[` + full + `]`))
	f.Add([]byte(`[,]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		events, err := cloudevents.Decoder{}.DecodeBatch(t.Context(), text)
		var raw []json.RawMessage
		if fault := json.Unmarshal(text, &raw); err == nil && (fault != nil || len(raw) != len(events)) {
			t.Fatalf("accepts %q as %d events: %v", text, len(events), fault)
		}
		for i := range events {
			want, err := cloudevents.Decoder{}.Decode(raw[i])
			if err != nil {
				t.Fatalf("event %d of %q alone: %v", i, text, err)
			}
			if diff := cmp.Diff(want, events[i]); diff != "" {
				t.Fatalf("event %d of %q (-alone +batch):\n%s", i, text, diff)
			}
		}
	})
}

// FuzzDecodeBinary reads back any attribute that is percent-encoded.
func FuzzDecodeBinary(f *testing.F) {
	f.Add("a é", "%41", []byte(`{}`))
	f.Fuzz(func(t *testing.T, id, raw string, body []byte) {
		h := http.Header{
			"Ce-Specversion": {"1.0"}, "Ce-Id": {percent(id)}, "Ce-Source": {"/s"}, "Ce-Type": {"T"}, "Ce-Subject": {raw},
		}
		e, err := cloudevents.Decoder{}.DecodeBinary(h, body)
		if err == nil && (e.ID != id || !json.Valid(body)) {
			t.Fatalf("id %q was read as %q, body %q", id, e.ID, body)
		}
	})
}

func percent(s string) string {
	var b bytes.Buffer
	for i := range len(s) {
		b.WriteByte('%')
		b.WriteByte("0123456789ABCDEF"[s[i]>>4])
		b.WriteByte("0123456789abcdef"[s[i]&15])
	}
	return b.String()
}

func BenchmarkDecode(b *testing.B) {
	b.SetBytes(int64(len(full)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (cloudevents.Decoder{}).Decode([]byte(full)); err != nil {
			b.Fatal(err)
		}
	}
}
