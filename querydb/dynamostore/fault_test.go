package dynamostore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/internal/tests/dynamotest"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore/internal/item"
)

// between is called for every request that a store sends, and does it or not.
type between func(do func() (*http.Response, error)) (*http.Response, error)

type wire struct {
	next aws.HTTPClient
	between
}

func (w wire) Do(r *http.Request) (*http.Response, error) {
	return w.between(func() (*http.Response, error) { return w.next.Do(r) })
}

// through lets the store send its requests through f.
func through(s *Store, f between) {
	s.client.API = dynamodb.New(s.client.API.Options(), func(o *dynamodb.Options) { o.HTTPClient = wire{o.HTTPClient, f} })
}

// answer is an error of DynamoDB's.
func answer(status int, code string) (*http.Response, error) {
	return answerSaying(status, code, "as the test wants it")
}

func answerSaying(status int, code, message string) (*http.Response, error) {
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		Body: io.NopCloser(strings.NewReader(`{"__type":"com.amazonaws.dynamodb.v20120810#` + code +
			`","message":"` + message + `"}`)),
	}, nil
}

// losing does every request, and loses the answer to every other one, in the ways in which answers are lost.
func losing() between {
	var n atomic.Int64
	return func(do func() (*http.Response, error)) (*http.Response, error) {
		i := n.Add(1)
		resp, err := do()
		if err != nil || i%2 == 0 {
			return resp, err
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		switch i % 3 {
		case 0:
			return nil, io.ErrUnexpectedEOF
		case 1:
			return answer(500, "InternalServerError")
		}
		resp.Body = io.NopCloser(strings.NewReader(`{"Attrib`))
		return resp, nil
	}
}

func put(t *testing.T, id string, total int, offset uint64) driver.Write {
	w := driver.Write{Table: dynamotest.Small, Row: dynamotest.SmallRow(t, id, total)}
	if offset > 0 {
		w.Row.Position = dynamotest.Position(offset)
	}
	return w
}

func ifRevision(w driver.Write, revision uint64) driver.Write {
	w.IfRevision, w.Row.Revision = true, revision
	return w
}

func gone(id string, offset uint64) driver.Write {
	w := driver.Write{Table: dynamotest.Small, Kind: driver.Delete, Row: driver.Row{Key: keys.Key{PK: id}}}
	if offset > 0 {
		w.Row.Position = dynamotest.Position(offset)
	}
	return w
}

func get(t testing.TB, s *Store, ids ...string) []driver.Row {
	t.Helper()
	g := driver.Get{Table: dynamotest.Small, Consistent: true}
	for _, id := range ids {
		g.Keys = append(g.Keys, keys.Key{PK: id})
	}
	rows, err := s.Get(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// totals writes rows in short: total, revision, position; "-" for no row.
func totals(rows []driver.Row) string {
	var list []string
	for _, r := range rows {
		total := "-"
		if r.Record != nil {
			total = string(r.Record.JSON(1))
		}
		list = append(list, fmt.Sprintf("%s r%d @%d", total, r.Revision, r.Position.Offset))
	}
	return strings.Join(list, ", ")
}

func applyTo(t testing.TB, s *Store, b driver.Batch) {
	t.Helper()
	if err := s.Apply(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

func TestAWriteWhoseAnswerIsLostTakesEffectOnce(t *testing.T) {
	atEach(t, func(t *testing.T, e dynamolocal.Engine) {
		s := openWith(t, e, Config{Concurrency: 1}, dynamotest.Small)
		applyTo(t, s, driver.Batch{Writes: []driver.Write{put(t, "read", 1, 1), put(t, "deleted", 1, 1),
			put(t, "for good", 1, 1), put(t, "last", 1, 0)}})
		through(s, losing())
		applyTo(t, s, driver.Batch{
			Writes: []driver.Write{
				put(t, "blind", 2, 2), ifRevision(put(t, "read", 2, 2), 1), ifRevision(put(t, "new", 2, 2), 0),
				ifRevision(gone("deleted", 2), 1),
				ifRevision(gone("for good", 0), 1), gone("never", 2),
			},
			Last: []driver.Write{ifRevision(put(t, "last", 2, 0), 1)},
		})
		if s.Stats().Retries == 0 {
			t.Error("no answer was lost")
		}
		got := totals(get(t, s, "blind", "read", "new", "deleted", "for good", "never", "last"))
		if want := "2 r1 @2, 2 r2 @2, 2 r1 @2, - r2 @2, - r0 @0, - r1 @2, 2 r2 @0"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}

func TestAWriteOfARowThatHasChangedIsStaleAndLastIsNotWritten(t *testing.T) {
	atEach(t, func(t *testing.T, e dynamolocal.Engine) {
		s := openWith(t, e, Config{}, dynamotest.Small)
		applyTo(t, s, driver.Batch{Writes: []driver.Write{put(t, "a", 1, 1), put(t, "note", 1, 0)}})
		tests := map[string]driver.Batch{
			"put": {Writes: []driver.Write{ifRevision(put(t, "a", 2, 2), 7)},
				Last: []driver.Write{put(t, "last", 2, 0)}},
			"put of none": {Writes: []driver.Write{ifRevision(put(t, "a", 2, 2), 0)},
				Last: []driver.Write{put(t, "last", 2, 0)}},
			"delete": {Writes: []driver.Write{ifRevision(gone("a", 2), 7)}, Last: []driver.Write{put(t, "last", 2, 0)}},
			"delete of none": {Writes: []driver.Write{ifRevision(gone("none", 2), 1)},
				Last: []driver.Write{put(t, "last", 2, 0)}},
			"last": {Last: []driver.Write{ifRevision(put(t, "note", 2, 0), 7), put(t, "last", 2, 0)}},
			"atomic": {Atomic: true, Writes: []driver.Write{put(t, "b", 2, 2)},
				Last: []driver.Write{ifRevision(put(t, "note", 2, 0), 7), put(t, "last", 2, 0)}},
			"late": {Deadline: time.Now().Add(-time.Millisecond), Writes: []driver.Write{put(t, "a", 2, 2)},
				Last: []driver.Write{put(t, "last", 2, 0)}},
		}
		for name, b := range tests {
			if err := s.Apply(t.Context(), b); !errors.Is(err, driver.ErrStale) {
				t.Errorf("%s: %v, want ErrStale", name, err)
			}
		}
		if got, want := totals(get(t, s, "a", "note", "last", "b")), "1 r1 @1, 1 r1 @0, - r0 @0, - r0 @0"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}

func TestNothingIsBegunAfterTheDeadline(t *testing.T) {
	s := openWith(t, dynamolocal.Local, Config{}, dynamotest.Small)
	deadline := time.Now().Add(200 * time.Millisecond)
	through(s, func(do func() (*http.Response, error)) (*http.Response, error) {
		if time.Now().After(deadline.Add(50 * time.Millisecond)) {
			t.Error("a request is begun after the deadline")
		}
		return answer(400, "ThrottlingException")
	})
	err := s.Apply(t.Context(), driver.Batch{Deadline: deadline, Writes: []driver.Write{put(t, "a", 2, 2)}})
	if !errors.Is(err, driver.ErrStale) {
		t.Errorf("%v, want ErrStale", err)
	}
}

func TestAnAtomicBatchIsWrittenAtOnceWithoutWhatWasAppliedBefore(t *testing.T) {
	atEach(t, func(t *testing.T, e dynamolocal.Engine) {
		s := openWith(t, e, Config{}, dynamotest.Small)
		applyTo(t, s, driver.Batch{Writes: []driver.Write{put(t, "before", 5, 5), put(t, "read", 1, 1)}})
		through(s, losing())
		b := driver.Batch{
			Atomic: true,
			Writes: []driver.Write{put(t, "before", 2, 2), put(t, "new", 2, 2), ifRevision(put(t, "read", 2, 2), 1),
				gone("none", 2)},
			Last: []driver.Write{ifRevision(put(t, "note", 2, 0), 0)},
		}
		applyTo(t, s, b)
		if got, want := totals(get(t, s, "before", "new", "read", "none", "note")),
			"5 r1 @5, 2 r1 @2, 2 r2 @2, - r1 @2, 2 r1 @0"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		blind := driver.Batch{Atomic: true, Writes: b.Writes[:2]}
		applyTo(t, s, blind) // all of it was applied before
	})
}

func TestWhatNoTransactionCanHoldIsRefusedBeforeTheFirstWrite(t *testing.T) {
	s := openWith(t, dynamolocal.Local, Config{}, dynamotest.Small)
	var many driver.Batch
	for i := range item.MostActions + 1 {
		many.Writes = append(many.Writes, put(t, fmt.Sprint(i), i, 1))
	}
	last := driver.Batch{Writes: many.Writes[:1], Last: many.Writes}
	last.Writes = []driver.Write{put(t, "other", 1, 1)}
	many.Atomic = true
	for _, b := range []driver.Batch{many, last} {
		if err := s.Apply(t.Context(), b); !errors.Is(err, driver.ErrTooLarge) {
			t.Errorf("%v, want ErrTooLarge", err)
		}
	}
	if n := s.Stats().Requests; n > 0 {
		t.Errorf("%d requests were sent", n)
	}
}

func TestThrottlingIsWaitedForWithinBounds(t *testing.T) {
	s := openWith(t, dynamolocal.Local, Config{RetryFor: 2 * time.Second}, dynamotest.Small)
	var n atomic.Int64
	through(s, func(do func() (*http.Response, error)) (*http.Response, error) {
		if n.Add(1) <= 3 {
			return answer(400, "ProvisionedThroughputExceededException")
		}
		return do()
	})
	applyTo(t, s, driver.Batch{Writes: []driver.Write{put(t, "a", 1, 1)}})
	if got := s.Stats(); got.Throttled != 3 || got.Retries != 3 || got.Requests != 4 {
		t.Errorf("%+v, want 3 throttled of 4 requests", got)
	}
	through(s, func(func() (*http.Response, error)) (*http.Response, error) {
		return answer(400, "ThrottlingException")
	})
	if err := s.Apply(t.Context(), driver.Batch{Writes: []driver.Write{put(t, "a", 1, 2)}}); !errors.Is(err,
		driver.ErrThrottled) {
		t.Errorf("%v, want ErrThrottled", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := s.Get(ctx, driver.Get{Table: dynamotest.Small, Keys: []keys.Key{{PK: "a"}}})
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > time.Second {
		t.Errorf("%v after %v, want the context's end at once", err, time.Since(began))
	}
}

func TestRequestsInFlightAreBounded(t *testing.T) {
	const most = 5
	s := openWith(t, dynamolocal.Local, Config{Concurrency: most}, dynamotest.Small)
	var now, peak atomic.Int64
	through(s, func(do func() (*http.Response, error)) (*http.Response, error) {
		n := now.Add(1)
		defer now.Add(-1)
		for old := peak.Load(); n > old && !peak.CompareAndSwap(old, n); old = peak.Load() {
		}
		return do()
	})
	var b driver.Batch
	for i := range 100 {
		b.Writes = append(b.Writes, put(t, fmt.Sprint(i), i, 1))
	}
	applyTo(t, s, b)
	if got := peak.Load(); got > most || got < 2 {
		t.Errorf("%d requests were in flight, want at most %d, and more than one", got, most)
	}
}

func TestATableOrIndexThatIsNotThereIsTablesNotReady(t *testing.T) {
	atEach(t, func(t *testing.T, e dynamolocal.Engine) {
		s := openWith(t, e, Config{}, dynamotest.Small)
		indexed := *dynamotest.Small
		indexed.Indexes = []driver.Index{{Name: "byTotal", PK: []int{1}}}
		_, index := s.Query(t.Context(), driver.Query{Table: &indexed, Index: 0, PK: "a", Limit: 1})
		_, table := s.Get(t.Context(), driver.Get{Table: dynamotest.Tracking(), Keys: []keys.Key{{PK: "a", SK: "b"}}})
		write := s.Apply(t.Context(), driver.Batch{Writes: []driver.Write{{Table: dynamotest.Tracking(),
			Row: dynamotest.Order(t)}}})
		for what, err := range map[string]error{"query": index, "get": table, "write": write} {
			if !errors.Is(err, driver.ErrTablesNotReady) {
				t.Errorf("%s: %v, want ErrTablesNotReady", what, err)
			}
		}
	})
}
