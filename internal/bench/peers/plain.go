package peers

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/99designs/gqlgen/graphql/handler"
	"github.com/99designs/gqlgen/graphql/handler/extension"
	"github.com/99designs/gqlgen/graphql/handler/lru"
	"github.com/99designs/gqlgen/graphql/handler/transport"
	"github.com/graph-gophers/dataloader/v7"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/graph"
	"github.com/foldql/foldql/internal/shop/graph/generated"
	"github.com/foldql/foldql/internal/shop/model"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

// plain answers the workload with resolvers as a developer writes them first: gqlgen's executor and handler, rows as
// structs, and joins by a dataloader with its defaults for each request.
type plain struct{ db *querydb.DB }

func (p plain) handler() http.Handler {
	srv := handler.New(generated.NewExecutableSchema(generated.Config{Resolvers: p}))
	srv.AddTransport(transport.GET{})
	srv.AddTransport(transport.POST{})
	srv.SetQueryCache(lru.New[*ast.QueryDocument](1000))
	srv.Use(extension.Introspection{})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		srv.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), loadersKey{}, newLoaders(p.db))))
	})
}

func (p plain) Query() generated.QueryResolver                 { return plainQueries{db: p.db} }
func (p plain) Customer() generated.CustomerResolver           { return plainCustomer(p) }
func (p plain) Order() generated.OrderResolver                 { return plainOrder{db: p.db} }
func (p plain) OrderLine() generated.OrderLineResolver         { return nil } // not in the workload
func (p plain) OrderTracking() generated.OrderTrackingResolver { return plainTracking{} }

// loaders are one request's.
type loaders struct {
	customer *dataloader.Loader[string, *model.Customer]
	product  *dataloader.Loader[string, *model.Product]
}

type loadersKey struct{}

func loadersOf(ctx context.Context) *loaders { return ctx.Value(loadersKey{}).(*loaders) }

func newLoaders(db *querydb.DB) *loaders {
	return &loaders{
		customer: dataloader.NewBatchedLoader(batchOf(db, model.CustomerCodec)),
		product:  dataloader.NewBatchedLoader(batchOf(db, model.ProductCodec)),
	}
}

// batchOf reads the rows of many ids.
func batchOf[R any](db *querydb.DB, c *querydb.Codec[R]) dataloader.BatchFunc[string, *R] {
	return func(ctx context.Context, ids []string) []*dataloader.Result[*R] {
		ks := make([]keys.Key, len(ids))
		for i, id := range ids {
			ks[i].PK = id
		}
		rows, err := db.Get(ctx, c.Model, ks, false)
		results := make([]*dataloader.Result[*R], len(ids))
		for i := range results {
			if err != nil {
				results[i] = &dataloader.Result[*R]{Error: err}
				continue
			}
			row, err := decoded(c, &rows[i])
			results[i] = &dataloader.Result[*R]{Data: row, Error: err}
		}
		return results
	}
}

// decoded is the struct of a row, nil for one that is not there.
func decoded[R any](c *querydb.Codec[R], row *querydb.Row) (*R, error) {
	if row.Record == nil {
		return nil, nil
	}
	r := new(R)
	return r, c.Decode(row.Record, r)
}

// plainOrder has the joins of the workload; calling another panics, which gqlgen answers with an error.
type plainOrder struct {
	generated.OrderResolver
	db *querydb.DB
}

func (o plainOrder) Lines(ctx context.Context, of *model.Order, _, _, _, _, _, _ *string, reverse *bool, limit *int,
	_ *string) (*graph.Connection[*model.OrderLine], error) {
	return list(ctx, o.db, model.OrderLineCodec, querydb.Query{Index: driver.Primary, PK: of.OrderID}, reverse, limit)
}

// plainCustomer reads the orders of each customer by itself.
type plainCustomer struct{ db *querydb.DB }

func (c plainCustomer) Orders(ctx context.Context, of *model.Customer, _, _, _, _ *string, reverse *bool, limit *int,
	_ *string) (*graph.Connection[*model.Order], error) {
	return list(ctx, c.db, model.OrderCodec, querydb.Query{Index: byCustomer, PK: of.CustomerID}, reverse, limit)
}

func (plainOrder) Customer(ctx context.Context, o *model.Order) (*model.Customer, error) {
	return loadersOf(ctx).customer.Load(ctx, o.CustomerID)()
}

func (plainOrder) Products(ctx context.Context, o *model.Order) ([]*model.Product, error) {
	all, errs := loadersOf(ctx).product.LoadMany(ctx, o.ProductIds)()
	there := make([]*model.Product, 0, len(all))
	for i, p := range all {
		if len(errs) > 0 && errs[i] != nil {
			return nil, errs[i]
		}
		if p != nil {
			there = append(there, p)
		}
	}
	return there, nil
}

type plainTracking struct{}

func (plainTracking) Customer(ctx context.Context, t *model.OrderTracking) (*model.Customer, error) {
	return loadersOf(ctx).customer.Load(ctx, t.CustomerID)()
}

// plainQueries has the queries of the workload; calling another panics, which gqlgen answers with an error.
type plainQueries struct {
	generated.QueryResolver
	db *querydb.DB
}

func (q plainQueries) SalesOrder(ctx context.Context, id string, _ *bool) (*model.Order, error) {
	rows, err := q.db.Get(ctx, model.OrderModel, []keys.Key{{PK: id}}, false)
	if err != nil {
		return nil, err
	}
	return decoded(model.OrderCodec, &rows[0])
}

func (q plainQueries) SalesCustomerByIds(ctx context.Context, ids []string, _ *bool) ([]*model.Customer, error) {
	all, errs := loadersOf(ctx).customer.LoadMany(ctx, ids)()
	return all, errors.Join(errs...)
}

func (q plainQueries) SalesOrderTrackingByID(ctx context.Context, id string, eq, prefix, from, to *string,
	reverse *bool, limit *int, _ *string) (*graph.Connection[*model.OrderTracking], error) {
	within, err := model.OrderTrackingModel.SK.Layout.ParseOperands(keys.Operands{Eq: eq, Prefix: prefix,
		From: from, To: to})
	if err != nil {
		return nil, err
	}
	return list(ctx, q.db, model.OrderTrackingCodec, querydb.Query{Index: driver.Primary, PK: id, Range: within},
		reverse, limit)
}

func (q plainQueries) SalesOrderTrackingByStatus(ctx context.Context, status string, _, _, _, _ *string,
	reverse *bool, limit *int, _ *string) (*graph.Connection[*model.OrderTracking], error) {
	return list(ctx, q.db, model.OrderTrackingCodec, querydb.Query{Index: byStatus, PK: status}, reverse, limit)
}

func (q plainQueries) SalesOrderByCustomerGroup(ctx context.Context, group string, _, _, _, _ *string, reverse *bool,
	limit *int, _ *string) (*graph.Connection[*model.Order], error) {
	return list(ctx, q.db, model.OrderCodec, querydb.Query{Index: byGroup, PK: group}, reverse, limit)
}

// list reads a page of rows.
func list[R any](ctx context.Context, db *querydb.DB, c *querydb.Codec[R], q querydb.Query, reverse *bool,
	limit *int) (*graph.Connection[*R], error) {
	q.Reverse = reverse != nil && *reverse
	if q.Limit = 50; limit != nil {
		q.Limit = *limit
	}
	page, err := db.Query(ctx, c.Model, q)
	if err != nil {
		return nil, err
	}
	items := make([]*R, len(page.Rows))
	for i := range page.Rows {
		if items[i], err = decoded(c, &page.Rows[i]); err != nil {
			return nil, fmt.Errorf("item %d: %w", i, err)
		}
	}
	return &graph.Connection[*R]{Items: items}, nil
}
