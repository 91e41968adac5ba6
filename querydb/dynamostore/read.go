package dynamostore

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// Get reads rows by their keys: one by GetItem, more in batches of a hundred, several of them at a time.
func (s *Store) Get(ctx context.Context, g driver.Get) ([]driver.Row, error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if g.Snapshot && len(g.Keys) > 1 {
		g.Consistent = true
		return settled(ctx, func() ([]driver.Row, []string, error) {
			revisions := make([]string, len(g.Keys))
			rows, err := s.getKinds(ctx, &g, nil, revisions)
			return rows, revisions, err
		})
	}
	return s.get(ctx, &g)
}

func (s *Store) get(ctx context.Context, g *driver.Get) ([]driver.Row, error) {
	return s.getKinds(ctx, g, nil, nil)
}

// getKinds is get that also tells, where kinds are given, the kind of each row that is there and is of another, and
// where revisions are asked for, at which revision each is.
func (s *Store) getKinds(ctx context.Context, g *driver.Get, kinds, revisions []string) ([]driver.Row, error) {
	sh, err := s.shape(g.Table)
	if err != nil {
		return nil, err
	}
	r := reader{
		store: s, decoder: sh.decoder(driver.Primary, g.Writer), get: g, rows: make([]driver.Row, len(g.Keys)), kinds: kinds,
		revisions: revisions, budget: driver.BudgetOf(ctx),
	}
	for i, k := range g.Keys {
		if err := sh.checkKey(k); err != nil {
			return nil, mapped("get from", sh.layout.table, err)
		}
		r.rows[i].Key = k
	}
	if len(g.Keys) == 1 {
		err = r.one(ctx)
	} else {
		r.index()
		batches := (len(g.Keys) + mostKeys - 1) / mostKeys
		err = s.each(ctx, batches, func(ctx context.Context, i int) error {
			return r.batch(ctx, g.Keys[i*mostKeys:min(len(g.Keys), (i+1)*mostKeys)])
		})
	}
	if err != nil {
		return nil, mapped("get from", sh.layout.table, err)
	}
	return r.rows, nil
}

// reader reads the rows of a Get.
type reader struct {
	store *Store
	decoder
	get       *driver.Get
	rows      []driver.Row
	kinds     []string         // see getKinds
	revisions []string         // see getKinds
	at        map[keys.Key]int // where the row with the key goes
	budget    driver.Budget
}

func (r *reader) index() {
	r.at = make(map[keys.Key]int, len(r.rows))
	for i := range r.rows {
		r.at[r.rows[i].Key] = i
	}
}

func (r *reader) one(ctx context.Context) error {
	in := r.getInput(r.get.Keys[0], r.get.Consistent)
	return r.store.send(ctx, time.Time{}, func(ctx context.Context, _ bool) error {
		out, err := r.store.client.GetItem(ctx, in)
		if err != nil {
			return err
		}
		consumed(&r.store.stats.readUnits, out.ConsumedCapacity)
		if out.Item == nil {
			return nil
		}
		return r.keep(0, out.Item)
	})
}

// batch reads up to a hundred rows. What DynamoDB does not get to is asked for again.
func (r *reader) batch(ctx context.Context, ks []keys.Key) error {
	in := r.batchInput(ks, r.get.Consistent)
	return r.store.send(ctx, time.Time{}, func(ctx context.Context, _ bool) error {
		out, err := r.store.client.BatchGetItem(ctx, in)
		if err != nil {
			return err
		}
		for i := range out.ConsumedCapacity {
			consumed(&r.store.stats.readUnits, &out.ConsumedCapacity[i])
		}
		for _, it := range out.Responses[r.layout.table] {
			pk, _ := stringOf(it[r.pk])
			sk, _ := stringOf(it[r.sk])
			if i, asked := r.at[keys.Key{PK: pk, SK: sk}]; asked {
				if err := r.keep(i, it); err != nil {
					return err
				}
			}
		}
		if len(out.UnprocessedKeys) > 0 {
			in = r.unprocessed(out.UnprocessedKeys)
			return errUnprocessed
		}
		return nil
	})
}

// unprocessed asks for what is left of a batch.
func (r *reader) unprocessed(left map[string]types.KeysAndAttributes) *dynamodb.BatchGetItemInput {
	in := r.batchInput(nil, r.get.Consistent)
	asked := in.RequestItems[r.layout.table]
	asked.Keys = left[r.layout.table].Keys
	in.RequestItems[r.layout.table] = asked
	return in
}

// keep is the row that was read, unless it has expired or is of another kind.
func (r *reader) keep(i int, it item) error {
	if r.isOwn(it) {
		return nil
	}
	if r.revisions != nil {
		r.revisions[i] = revisionOf(it)
	}
	if r.other(it) {
		if r.kinds != nil {
			r.kinds[i], _ = stringOf(it[r.kind])
		}
		return nil
	}
	row, err := r.row(it)
	if err == nil && !row.Expired(r.get.Now) {
		err = driver.Charge(r.budget, len(row.Record))
		r.rows[i] = row
	}
	return err
}

// Query reads rows of one partition. Rows that have expired, and deleted ones, are passed over until the page is full;
// a page so reads at most twice the keys that it passes over, and one key more than its rows.
func (s *Store) Query(ctx context.Context, q driver.Query) (driver.Page, error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return driver.Page{}, err
	}
	defer leave()
	sh, err := s.shape(q.Table)
	if err != nil {
		return driver.Page{}, err
	}
	if !q.Snapshot {
		page, _, err := s.page(ctx, sh, &q)
		return page, err
	}
	q.Consistent = true
	return settled(ctx, func() (driver.Page, []string, error) { return s.page(ctx, sh, &q) })
}

// page reads a page, and says which items it read and, where the page is to be whole, at which revision each is.
func (s *Store) page(ctx context.Context, sh *shape, q *driver.Query) (driver.Page, []string, error) {
	in, err := sh.queryInput(q)
	if in == nil {
		return driver.Page{}, nil, err
	}
	p, err := s.pager(sh, q)
	if err != nil {
		return driver.Page{}, nil, err
	}
	p.budget = driver.BudgetOf(ctx)
	for {
		in.Limit = aws.Int32(p.want())
		out, err := s.query(ctx, in)
		more := false
		if err == nil {
			more, err = p.take(out.Items)
		}
		if err != nil {
			return driver.Page{}, nil, mapped("query", sh.layout.table, err)
		}
		last, _ := stringOf(out.LastEvaluatedKey[sh.sk])
		if !more || len(out.LastEvaluatedKey) == 0 || ended(q, last) {
			return p.page, p.revisions, nil
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

func (s *Store) query(ctx context.Context, in *dynamodb.QueryInput) (out *dynamodb.QueryOutput, err error) {
	err = s.send(ctx, time.Time{}, func(ctx context.Context, _ bool) error {
		if out, err = s.client.Query(ctx, in); err == nil {
			consumed(&s.stats.readUnits, out.ConsumedCapacity)
		}
		return err
	})
	return out, err
}

// pager fills a page.
type pager struct {
	*shape
	decoders  map[string]decoder // of each kind of row that may be in the page
	query     *driver.Query
	page      driver.Page
	passed    int      // keys passed over
	revisions []string // where the page is to be whole: key and revision of each item
	budget    driver.Budget
}

func (s *Store) pager(sh *shape, q *driver.Query) (*pager, error) {
	p := &pager{shape: sh, decoders: map[string]decoder{q.Table.Kind: sh.decoder(q.Index, q.Writer)}, query: q}
	if len(q.Members) == 0 {
		return p, nil
	}
	clear(p.decoders)
	for _, t := range q.Members {
		member, err := s.shape(t)
		if err != nil {
			return nil, err
		}
		p.decoders[t.Kind] = member.decoder(q.Index, q.Writer)
	}
	return p, nil
}

// want is how many keys to ask for: what the page lacks, one to know that there are more, and as many again as were
// passed over, so that a long run of deleted rows takes few requests.
func (p *pager) want() int32 {
	return int32(p.query.Limit + 1 - len(p.page.Rows) + min(p.passed, 1000))
}

// take adds items to the page; more is false when it is complete.
func (p *pager) take(items []item) (more bool, err error) {
	for _, it := range items {
		p.page.Examined++
		if p.query.Snapshot {
			sk, _ := stringOf(it[p.sk])
			p.revisions = append(p.revisions, sk, revisionOf(it))
		}
		row, there, err := p.row(it)
		if err != nil {
			return false, err
		}
		if !there {
			p.passed++
			continue
		}
		if len(p.page.Rows) == p.query.Limit {
			p.page.More = true
			return false, nil
		}
		if err := driver.Charge(p.budget, len(row.Record)); err != nil {
			return false, err
		}
		p.page.Rows = append(p.page.Rows, row)
		p.page.Starts = append(p.page.Starts, p.startAfter(p.query, row.Key, it))
	}
	return true, nil
}

// row reads an item; there is false where it is none of the answer: expired, deleted, or of another kind. Other
// programs may tell kinds apart by their keys alone: an item that says nothing is of the one kind that is asked for.
func (p *pager) row(it item) (row driver.Row, there bool, err error) {
	if p.isOwn(it) {
		return row, false, nil
	}
	kind, said := stringOf(it[p.kind])
	if !said && len(p.decoders) == 1 {
		kind = p.query.Table.Kind
	}
	d, asked := p.decoders[kind]
	if !asked {
		return row, false, nil
	}
	row, err = d.row(it)
	return row, !row.Expired(p.query.Now) && (row.Record != nil || p.query.WithDeleted), err
}
