package dynamostore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/querydb/driver"
)

// graveyard answers queries of a partition that begins with so many deleted rows, and has nothing else. What an answer
// holds at most is DynamoDB's megabyte.
type graveyard struct {
	left     int
	requests int
}

const perAnswer = 7000 // tombstones in a megabyte, about

func (g *graveyard) Do(r *http.Request) (*http.Response, error) {
	var asked struct {
		Limit            int
		FilterExpression string
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		return nil, err
	}
	if asked.FilterExpression == "" {
		return nil, fmt.Errorf("deleted rows are sent")
	}
	g.requests++
	n := min(asked.Limit, perAnswer, g.left)
	g.left -= n
	last := ""
	if g.left > 0 {
		last = fmt.Sprintf(`,"LastEvaluatedKey":{"id":{"S":"p"},"_subId":{"S":"%09d"}}`, 1_000_000-g.left)
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		Body: io.NopCloser(strings.NewReader(fmt.Sprintf(`{"Items":[],"Count":0,"ScannedCount":%d%s}`, n, last))),
	}, nil
}

// TestManyDeletedRowsArePassedOverInFewRequests, since each of them waits for the one before.
func TestManyDeletedRowsArePassedOverInFewRequests(t *testing.T) {
	const deleted = 100_000
	s := open(t, dynamolocal.Local, Config{})
	g := &graveyard{left: deleted}
	s.client.API = dynamodb.New(s.client.API.Options(), func(o *dynamodb.Options) { o.HTTPClient = g })
	page, err := s.Query(t.Context(), driver.Query{Table: list, Index: driver.Primary, PK: "p", Limit: 20})
	if err != nil || len(page.Rows) > 0 || page.More || page.Examined != deleted {
		t.Errorf("%d rows, more: %t, %d examined, %v", len(page.Rows), page.More, page.Examined, err)
	}
	if g.requests > 25 {
		t.Errorf("%d requests for %d deleted rows", g.requests, deleted)
	}
}

// passes is a budget of so many bytes of rows that are passed over, and of any number that are not.
type passes struct{ left, taken int }

func (p *passes) Take(bytes int) error {
	p.taken += bytes
	return nil
}

func (p *passes) Pass(bytes int) error {
	if p.left -= bytes; p.left < 0 {
		return errSpent
	}
	return nil
}

// TestDeletedRowsArePassedOverAsFarAsTheRequestMay, also for rows that are not charged: each megabyte of them is a
// request to DynamoDB, and costs as if it held rows.
func TestDeletedRowsArePassedOverAsFarAsTheRequestMay(t *testing.T) {
	s := open(t, dynamolocal.Local, Config{})
	for name, ctx := range map[string]func(driver.Budget) context.Context{
		"charged": func(b driver.Budget) context.Context { return driver.WithBudget(t.Context(), b) },
		"not charged": func(b driver.Budget) context.Context {
			return driver.Uncharged(driver.WithBudget(t.Context(), b))
		},
	} {
		g := &graveyard{left: 100_000_000}
		s.client.API = dynamodb.New(s.client.API.Options(), func(o *dynamodb.Options) { o.HTTPClient = g })
		_, err := s.Query(ctx(&passes{left: 4 << 20}), driver.Query{Table: list, Index: driver.Primary, PK: "p", Limit: 20})
		if !errors.Is(err, driver.ErrOverBudget) || !errors.Is(err, errSpent) || g.requests > 20 {
			t.Errorf("%s: %d requests, %v; want ErrOverBudget with what the budget says", name, g.requests, err)
		}
	}
}

// TestDeletedRowsOfOneMomentCountOnceAsPassedOver, however often they are read for that, and as no rows: nothing of
// them stays in memory.
func TestDeletedRowsOfOneMomentCountOnceAsPassedOver(t *testing.T) {
	const all = 80
	s := openWith(t, dynamolocal.Dynoxide, Config{}, list)
	var deletes driver.Batch
	for i := range all {
		gone := driver.Row{Key: listRow(t, fmt.Sprintf("%03d", i), "x").Key,
			Position: driver.Position{Partition: "0", Offset: 9}}
		deletes.Writes = append(deletes.Writes, driver.Write{Table: list, Kind: driver.Delete, Row: gone})
	}
	applyTo(t, s, deletes)
	const bytes = 150 * all // as documented
	b := &passes{left: bytes}
	page, err := s.Query(driver.WithBudget(t.Context(), b),
		driver.Query{Table: list, Index: driver.Primary, PK: "p", Limit: 20, Snapshot: true})
	if err != nil || len(page.Rows) > 0 || b.left != 0 || b.taken > 0 {
		t.Errorf("%d deleted rows take %d bytes, and are %d that are passed over, %v; want 0 and %d", all, b.taken,
			bytes-b.left, err, bytes)
	}
}

// TestPagesAmongDeletedRowsAreWholeAndInOrder, from either end, and each goes on where the one before ended.
func TestPagesAmongDeletedRowsAreWholeAndInOrder(t *testing.T) {
	const all = 80
	atEach(t, func(t *testing.T, e dynamolocal.Engine) {
		s := openWith(t, e, Config{}, list)
		var puts, deletes driver.Batch
		var want []string
		for i := range all {
			id := fmt.Sprintf("%03d", i)
			row := listRow(t, id, "x")
			puts.Writes = append(puts.Writes, driver.Write{Table: list, Row: row})
			if i > 4 && i < 50 || i%3 == 0 {
				gone := driver.Row{Key: row.Key, Position: driver.Position{Partition: "0", Offset: 9}}
				deletes.Writes = append(deletes.Writes, driver.Write{Table: list, Kind: driver.Delete, Row: gone})
			} else {
				want = append(want, id)
			}
		}
		applyTo(t, s, puts)
		applyTo(t, s, deletes)
		for _, reverse := range []bool{false, true} {
			var got []string
			examined := 0
			q := driver.Query{Table: list, Index: driver.Primary, PK: "p", Limit: 3, Reverse: reverse, Consistent: true}
			for more := true; more; {
				page, err := s.Query(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				for _, row := range page.Rows {
					got = append(got, row.Key.SK)
				}
				examined += page.Examined
				if more = page.More; more {
					q.Start = &page.Starts[len(page.Starts)-1]
				}
			}
			if reverse {
				slices.Reverse(want)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("reverse %t (-want +got):\n%s", reverse, diff)
			}
			if examined < all {
				t.Errorf("%d keys are examined, of %d", examined, all)
			}
		}
	})
}
