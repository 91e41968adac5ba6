package read

import (
	"context"
	"crypto/sha256"
	"fmt"
	"hash"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore/internal/client"
	"github.com/foldql/foldql/querydb/dynamostore/internal/item"
	"github.com/foldql/foldql/querydb/dynamostore/internal/layout"
)

// Query reads rows of one partition. Rows that have expired, and deleted ones, are passed over until the page is full,
// as many as the budget of the request allows; a page so reads at most twice the keys that it passes over, and one key
// more than its rows. Of what it reads in vain where rows follow a long run of deleted ones, DynamoDB bounds the size:
// an answer is of a megabyte at most.
func (r *Reader) Query(ctx context.Context, q driver.Query) (driver.Page, error) {
	sh, err := r.codecs.Of(q.Table)
	if err != nil {
		return driver.Page{}, err
	}
	if !q.Snapshot {
		page, _, err := r.page(ctx, sh, &q)
		return page, err
	}
	q.Consistent = true
	return settled(ctx, func(ctx context.Context) (driver.Page, string, error) { return r.page(ctx, sh, &q) })
}

// page reads a page, and gives a hash, where the page is to be whole, of which items it has read and at which revision
// each is.
func (r *Reader) page(ctx context.Context, sh *item.Codec, q *driver.Query) (driver.Page, string, error) {
	in, err := queryInput(sh, q)
	if in == nil {
		return driver.Page{}, "", err
	}
	p, err := r.pager(sh, q)
	if err != nil {
		return driver.Page{}, "", err
	}
	p.budget = driver.BudgetOf(ctx)
	for {
		in.Limit = aws.Int32(p.want())
		out, err := r.query(ctx, in)
		more := false
		if err == nil {
			more, err = p.take(ctx, out)
		}
		if err != nil {
			return driver.Page{}, "", client.Wrap("query", sh.Layout.Table, err)
		}
		last, _ := item.StringOf(out.LastEvaluatedKey[sh.SK])
		if !more || len(out.LastEvaluatedKey) == 0 || ended(q, last) {
			return p.page, string(p.revisions.Sum(nil)), nil
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

func (r *Reader) query(ctx context.Context, in *dynamodb.QueryInput) (out *dynamodb.QueryOutput, err error) {
	err = r.client.Send(ctx, time.Time{}, func(ctx context.Context, _ bool) error {
		if out, err = r.client.API.Query(ctx, in); err == nil {
			r.client.Counters.Read(out.ConsumedCapacity)
		}
		return err
	})
	return out, err
}

// pager fills a page.
type pager struct {
	*item.Codec
	decoders  map[string]item.Decoder // of each kind of row that may be in the page
	query     *driver.Query
	page      driver.Page
	passed    int       // keys passed over
	run       int       // of them, since the last row
	revisions hash.Hash // where the page is to be whole: of the key and the revision of each item
	budget    driver.Budget
}

func (r *Reader) pager(sh *item.Codec, q *driver.Query) (*pager, error) {
	p := &pager{Codec: sh, decoders: map[string]item.Decoder{q.Table.Kind: sh.Decoder(q.Index, q.Writer)}, query: q,
		revisions: sha256.New()}
	if len(q.Members) == 0 {
		return p, nil
	}
	clear(p.decoders)
	for _, t := range q.Members {
		member, err := r.codecs.Of(t)
		if err != nil {
			return nil, err
		}
		p.decoders[t.Kind] = member.Decoder(q.Index, q.Writer)
	}
	return p, nil
}

// Bounds of what a request asks for beside what the page lacks.
const (
	mostPassed = 1000    // where rows lie between those that are passed over
	mostRun    = 100_000 // in a run of deleted rows; an answer holds less
)

// want is how many keys to ask for: what the page lacks, one to know that there are more, and as many again as were
// passed over, so that a long run of deleted rows takes few requests.
func (p *pager) want() int32 {
	return int32(p.query.Limit + 1 - len(p.page.Rows) + max(min(p.passed, mostPassed), min(p.run, mostRun)))
}

// pass passes over deleted rows, and others that are no part of the answer.
func (p *pager) pass(ctx context.Context, rows, records int) error {
	p.passed += rows
	p.run += rows
	return driver.Pass(ctx, rows, records)
}

// take adds items to the page; more is false when it is complete. Of deleted rows DynamoDB may say only how many it has
// read.
func (p *pager) take(ctx context.Context, out *dynamodb.QueryOutput) (more bool, err error) {
	unsent := int(out.ScannedCount) - len(out.Items)
	p.page.Examined += unsent
	if err := p.pass(ctx, unsent, 0); err != nil {
		return false, err
	}
	for _, it := range out.Items {
		p.page.Examined++
		row, there, err := p.row(it)
		if err != nil {
			return false, err
		}
		if p.query.Snapshot {
			p.addRevision(it)
		}
		if !there {
			if err := p.pass(ctx, 1, passedSize(it)); err != nil {
				return false, err
			}
			continue
		}
		p.run = 0
		if len(p.page.Rows) == p.query.Limit {
			p.page.More = true
			return false, nil
		}
		if err := driver.Charge(p.budget, len(row.Record)); err != nil {
			return false, err
		}
		p.page.Rows = append(p.page.Rows, row)
		p.page.Starts = append(p.page.Starts, startAfter(p.Codec, p.query, row.Key, it))
	}
	return true, nil
}

// passedSize is what an item that is passed over counts besides what each does: a deleted row nothing.
func passedSize(it item.Item) int {
	if it[layout.AttrDeleted] != nil {
		return 0
	}
	return item.Size(it)
}

// addRevision notes at which revision an item is.
func (p *pager) addRevision(it item.Item) {
	sk, _ := item.StringOf(it[p.SK])
	fmt.Fprintf(p.revisions, "%d %s %s\n", len(sk), sk, revisionOf(it))
}

// row reads an item; there is false where it is none of the answer: expired, deleted, or of another kind. Other
// programs may tell kinds apart by their keys alone: an item that says nothing is of the one kind that is asked for.
func (p *pager) row(it item.Item) (row driver.Row, there bool, err error) {
	if p.IsOwn(it) {
		return row, false, nil
	}
	kind, said := item.StringOf(it[p.Kind])
	if !said && len(p.decoders) == 1 {
		kind = p.query.Table.Kind
	}
	if of := p.query.Table.RowKind; of != "" && kind == of && !p.query.WithDeleted && it[layout.AttrRev] == nil {
		kind = p.query.Table.Kind // an event of another program
	}
	d, asked := p.decoders[kind]
	if !asked && p.query.WithDeleted && len(p.query.Members) == 0 && it[layout.AttrDeleted] != nil {
		d, asked = p.decoders[p.query.Table.Kind] // whoever writes there must know at which revision that is
	}
	if !asked {
		return row, false, nil
	}
	row, err = d.Row(it)
	return row, !row.Expired(p.query.Now) && (row.Record != nil || p.query.WithDeleted), err
}
