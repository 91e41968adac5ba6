package dynamostore

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore/internal/client"
)

// reader reads rows.
type reader struct {
	client *client.Client
	codecs *codecs
}

func newReader(c *client.Client, of *codecs) *reader { return &reader{client: c, codecs: of} }

// Get reads rows by their keys: one by GetItem, more in batches of a hundred, several of them at a time.
func (r *reader) Get(ctx context.Context, g driver.Get) ([]driver.Row, error) {
	if g.Snapshot && len(g.Keys) > 1 {
		g.Consistent = true
		return settled(ctx, func() ([]driver.Row, []string, error) {
			revisions := make([]string, len(g.Keys))
			rows, err := r.getKinds(ctx, &g, nil, revisions)
			return rows, revisions, err
		})
	}
	return r.get(ctx, &g)
}

func (r *reader) get(ctx context.Context, g *driver.Get) ([]driver.Row, error) {
	return r.getKinds(ctx, g, nil, nil)
}

// getKinds is get that also tells, where kinds are given, the kind of each row that is there and is of another, and
// where revisions are asked for, at which revision each is.
func (r *reader) getKinds(ctx context.Context, g *driver.Get, kinds, revisions []string) ([]driver.Row, error) {
	sh, err := r.codecs.of(g.Table)
	if err != nil {
		return nil, err
	}
	l := lookup{
		client: r.client, decoder: sh.decoder(driver.Primary, g.Writer), get: g, rows: make([]driver.Row, len(g.Keys)), kinds: kinds,
		revisions: revisions, budget: driver.BudgetOf(ctx),
	}
	for i, k := range g.Keys {
		if err := sh.checkKey(k); err != nil {
			return nil, client.Wrap("get from", sh.layout.table, err)
		}
		l.rows[i].Key = k
	}
	if len(g.Keys) == 1 {
		err = l.one(ctx)
	} else {
		l.index()
		batches := (len(g.Keys) + mostKeys - 1) / mostKeys
		err = r.client.Each(ctx, batches, func(ctx context.Context, i int) error {
			return l.batch(ctx, g.Keys[i*mostKeys:min(len(g.Keys), (i+1)*mostKeys)])
		})
	}
	if err != nil {
		return nil, client.Wrap("get from", sh.layout.table, err)
	}
	return l.rows, nil
}

// lookup reads the rows of one Get.
type lookup struct {
	client *client.Client
	decoder
	get       *driver.Get
	rows      []driver.Row
	kinds     []string         // see getKinds
	revisions []string         // see getKinds
	at        map[keys.Key]int // where the row with the key goes
	budget    driver.Budget
}

func (l *lookup) index() {
	l.at = make(map[keys.Key]int, len(l.rows))
	for i := range l.rows {
		l.at[l.rows[i].Key] = i
	}
}

func (l *lookup) one(ctx context.Context) error {
	in := getInput(l.shape, l.get.Keys[0], l.get.Consistent)
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
	in := batchInput(l.shape, ks, l.get.Consistent)
	return l.client.Send(ctx, time.Time{}, func(ctx context.Context, _ bool) error {
		out, err := l.client.API.BatchGetItem(ctx, in)
		if err != nil {
			return err
		}
		for i := range out.ConsumedCapacity {
			l.client.Counters.Read(&out.ConsumedCapacity[i])
		}
		for _, it := range out.Responses[l.layout.table] {
			pk, _ := stringOf(it[l.pk])
			sk, _ := stringOf(it[l.sk])
			if i, asked := l.at[keys.Key{PK: pk, SK: sk}]; asked {
				if err := l.keep(i, it); err != nil {
					return err
				}
			}
		}
		if len(out.UnprocessedKeys) > 0 {
			in = l.unprocessed(out.UnprocessedKeys)
			return client.ErrUnprocessed
		}
		return nil
	})
}

// unprocessed asks for what is left of a batch.
func (l *lookup) unprocessed(left map[string]types.KeysAndAttributes) *dynamodb.BatchGetItemInput {
	in := batchInput(l.shape, nil, l.get.Consistent)
	asked := in.RequestItems[l.layout.table]
	asked.Keys = left[l.layout.table].Keys
	in.RequestItems[l.layout.table] = asked
	return in
}

// keep is the row that was read, unless it has expired or is of another kind.
func (l *lookup) keep(i int, it item) error {
	if l.isOwn(it) {
		return nil
	}
	if l.revisions != nil {
		l.revisions[i] = revisionOf(it)
	}
	if l.other(it) {
		if l.kinds != nil {
			l.kinds[i], _ = stringOf(it[l.kind])
		}
		return nil
	}
	row, err := l.row(it)
	if err == nil && !row.Expired(l.get.Now) {
		err = driver.Charge(l.budget, len(row.Record))
		l.rows[i] = row
	}
	return err
}

// getInput reads one row.
func getInput(s *shape, k keys.Key, consistent bool) *dynamodb.GetItemInput {
	return &dynamodb.GetItemInput{
		TableName: &s.layout.table, Key: s.key(k), ConsistentRead: &consistent,
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	}
}

// batchInput reads up to mostKeys rows, distinct ones.
func batchInput(s *shape, ks []keys.Key, consistent bool) *dynamodb.BatchGetItemInput {
	list := make([]map[string]value, len(ks))
	for i, k := range ks {
		list[i] = s.key(k)
	}
	return &dynamodb.BatchGetItemInput{
		RequestItems:           map[string]types.KeysAndAttributes{s.layout.table: {Keys: list, ConsistentRead: &consistent}},
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	}
}
