package read

import (
	"context"
	"slices"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/graph/internal/access"
	"github.com/foldql/foldql/internal/parallel"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// PageKey is a value that leads to pages: of the rows that have it in their partition key. Where that has several
// fields it is the value of the first of them.
type PageKey struct {
	ID   keys.Value
	Next any // the PageKey of the fields after it, nil where there are none; any, as a type cannot hold itself
}

// NewPageKey makes the PageKey of the values of the fields of a partition key.
func NewPageKey(vals ...keys.Value) (k PageKey) {
	k.ID = vals[0]
	if len(vals) > 1 {
		k.Next = NewPageKey(vals[1:]...)
	}
	return k
}

// StoredPageKey makes the PageKey of what a row has in these fields; ok is false where a text is no value of its field.
func StoredPageKey(fields []driver.Field, rec record.Record, by []int) (k PageKey, ok bool) {
	k.ID, ok = record.KeyValue(fields[by[0]].Scalar, rec.JSON(by[0]))
	if ok && len(by) > 1 {
		k.Next, ok = StoredPageKey(fields, rec, by[1:])
	}
	return k, ok
}

// values are those that the key is made of.
func (k PageKey) values(dst []keys.Value) []keys.Value {
	dst = append(dst, k.ID)
	if next, more := k.Next.(PageKey); more {
		return next.values(dst)
	}
	return dst
}

// Present reports whether no value is absent.
func (k PageKey) Present() bool {
	next, more := k.Next.(PageKey)
	return k.ID.Present() && (!more || next.Present())
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

// pageBytes is about what a page takes of memory besides a row, also where there is none in it.
const pageBytes = 256

// Charge takes so many pages off the budget of the request, before they are read: also empty ones take memory, and a
// read each.
func (p Paging) Charge(ctx context.Context, pages int) error {
	err := driver.ChargeRows(driver.BudgetOf(ctx), pages, pages*pageBytes)
	return p.Reader.Errors().Read(ctx, err, p.Query.Type)
}

// Read returns the pages under distinct keys, aligned with them. The request has all arguments but those of the
// partition key.
func (p Paging) Read(ctx context.Context, ids []PageKey, r *Request) []Paged {
	out, v := make([]Paged, len(ids)), p.Reader.Viewer(ctx)
	t := p.Reader.Catalog.Types[p.Query.Type]
	refused := v.LevelOf(t.Rule) == access.Refused // then also where there are no rows
	_, _ = r.filter(t)                             // of one that is wrong, each page says why
	var gate gate
	parallel.Each(len(ids), p.Reader.Config.Parallelism, func(i int) {
		if out[i].Err = gate.closed(); out[i].Err != nil {
			return
		}
		defer func() { gate.close(out[i].Err) }()
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
	var few [4]keys.Value
	vals := id.values(few[:0])
	if len(vals) == 1 && p.target().byText() {
		var ok bool
		if vals, ok = valuesOf(&key.PK, vals[0]); !ok {
			return false
		}
	}
	pk, err := key.PK.Compose(vals...)
	return err != nil || pk != "" && len(pk) <= keys.MaxPK
}

// target is where the pages are.
func (p Paging) target() Target {
	return Target{Type: p.Reader.Catalog.Types[p.Query.Type], Index: p.Query.Index}
}

// under is the request for the rows under a key.
func (p Paging) under(id PageKey, r *Request) *Request {
	one := *r
	one.held = true
	one.SetKey(len(p.Query.PK)+len(p.Query.PKParts), len(r.SK))
	if vals := id.values(one.PK[:0:0]); len(vals) == 1 {
		one.PK[0] = vals[0] // of a half of several fields too: its text
	} else {
		copy(one.PK[len(one.PK)-len(vals):], vals) // the text of a half, in whose place its parts are, is left out
	}
	copy(one.SK, r.SK)
	for i := range one.SK {
		isIt := func(a catalog.KeyArg) bool { return i < len(p.Query.SK) && p.Query.SK[i].Name == a.Name }
		if at := slices.IndexFunc(p.Query.PK, isIt); at >= 0 { // a field of both halves
			one.SK[i] = one.PK[at]
		}
	}
	return &one
}

// TooManyInPages is the error of a virtual field whose pages may have more rows together than there may be.
func TooManyInPages(rows, most int) error {
	return graphqlerr.New(graphqlerr.LimitExceeded, "the pages of the field may have %d rows together, and %d is the "+
		"most; ask for smaller pages, or fewer of them", rows, most)
}
