package vectors

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// send sends a request of the vectors as it is, but for the prefix of the table, the times that the vectors have taken
// out, and the signature. The SDK's own requests would have to be made of it, and would be others.
func (s *site) send(t *testing.T, c call) {
	t.Helper()
	var compact bytes.Buffer
	if err := json.Compact(&compact, c.Input); err != nil {
		t.Fatal(err)
	}
	body := strings.NewReplacer(`"agg-table"`, `"`+s.Prefix+`agg-table"`, `"ent-table"`, `"`+s.Prefix+`ent-table"`,
		`"N":"<time>"`, `"N":"`+endOfItems+`"`, "<time>", timeOfItems).Replace(compact.String())
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, os.Getenv("AWS_ENDPOINT_URL_DYNAMODB"),
		strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+strings.ToUpper(c.Op[:1])+c.Op[1:])
	credentials, err := s.DynamoDB.Options().Credentials.Retrieve(t.Context())
	hash := sha256.Sum256([]byte(body))
	if err == nil {
		err = v4.NewSigner().SignHTTP(t.Context(), credentials, r, hex.EncodeToString(hash[:]), "dynamodb", "us-east-1",
			time.Now())
	}
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if answer, err := io.ReadAll(res.Body); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: status %d: %s %v", c.Op, body, res.StatusCode, answer, err)
	}
}

// createTables makes both tables by the one request to make a table that the vectors have.
func (s *site) createTables(t *testing.T) {
	t.Helper()
	create := load(t, aggregates).CreateTable
	for _, name := range []string{`"agg-table"`, `"ent-table"`} {
		s.send(t, call{"createTable", bytes.ReplaceAll(create, []byte(`"agg-table"`), []byte(name))})
	}
}

// replay sends the requests of a step that write a match. The vectors have their keys: the items are those that the
// step has left. What it has left and not written is put before, as steps have written it that the vectors leave out.
func (s *site) replay(t *testing.T, step *step) {
	t.Helper()
	items, written := under(step.StoredItems, ofMatch), map[string]bool{}
	for _, w := range step.Writes {
		for _, k := range append(w.Keys, w.Requests...) {
			written[k.SK] = true
		}
	}
	if len(written) == 0 {
		t.Fatalf("step %s writes nothing", step.Name)
	}
	for _, it := range items {
		if !written[it.text("sk")] {
			s.put(t, "agg-table", it)
		}
	}
	for _, w := range step.Writes {
		s.send(t, w.request(t, items))
	}
}

// replayCalls sends all requests of a step about rows, those that read too.
func (s *site) replayCalls(t *testing.T, step *step) {
	t.Helper()
	if len(step.Calls) == 0 {
		t.Fatalf("step %s sends nothing", step.Name)
	}
	for _, c := range step.Calls {
		s.send(t, c)
	}
}

// request is the whole request, with the items of those that it puts.
func (w keysOfRequest) request(t *testing.T, items []attributes) call {
	t.Helper()
	var puts, deletes []any
	for _, k := range w.Keys {
		puts = append(puts, object{k.Kind: object{"TableName": "agg-table", "Item": itemOf(t, items, k.SK)}})
	}
	for _, k := range w.Requests {
		key := object{"pk": object{"S": ofMatch}, "sk": object{"S": k.SK}}
		deletes = append(deletes, object{k.Kind: object{"Key": key}})
	}
	if w.Op == "batchWriteItem" {
		return call{w.Op, json.RawMessage(mustJSON(t, object{"RequestItems": object{"agg-table": deletes}}))}
	}
	return call{w.Op, json.RawMessage(mustJSON(t, object{"TransactItems": puts}))}
}

// itemOf is the item with a sort key.
func itemOf(t *testing.T, items []attributes, sk string) attributes {
	t.Helper()
	for _, it := range items {
		if it.text("sk") == sk {
			return it
		}
	}
	t.Fatalf("no item has the sort key %s", sk)
	return nil
}
