package dynamostore

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/internal/tests/dynamotest"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore/internal/client"
)

// step is an event of the test's log: what it does to a row.
type step struct {
	row string
	act int // set, add or remove
}

const (
	set = iota
	add
	remove
	acts
)

func drawLog(rng *rand.Rand, n int) []step {
	log := make([]step, n)
	for i := range log {
		log[i] = step{row: strconv.Itoa(rng.IntN(6)), act: rng.IntN(acts)}
	}
	return log
}

// window folds up to three events from the given one on into a batch. No two of them are of one row.
func window(t *testing.T, s *Store, log []step, from int) (b driver.Batch, next int) {
	seen := map[string]bool{}
	for next = from; next < len(log) && next < from+3 && !seen[log[next].row]; next++ {
		e, offset := log[next], uint64(next+1)
		seen[e.row] = true
		switch e.act {
		case set:
			b.Writes = append(b.Writes, put(t, e.row, int(offset), offset))
		case remove:
			b.Writes = append(b.Writes, gone(e.row, offset))
		case add:
			if w, needed := added(t, s, e.row, offset); needed {
				b.Writes = append(b.Writes, w)
			}
		}
	}
	note := get(t, s, "checkpoint")[0]
	b.Last = []driver.Write{ifRevision(put(t, "checkpoint", next, 0), note.Revision)}
	return b, next
}

// added reads the row and adds to it, unless that was done before.
func added(t *testing.T, s *Store, id string, offset uint64) (w driver.Write, needed bool) {
	row := get(t, s, id)[0]
	if !row.LastApplied("events").Before(dynamotest.Position(offset)) {
		return w, false
	}
	total := 0
	if row.Record != nil {
		total, _ = strconv.Atoi(string(row.Record.JSON(1)))
	}
	return ifRevision(put(t, id, total+1000, offset), row.Revision), true
}

// fold applies the log from the checkpoint on; writer is the store that it writes through. It returns false where the
// writer ends before the log does.
func fold(t *testing.T, ctx context.Context, s, writer *Store, log []step) bool {
	from := 0
	if note := get(t, s, "checkpoint")[0]; note.Record != nil {
		from, _ = strconv.Atoi(string(note.Record.JSON(1)))
	}
	for from < len(log) {
		b, next := window(t, s, log, from)
		switch err := writer.Apply(ctx, b); {
		case errors.Is(err, driver.ErrStale):
		case errors.Is(err, context.Canceled):
			return false
		case err != nil:
			t.Fatal(err)
		default:
			from = next
		}
	}
	return true
}

// items are all rows of the test as DynamoDB has them.
func items(t *testing.T, s *Store) map[string]map[string]string {
	t.Helper()
	all := map[string]map[string]string{}
	name := s.tables.prefix + dynamotest.Small.Name
	for _, id := range []string{"0", "1", "2", "3", "4", "5", "checkpoint"} {
		out, err := s.client.API.GetItem(t.Context(), &dynamodb.GetItemInput{
			TableName: &name, Key: map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: id}},
			ConsistentRead: aws.Bool(true),
		})
		if err != nil {
			t.Fatal(err)
		}
		all[id] = dynamotest.ShowItem(out.Item)
	}
	return all
}

// TestInterruptedAndRepeatedBatchesLeaveTheSameItems stops a fold after any number of requests, amid a batch, and
// folds again from the checkpoint, until the log is done: the items are those of a fold that nothing stopped, every
// attribute.
func TestInterruptedAndRepeatedBatchesLeaveTheSameItems(t *testing.T) {
	atEach(t, func(t *testing.T, e dynamolocal.Engine) {
		for seed := range uint64(2) {
			log := drawLog(rand.New(rand.NewPCG(seed, 0)), 24)
			whole := openAt(t, e)
			fold(t, t.Context(), whole, whole, log)
			want := items(t, whole)
			for least := range int64(5) {
				interrupted := openAt(t, e)
				lives := 1
				for !life(t, interrupted, log, least+int64(lives%7)) {
					if lives++; lives > 1000 {
						t.Fatalf("seed %d: no end after %d lives", seed, lives)
					}
				}
				t.Logf("seed %d: %d events in %d lives", seed, len(log), lives)
				if diff := cmp.Diff(want, items(t, interrupted)); diff != "" {
					t.Fatalf("seed %d, lives of %d requests and more: %s", seed, least, diff)
				}
			}
		}
	})
}

func openAt(t *testing.T, e dynamolocal.Engine) *Store {
	s := openWith(t, e, Config{Concurrency: 2}, dynamotest.Small)
	s.applier.Now = func() time.Time { return time.Unix(1e9, 0) }
	return s
}

// life is a fold by a process that ends with a request: the answer to it is never seen, though it is carried out.
func life(t *testing.T, s *Store, log []step, requests int64) (done bool) {
	ctx, end := context.WithCancel(t.Context())
	defer end()
	var left atomic.Int64
	left.Store(requests)
	c, err := client.New(ctx, s.client.Options)
	if err != nil {
		t.Fatal(err)
	}
	c.API = s.client.API
	writer := newStore(c, s.tables.prefix)
	writer.applier.Now = s.applier.Now
	through(writer, func(do func() (*http.Response, error)) (*http.Response, error) {
		n := left.Add(-1)
		if n < 0 {
			end()
			return nil, context.Canceled
		}
		resp, err := do()
		if n == 0 {
			end()
		}
		return resp, err
	})
	return fold(t, ctx, s, writer, log)
}
