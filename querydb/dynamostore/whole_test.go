package dynamostore

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/internal/tests/dynamotest"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// TestAPageOfAnAtomicModelShowsAllOfATransactionOrNothing, although DynamoDB reads its items one after the other:
// between the first half of an answer and the second a transaction changes all of them. So do rows that are read by
// their keys.
func TestAPageOfAnAtomicModelShowsAllOfATransactionOrNothing(t *testing.T) {
	atEach(t, func(t *testing.T, e dynamolocal.Engine) {
		table := &driver.Table{
			Name: "Sorted", Sorted: true, Fields: []driver.Field{{Name: "id", Scalar: "ID"}, {Name: "n", Scalar: "Int"}},
			PK: []int{0}, SK: []int{1},
		}
		s := openWith(t, e, Config{}, table)
		n := uint64(0)
		transfer := func() {
			t.Helper()
			n++
			b := driver.Batch{Atomic: true}
			for i := range 4 {
				row := dynamotest.SmallRow(t, "p", int(n))
				row.Key, row.Position = keys.Key{PK: "p", SK: fmt.Sprint(i)}, dynamotest.Position(n)
				b.Writes = append(b.Writes, driver.Write{Table: table, Row: row})
			}
			if err := s.Apply(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
		transfer()
		for _, whole := range []bool{false, true} {
			for _, byKey := range []bool{false, true} {
				reader := halfOlder(t, s, 3, transfer)
				rows, err := readFour(t, reader, table, byKey, whole)
				if err != nil || len(rows) != 4 {
					t.Fatalf("%d rows, error %v", len(rows), err)
				}
				seen := map[string]bool{}
				for _, r := range rows {
					seen[string(r.Record.JSON(1))] = true
				}
				if mixed := len(seen) > 1; mixed == whole {
					t.Errorf("whole %t, by key %t: seen are %v", whole, byKey, seen)
				}
			}
		}
		for _, byKey := range []bool{false, true} {
			if _, err := readFour(t, halfOlder(t, s, 100, transfer), table, byKey, true); !errors.Is(err, driver.ErrThrottled) {
				t.Errorf("by key %t, rows that change at every look: %v, want ErrThrottled", byKey, err)
			}
		}
	})
}

func readFour(t *testing.T, s *Store, table *driver.Table, byKey, whole bool) ([]driver.Row, error) {
	if !byKey {
		page, err := s.Query(t.Context(), driver.Query{Table: table, Index: driver.Primary, PK: "p", Limit: 10,
			Consistent: true, Snapshot: whole})
		return page.Rows, err
	}
	g := driver.Get{Table: table, Consistent: true, Snapshot: whole}
	for i := range 4 {
		g.Keys = append(g.Keys, keys.Key{PK: "p", SK: fmt.Sprint(i)})
	}
	return s.Get(t.Context(), g)
}

// halfOlder returns a store over the same tables. While it reads, so many times, something happens: half of the answer
// is older than that.
func halfOlder(t *testing.T, s *Store, times int, happens func()) *Store {
	t.Helper()
	other, err := Open(t.Context(), Config{Prefix: s.tables.prefix})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close() })
	other.client.API = dynamodb.New(other.client.API.Options(), func(o *dynamodb.Options) {
		o.HTTPClient = olderHalf{next: o.HTTPClient, left: &times, happens: happens}
	})
	return other
}

type olderHalf struct {
	next    aws.HTTPClient
	left    *int
	happens func()
}

// Do implements aws.HTTPClient.
func (c olderHalf) Do(r *http.Request) (*http.Response, error) {
	if *c.left--; *c.left < 0 {
		return c.next.Do(r)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	again := r.Clone(r.Context())
	r.Body, again.Body = io.NopCloser(bytes.NewReader(body)), io.NopCloser(bytes.NewReader(body))
	before, err := c.next.Do(r)
	if err != nil {
		return nil, err
	}
	c.happens()
	after, err := c.next.Do(again)
	if err != nil {
		return nil, err
	}
	return halves(before, after)
}

// halves is an answer of which one half is older than the other. Sort keys are in the attribute n.
func halves(before, after *http.Response) (*http.Response, error) {
	var bodies [2]map[string]json.RawMessage
	for i, r := range []*http.Response{before, after} {
		text, err := io.ReadAll(r.Body)
		if err = errors.Join(err, r.Body.Close()); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, &bodies[i]); err != nil {
			return nil, err
		}
	}
	for _, field := range []string{"Items", "Responses"} {
		if bodies[0][field] == nil {
			continue
		}
		old, lists := itemsIn(bodies[0][field]), itemsIn(bodies[1][field])
		for i := range lists {
			for j := range lists[i] {
				if key := lists[i][j]["n"]; string(key) < `{"S":"2"}` {
					for _, it := range old[i] {
						if bytes.Equal(it["n"], key) {
							lists[i][j] = it
						}
					}
				}
			}
		}
		var body any = lists[0]
		if field == "Responses" {
			var names map[string]any
			if err := json.Unmarshal(bodies[1][field], &names); err != nil {
				return nil, err
			}
			for name := range names {
				names[name] = lists[0]
			}
			body = names
		}
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		bodies[1][field] = text
	}
	text, err := json.Marshal(bodies[1])
	if err != nil {
		return nil, err
	}
	h := after.Header.Clone()
	h.Del("X-Amz-Crc32")
	return &http.Response{
		StatusCode: after.StatusCode, Header: h, ContentLength: int64(len(text)), Body: io.NopCloser(bytes.NewReader(text)),
	}, nil
}

// itemsIn are the items of an answer, by table where there are several.
func itemsIn(text json.RawMessage) (all [][]map[string]json.RawMessage) {
	var one []map[string]json.RawMessage
	if json.Unmarshal(text, &one) == nil {
		return append(all, one)
	}
	var named map[string][]map[string]json.RawMessage
	_ = json.Unmarshal(text, &named) // what is neither has no items
	for _, items := range named {
		all = append(all, items)
	}
	return all
}
