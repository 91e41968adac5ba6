package projectors

import (
	"math"

	"github.com/foldql/foldql/internal/shop/event"
	"github.com/foldql/foldql/internal/shop/model"
	"github.com/foldql/foldql/internal/shop/projection/ops"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
)

// OrderCount counts orders in the one row of a singleton.
type OrderCount struct{}

func (OrderCount) OrderPlaced(e event.OrderPlaced, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.OrderCount.Upsert(querydb.SingletonKey{}, model.OrderCount{}, func(c *model.OrderCount) {
		c.Orders++
		c.Revenue = math.Round((c.Revenue+e.Total)*100) / 100 // whole cents
	})}
}

// Order is an order with the ids of its products, which the API joins.
type Order struct{}

func (Order) OrderPlaced(e event.OrderPlaced, _ projection.Meta) []projection.Op {
	products := make([]string, len(e.Lines))
	for i, line := range e.Lines {
		products[i] = line.ProductID
	}
	return []projection.Op{ops.Order.Set(model.Order{
		OrderID:       e.OrderID,
		CustomerID:    e.CustomerID,
		CustomerGroup: e.CustomerGroup,
		ProductIds:    products,
		Total:         e.Total,
		PlacedAt:      e.PlacedAt,
	})}
}

// OrderLine fans one order out into a row per line.
type OrderLine struct{}

func (OrderLine) OrderPlaced(e event.OrderPlaced, _ projection.Meta) []projection.Op {
	rows := make([]projection.Op, len(e.Lines))
	for i, line := range e.Lines {
		rows[i] = ops.OrderLine.Set(model.OrderLine{
			OrderID:   e.OrderID,
			Category:  line.Category,
			ProductID: line.ProductID,
			Quantity:  line.Quantity,
		})
	}
	return rows
}

func (OrderLine) OrderLineRemoved(e event.OrderLineRemoved, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.OrderLine.Delete(model.OrderLineKey{
		OrderID:   e.OrderID,
		Category:  e.Category,
		ProductID: e.ProductID,
	})}
}
