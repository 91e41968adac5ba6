package faultproxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// backend answers every request with the same body, and keeps what it was sent.
type backend struct {
	mu     sync.Mutex
	got    []received
	answer string
}

type received struct{ Operation, Body string }

func (b *backend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.got = append(b.got, received{r.Header.Get("X-Amz-Target"), string(body)})
	w.Header().Set("X-Amzn-Requestid", "A1")
	w.Header().Set("X-Amz-Crc32", "1") // to be computed again
	_, _ = io.WriteString(w, b.answer)
}

func (b *backend) received() []received {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.got)
}

// serve runs a backend and a proxy before it.
func serve(t *testing.T, cfg Config, answer string) (*backend, *Proxy, string) {
	t.Helper()
	b := &backend{answer: answer}
	behind := httptest.NewServer(b)
	t.Cleanup(behind.Close)
	cfg.Backend = behind.URL
	p := New(cfg)
	front := httptest.NewServer(p)
	t.Cleanup(func() {
		front.Close()
		p.Close()
	})
	return b, p, front.URL
}

// send sends one request, and checks what every answer has.
func send(t *testing.T, url, operation, body string) (status int, text string, err error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewBufferString(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close() // it has been read
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, "", err
	}
	sum, err := strconv.ParseUint(res.Header.Get("X-Amz-Crc32"), 10, 32)
	if err != nil || uint32(sum) != crc32.ChecksumIEEE(answer) {
		t.Errorf("%s: X-Amz-Crc32 is %q, not that of %q", operation, res.Header.Get("X-Amz-Crc32"), answer)
	}
	if res.Header.Get("X-Amzn-Requestid") == "" {
		t.Errorf("%s: the answer has no request id", operation)
	}
	return res.StatusCode, string(answer), nil
}

const update = `{"TableName":"T","Key":{"id":{"S":"a"}},"UpdateExpression":"SET x = :x"}`

func TestEachFaultDoesWhatItsNameSays(t *testing.T) {
	const transaction = `{"TransactItems":[{"Put":{}},{"Put":{}}]}`
	for _, c := range []struct {
		fault      Fault
		operation  string
		body       string
		deliveries int    // to the endpoint
		status     int    // 0: the connection ended
		kind       string // of error, "" for any or none
	}{
		{None, "UpdateItem", update, 1, 200, ""},
		{Throttled, "UpdateItem", update, 0, 400, ""},
		{Throttled, "Query", `{}`, 0, 400, ""},
		{Conflicted, "UpdateItem", update, 0, 400, "TransactionConflictException"},
		{Conflicted, "TransactWriteItems", transaction, 0, 400, "TransactionCanceledException"},
		{FailedBefore, "UpdateItem", update, 0, 500, ""},
		{FailedAfter, "UpdateItem", update, 1, 500, ""},
		{CutBefore, "UpdateItem", update, 0, 0, ""},
		{CutAfter, "UpdateItem", update, 1, 0, ""},
		{CutAmid, "UpdateItem", update, 1, 0, ""},
		{Twice, "UpdateItem", update, 2, 200, ""},
		{Twice, "GetItem", `{}`, 1, 200, ""},
		{Late, "PutItem", `{}`, 2, 200, ""},
		{Delayed, "Query", `{}`, 1, 200, ""},
		{Held, "TransactWriteItems", transaction, 1, 200, ""},
		{Throttled, "DescribeTable", `{}`, 1, 200, ""},
	} {
		t.Run(fmt.Sprint(c.fault, " ", c.operation), func(t *testing.T) {
			var rates Rates
			rates[c.fault] = 1
			b, p, url := serve(t, Config{Rates: rates, MostHeld: time.Millisecond, MostLate: time.Millisecond},
				`{"Attributes":{}}`)
			status, text, err := send(t, url, c.operation, c.body)
			p.Settle()
			if got := len(b.received()); got != c.deliveries {
				t.Errorf("delivered %d times, want %d", got, c.deliveries)
			}
			if (err != nil) != (c.status == 0) || status/100 != c.status/100 {
				t.Errorf("status %d, error %v; want %d", status, err, c.status)
			}
			if kind := (&answer{status: status, body: []byte(text)}).errorType(); c.kind != "" && kind != c.kind {
				t.Errorf("error %q, want %q", kind, c.kind)
			}
			for _, r := range b.received() {
				if r.Body != c.body {
					t.Errorf("delivered %s, want it as it was: %s", r.Body, c.body)
				}
			}
		})
	}
}

func TestAHeldTransactionComesBehindOthers(t *testing.T) {
	b, p, url := serve(t, Config{Rates: Rates{Held: 1}, MostHeld: time.Hour}, `{}`)
	held := make(chan error)
	arrived := p.AfterWrites(1)
	go func() {
		_, _, err := send(t, url, "TransactWriteItems", `{"TransactItems":[{"Put":{}},{"Put":{}}]}`)
		held <- err
	}()
	<-arrived
	for {
		if _, _, err := send(t, url, "UpdateItem", update); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-held:
			if all := b.received(); err != nil || all[0].Body != update {
				t.Errorf("error %v, and first came %s", err, all[0].Body)
			}
			return
		default:
		}
	}
}

func TestACancelledTransactionNamesOneItem(t *testing.T) {
	rates := Rates{Conflicted: 1}
	_, _, url := serve(t, Config{Rates: rates}, `{}`)
	_, text, err := send(t, url, "TransactWriteItems", `{"TransactItems":[{"Put":{}},{"Put":{}},{"Put":{}}]}`)
	if err != nil {
		t.Fatal(err)
	}
	var body struct{ CancellationReasons []reason }
	if err := json.Unmarshal([]byte(text), &body); err != nil {
		t.Fatal(err)
	}
	codes := map[string]int{}
	for _, r := range body.CancellationReasons {
		codes[r.Code]++
	}
	if diff := cmp.Diff(map[string]int{"None": 2, "TransactionConflict": 1}, codes); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
}

// TestABatchIsDoneInPart: what is given back and what is forwarded are together what was asked for.
func TestABatchIsDoneInPart(t *testing.T) {
	for operation, c := range map[string]struct{ body, field string }{
		"BatchGetItem": {
			`{"RequestItems":{"T":{"ConsistentRead":true,"Keys":["a","b","c","d"]},"U":{"Keys":["e","f"]}}}`, "UnprocessedKeys",
		},
		"BatchWriteItem": {`{"RequestItems":{"T":["a","b","c","d"],"U":["e","f"]}}`, "UnprocessedItems"},
	} {
		for seed := range uint64(20) {
			b, p, url := serve(t, Config{Seed: seed, Rates: Rates{Partly: 1}}, fmt.Sprintf(`{"Kept":1,%q:{}}`, c.field))
			_, text, err := send(t, url, operation, c.body)
			if err != nil {
				t.Fatal(err)
			}
			var answer map[string]json.RawMessage
			var asked, done struct{ RequestItems object }
			for _, u := range []struct {
				text string
				into any
			}{{text, &answer}, {c.body, &asked}, {b.received()[0].Body, &done}} {
				if err := json.Unmarshal([]byte(u.text), u.into); err != nil {
					t.Fatal(err)
				}
			}
			var rest object
			if err := json.Unmarshal(answer[c.field], &rest); err != nil {
				t.Fatal(err)
			}
			forwarded := names(t, operation, done.RequestItems)
			if len(forwarded) == 0 {
				t.Errorf("%s, seed %d: nothing was forwarded", operation, seed)
			}
			all := append(forwarded, names(t, operation, rest)...)
			slices.Sort(all)
			if diff := cmp.Diff(names(t, operation, asked.RequestItems), all); diff != "" {
				t.Errorf("%s, seed %d: forwarded and given back (-asked +got):\n%s", operation, seed, diff)
			}
			if string(answer["Kept"]) != "1" {
				t.Errorf("%s: the rest of the answer is gone: %s", operation, text)
			}
			if n := p.Counts().Faults[Partly]; n != 1 {
				t.Errorf("%s: %d batches counted", operation, n)
			}
		}
	}
}

// names are the items of all tables, in order.
func names(t *testing.T, operation string, tables object) (all []string) {
	t.Helper()
	for _, table := range tables {
		list, _, err := itemsOf(operation, table)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range list {
			all = append(all, string(item))
		}
	}
	slices.Sort(all)
	return all
}

// TestASeedGivesEachRequestItsFate whatever other requests come in between, and whatever the order of names is.
func TestASeedGivesEachRequestItsFate(t *testing.T) {
	fates := func(seed uint64, others bool) (all []Fault) {
		p := New(Config{Seed: seed, Rates: Even(.1)})
		for i := range 50 {
			if others {
				p.fate(&request{operation: "Query", body: fmt.Appendf(nil, `{"a":%d}`, i)})
			}
			body := `{"TableName":"T","Key":{"id":1,"s":2},"x":1}`
			if others {
				body = `{"x":2,"Key":{"s":2,"id":1},"TableName":"T"}`
			}
			all = append(all, p.fate(&request{operation: "UpdateItem", body: []byte(body)}).fault)
		}
		return all
	}
	if diff := cmp.Diff(fates(7, false), fates(7, true)); diff != "" {
		t.Errorf("alone and among others (-alone +among):\n%s", diff)
	}
	if cmp.Equal(fates(7, false), fates(8, false)) {
		t.Error("two seeds give the same")
	}
}

func TestQuietForwardsAll(t *testing.T) {
	b, p, url := serve(t, Config{Rates: Even(1)}, `{}`)
	p.Quiet()
	for range 20 {
		if status, _, err := send(t, url, "UpdateItem", update); err != nil || status != 200 {
			t.Errorf("status %d, error %v", status, err)
		}
	}
	if n := len(b.received()); n != 20 {
		t.Errorf("%d requests were forwarded, want 20", n)
	}
}

func TestCountsTellWhatHappened(t *testing.T) {
	_, p, url := serve(t, Config{}, `{}`)
	ring := p.AfterWrites(2)
	for _, operation := range []string{"GetItem", "UpdateItem"} {
		if _, _, err := send(t, url, operation, update); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case <-ring:
		t.Error("two writes were reported after one")
	default:
	}
	if _, _, err := send(t, url, "UpdateItem", update); err != nil {
		t.Fatal(err)
	}
	<-ring
	p.tally.answered(&answer{status: 400, body: []byte(`{"__type":"a#ConditionalCheckFailedException"}`)})
	p.tally.answered(&answer{status: 400, body: []byte(
		`{"__type":"a#TransactionCanceledException","CancellationReasons":[{"Code":"None"},{"Code":"ConditionalCheckFailed"}]}`)})
	for range 2 { // one of them after the other failed
		p.tally.arrived(&request{operation: "Query", body: []byte(`{"a":1,"b":2}`)})
		p.tally.fault(Throttled, &request{operation: "Query", body: []byte(`{"b":2,"a":1}`)})
	}
	want := Counts{
		Requests:   map[string]int{"GetItem": 1, "UpdateItem": 2, "Query": 2},
		Errors:     map[string]int{"ConditionalCheckFailedException": 1, "TransactionCanceledException": 1},
		Faults:     map[Fault]int{Throttled: 2},
		Retries:    1,
		Conditions: 2,
	}
	if diff := cmp.Diff(want, p.Counts()); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
}

func TestARequestThatWasSignedLongAgoIsRefused(t *testing.T) {
	b, p, url := serve(t, Config{SignedWithin: time.Minute}, `{}`)
	for age, status := range map[time.Duration]int{0: 200, 50 * time.Second: 200, 2 * time.Minute: 400} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewBufferString(update))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Amz-Target", "DynamoDB_20120810.UpdateItem")
		req.Header.Set("X-Amz-Date", time.Now().Add(-age).UTC().Format("20060102T150405Z"))
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if err := res.Body.Close(); err != nil || res.StatusCode != status {
			t.Errorf("signed %s ago: status %d, want %d", age, res.StatusCode, status)
		}
	}
	if n := len(b.received()); n != 2 {
		t.Errorf("%d requests were forwarded, want 2", n)
	}
	if n := p.Counts().Errors["InvalidSignatureException"]; n != 1 {
		t.Errorf("%d refusals counted, want 1", n)
	}
}

func TestWhatIsNoRequestToDynamoDBIsRefused(t *testing.T) {
	b, _, url := serve(t, Config{}, `{}`)
	res, err := http.Post(url, "application/json", bytes.NewBufferString(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusBadRequest || len(b.received()) != 0 {
		t.Errorf("status %d, %d forwarded; want it refused", res.StatusCode, len(b.received()))
	}
}
