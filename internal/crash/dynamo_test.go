package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/foldql/foldql/internal/crash/judge"
	"github.com/foldql/foldql/internal/dynamolocal"
	"github.com/foldql/foldql/internal/faultproxy"
)

// dynamo is a world of servers that share tables in DynamoDB, which they reach through a proxy that disturbs them.
type dynamo struct {
	at    dynamolocal.Endpoint
	proxy *faultproxy.Proxy
	front *httptest.Server // the proxy's
}

// openDynamo returns what makes a world at an engine. Unguarded ones let every write of a row through.
func openDynamo(t *testing.T, engine dynamolocal.Engine, unguarded bool) func(tr *trial) (world, error) {
	return func(tr *trial) (world, error) {
		d := &dynamo{at: dynamolocal.Start(t, engine)}
		d.at.Setenv(t) // for the judge
		cmd := exec.Command(tr.on.bin, "tables", "apply", "--store", d.place())
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("make the tables: %w\n%s", err, out)
		}
		d.proxy = faultproxy.New(faultproxy.Config{Backend: d.at.URL, Seed: tr.seed, Rates: rates(tr), Unguarded: unguarded})
		d.front = httptest.NewServer(d.proxy)
		return d, nil
	}
}

// rates draws how bad it is, in all and of each kind.
func rates(tr *trial) faultproxy.Rates {
	worst := []float64{0, .01, .03, .1}[tr.rng.IntN(4)]
	all := faultproxy.Even(0)
	for i := range all {
		all[i] = worst * tr.rng.Float64()
	}
	return all
}

func (d *dynamo) place() string { return "dynamodb:" + d.at.Prefix }

func (d *dynamo) servers() (args, env []string) {
	return []string{"--store", d.place()}, append(d.at.Env(), "AWS_ENDPOINT_URL_DYNAMODB="+d.front.URL)
}

func (d *dynamo) most() int { return 2 }

func (d *dynamo) afterWrites(n int) <-chan struct{} { return d.proxy.AfterWrites(n) }

func (d *dynamo) calm() { d.proxy.Quiet() }

func (d *dynamo) settle() { d.proxy.Settle() }

// check counts what lies in the tables and in their indexes, which the driver reads by keys alone: there must be no more
// than what was found under the keys that ever were.
func (d *dynamo) check(ctx context.Context, v *judge.Verdict) error {
	var wrong []error
	for _, name := range slices.Sorted(maps.Keys(v.Counts)) {
		n, err := d.scan(ctx, name)
		if err != nil {
			return err
		}
		if n != v.Counts[name] {
			wrong = append(wrong, fmt.Errorf("%s holds %d rows, want %d", name, n, v.Counts[name]))
		}
	}
	return errors.Join(wrong...)
}

// scan counts the rows of a table, or the entries of table/index; deleted rows, of which word is kept, do not count.
func (d *dynamo) scan(ctx context.Context, name string) (n int, err error) {
	table, index, _ := strings.Cut(name, "/")
	in := map[string]any{
		"TableName": d.at.Prefix + table, "Select": "COUNT",
		"FilterExpression": "attribute_not_exists(#d)", "ExpressionAttributeNames": map[string]string{"#d": "_deleted"},
	}
	if index != "" {
		in["IndexName"] = index
	}
	for {
		var out struct {
			Count            int
			LastEvaluatedKey json.RawMessage
		}
		if err := d.call(ctx, "Scan", in, &out); err != nil {
			return 0, err
		}
		n += out.Count
		if out.LastEvaluatedKey == nil {
			return n, nil
		}
		in["ExclusiveStartKey"] = out.LastEvaluatedKey
	}
}

// end deletes the tables, which the endpoint has in memory.
func (d *dynamo) end(r *report) error {
	d.proxy.Quiet()
	d.front.Close()
	d.proxy.Close()
	r.faults = d.proxy.Counts()
	ctx := context.Background() // also where that of the trial has ended
	var tables struct{ TableNames []string }
	if err := d.call(ctx, "ListTables", map[string]any{}, &tables); err != nil {
		return err
	}
	for _, name := range tables.TableNames {
		if !strings.HasPrefix(name, d.at.Prefix) {
			continue
		}
		if err := d.call(ctx, "DeleteTable", map[string]any{"TableName": name}, nil); err != nil {
			return err
		}
	}
	return nil
}

// call makes one request of the endpoint, which does not look at signatures.
func (d *dynamo) call(ctx context.Context, operation string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.at.URL+"/", bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-amz-json-1.0")
	req.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+d.at.AccessKey+
		"/20240101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(res.Body)
	if err = errors.Join(err, res.Body.Close()); err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %s", operation, res.Status, text)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(text, out)
}
