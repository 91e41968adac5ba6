package dynamostore

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/internal/tests/dynamotest"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore/internal/item"
	"github.com/foldql/foldql/querydb/record"
)

// BenchmarkBesideTheSDK does the same work through the driver and in a bare loop over the SDK that makes the same
// requests, as many at a time, turn by turn. It prints how fast the driver is beside the loop: 1.00 is as fast.
func BenchmarkBesideTheSDK(b *testing.B) {
	for _, e := range dynamolocal.Engines() {
		s := openWith(b, e, Config{Concurrency: 16}, list)
		sh := codecOf(b, list)
		sh.Layout.Table = s.tables.prefix + list.Name
		for name, work := range map[string]func(*testing.B, *Store, *item.Codec) (mine, bare func(n int) error){
			"put": puts, "get one": getOne, "get 100": getMany, "query 50": queries,
		} {
			b.Run(string(e)+"/"+name, func(b *testing.B) {
				mine, bare := work(b, s, sh)
				beside(b, mine, bare)
			})
		}
	}
}

// beside measures both ways of doing the work in turns, and compares their medians: the machine has other things to do.
func beside(b *testing.B, mine, bare func(n int) error) {
	ways := [2]func(int) error{mine, bare}
	var took [2][]time.Duration
	n := 0
	for ; n < 4; n++ { // an engine gets faster as it goes
		if err := ways[n%2](n); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		for i := range ways {
			way := (i + n) % 2 // neither is always the first
			began := time.Now()
			if err := ways[way](n); err != nil {
				b.Fatal(err)
			}
			took[way] = append(took[way], time.Since(began))
		}
		n++
	}
	driver, loop := median(took[0]), median(took[1])
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(driver.Microseconds()), "µs/driver")
	b.ReportMetric(float64(loop.Microseconds()), "µs/bare")
	b.ReportMetric(float64(loop)/float64(driver), "of-bare")
}

func median(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[len(list)/2]
}

// benchRow is a row of the benchmark's list, under a partition of its own.
func benchRow(pk string, i int) driver.Row {
	var b record.Builder
	b.Begin(3)
	b.String(pk)
	b.String(fmt.Sprintf("%05d", i))
	b.String("some text of a row that is neither long nor short, as texts are")
	rec, _, err := b.Finish()
	if err != nil {
		panic(err)
	}
	return driver.Row{Key: keys.Key{PK: pk, SK: fmt.Sprintf("%05d", i)}, Record: rec}
}

const batchSize = 256

// puts writes batches of rows, new ones each time.
func puts(b *testing.B, s *Store, sh *item.Codec) (mine, bare func(n int) error) {
	batch := func(pk string, n int) (list []driver.Write) {
		for i := range batchSize {
			row := benchRow(pk, i)
			row.Position = dynamotest.Position(uint64(n + 1))
			list = append(list, driver.Write{Table: sh.Table, Row: row})
		}
		return list
	}
	ctx := b.Context()
	mine = func(n int) error { return s.Apply(ctx, driver.Batch{Writes: batch("mine", n)}) }
	bare = func(n int) error {
		list := batch("bare", n)
		return s.client.Each(ctx, len(list), func(ctx context.Context, i int) error {
			row := &list[i].Row
			_, err := s.client.API.UpdateItem(ctx, bareUpdate(sh.Layout.Table, row, n+1))
			return err
		})
	}
	return mine, bare
}

// bareUpdate is the request of a put, as somebody would write it by hand.
func bareUpdate(table string, row *driver.Row, offset int) *dynamodb.UpdateItemInput {
	it, _ := record.String(row.Record.JSON(2))
	return &dynamodb.UpdateItemInput{
		TableName: &table, Key: item.Item{"id": item.Text(row.Key.PK), "sk": item.Text(row.Key.SK)},
		UpdateExpression:    aws.String("SET #t=:t,#pos=:pos,#by=:by REMOVE #own,#expires,#ttl,#deleted ADD #rev :one"),
		ConditionExpression: aws.String("attribute_not_exists(#pos) OR #pos < :pos"),
		ExpressionAttributeNames: map[string]string{
			"#t": "text", "#pos": "_pos.events", "#by": "_by", "#own": "_own", "#expires": "_expires", "#ttl": "_ttl",
			"#deleted": "_deleted", "#rev": "_rev",
		},
		ExpressionAttributeValues: item.Item{":t": item.Text(it), ":pos": item.Count(uint64(offset)),
			":by":  item.Text("events"),
			":one": item.Number("1")},
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	}
}

// stored are rows to be read.
func stored(b *testing.B, s *Store, sh *item.Codec) (ks []keys.Key) {
	var batch driver.Batch
	for i := range 100 {
		row := benchRow("read", i)
		row.Position = dynamotest.Position(1)
		batch.Writes = append(batch.Writes, driver.Write{Table: sh.Table, Row: row})
		ks = append(ks, row.Key)
	}
	applyTo(b, s, batch)
	return ks
}

func getOne(b *testing.B, s *Store, sh *item.Codec) (mine, bare func(n int) error) {
	ks := stored(b, s, sh)
	ctx := b.Context()
	mine = func(n int) error {
		_, err := s.Get(ctx, driver.Get{Table: sh.Table, Keys: ks[n%100 : n%100+1]})
		return err
	}
	bare = func(n int) error {
		_, err := s.client.API.GetItem(ctx, &dynamodb.GetItemInput{
			TableName: &sh.Layout.Table, Key: sh.Key(ks[n%100]), ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
		})
		return err
	}
	return mine, bare
}

func getMany(b *testing.B, s *Store, sh *item.Codec) (mine, bare func(n int) error) {
	ks := stored(b, s, sh)
	ctx := b.Context()
	mine = func(int) error {
		_, err := s.Get(ctx, driver.Get{Table: sh.Table, Keys: ks})
		return err
	}
	bare = func(int) error {
		list := make([]map[string]types.AttributeValue, len(ks))
		for i, k := range ks {
			list[i] = sh.Key(k)
		}
		_, err := s.client.API.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
			RequestItems:           map[string]types.KeysAndAttributes{sh.Layout.Table: {Keys: list}},
			ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
		})
		return err
	}
	return mine, bare
}

func queries(b *testing.B, s *Store, sh *item.Codec) (mine, bare func(n int) error) {
	stored(b, s, sh)
	ctx := b.Context()
	q := driver.Query{Table: sh.Table, Index: driver.Primary, PK: "read", Limit: 50}
	mine = func(int) error {
		_, err := s.Query(ctx, q)
		return err
	}
	bare = func(int) error {
		_, err := s.client.API.Query(ctx, &dynamodb.QueryInput{
			TableName: &sh.Layout.Table, KeyConditionExpression: aws.String("#pk = :pk"), Limit: aws.Int32(51),
			ExpressionAttributeNames:  map[string]string{"#pk": sh.PK},
			ExpressionAttributeValues: item.Item{":pk": item.Text(q.PK)},
			ReturnConsumedCapacity:    types.ReturnConsumedCapacityTotal,
		})
		return err
	}
	return mine, bare
}

func codecOf(t testing.TB, table *driver.Table) *item.Codec {
	t.Helper()
	c, err := item.NewCodec("", table)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
