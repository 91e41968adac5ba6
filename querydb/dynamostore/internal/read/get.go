// Package read reads rows: by key, and page by page.
package read

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore/internal/client"
	"github.com/foldql/foldql/querydb/dynamostore/internal/item"
)

// Reader reads rows.
type Reader struct {
	client *client.Client
	codecs *item.Codecs
}

// NewReader makes a Reader of the tables that a client reaches.
func NewReader(c *client.Client, of *item.Codecs) *Reader { return &Reader{client: c, codecs: of} }

// TableName is the name that DynamoDB knows a table by.
func (r *Reader) TableName(t *driver.Table) (string, error) {
	sh, err := r.codecs.Of(t)
	if err != nil {
		return "", err
	}
	return sh.Layout.Table, nil
}

// Get reads rows by their keys: one by GetItem, more in batches of a hundred, several of them at a time.
func (r *Reader) Get(ctx context.Context, g driver.Get) ([]driver.Row, error) {
	if g.Snapshot && len(g.Keys) > 1 {
		g.Consistent = true
		return settled(ctx, func(ctx context.Context) ([]driver.Row, string, error) {
			revisions := make([]string, len(g.Keys))
			rows, err := r.GetKinds(ctx, &g, nil, revisions)
			return rows, strings.Join(revisions, " "), err
		})
	}
	return r.GetKinds(ctx, &g, nil, nil)
}

// GetKinds reads rows by their keys. It sets kinds, where given, to the kind of each row that exists and is of another
// kind than the table's; and revisions, where given, to the revision of each row.
func (r *Reader) GetKinds(ctx context.Context, g *driver.Get, kinds, revisions []string) ([]driver.Row, error) {
	sh, err := r.codecs.Of(g.Table)
	if err != nil {
		return nil, err
	}
	l := lookup{
		client: r.client, Decoder: sh.Decoder(driver.Primary, g.Writer), get: g, rows: make([]driver.Row, len(g.Keys)),
		kinds:     kinds,
		revisions: revisions, budget: driver.BudgetOf(ctx),
	}
	for i, k := range g.Keys {
		if err := sh.CheckKey(k); err != nil {
			return nil, client.Wrap("get from", sh.Layout.Table, err)
		}
		l.rows[i].Key = k
	}
	if len(g.Keys) == 1 {
		err = l.one(ctx)
	} else {
		l.index()
		err = l.all(ctx)
	}
	if err != nil {
		return nil, client.Wrap("get from", sh.Layout.Table, err)
	}
	return l.rows, nil
}

// lookup reads the rows of one Get.
type lookup struct {
	client *client.Client
	item.Decoder
	get       *driver.Get
	rows      []driver.Row
	kinds     []string         // see GetKinds
	revisions []string         // see GetKinds
	at        map[keys.Key]int // where the row with the key goes
	budget    driver.Budget
	bytes     atomic.Int64 // of the rows that were read
}

func (l *lookup) index() {
	l.at = make(map[keys.Key]int, len(l.rows))
	for i := range l.rows {
		l.at[l.rows[i].Key] = i
	}
}

// wave is how many bytes of rows are asked for at a time, about, where somebody has a budget of them: a batch is in
// memory before it can be charged.
const wave = 8 << 20

// all reads all rows in batches: of an unknown size at first, then as many at a time as the size of those allows.
func (l *lookup) all(ctx context.Context) error {
	left, size, batches := l.get.Keys, item.MostKeys, 2
	for len(left) > 0 {
		now := left
		if l.budget != nil {
			now = left[:min(len(left), batches*size)]
		}
		err := l.client.Each(ctx, (len(now)+size-1)/size, func(ctx context.Context, i int) error {
			return l.batch(ctx, now[i*size:min(len(now), (i+1)*size)])
		})
		if err != nil {
			return err
		}
		if left = left[len(now):]; l.budget != nil {
			fit := wave / int(max(1, l.bytes.Load()/int64(len(l.get.Keys)-len(left))))
			size, batches = max(1, min(item.MostKeys, fit)), max(1, fit/item.MostKeys)
		}
	}
	return nil
}

func (l *lookup) one(ctx context.Context) error {
	in := getInput(l.Codec, l.get.Keys[0], l.get.Consistent)
	return l.client.Send(ctx, time.Time{}, func(ctx context.Context, _ bool) error {
		out, err := l.client.API.GetItem(ctx, in)
		if err != nil {
			return err
		}
		l.client.Counters.Read(out.ConsumedCapacity)
		if out.Item == nil {
			return nil
		}
		return l.keep(0, out.Item)
	})
}

// batch reads up to a hundred rows. What DynamoDB does not get to is asked for again.
func (l *lookup) batch(ctx context.Context, ks []keys.Key) error {
	in := batchInput(l.Codec, ks, l.get.Consistent)
	return l.client.Send(ctx, time.Time{}, func(ctx context.Context, _ bool) error {
		out, err := l.client.API.BatchGetItem(ctx, in)
		if err != nil {
			return err
		}
		for i := range out.ConsumedCapacity {
			l.client.Counters.Read(&out.ConsumedCapacity[i])
		}
		for _, it := range out.Responses[l.Layout.Table] {
			pk, _ := item.StringOf(it[l.PK])
			sk, _ := item.StringOf(it[l.SK])
			if i, asked := l.at[keys.Key{PK: pk, SK: sk}]; asked {
				if err := l.keep(i, it); err != nil {
					return err
				}
			}
		}
		if len(out.UnprocessedKeys) > 0 {
			in = l.unprocessed(out.UnprocessedKeys)
			return client.Unprocessed(len(out.Responses[l.Layout.Table]))
		}
		return nil
	})
}

// unprocessed asks for what is left of a batch.
func (l *lookup) unprocessed(left map[string]types.KeysAndAttributes) *dynamodb.BatchGetItemInput {
	in := batchInput(l.Codec, nil, l.get.Consistent)
	asked := in.RequestItems[l.Layout.Table]
	asked.Keys = left[l.Layout.Table].Keys
	in.RequestItems[l.Layout.Table] = asked
	return in
}

// keep is the row that was read, unless it has expired or is of another kind.
func (l *lookup) keep(i int, it item.Item) error {
	if l.IsOwn(it) {
		return nil
	}
	if l.revisions != nil {
		l.revisions[i] = revisionOf(it)
	}
	if l.Other(it) {
		if l.kinds != nil {
			l.kinds[i], _ = item.StringOf(it[l.Kind])
		}
		return nil
	}
	row, err := l.Row(it)
	if err == nil && !row.Expired(l.get.Now) {
		l.bytes.Add(int64(len(row.Record)))
		err = driver.Charge(l.budget, len(row.Record))
		l.rows[i] = row
	}
	return err
}

// getInput reads one row.
func getInput(s *item.Codec, k keys.Key, consistent bool) *dynamodb.GetItemInput {
	return &dynamodb.GetItemInput{
		TableName: &s.Layout.Table, Key: s.Key(k), ConsistentRead: &consistent,
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	}
}

// batchInput reads up to mostKeys rows, distinct ones.
func batchInput(s *item.Codec, ks []keys.Key, consistent bool) *dynamodb.BatchGetItemInput {
	list := make([]map[string]item.Value, len(ks))
	for i, k := range ks {
		list[i] = s.Key(k)
	}
	return &dynamodb.BatchGetItemInput{
		RequestItems:           map[string]types.KeysAndAttributes{s.Layout.Table: {Keys: list, ConsistentRead: &consistent}},
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	}
}
