package graph

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/99designs/gqlgen/graphql/handler/lru"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/auth"
	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
	"github.com/foldql/foldql/querydb/record"
)

// The tests of the plan run on a small shop, written by hand as the generator would.
const shopSDL = `
scalar DateTime
scalar Int64
enum Status { OPEN PAID SENT }
interface Named { name: String! }

type Customer implements Named { customerId: ID! name: String! note: String }
type Product implements Named { productId: ID! name: String! price: Float! makerId: ID maker: Customer }
type Order {
  orderId: ID! customerId: ID! customer: Customer referrerId: ID referrer: Customer
  productIds: [ID!]! products: [Product!]!
  status: Status! placedAt: DateTime! total: Float! margin: Float sold: Int64!
  lastTrack: Track placedTrack: Track referrerTrack: Track
  firstOfStatus: Order group: String! tags: [String!]
  tracks(eq: String, prefix: String, from: String, to: String, reverse: Boolean, limit: Int, nextToken: String): TrackByIdConnection
  sameStatus(eq: String, prefix: String, from: String, to: String, reverse: Boolean, limit: Int, nextToken: String): OrderByStatusConnection
  bills(reverse: Boolean, limit: Int, nextToken: String): InvoiceBySubjectConnection
}
type Track { orderId: ID! changedAt: DateTime! status: Status! note: String }
type Ownership {
  ownerId: ID! subject: String!
  invoices(reverse: Boolean, limit: Int, nextToken: String): InvoiceByOwnerIdConnection
}
type Invoice { invoiceId: ID! ownerId: ID! subject: String! amount: Int! bill: Invoice }
type Counter { orders: Int64! }
type Line {
  shop: String! orderId: String! category: String! productId: ID! quantity: Int!
  beside(category: String, productId: ID, eq: String, prefix: String, from: String, to: String, reverse: Boolean, limit: Int, nextToken: String): LineByIdConnection
}
type LineByIdConnection { items: [Line!]! nextToken: String }

type OrderByStatusConnection { items: [Order!]! nextToken: String }
type TrackByIdConnection { items: [Track!]! nextToken: String }
type InvoiceByOwnerIdConnection { items: [Invoice!]! nextToken: String }
type InvoiceBySubjectConnection { items: [Invoice!]! nextToken: String }

input TrackKey { orderId: ID! changedAt: DateTime! }
input LineKey { shop: String! orderId: String! category: String! productId: ID! }
input OrderFilter { referrerId: IDCondition total: FloatCondition }
input IDCondition { eq: ID exists: Boolean }
input FloatCondition { gt: Float }

type Query {
  Customer(id: ID!, consistent: Boolean): Customer
  Order(id: ID!, consistent: Boolean): Order
  OrderByIds(ids: [ID!]!, consistent: Boolean): [Order]!
  OrderByStatus(status: Status!, eq: String, prefix: String, from: String, to: String, filter: OrderFilter, partial: Boolean, reverse: Boolean, limit: Int, nextToken: String): OrderByStatusConnection!
  Track(id: ID!, changedAt: DateTime, consistent: Boolean): Track
  TrackByKeys(keys: [TrackKey!]!, consistent: Boolean): [Track]!
  TrackById(id: ID!, eq: String, prefix: String, from: String, to: String, reverse: Boolean, limit: Int, nextToken: String): TrackByIdConnection!
  Ownership(id: ID!, consistent: Boolean): Ownership
  Invoice(id: ID!, consistent: Boolean): Invoice
  InvoiceByIds(ids: [ID!]!, consistent: Boolean): [Invoice]!
  InvoiceByOwnerId(ownerId: ID!, reverse: Boolean, limit: Int, nextToken: String): InvoiceByOwnerIdConnection!
  InvoiceBySubject(subject: String!, reverse: Boolean, limit: Int, nextToken: String): InvoiceBySubjectConnection!
  Counter(consistent: Boolean): Counter
  Line(id: ID, shop: String, orderId: String, _subId: String, category: String, productId: ID, consistent: Boolean): Line
  LineByKeys(keys: [LineKey!]!, consistent: Boolean): [Line]!
  LineById(id: ID, shop: String, orderId: String, category: String, productId: ID, eq: String, prefix: String, from: String, to: String, reverse: Boolean, limit: Int, nextToken: String): LineByIdConnection!
  hello: String
}
`

func stored(names ...string) []driver.Field {
	var fields []driver.Field
	for i := 0; i < len(names); i += 2 {
		f := driver.Field{Name: names[i], Scalar: names[i+1]}
		if n := len(f.Scalar); f.Scalar[n-1] == '?' {
			f.Nullable, f.Scalar = true, f.Scalar[:n-1]
		}
		if n := len(f.Scalar); f.Scalar[n-1] == ']' {
			f.List, f.Scalar = true, f.Scalar[1:n-1]
		}
		fields = append(fields, f)
	}
	return fields
}

func half(fields []driver.Field, ordinals ...int) querydb.Half {
	kinds := map[string]keys.Kind{"ID": keys.KindString, "String": keys.KindString, "DateTime": keys.KindDateTime}
	h := querydb.Half{Fields: ordinals, Layout: keys.Layout{Sep: "/"}}
	for _, o := range ordinals {
		h.Layout.Segments = append(h.Layout.Segments, keys.Segment{Field: fields[o].Name, Kind: kinds[fields[o].Scalar]})
	}
	return h
}

func model(name string, fields []driver.Field, pk, sk []int, indexes ...querydb.Index) *querydb.Model {
	m := &querydb.Model{Name: name, Table: name, Version: "1", Fields: fields, TTL: -1, CreatedAt: -1, UpdatedAt: -1,
		Indexes: indexes}
	if len(pk) > 0 {
		m.PK = half(fields, pk...)
	}
	if len(sk) > 0 {
		m.SK = half(fields, sk...)
	}
	return m
}

func newShop() *catalog.Catalog {
	customer := stored("customerId", "ID", "name", "String", "note", "String?")
	product := stored("productId", "ID", "name", "String", "price", "Float", "makerId", "ID?")
	order := stored("orderId", "ID", "customerId", "ID", "referrerId", "ID?", "productIds", "[ID]", "status", "String",
		"placedAt", "DateTime", "total", "Float", "margin", "Float?", "sold", "Int64", "group", "String", "tags", "[String]?")
	track := stored("orderId", "ID", "changedAt", "DateTime", "status", "String", "note", "String?")
	ownership := stored("ownerId", "ID", "subject", "String")
	invoice := stored("invoiceId", "ID", "ownerId", "ID", "subject", "String", "amount", "Int")
	types := map[string]*catalog.Type{
		"Customer": {Model: model("Customer", customer, []int{0}, nil), Owner: -1},
		"Product":  {Model: model("Product", product, []int{0}, nil), Owner: -1},
		"Order": {Owner: -1, Model: model("Order", order, []int{0}, nil, querydb.Index{
			Name: "byStatus", PK: half(order, 4), SK: half(order, 5), Projected: []int{0, 1, 4, 5, 6}})},
		"Track":     {Model: model("Track", track, []int{0}, []int{1}), Owner: -1},
		"Ownership": {Model: model("Ownership", ownership, []int{0}, nil), Owner: 1},
		"Invoice": {Owner: 2, Rule: &catalog.Rule{Groups: []string{"Admin"}, Owner: true},
			Model: model("Invoice", invoice, []int{0}, nil,
				querydb.Index{Name: "ownerId", PK: half(invoice, 1)}, querydb.Index{Name: "subject", PK: half(invoice, 2)})},
		"Line": {Owner: -1, Model: model("Line", stored("shop", "String", "orderId", "String", "category", "String",
			"productId", "ID", "quantity", "Int"),
			[]int{0, 1}, []int{2, 3})},
		"Counter": {Model: model("Counter", stored("orders", "Int64"), nil, nil), Owner: -1},
	}
	for name, t := range types {
		t.Name, t.Fields = name, map[string]*catalog.Field{}
		for i, f := range t.Model.Fields {
			t.Fields[f.Name] = &catalog.Field{Name: f.Name, Ordinal: i}
		}
	}
	join := func(typ, field string, ordinal int, j catalog.Join) {
		types[typ].Fields[field] = &catalog.Field{Name: field, Ordinal: ordinal, Join: &j}
	}
	join("Order", "customer", 1, catalog.Join{Target: "Customer", Index: driver.Primary})
	join("Order", "referrer", 2, catalog.Join{Target: "Customer", Index: driver.Primary})
	join("Order", "products", 3, catalog.Join{Target: "Product", Many: true, Index: driver.Primary})
	join("Order", "lastTrack", 0, catalog.Join{Target: "Track", Index: driver.Primary})
	join("Order", "placedTrack", 0, catalog.Join{Target: "Track", Index: driver.Primary, By: []int{0, 5}})
	join("Order", "referrerTrack", 2, catalog.Join{Target: "Track", Index: driver.Primary, By: []int{2, 5}})
	join("Order", "firstOfStatus", 4, catalog.Join{Target: "Order", Index: 0})
	join("Product", "maker", 3, catalog.Join{Target: "Customer", Index: driver.Primary})
	join("Invoice", "bill", 0, catalog.Join{Target: "Invoice", Index: driver.Primary})
	join("Order", "tracks", 0, catalog.Join{Target: "Track", Index: driver.Primary, Pages: "TrackById"})
	join("Line", "beside", 0, catalog.Join{Target: "Line", Index: driver.Primary, By: []int{0, 1}, Pages: "LineById"})
	join("Order", "sameStatus", 4, catalog.Join{Target: "Order", Index: 0, Pages: "OrderByStatus"})
	join("Order", "bills", 2, catalog.Join{Target: "Invoice", Index: 1, Pages: "InvoiceBySubject"})
	join("Ownership", "invoices", 0, catalog.Join{Target: "Invoice", Index: 0, Pages: "InvoiceByOwnerId"})
	types["Order"].Fields["referrerId"].Filterable, types["Order"].Fields["total"].Filterable = true, true
	types["Order"].Fields["bills"].Rule = &catalog.Rule{Groups: []string{"Staff"}}
	types["Order"].Fields["margin"].Rule = &catalog.Rule{Groups: []string{"Staff"}}

	id := func(name string) []catalog.KeyArg { return []catalog.KeyArg{{Name: name, Kind: keys.KindString}} }
	queries := map[string]*catalog.Query{
		"Customer":   {Kind: catalog.QueryOne, Type: "Customer", Index: driver.Primary, PK: id("id")},
		"Order":      {Kind: catalog.QueryOne, Type: "Order", Index: driver.Primary, PK: id("id")},
		"OrderByIds": {Kind: catalog.QueryMany, Type: "Order", Index: driver.Primary, PK: id("ids")},
		"OrderByStatus": {Kind: catalog.QueryPage, Type: "Order", Index: 0, PK: id("status"), HasOperands: true,
			Filtered: true},
		"Track": {Kind: catalog.QueryOne, Type: "Track", Index: driver.Primary, PK: id("id"),
			SK: []catalog.KeyArg{{Name: "changedAt", Kind: keys.KindDateTime}}},
		"TrackByKeys": {Kind: catalog.QueryMany, Type: "Track", Index: driver.Primary, PK: id("keys"),
			KeyFields: append(id("orderId"), catalog.KeyArg{Name: "changedAt", Kind: keys.KindDateTime})},
		"TrackById":    {Kind: catalog.QueryPage, Type: "Track", Index: driver.Primary, PK: id("id"), HasOperands: true},
		"Ownership":    {Kind: catalog.QueryOne, Type: "Ownership", Index: driver.Primary, PK: id("id")},
		"Invoice":      {Kind: catalog.QueryOne, Type: "Invoice", Index: driver.Primary, PK: id("id")},
		"InvoiceByIds": {Kind: catalog.QueryMany, Type: "Invoice", Index: driver.Primary, PK: id("ids")},
		"InvoiceByOwnerId": {Kind: catalog.QueryPage, Type: "Invoice", Index: 0, PK: id("ownerId"),
			Rule: &catalog.IndexRule{Group: "Admin", AuthTable: "Ownership"}},
		"InvoiceBySubject": {Kind: catalog.QueryPage, Type: "Invoice", Index: 1, PK: id("subject")},
		"Line": {Kind: catalog.QueryOne, Type: "Line", Index: driver.Primary, PK: id("id"), SK: id("_subId"),
			PKParts: append(id("shop"), id("orderId")...), SKParts: append(id("category"), id("productId")...)},
		"LineByKeys": {Kind: catalog.QueryMany, Type: "Line", Index: driver.Primary, PK: id("keys"),
			KeyFields: slices.Concat(id("shop"), id("orderId"), id("category"), id("productId"))},
		"LineById": {Kind: catalog.QueryPage, Type: "Line", Index: driver.Primary, PK: id("id"), HasOperands: true,
			PKParts: append(id("shop"), id("orderId")...), SKParts: append(id("category"), id("productId")...)},
		"Counter": {Kind: catalog.QueryOne, Type: "Counter", Index: driver.Primary},
	}
	for name, q := range queries {
		q.Name = name
		if q.Kind == catalog.QueryPage {
			q.Connection = name + "Connection"
		}
	}
	return &catalog.Catalog{Types: types, Queries: queries, Secured: true}
}

// row is a row of any model of the shop, by field name.
type row map[string]any

func codec(m *querydb.Model) *querydb.Codec[row] {
	return &querydb.Codec[row]{
		Model: m,
		Encode: func(b *record.Builder, r *row) {
			for _, f := range m.Fields {
				encode(b, (*r)[f.Name])
			}
		},
		Decode: func(rec record.Record, r *row) error {
			*r = row{}
			for i, f := range m.Fields {
				if text := rec.JSON(i); text != nil {
					(*r)[f.Name] = json.RawMessage(text)
				}
			}
			return nil
		},
		Value: func(r *row, field int) keys.Value {
			return composite(m.Fields[field].Scalar, (*r)[m.Fields[field].Name])
		},
		Clone:   func(r *row) row { return *r },
		Time:    func(*row, int) time.Time { return time.Time{} },
		SetTime: func(*row, int, time.Time) {},
	}
}

func composite(scalar string, v any) keys.Value {
	switch v := v.(type) {
	case string:
		switch scalar {
		case "Decimal":
			return keys.DecimalOf(keys.Decimal(v))
		case "Date":
			return keys.DateOf(keys.Date(v))
		}
		return keys.String(v)
	case bool:
		return keys.Boolean(v)
	case int:
		return keys.Int(int64(v))
	case int64:
		return keys.Int(v)
	case float64:
		return keys.Float(v)
	case time.Time:
		return keys.DateTime(v)
	}
	return keys.Value{}
}

func encode(b *record.Builder, v any) {
	switch v := v.(type) {
	case nil:
		b.Null()
	case string:
		b.String(v)
	case bool:
		b.Boolean(v)
	case int:
		b.Int(v)
	case int64:
		b.Int64(v)
	case float64:
		b.Float(v)
	case time.Time:
		b.DateTime(v)
	case json.RawMessage: // an object, or a list of them, as it is stored
		b.JSON(v)
	case []string:
		b.BeginList()
		for _, s := range v {
			b.String(s)
		}
		b.EndList()
	default:
		panic(fmt.Sprintf("no encoding of %T", v))
	}
}

// counter counts what reaches the store, and fails what it is told to fail.
type counter struct {
	driver.Driver
	gets, got, queries, examined atomic.Int64
	fail                         func(ctx context.Context, table string) error
}

func (c *counter) Get(ctx context.Context, g driver.Get) ([]driver.Row, error) {
	c.gets.Add(1)
	c.got.Add(int64(len(g.Keys)))
	if c.fail != nil {
		if err := c.fail(ctx, g.Table.Name); err != nil {
			return nil, err
		}
	}
	return c.Driver.Get(ctx, g)
}

func (c *counter) Query(ctx context.Context, q driver.Query) (driver.Page, error) {
	c.queries.Add(1)
	if c.fail != nil {
		if err := c.fail(ctx, q.Table.Name); err != nil {
			return driver.Page{}, err
		}
	}
	p, err := c.Driver.Query(ctx, q)
	c.examined.Add(int64(p.Examined))
	return p, err
}

func (c *counter) reset() {
	c.gets.Store(0)
	c.got.Store(0)
	c.queries.Store(0)
	c.examined.Store(0)
}

// bench is a shop with its store, and an executor of the plan over it.
type bench struct {
	db      *querydb.DB
	store   *counter
	catalog *catalog.Catalog
	rt      *Runtime
	exec    *executor.Executor
	foreign *foreign
}

// foreign stands for the schema that gqlgen generates; it notes that it was asked.
type foreign struct {
	schema *ast.Schema
	asked  int
}

func (f *foreign) Schema() *ast.Schema { return f.schema }
func (f *foreign) Complexity(context.Context, string, string, int, map[string]any) (int, bool) {
	return 0, false
}
func (f *foreign) Exec(context.Context) graphql.ResponseHandler {
	f.asked++
	return graphql.OneShot(&graphql.Response{Data: []byte(`{"foreign":true}`)})
}

func newBench(t testing.TB, cfg Config) *bench { return newBenchOn(t, cfg, memstore.New()) }

func newBenchOn(t testing.TB, cfg Config, drv driver.Driver) *bench {
	t.Helper()
	return newBenchOf(t, newShop(), shopSDL, cfg, drv)
}

func newBenchOf(t testing.TB, catalog *catalog.Catalog, sdl string, cfg Config, drv driver.Driver) *bench {
	t.Helper()
	b := &bench{catalog: catalog, store: &counter{Driver: drv}}
	var models []*querydb.Model
	for _, typ := range b.catalog.Types {
		models = append(models, typ.Model)
	}
	db, err := querydb.Open(t.Context(), b.store, models, querydb.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	b.db = db
	b.foreign = &foreign{schema: gqlparser.MustLoadSchema(&ast.Source{Name: "shop.graphqls", Input: sdl})}
	b.rt = NewRuntime(db, b.catalog, cfg)
	b.exec = executor.New(WithCompiledPlans(b.foreign, b.rt))
	b.exec.SetRecoverFunc(func(context.Context, any) error {
		return graphqlerr.New(graphqlerr.Internal, "internal error")
	})
	b.exec.SetQueryCache(lru.New[*ast.QueryDocument](100))
	return b
}

func (b *bench) put(t testing.TB, typ string, rows ...row) {
	t.Helper()
	m := b.catalog.Types[typ].Model
	var builder record.Builder
	var batch querydb.Batch
	for i := range rows {
		encoded, err := querydb.Encode(codec(m), &builder, &rows[i])
		if err == nil && m.Aggregate != nil {
			err = m.Decompose(&encoded)
		}
		if err != nil {
			t.Fatal(err)
		}
		batch.Writes = append(batch.Writes, querydb.Write{Model: m, Row: encoded})
	}
	if err := b.db.Apply(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
}

func (b *bench) remove(t testing.TB, typ string, r row) {
	t.Helper()
	m := b.catalog.Types[typ].Model
	key, err := querydb.KeyOf(codec(m), &r)
	if err != nil {
		t.Fatal(err)
	}
	batch := querydb.Batch{Writes: []querydb.Write{{Model: m, Row: querydb.Row{Key: key}}}}
	if err := b.db.Apply(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
}

// result is an answer as a client reads it: data, and errors as "CODE path".
type result struct {
	Data   any
	Errors []string
}

func (b *bench) do(ctx context.Context, query string, vars map[string]any) result {
	ctx = graphql.StartOperationTrace(ctx)
	op, errs := b.exec.CreateOperationContext(ctx, &graphql.RawParams{Query: query, Variables: vars})
	if errs != nil {
		return result{Errors: []string{"REJECTED " + errs.Error()}}
	}
	handler, ctx := b.exec.DispatchOperation(ctx, op)
	return readResult(handler(ctx))
}

func readResult(resp *graphql.Response) result {
	var r result
	if err := json.Unmarshal(resp.Data, &r.Data); err != nil {
		r.Errors = append(r.Errors, "UNREADABLE "+err.Error()+": "+string(resp.Data))
	}
	for _, err := range resp.Errors {
		told := fmt.Sprintf("%v %s", err.Extensions["code"], err.Path)
		if place, _, ok := strings.Cut(err.Message, ": "); ok && strings.HasPrefix(place, "argument ") {
			told += ": " + place
		}
		if reason, ok := err.Extensions["reason"]; ok {
			told += fmt.Sprint(": ", reason)
		}
		r.Errors = append(r.Errors, told)
	}
	return r
}

func as(ctx context.Context, subject string, groups ...string) context.Context {
	return auth.NewContext(ctx, auth.Caller{Subject: subject, Groups: groups})
}

func day(n int) time.Time { return time.Date(2024, 1, n, 10, 0, 0, 0, time.UTC) }

// stock fills the shop: customers c0–c9, products p0–p9, orders o0–o19 with three tracks each.
func (b *bench) stock(t testing.TB) {
	t.Helper()
	for i := range 10 {
		b.put(t, "Customer", row{"customerId": fmt.Sprint("c", i), "name": fmt.Sprint("Customer ", i)})
		p := row{"productId": fmt.Sprint("p", i), "name": fmt.Sprintf("Product \"%d\" ✓", i), "price": float64(i) + 0.5}
		if i%2 == 0 {
			p["makerId"] = fmt.Sprint("c", i)
		}
		b.put(t, "Product", p)
	}
	status := []string{"OPEN", "PAID", "SENT"}
	for i := range 20 {
		o := row{
			"orderId": fmt.Sprint("o", i), "customerId": fmt.Sprint("c", i%12), // c10 and c11 are nobody
			"productIds": []string{fmt.Sprint("p", i%10), "gone", fmt.Sprint("p", (i+1)%10), fmt.Sprint("p", i%10)},
			"status":     status[i%3], "placedAt": day(1 + i/2), "total": float64(i) * 1.5, "margin": float64(i),
			"sold": int64(i), "group": "g", "tags": []string{"a", "b"},
		}
		if i%4 == 0 {
			o["referrerId"] = fmt.Sprint("c", (i+3)%10)
			delete(o, "tags")
		}
		b.put(t, "Order", o)
		for k := range 3 {
			b.put(t, "Track", row{"orderId": fmt.Sprint("o", i), "changedAt": day(1 + k), "status": status[k]})
		}
	}
	b.put(t, "Ownership", row{"ownerId": "acc1", "subject": "ann"}, row{"ownerId": "acc2", "subject": "bob"})
	b.put(t, "Invoice",
		row{"invoiceId": "i1", "ownerId": "acc1", "subject": "ann", "amount": 1},
		row{"invoiceId": "i2", "ownerId": "acc1", "subject": "ann", "amount": 2},
		row{"invoiceId": "i3", "ownerId": "acc2", "subject": "bob", "amount": 3},
		row{"invoiceId": "i4", "ownerId": "acc2", "subject": "ann", "amount": 4})
	b.put(t, "Line",
		row{"shop": "s", "orderId": "1", "category": "books", "productId": "b", "quantity": 1},
		row{"shop": "s", "orderId": "1", "category": "toys", "productId": "a", "quantity": 2},
		row{"shop": "s", "orderId": "1", "category": "toys/x", "productId": "z", "quantity": 3})
	b.put(t, "Counter", row{"orders": int64(20)})
	b.store.reset()
}
