// Package projectors holds the projectors of the read models that schema.graphqls declares: one type per read model,
// one method per event, each a pure function from the event to ops.
package projectors

import (
	"github.com/foldql/foldql/internal/shop/projection/ops"
	"github.com/foldql/foldql/projection"
)

// Projections returns every projection of the shop, ready to run.
func Projections() []projection.Projection {
	return []projection.Projection{
		ops.ProjectOrderCount(OrderCount{}),
		ops.ProjectCustomer(Customer{}),
		ops.ProjectProduct(Product{}),
		ops.ProjectOrder(Order{}),
		ops.ProjectOrderLine(OrderLine{}),
		ops.ProjectOrderHistory(OrderHistory{}),
		ops.ProjectOrderVersion(OrderVersion{}),
		ops.ProjectOrderTracking(OrderTracking{}),
		ops.ProjectDeployment(Deployment{}),
		ops.ProjectOwnership(Ownership{}),
		ops.ProjectInvoice(Invoice{}),
	}
}
