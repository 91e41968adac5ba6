package projectors

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/foldql/foldql/internal/shop/event"
	"github.com/foldql/foldql/internal/shop/model"
	"github.com/foldql/foldql/internal/shop/projection/ops"
	"github.com/foldql/foldql/projection"
)

// OrderHistory keeps one row per change of status.
type OrderHistory struct{}

func (OrderHistory) OrderPlaced(e event.OrderPlaced, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.OrderHistory.Set(model.OrderHistory{
		OrderID: e.OrderID, Timestamp: e.PlacedAt, Status: "placed", Total: e.Total,
	})}
}

func (OrderHistory) OrderStatusChanged(e event.OrderStatusChanged, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.OrderHistory.Set(model.OrderHistory{
		OrderID: e.OrderID, Timestamp: e.ChangedAt, Status: e.Status, Total: e.Total,
	})}
}

// current is the sort key of the row that holds; "~" sorts after every version.
const current = "~current"

// OrderVersion writes two rows per event: the version that the event made, and the current one. The number of a version
// comes from the latest one, which Follow hands over.
type OrderVersion struct{}

func (OrderVersion) OrderPlaced(e event.OrderPlaced, _ projection.Meta) []projection.Op {
	return versions(e.OrderID, "placed", e.Total)
}

func (OrderVersion) OrderStatusChanged(e event.OrderStatusChanged, _ projection.Meta) []projection.Op {
	return versions(e.OrderID, e.Status, e.Total)
}

func versions(orderID, status string, total float64) []projection.Op {
	now := model.OrderVersion{OrderID: orderID, Version: current, Status: status, Total: total}
	return []projection.Op{
		ops.OrderVersion.Follow(orderID, func(latest model.OrderVersion) model.OrderVersion {
			next := now
			next.Version = following(latest.Version)
			return next
		}),
		ops.OrderVersion.Set(now),
	}
}

// following returns the version after v, "v0001" after none. The number is padded, so that text order is its order.
func following(v string) string {
	n, _ := strconv.Atoi(strings.TrimPrefix(v, "v")) // no version yet reads as 0
	return fmt.Sprintf("v%04d", n+1)
}

// OrderTracking follows an order through its states. A change of status does not name the customer: Follow carries it
// on from the row before.
type OrderTracking struct{}

func (OrderTracking) OrderPlaced(e event.OrderPlaced, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.OrderTracking.Set(model.OrderTracking{
		OrderID: e.OrderID, ChangedAt: e.PlacedAt, CustomerID: e.CustomerID, Status: "placed", Total: e.Total,
	})}
}

func (OrderTracking) OrderStatusChanged(e event.OrderStatusChanged, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.OrderTracking.Follow(e.OrderID, func(latest model.OrderTracking) model.OrderTracking {
		return model.OrderTracking{
			OrderID: e.OrderID, ChangedAt: e.ChangedAt, CustomerID: latest.CustomerID, Status: e.Status, Total: e.Total,
		}
	})}
}
