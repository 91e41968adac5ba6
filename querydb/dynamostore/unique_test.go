package dynamostore

import (
	"context"

	"github.com/aws/smithy-go/middleware"

	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/internal/tests/dynamotest"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore/internal/item"
	"github.com/foldql/foldql/querydb/dynamostore/internal/write"
)

// accounts are the items of the account table, by partition key.
func accounts(t *testing.T, s *Store) map[string]item.Item {
	t.Helper()
	out, err := s.client.API.Scan(t.Context(), &dynamodb.ScanInput{TableName: &shapeIn(t, s,
		dynamotest.Account).Layout.Table})
	if err != nil {
		t.Fatal(err)
	}
	list := map[string]item.Item{}
	for _, it := range out.Items {
		pk, _ := item.StringOf(it["id"])
		list[pk] = it
	}
	return list
}

func shapeIn(t *testing.T, s *Store, table *driver.Table) *item.Codec {
	t.Helper()
	sh, err := s.applier.Codecs.Of(table)
	if err != nil {
		t.Fatal(err)
	}
	return sh
}

func atomically(writes ...driver.Write) driver.Batch {
	return driver.Batch{Atomic: true, Writes: writes}
}

// TestAUniqueKeyIsAnItem that names the row, goes when the row has another or is deleted, and is in no answer.
func TestAUniqueKeyIsAnItem(t *testing.T) {
	atEach(t, func(t *testing.T, e dynamolocal.Engine) {
		s := openWith(t, e, Config{}, dynamotest.Account)
		a, b := write.ClaimKey("", "byEmail", keys.Key{PK: "a@x"}), write.ClaimKey("", "byEmail", keys.Key{PK: "b@x"})
		want := func(pks ...string) map[string]item.Item {
			t.Helper()
			slices.Sort(pks)
			got := accounts(t, s)
			if have := slices.Sorted(maps.Keys(got)); !slices.Equal(have, pks) {
				t.Errorf("there are the items %q, want %q", have, pks)
			}
			return got
		}
		applyTo(t, s, atomically(dynamotest.AccountWrite(t, "1", "a@x", 1)))
		it := want("1", a)[a]
		if of, _ := item.StringOf(it["_of"]); of != `"1" ""` {
			t.Errorf("the key is of the row %s", of)
		}
		if what, _ := item.StringOf(it["_unique"]); what != `byEmail "a@x" ""` || it["email"] != nil || it["_ttl"] != nil {
			t.Errorf("the key is the item %v", it)
		}
		applyTo(t, s, atomically(dynamotest.AccountWrite(t, "1", "b@x", 2)))
		want("1", b)
		err := s.Apply(t.Context(), atomically(dynamotest.AccountWrite(t, "2", "a@x", 3), dynamotest.AccountWrite(t,
			"3", "b@x", 3)))
		if !errors.Is(err, driver.ErrConflict) || !strings.Contains(err.Error(), `row "3"`) ||
			!strings.Contains(err.Error(), `"b@x" in the unique index byEmail`) {
			t.Errorf("a key that another row has: %v", err)
		}
		want("1", b)
		ends := dynamotest.AccountWrite(t, "1", "b@x", 4)
		ends.Row.Expires = s.applier.Now().Add(time.Hour)
		applyTo(t, s, atomically(ends))
		got := want("1", b)
		if is, row := got[b]["_ttl"], got["1"]["_ttl"]; is == nil || dynamotest.Show(is) != dynamotest.Show(row) {
			t.Errorf("the row may go at %v, and its key at %v", row, is)
		}
		applyTo(t, s, atomically(driver.Write{Table: dynamotest.Account, Kind: driver.Delete,
			Row: driver.Row{Key: keys.Key{PK: "1"},
				Position: dynamotest.Position(5)}}))
		want("1") // the tombstone
	})
}

// TestAUniqueKeyIsNoRow to those who ask by the key of its item.
func TestAUniqueKeyIsNoRow(t *testing.T) {
	atEach(t, func(t *testing.T, e dynamolocal.Engine) {
		s := openWith(t, e, Config{}, dynamotest.Account)
		applyTo(t, s, atomically(dynamotest.AccountWrite(t, "1", "a@x", 1)))
		claim := keys.Key{PK: write.ClaimKey("", "byEmail", keys.Key{PK: "a@x"})}
		for _, ks := range [][]keys.Key{{claim}, {claim, {PK: "1"}}} {
			rows, err := s.Get(t.Context(), driver.Get{Table: dynamotest.Account, Keys: ks, Consistent: true})
			if err != nil || rows[0].Record != nil || rows[0].Revision != 0 {
				t.Errorf("get: %v, %v", rows, err)
			}
		}
		page, err := s.Query(t.Context(), driver.Query{Table: dynamotest.Account, Index: driver.Primary,
			PK: claim.PK, Limit: 10})
		if err != nil || len(page.Rows) > 0 {
			t.Errorf("query: %v, %v", page.Rows, err)
		}
	})
}

// TestAnUnchangedUniqueKeyCostsNoItem beside the row's own.
func TestAnUnchangedUniqueKeyCostsNoItem(t *testing.T) {
	s := openWith(t, dynamolocal.Local, Config{}, dynamotest.Account)
	for offset, actions := range []int{2, 1, 3} {
		sent := 0
		s.client.API = dynamodb.New(s.client.API.Options(), func(o *dynamodb.Options) {
			o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
				return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("count", func(
					ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
				) (middleware.InitializeOutput, middleware.Metadata, error) {
					if tx, is := in.Parameters.(*dynamodb.TransactWriteItemsInput); is {
						sent = len(tx.TransactItems)
					}
					return next.HandleInitialize(ctx, in)
				}), middleware.Before)
			})
		})
		applyTo(t, s, atomically(dynamotest.AccountWrite(t, "1", fmt.Sprint(offset/2), uint64(offset+1))))
		if sent != actions {
			t.Errorf("write %d takes %d actions, want %d", offset, sent, actions)
		}
	}
}

// TestALostAnswerIsNoConflict: what was done is not done again, and does not conflict with its own keys.
func TestALostAnswerIsNoConflict(t *testing.T) {
	atEach(t, func(t *testing.T, e dynamolocal.Engine) {
		s := openWith(t, e, Config{}, dynamotest.Account)
		direct := s.client.API
		through(s, losing())
		for offset := range uint64(6) {
			for range 2 {
				applyTo(t, s, atomically(dynamotest.AccountWrite(t, "1", fmt.Sprint(offset%3), offset+1),
					dynamotest.AccountWrite(t, "2", fmt.Sprint((offset+1)%3), offset+1)))
			}
		}
		s.client.API = direct
		got := accounts(t, s)
		if len(got) != 4 {
			t.Errorf("there are %d items, want two rows and a key of each", len(got))
		}
		if rev, _ := item.CountOf(got["1"]["_rev"]); rev != 6 {
			t.Errorf("the row was written %d times, want 6", rev)
		}
	})
}
