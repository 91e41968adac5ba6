package resolve

import (
	"context"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/internal/execute"
	"github.com/foldql/foldql/graph/internal/plan"
	"github.com/foldql/foldql/graph/internal/read"
)

// pageOf is a page that was read ahead: for a virtual field at a path, under a key.
type pageOf struct {
	path string
	id   read.PageKey
}

// Pages returns the pages under distinct keys, and remembers them for the resolvers that ask for them. Their rows are
// read whole.
func (l *Loaders) Pages(ctx context.Context, p *plan.Pages, ids []read.PageKey, r *read.Request) []read.Paged {
	whole := *r
	whole.Fields = nil
	got := read.Paging{Reader: l.rs.Reader, Query: p.Query}.Read(ctx, ids, &whole)
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, id := range ids {
		l.pages[pageOf{p.Path, id}] = got[i]
	}
	return got
}

// AnswerPage answers a virtual field with a page of the rows under a key, within what the answer may be. Where the
// value of the key is absent there are none.
func (rs *Resolver) AnswerPage(ctx context.Context, q *catalog.Query, id read.PageKey, r *read.Request) (read.Page,
	error) {
	l := rs.Loaders(ctx)
	if l.ended.Load() {
		return read.Page{}, nil
	}
	if !id.Present() {
		return read.Page{}, rs.spend(ctx, &l.usage, 0, 1)
	}
	if err := l.refusal(ctx); err != nil {
		return read.Page{}, l.failed(ctx, err)
	}
	at := pageOf{responsePath(ctx), id}
	l.mu.Lock()
	got, ahead := l.pages[at]
	l.mu.Unlock()
	if paging := (read.Paging{Reader: rs.Reader, Query: q}); !ahead {
		if err := paging.Charge(ctx, 1); err != nil {
			return read.Page{}, l.failed(ctx, err)
		}
		got = paging.Read(ctx, []read.PageKey{id}, r)[0]
	}
	if got.Err != nil {
		return read.Page{}, l.failed(ctx, got.Err)
	}
	if err := rs.spend(ctx, &l.usage, 0, 1); err != nil {
		return read.Page{}, err
	}
	if !ahead {
		return got.Page, rs.LookAheadPage(ctx, q, got.Records())
	}
	recs := got.Records()
	if err := rs.spendEdges(ctx, q, len(recs)); err != nil {
		return read.Page{}, err
	}
	for _, n := range l.nodesOf(ctx, rs.Reader.Catalog.Types[q.Type], rs.itemsOf(q)) {
		if err := rs.spendRows(ctx, &l.usage, n, recs); err != nil {
			return read.Page{}, err
		}
	}
	return got.Page, nil
}

// failed counts an error, and returns it, or that the answer ends.
func (l *Loaders) failed(ctx context.Context, err error) error {
	if ended := l.rs.spend(ctx, &l.usage, 0, execute.ErrorObjects); ended != nil {
		return ended
	}
	return read.CopyError(err)
}
