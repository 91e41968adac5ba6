package read

import (
	"context"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/graph/internal/access"
	"github.com/foldql/foldql/internal/parallel"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// PageKey is a value that leads to pages: of the rows that have it in their partition key.
type PageKey struct{ ID keys.Value }

// NewPageKey makes the PageKey of a stored value; ok is false where the text is no value of the field.
func NewPageKey(f *driver.Field, text []byte) (k PageKey, ok bool) {
	k.ID, ok = record.KeyValue(f.Scalar, text)
	return k, ok
}

// Paged is a page under a PageKey, or why there is none.
type Paged struct {
	Page
	Err error
}

// Paging answers a query of kind QueryPage for many PageKeys at once.
type Paging struct {
	Reader *Reader
	Query  *catalog.Query
}

// Read returns the pages under distinct keys, aligned with them. The request has all arguments but those of the
// partition key.
func (p Paging) Read(ctx context.Context, ids []PageKey, r *Request) []Paged {
	out, v := make([]Paged, len(ids)), p.Reader.Viewer(ctx)
	t := p.Reader.Catalog.Types[p.Query.Type]
	refused := v.LevelOf(t.Rule) == access.Refused // then also where there are no rows
	parallel.Each(len(ids), p.Reader.Config.Parallelism, func(i int) {
		if refused || p.leads(ctx, ids[i]) {
			out[i].Page, out[i].Err = p.Reader.Page(ctx, v, p.Query, p.under(ids[i], r))
		}
	})
	return out
}

// leads reports whether there can be rows under a key: under an empty value there are none, and that is no error. What
// cannot be composed is for the page to report.
func (p Paging) leads(ctx context.Context, id PageKey) bool {
	key, err := p.Reader.served.key(ctx, p.Reader.Catalog.Types[p.Query.Type].Model, p.Query.Index)
	if err != nil {
		return true
	}
	pk, err := key.PK.Compose(id.ID)
	return err != nil || pk != "" && len(pk) <= keys.MaxPK
}

// under is the request for the rows under a key.
func (p Paging) under(id PageKey, r *Request) *Request {
	one := *r
	one.SetKey(1, len(r.SK))
	one.PK[0] = id.ID
	copy(one.SK, r.SK)
	for i := range one.SK { // a field of both halves
		if i < len(p.Query.SK) && p.Query.SK[i].Name == p.Query.PK[0].Name {
			one.SK[i] = id.ID
		}
	}
	return &one
}

// TooManyInPages is the error of a virtual field whose pages may have more rows together than there may be.
func TooManyInPages(rows, most int) error {
	return graphqlerr.New(graphqlerr.LimitExceeded, "the pages of the field may have %d rows together, and %d is the "+
		"most; ask for smaller pages, or fewer of them", rows, most)
}
