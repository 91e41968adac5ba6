package dynamostore

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"encoding/pem"
	"net"

	"pgregory.net/rapid"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/internal/tests/dynamotest"
	"github.com/foldql/foldql/internal/tests/faultproxy"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// TestEveryValueComesBackFromTheEngines puts rows of every type of field into the engines themselves.
func TestEveryValueComesBackFromTheEngines(t *testing.T) {
	atEach(t, func(t *testing.T, e dynamolocal.Engine) {
		s := openWith(t, e, Config{}, dynamotest.Everything)
		rapid.Check(t, func(r *rapid.T) {
			row := dynamotest.DrawRow(r, dynamotest.Everything)
			if err := s.Apply(t.Context(), driver.Batch{Writes: []driver.Write{{Table: dynamotest.Everything,
				Row: row}}}); err != nil {
				r.Fatal(err)
			}
			rows, err := s.Get(t.Context(), driver.Get{Table: dynamotest.Everything, Keys: []keys.Key{row.Key},
				Consistent: true})
			if err != nil {
				r.Fatal(err)
			}
			dynamotest.Same(r, row, rows[0])
			inIndexes(t, r, s, &row)
		})
	})
}

// inIndexes looks for the row where its index keys say that it is.
func inIndexes(t *testing.T, r *rapid.T, s *Store, row *driver.Row) {
	for i := range dynamotest.Everything.Indexes {
		k := &row.Indexes[i]
		if !k.InIndex(&dynamotest.Everything.Indexes[i]) {
			continue
		}
		q := driver.Query{Table: dynamotest.Everything, Index: i, PK: k.PK,
			Range: keys.Range{Op: keys.RangeEqual, Lo: k.SK}, Limit: 1000}
		page, err := s.Query(t.Context(), q)
		if err != nil {
			r.Fatal(err)
		}
		found := false
		for _, got := range page.Rows {
			if got.Key == row.Key {
				found = bytes.Equal(got.Record, record.Project(row.Record, dynamotest.Everything.Indexes[i].Projected)) &&
					got.Expires.Equal(row.Expires)
			}
		}
		if !found {
			r.Fatalf("index %d does not show the row as it is", i)
		}
	}
}

// list is a table of one partition's rows.
var list = &driver.Table{
	Name: "List", Sorted: true, PK: []int{0}, SK: []int{1}, NoExpiry: true,
	Fields: []driver.Field{{Name: "id", Scalar: "ID"}, {Name: "sk", Scalar: "String"}, {Name: "text", Scalar: "String"}},
}

func listRow(t *testing.T, sk, text string) driver.Row {
	return dynamotest.RowOf(t, keys.Key{PK: "p", SK: sk}, func(b *record.Builder) {
		b.String("p")
		b.String(sk)
		b.String(text)
	}, 3)
}

func TestAPageGoesOnPastDeletedRowsInFewRequests(t *testing.T) {
	atEach(t, func(t *testing.T, e dynamolocal.Engine) {
		s := openWith(t, e, Config{}, list)
		var b driver.Batch
		for i := range 500 {
			w := driver.Write{Table: list, Row: listRow(t, fmt.Sprintf("%03d", i), "x")}
			w.Row.Position = dynamotest.Position(1)
			if 5 <= i && i < 490 {
				w.Kind = driver.Delete
			}
			b.Writes = append(b.Writes, w)
		}
		applyTo(t, s, b)
		for _, reverse := range []bool{false, true} {
			before := s.Stats().Requests
			q := driver.Query{Table: list, Index: driver.Primary, PK: "p", Limit: 8, Reverse: reverse}
			page, err := s.Query(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			if requests := s.Stats().Requests - before; len(page.Rows) != 8 || !page.More || requests > 10 {
				t.Errorf("reverse %t: %d rows, more: %t, by %d requests", reverse, len(page.Rows), page.More, requests)
			}
			if !reverse && page.Examined != 5+485+3+1 {
				t.Errorf("%d keys are examined, want %d", page.Examined, 5+485+3+1)
			}
			q.WithDeleted = true
			page, err = s.Query(t.Context(), q)
			if err != nil || len(page.Rows) != 8 || !reverse && (page.Rows[5].Record != nil ||
				page.Rows[5].LastApplied("events") != dynamotest.Position(1)) {
				t.Errorf("deleted rows are not shown: %v, %v", page.Rows, err)
			}
		}
	})
}

func TestAPageEndsWhereDeletedRowsEndTheRange(t *testing.T) {
	atEach(t, func(t *testing.T, e dynamolocal.Engine) {
		s := openWith(t, e, Config{}, list)
		var b driver.Batch
		for i, sk := range []string{"a", "b", "c", "d"} {
			w := driver.Write{Table: list, Row: listRow(t, sk, "x")}
			w.Row.Position = dynamotest.Position(uint64(i + 1))
			if sk == "a" || sk == "c" {
				w.Kind = driver.Delete
			}
			b.Writes = append(b.Writes, w)
		}
		applyTo(t, s, b)
		for _, r := range []keys.Range{{Op: keys.RangeBetween, Lo: "a", Hi: "c"}, {Op: keys.RangeAtMost, Lo: "c"},
			{Op: keys.RangePrefix, Lo: "c"}} {
			for _, reverse := range []bool{false, true} {
				page, err := s.Query(t.Context(), driver.Query{Table: list, Index: driver.Primary, PK: "p", Range: r, Limit: 2,
					Reverse: reverse})
				want := 1
				if r.Op == keys.RangePrefix {
					want = 0
				}
				if err != nil || len(page.Rows) != want || page.More {
					t.Errorf("%v, reverse %t: %d rows, more: %t, %v", r, reverse, len(page.Rows), page.More, err)
				}
			}
		}
	})
}

func TestAPageOfManyMegabytesIsFull(t *testing.T) {
	s := openWith(t, dynamolocal.Local, Config{}, list)
	var b driver.Batch
	for i := range 20 {
		b.Writes = append(b.Writes, driver.Write{Table: list, Row: listRow(t, fmt.Sprintf("%03d", i),
			strings.Repeat("x", 300_000))})
	}
	applyTo(t, s, b)
	page, err := s.Query(t.Context(), driver.Query{Table: list, Index: driver.Primary, PK: "p", Limit: 19})
	if err != nil || len(page.Rows) != 19 || !page.More || page.Examined != 20 {
		t.Errorf("%d rows, more: %t, %d examined, %v", len(page.Rows), page.More, page.Examined, err)
	}
	var g driver.Get
	for i := range 30 {
		g.Keys = append(g.Keys, keys.Key{PK: "p", SK: fmt.Sprintf("%03d", i)})
	}
	g.Table = list
	rows, err := s.Get(t.Context(), g)
	for i, row := range rows {
		if (row.Record != nil) != (i < 20) {
			t.Errorf("row %d is there: %t", i, row.Record != nil)
		}
	}
	if err != nil || len(rows) != 30 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}

func TestKeysLeftUnprocessedAreAskedForAgain(t *testing.T) {
	place := dynamolocal.Start(t, dynamolocal.Local)
	proxy := faultproxy.New(faultproxy.Config{Backend: place.URL, Seed: 1,
		Rates: faultproxy.Rates{faultproxy.Partly: 0.7}})
	server := httptest.NewServer(proxy)
	t.Cleanup(proxy.Close)
	t.Cleanup(server.Close)
	s := openWith(t, dynamolocal.Local, Config{Endpoint: server.URL}, dynamotest.Small)
	var b driver.Batch
	var ids []string
	for i := range 350 {
		ids = append(ids, fmt.Sprint(i))
		b.Writes = append(b.Writes, put(t, ids[i], i, 1))
	}
	applyTo(t, s, b)
	for n := 0; n < 20 && s.Stats().Throttled == 0; n++ { // which requests are done in part is a matter of chance
		for i, row := range get(t, s, append(ids, "none")...) {
			want := fmt.Sprint(i)
			if i == 350 {
				want = "-"
			}
			if got, _, _ := strings.Cut(totals([]driver.Row{row}), " "); got != want {
				t.Errorf("row %d is %s", i, got)
			}
		}
	}
	if s.Stats().Throttled == 0 {
		t.Error("no key was left unprocessed")
	}
}

// TestAReadThatGetsOnIsNotGivenUp, however little of it is done at a time.
func TestAReadThatGetsOnIsNotGivenUp(t *testing.T) {
	place := dynamolocal.Start(t, dynamolocal.Local)
	proxy := faultproxy.New(faultproxy.Config{Backend: place.URL, Seed: 1, Rates: faultproxy.Rates{faultproxy.Partly: 1}})
	server := httptest.NewServer(proxy)
	t.Cleanup(proxy.Close)
	t.Cleanup(server.Close)
	s := openWith(t, dynamolocal.Local, Config{Endpoint: server.URL, RetryFor: time.Nanosecond}, dynamotest.Small)
	var b driver.Batch
	var ids []string
	for i := range 100 {
		ids = append(ids, fmt.Sprint(i))
		b.Writes = append(b.Writes, put(t, ids[i], i, 1))
	}
	applyTo(t, s, b)
	for i, row := range get(t, s, ids...) {
		if row.Record == nil {
			t.Errorf("row %d is not there", i)
		}
	}
	if s.Stats().Throttled < 2 {
		t.Errorf("keys were left %d times, want several", s.Stats().Throttled)
	}
}

// TestConnectionsAreKept counts the connections that many requests are sent on.
func TestConnectionsAreKept(t *testing.T) {
	place := dynamolocal.Start(t, dynamolocal.Local)
	backend, err := url.Parse(place.URL)
	if err != nil {
		t.Fatal(err)
	}
	var made atomic.Int64
	server := httptest.NewUnstartedServer(httputil.NewSingleHostReverseProxy(backend))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			made.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	s := openWith(t, dynamolocal.Local, Config{Endpoint: server.URL, Concurrency: 8}, dynamotest.Small)
	for n := range 5 {
		var b driver.Batch
		for i := range 60 {
			b.Writes = append(b.Writes, put(t, fmt.Sprint(i), i, uint64(n+1)))
		}
		applyTo(t, s, b)
	}
	// net/http gives up a connection now and then where a request's context ends just as its answer does.
	if got := made.Load(); got > 16 {
		t.Errorf("%d connections were made for 300 requests, 8 at a time", got)
	}
}

// TestACertificateOfOnesOwnIsTrusted: AWS_CA_BUNDLE names the certificates that vouch for the endpoint.
func TestACertificateOfOnesOwnIsTrusted(t *testing.T) {
	place := dynamolocal.Start(t, dynamolocal.Local)
	backend, err := url.Parse(place.URL)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewTLSServer(httputil.NewSingleHostReverseProxy(backend))
	t.Cleanup(server.Close)
	bundle := filepath.Join(t.TempDir(), "bundle.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(bundle, block, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("AWS_CA_BUNDLE", bundle)
	s := openWith(t, dynamolocal.Local, Config{Endpoint: server.URL}, dynamotest.Small)
	if got := totals(get(t, s, "a")); got != "- r0 @0" {
		t.Error(got)
	}
}

func TestExpiredRowsAreKeptForTheFoldAndRemovedByTheStoreMuchLater(t *testing.T) {
	endless := *list
	endless.NoExpiry = false
	s := openWith(t, dynamolocal.Local, Config{}, &endless)
	now := time.Unix(1_700_000_000, 0)
	s.applier.Now = func() time.Time { return now }
	row := listRow(t, "a", "x")
	row.Expires = now.Add(time.Hour + time.Nanosecond)
	applyTo(t, s, driver.Batch{Writes: []driver.Write{{Table: &endless, Row: row}}})
	sh, err := s.applier.Codecs.Of(&endless)
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.client.API.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: &sh.Layout.Table, Key: sh.Key(row.Key), ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := dynamotest.Show(out.Item["_ttl"]), fmt.Sprint(row.Expires.Add(48*time.Hour).Unix()+1); got != want {
		t.Errorf("DynamoDB removes it after %s, want %s", got, want)
	}
	rows, err := s.Get(t.Context(), driver.Get{Table: &endless, Keys: []keys.Key{row.Key}})
	if err != nil || !rows[0].Expires.Equal(row.Expires) {
		t.Errorf("it expires at %v, %v", rows[0].Expires, err)
	}
}
