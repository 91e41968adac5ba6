package graph

import (
	"context"
	"fmt"
	"testing"

	"github.com/99designs/gqlgen/graphql"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/record"
)

const (
	oneRow   = `query($id: ID!) { Order(id: $id) { orderId customerId status placedAt total } }`
	withJoin = `query($s: Status!) { OrderByStatus(status: $s, reverse: true, limit: 20) { items { orderId status total ` +
		`customer { customerId name note } } nextToken } }`
	withMany = `query($id: ID!) { Order(id: $id) { orderId total products { productId name price } } }`
)

func benchShop(b *testing.B) *bench {
	shop := newBench(b, Config{AuthOff: true})
	for i := range 1000 {
		shop.put(b, "Customer", row{"customerId": fmt.Sprint("customer-", i), "name": fmt.Sprint("Customer ", i),
			"note": "some words about them"})
		shop.put(b, "Product", row{"productId": fmt.Sprint("product-", i), "name": fmt.Sprint("Product ", i), "price": 12.5})
	}
	for i := range 1000 {
		shop.put(b, "Order", row{
			"orderId": fmt.Sprint("order-", i), "customerId": fmt.Sprint("customer-", i*7%1000),
			"productIds": []string{fmt.Sprint("product-", i), fmt.Sprint("product-", i*3%1000), fmt.Sprint("product-",
				i*5%1000), fmt.Sprint("product-", i*11%1000), fmt.Sprint("product-", i*13%1000)},
			"status": "OPEN", "placedAt": day(1 + i%28), "total": 99.5, "sold": int64(i), "group": "g",
		})
	}
	return shop
}

func BenchmarkPlan(b *testing.B) {
	shop := benchShop(b)
	for _, bm := range []struct {
		name, query string
		vars        map[string]any
	}{
		{"OneRow", oneRow, map[string]any{"id": "order-500"}},
		{"PageWithJoin", withJoin, map[string]any{"s": "OPEN"}},
		{"RowWithMany", withMany, map[string]any{"id": "order-500"}},
	} {
		ctx := graphql.StartOperationTrace(context.Background())
		op, errs := shop.exec.CreateOperationContext(ctx, &graphql.RawParams{Query: bm.query, Variables: bm.vars})
		if errs != nil {
			b.Fatal(errs)
		}
		ctx = graphql.WithOperationContext(ctx, op)
		ctx = graphql.WithResponseContext(ctx, graphql.DefaultErrorPresenter, graphql.DefaultRecover)
		es := WithCompiledPlans(shop.foreign, shop.rt)
		b.Run(bm.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if resp := es.Exec(ctx)(ctx); len(resp.Data) < 50 || resp.Errors != nil {
					b.Fatalf("%s %v", resp.Data, resp.Errors)
				}
			}
		})
		b.Run(bm.name+"WithFrontEnd", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				ctx := graphql.StartOperationTrace(context.Background())
				op, errs := shop.exec.CreateOperationContext(ctx, &graphql.RawParams{Query: bm.query, Variables: bm.vars})
				if errs != nil {
					b.Fatal(errs)
				}
				handler, ctx := shop.exec.DispatchOperation(ctx, op)
				if resp := handler(ctx); len(resp.Data) < 50 || resp.Errors != nil {
					b.Fatalf("%s %v", resp.Data, resp.Errors)
				}
			}
		})
	}
}

// BenchmarkDirect is what a handler written for these queries alone would do over the same store.
func BenchmarkDirect(b *testing.B) {
	shop := benchShop(b)
	order, customer := shop.catalog.Types["Order"].Model, shop.catalog.Types["Customer"].Model
	ctx := context.Background()
	write := func(buf []byte, rec record.Record, names []string, ordinals []int) []byte {
		for i, o := range ordinals {
			buf = append(append(append(buf, names[i]...), rec.JSON(o)...), ',')
		}
		return buf
	}
	b.Run("OneRow", func(b *testing.B) {
		b.ReportAllocs()
		names := []string{`"orderId":`, `"customerId":`, `"status":`, `"placedAt":`, `"total":`}
		for b.Loop() {
			rows, err := shop.db.Get(ctx, order, []keys.Key{{PK: "order-500"}}, false)
			if err != nil {
				b.Fatal(err)
			}
			write(make([]byte, 0, 256), rows[0].Record, names, []int{0, 1, 4, 5, 6})
		}
	})
	b.Run("PageWithJoin", func(b *testing.B) {
		b.ReportAllocs()
		names, more := []string{`"orderId":`, `"status":`, `"total":`}, []string{`"customerId":`, `"name":`, `"note":`}
		for b.Loop() {
			page, err := shop.db.Query(ctx, order, querydb.Query{Index: 0, PK: "OPEN", Reverse: true, Limit: 20,
				Fields: []int{0, 1, 4, 6}})
			if err != nil {
				b.Fatal(err)
			}
			ks := make([]keys.Key, len(page.Rows))
			for i := range page.Rows {
				ks[i].PK, _ = record.String(page.Rows[i].Record.JSON(1))
			}
			joined, err := shop.db.Get(ctx, customer, ks, false)
			if err != nil {
				b.Fatal(err)
			}
			buf := make([]byte, 0, 4096)
			for i := range page.Rows {
				buf = write(buf, page.Rows[i].Record, names, []int{0, 4, 6})
				buf = write(buf, joined[i].Record, more, []int{0, 1, 2})
			}
		}
	})
}
