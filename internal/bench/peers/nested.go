package peers

import (
	"net/http"

	"github.com/foldql/foldql/internal/shop/model"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

// How many rows the pages of Q7 have.
const (
	ordersOfCustomer = 5
	linesOfOrder     = 3
)

// customersWithOrders reads a batch of customers, a range of orders for each, and a range of lines for each of those.
func (h handwritten) customersWithOrders(r *http.Request, v variables, b []byte) ([]byte, error) {
	ids := make([]keys.Key, len(v.IDs))
	for i, id := range v.IDs {
		ids[i].PK = id
	}
	customers, err := h.db.Get(r.Context(), model.CustomerModel, ids, false)
	if err != nil {
		return nil, err
	}
	b = append(b, `{"Sales_CustomerByIds":[`...)
	for i, customer := range customers {
		b = separated(b)
		if customer.Record == nil {
			b = append(b, "null"...)
			continue
		}
		b = append(appendRow(b, customer, customerNames), `,"orders":{"items":[`...)
		orders, err := h.db.Query(r.Context(), model.OrderModel, querydb.Query{
			Index: byCustomer, PK: ids[i].PK, Reverse: true, Limit: ordersOfCustomer, Fields: ordinals(q7),
		})
		if err != nil {
			return nil, err
		}
		for _, order := range orders.Rows {
			b = append(appendRow(separated(b), order, q7), `,"lines":{"items":[`...)
			lines, err := h.db.Query(r.Context(), model.OrderLineModel, querydb.Query{
				Index: driver.Primary, PK: order.Key.PK, Limit: linesOfOrder, Fields: ordinals(lineFields),
			})
			if err != nil {
				return nil, err
			}
			for _, line := range lines.Rows {
				b = append(appendRow(separated(b), line, lineFields), '}')
			}
			b = append(b, "]}}"...)
		}
		b = append(b, "]}}"...)
	}
	return append(b, "]}"...), nil
}

// customersWithOrders answers from maps.
func (m *inMemory) customersWithOrders(v variables, b []byte) ([]byte, error) {
	b = append(b, `{"Sales_CustomerByIds":[`...)
	for _, id := range v.IDs {
		b = separated(b)
		customer, there := m.customers[id]
		if !there {
			b = append(b, "null"...)
			continue
		}
		b = append(appendRecord(b, customer, customerNames), `,"orders":{"items":[`...)
		for _, order := range m.byCustomer[id] {
			b = append(appendRecord(separated(b), order.Record, q7), `,"lines":{"items":[`...)
			for _, line := range order.lines {
				b = append(appendRecord(separated(b), line, lineFields), '}')
			}
			b = append(b, "]}}"...)
		}
		b = append(b, "]}}"...)
	}
	return append(b, "]}"...), nil
}
