package peers

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"github.com/foldql/foldql/internal/shop/model"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/record"
)

// inMemory answers the workload from Go maps, without any store: one handler per question, over rows whose fields are
// the JSON texts that the answer has, in the order in which it has them. It sends the headers that foldql sends.
type inMemory struct {
	orders     map[string]memoryOrder
	customers  map[string]record.Record
	products   map[string]record.Record
	timeline   map[string][]timed         // of an order, oldest first
	byStatus   map[string][]record.Record // newest first
	byGroup    map[string][]memoryOrder
	byCustomer map[string][]memoryOrder // the newest, newest first
}

type memoryOrder struct {
	record.Record
	products []string
	lines    []record.Record // the first
}

// timed is a row of a timeline under its sort key.
type timed struct {
	record.Record
	sk string
}

// loadMemory reads the shop into maps.
func loadMemory(ctx context.Context, db *querydb.DB) (*inMemory, error) {
	m := &inMemory{
		orders: map[string]memoryOrder{}, customers: map[string]record.Record{}, products: map[string]record.Record{},
		timeline: map[string][]timed{}, byStatus: map[string][]record.Record{}, byGroup: map[string][]memoryOrder{},
		byCustomer: map[string][]memoryOrder{},
	}
	err := allRows(ctx, db, model.CustomerModel, func(r *querydb.Row) { m.customers[r.Key.PK] = r.Record })
	if err != nil {
		return nil, err
	}
	err = allRows(ctx, db, model.ProductModel, func(r *querydb.Row) { m.products[r.Key.PK] = r.Record })
	if err != nil {
		return nil, err
	}
	lines := map[string][]timed{}
	err = allRows(ctx, db, model.OrderLineModel, func(r *querydb.Row) {
		lines[r.Key.PK] = append(lines[r.Key.PK], timed{r.Record, r.Key.SK})
	})
	if err != nil {
		return nil, err
	}
	err = allRows(ctx, db, model.OrderModel, func(r *querydb.Row) {
		o := memoryOrder{Record: r.Record}
		own := lines[r.Key.PK]
		slices.SortFunc(own, func(a, b timed) int { return cmp.Compare(a.sk, b.sk) })
		for _, line := range own[:min(len(own), linesOfOrder)] {
			o.lines = append(o.lines, line.Record)
		}
		for _, k := range elements(r.Record.JSON(productIDs), nil) {
			o.products = append(o.products, k.PK)
		}
		m.orders[r.Key.PK] = o
	})
	if err != nil {
		return nil, err
	}
	err = allRows(ctx, db, model.OrderTrackingModel, func(r *querydb.Row) {
		m.timeline[r.Key.PK] = append(m.timeline[r.Key.PK], timed{r.Record, r.Key.SK})
	})
	if err != nil {
		return nil, err
	}
	for _, rows := range m.timeline {
		slices.SortFunc(rows, func(a, b timed) int { return cmp.Compare(a.sk, b.sk) })
	}
	return m, m.loadPages(ctx, db)
}

// loadPages keeps of each index the pages that are asked for.
func (m *inMemory) loadPages(ctx context.Context, db *querydb.DB) error {
	for _, status := range Statuses {
		page, err := db.Query(ctx, model.OrderTrackingModel,
			querydb.Query{Index: byStatus, PK: status, Reverse: true, Limit: 20})
		if err != nil {
			return err
		}
		for i := range page.Rows {
			m.byStatus[status] = append(m.byStatus[status], page.Rows[i].Record)
		}
	}
	for id := range m.customers {
		page, err := db.Query(ctx, model.OrderModel,
			querydb.Query{Index: byCustomer, PK: id, Reverse: true, Limit: ordersOfCustomer})
		if err != nil {
			return err
		}
		for i := range page.Rows {
			m.byCustomer[id] = append(m.byCustomer[id], m.orders[page.Rows[i].Key.PK])
		}
	}
	for _, group := range groups {
		page, err := db.Query(ctx, model.OrderModel, querydb.Query{Index: byGroup, PK: group, Limit: 50})
		if err != nil {
			return err
		}
		for i := range page.Rows {
			m.byGroup[group] = append(m.byGroup[group], m.orders[page.Rows[i].Key.PK])
		}
	}
	return nil
}

func allRows(ctx context.Context, db *querydb.DB, of *querydb.Model, take func(*querydb.Row)) error {
	for after, more := (*keys.Key)(nil), true; more; {
		var rows []querydb.Row
		var err error
		if rows, more, err = querydb.Scan(ctx, db, of, db.Generations().Serving(of), after, 1000); err != nil {
			return err
		}
		for i := range rows {
			take(&rows[i])
			after = &rows[i].Key
		}
	}
	return nil
}

func (m *inMemory) handler() http.Handler {
	mux := http.NewServeMux()
	for path, answer := range map[string]func(variables, []byte) ([]byte, error){
		"POST /Q1": m.order,
		"POST /Q2": m.newest,
		"POST /Q3": m.between,
		"POST /Q4": m.ofStatus,
		"POST /Q5": m.orderWithProducts,
		"POST /Q6": m.ofGroup,
		"POST /Q7": m.customersWithOrders,
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			addHeaders(w.Header())
			serve(w, r, func(_ *http.Request, v variables, b []byte) ([]byte, error) { return answer(v, b) })
		})
	}
	return mux
}

func (m *inMemory) order(v variables, b []byte) ([]byte, error) {
	b = append(b, `{"Sales_Order":`...)
	o, there := m.orders[v.ID]
	if !there {
		return append(b, "null}"...), nil
	}
	return append(appendRecord(b, o.Record, q1), "}}"...), nil
}

func (m *inMemory) newest(v variables, b []byte) ([]byte, error) {
	b = append(b, `{"Sales_OrderTrackingById":{"items":[`...)
	rows := m.timeline[v.ID]
	for i := range min(5, len(rows)) {
		b = append(appendRecord(separated(b), rows[len(rows)-1-i].Record, q2), '}')
	}
	return append(b, "]}}"...), nil
}

func (m *inMemory) between(v variables, b []byte) ([]byte, error) {
	within, err := model.OrderTrackingModel.SK.Layout.ParseOperands(keys.Operands{From: &v.From, To: &v.To})
	if err != nil {
		return nil, err
	}
	from, to, bounded := within.Bounds()
	rows := m.timeline[v.ID]
	bySK := func(row timed, sk string) int { return cmp.Compare(row.sk, sk) }
	first, _ := slices.BinarySearchFunc(rows, from, bySK)
	end := len(rows)
	if bounded {
		end, _ = slices.BinarySearchFunc(rows, to, bySK)
	}
	b = append(b, `{"Sales_OrderTrackingById":{"items":[`...)
	for _, row := range rows[first:min(end, first+50)] {
		b = append(appendRecord(separated(b), row.Record, q3), '}')
	}
	return append(b, "]}}"...), nil
}

func (m *inMemory) ofStatus(v variables, b []byte) ([]byte, error) {
	b = append(b, `{"Sales_OrderTrackingByStatus":{"items":[`...)
	for _, row := range m.byStatus[v.Status] {
		b = append(appendRecord(separated(b), row, q4), `,"customer":`...)
		id := row.JSON(customerID)
		customer, there := m.customers[string(id[1:len(id)-1])]
		if !there {
			b = append(b, "null}"...)
			continue
		}
		b = append(appendRecord(b, customer, customerFields), "}}"...)
	}
	return append(b, "]}}"...), nil
}

func (m *inMemory) orderWithProducts(v variables, b []byte) ([]byte, error) {
	b = append(b, `{"Sales_Order":`...)
	o, there := m.orders[v.ID]
	if !there {
		return append(b, "null}"...), nil
	}
	b = m.appendProducts(appendRecord(b, o.Record, q5), o.products)
	return append(b, "}}"...), nil
}

func (m *inMemory) ofGroup(v variables, b []byte) ([]byte, error) {
	b = append(b, `{"Sales_OrderByCustomerGroup":{"items":[`...)
	for _, o := range m.byGroup[v.Group] {
		b = append(m.appendProducts(appendRecord(separated(b), o.Record, q6), o.products), '}')
	}
	return append(b, "]}}"...), nil
}

func (m *inMemory) appendProducts(b []byte, ids []string) []byte {
	b = append(b, `,"products":[`...)
	for _, id := range ids {
		if p, there := m.products[id]; there {
			b = append(appendRecord(separated(b), p, productFields), '}')
		}
	}
	return append(b, ']')
}

// addHeaders adds those that foldql sends beside the type and the length of an answer.
func addHeaders(h http.Header) {
	h["Cache-Control"] = noStore
	h["X-Content-Type-Options"] = noSniff
	h["X-Frame-Options"] = deny
	h["Referrer-Policy"] = noReferrer
	h["Content-Security-Policy"] = nothing
	h["Foldql-Position"] = position
}

var (
	noStore    = []string{"no-store"}
	noSniff    = []string{"nosniff"}
	deny       = []string{"DENY"}
	noReferrer = []string{"no-referrer"}
	nothing    = []string{"default-src 'none'; frame-ancestors 'none'"}
	position   = []string{"1.AbCdEfGhIjKlMnOpQrStUvWxYz"} // about as long as those of foldql
)
