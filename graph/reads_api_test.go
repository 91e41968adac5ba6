package graph_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/graph"
	"github.com/foldql/foldql/querydb"
)

// TestReadsOfTheShopsQueries counts what two queries of the shop cost at the driver, by both executors: a page of an
// index is one range, and a level of joins is one batch of distinct ids. A batch is one call of the embedded driver,
// which takes any number of keys; DB cuts it for a driver that does not.
func TestReadsOfTheShopsQueries(t *testing.T) {
	a := newAPI(t)
	stockShop(a)
	const tracking = `query($n: Int) { page: Sales_OrderTrackingByStatus(status: "shipped", reverse: true, limit: $n) {
		items { orderId changedAt customer { name email } } nextToken } }`
	const orders = `query($n: Int) { page: Sales_OrderByCustomerGroup(customerGroup: "retail", limit: $n) {
		items { orderId total products { name price } } nextToken } }`
	tests := []struct {
		name, query string
		limit       int
		want        reads
	}{
		{"20 orders of a status, each with its customer", tracking, 20, reads{Gets: 1, Keys: 20, Ranges: 1, Rows: 20}},
		{"40 orders of 30 customers", tracking, 40, reads{Gets: 1, Keys: 30, Ranges: 1, Rows: 40}},
		{"20 orders of a group with their 100 products", orders, 20, reads{Gets: 1, Keys: 100, Ranges: 1, Rows: 20}},
		{"50 orders of a group with their 250 products", orders, 50, reads{Gets: 1, Keys: 250, Ranges: 1, Rows: 50}},
		{"60 orders of a group, some of the same products", orders, 60, reads{Gets: 1, Keys: 250, Ranges: 1, Rows: 60}},
	}
	for way := range ways {
		for _, tt := range tests {
			t.Run(way+"/"+tt.name, func(t *testing.T) {
				a.store.take()
				var data struct {
					Page struct {
						Items []struct {
							Customer map[string]any
							Products []map[string]any
						}
					}
				}
				a.in(t).ask(way, tt.query, map[string]any{"n": tt.limit}, &data)
				got, examined := a.store.take()
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
				if examined > int64(tt.limit)+1 {
					t.Errorf("%d keys examined for a page of %d", examined, tt.limit)
				}
				if n := len(data.Page.Items); n != tt.limit {
					t.Errorf("%d items, wanted %d", n, tt.limit)
				}
				for i, item := range data.Page.Items {
					if item.Customer == nil && len(item.Products) != 5 {
						t.Errorf("item %d came without what it joins: %v", i, item)
					}
				}
			})
		}
	}
}

// TestReadsOfNestedPages counts what a query of the shop costs that asks for pages below pages, by both executors: one
// range for each row that has a page, and one batch for what the rows of all pages are joined to.
func TestReadsOfNestedPages(t *testing.T) {
	a := newAPI(t)
	stockShop(a)
	const query = `{ page: Sales_OrderByCustomerGroup(customerGroup: "retail", limit: 20) {
		items { orderId lines(limit: 2) { items { productId product { name } } nextToken } } } }`
	for way := range ways {
		t.Run(way, func(t *testing.T) {
			a.store.take()
			var data struct {
				Page struct {
					Items []struct {
						OrderID string
						Lines   struct {
							Items []struct{ ProductID string }
						}
					}
				}
			}
			a.in(t).ask(way, query, nil, &data)
			got, _ := a.store.take()
			if diff := cmp.Diff(reads{Gets: 1, Keys: 40, Ranges: 21, Rows: 60}, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			for i, order := range data.Page.Items {
				if n := len(order.Lines.Items); n != 2 {
					t.Errorf("order %d has %d lines, wanted 2", i, n)
				}
			}
			if n := len(data.Page.Items); n != 20 {
				t.Errorf("%d orders, wanted 20", n)
			}
		})
	}
}

// stockShop writes 30 customers and 250 products; 60 orders of one group with five products and three lines each, and
// 60 orders of one status, one of each customer and then again.
func stockShop(a *api) {
	a.Helper()
	at := time.Date(2024, 1, 15, 10, 30, 0, 0, time.UTC)
	var writes []querydb.Write
	put := func(typ string, r graph.TestRow) { writes = append(writes, a.encode(typ, r)) }
	for i := range 30 {
		put("Customer", graph.TestRow{"customerId": fmt.Sprint("c", i), "name": "n", "email": "e", "group": "retail",
			"registeredAt": at})
	}
	for i := range 250 {
		put("Product", graph.TestRow{"productId": fmt.Sprint("p", i), "category": "c", "brand": "b", "name": "n",
			"price": 1.5, "createdAt": at})
	}
	for i := range 60 {
		order, moment := fmt.Sprint("o", i), at.Add(time.Duration(i)*time.Minute)
		var products []string
		for k := range 5 {
			products = append(products, fmt.Sprint("p", (5*i+k)%250))
		}
		put("Order", graph.TestRow{
			"orderId": order, "customerId": fmt.Sprint("c", i%30), "customerGroup": "retail",
			"productIds": products, "total": 1.5, "placedAt": moment,
		})
		for _, product := range products[:3] {
			put("OrderLine", graph.TestRow{"orderId": order, "category": "c", "productId": product, "quantity": 1})
		}
		put("OrderTracking", graph.TestRow{
			"orderId": order, "changedAt": moment, "customerId": fmt.Sprint("c", i%30), "status": "shipped", "total": 1.5,
		})
	}
	a.write(writes...)
}
