package projectors

import (
	"testing"
	"time"

	"github.com/foldql/foldql/internal/shop/event"
	"github.com/foldql/foldql/internal/shop/model"
	"github.com/foldql/foldql/internal/shop/projection/ops"
	"github.com/foldql/foldql/projection/projectiontest"
)

func at(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err) // a constant of a test
	}
	return t
}

const (
	placed = `{"orderId": "o1", "customerId": "c1", "customerGroup": "retail", "total": 10.5,
		"placedAt": "2024-01-15T12:30:00+02:00", "lines": [
			{"productId": "p1", "category": "books", "quantity": 2},
			{"productId": "p2", "category": "toys", "quantity": 1}]}`
	paid    = `{"orderId": "o1", "status": "paid", "total": 10.5, "changedAt": "2024-01-15T11:00:00Z"}`
	shipped = `{"orderId": "o1", "status": "shipped", "total": 10.5, "changedAt": "2024-01-16T08:00:00Z"}`
)

var progress = []projectiontest.Event{
	{Type: "OrderPlaced", Subject: "o1", Data: placed},
	{Type: "OrderStatusChanged", Subject: "o1", Data: paid},
	{Type: "OrderStatusChanged", Subject: "o1", Data: shipped},
}

func TestOrdersAreCounted(t *testing.T) {
	projectiontest.Run(t, projectiontest.Spec[model.OrderCount]{
		Projection: ops.ProjectOrderCount(OrderCount{}),
		Codec:      model.OrderCountCodec,
		Given: []projectiontest.Event{
			{Type: "OrderPlaced", Subject: "o1", Data: placed}, {Type: "OrderPlaced", Subject: "o1", Data: placed},
		},
		Want: []model.OrderCount{{Orders: 2, Revenue: 21}},
	})
}

// TestAnEventOfASpecIsGivenAsAValueOfItsType, or as JSON.
func TestAnEventOfASpecIsGivenAsAValueOfItsType(t *testing.T) {
	projectiontest.Run(t, projectiontest.Spec[model.Order]{
		Projection: ops.ProjectOrder(Order{}),
		Codec:      model.OrderCodec,
		Given: []projectiontest.Event{{Type: "OrderPlaced", Subject: "o1", Data: event.OrderPlaced{
			OrderID: "o1", CustomerID: "c1", CustomerGroup: "retail", Total: 10.5, PlacedAt: at("2024-01-15T12:30:00+02:00"),
			Lines: []event.OrderedProduct{{ProductID: "p1", Category: "books", Quantity: 2}},
		}}},
		Want: []model.Order{{
			OrderID: "o1", CustomerID: "c1", CustomerGroup: "retail", ProductIds: []string{"p1"}, Total: 10.5,
			PlacedAt: at("2024-01-15T10:30:00Z"),
		}},
	})
}

func TestAnOrderNamesItsProducts(t *testing.T) {
	projectiontest.Run(t, projectiontest.Spec[model.Order]{
		Projection: ops.ProjectOrder(Order{}),
		Codec:      model.OrderCodec,
		Given:      progress[:1],
		Want: []model.Order{{
			OrderID: "o1", CustomerID: "c1", CustomerGroup: "retail", ProductIds: []string{"p1", "p2"}, Total: 10.5,
			PlacedAt: at("2024-01-15T10:30:00Z"),
		}},
	})
}

func TestAnOrderHasARowPerLineUntilItIsRemoved(t *testing.T) {
	projectiontest.Run(t, projectiontest.Spec[model.OrderLine]{
		Projection: ops.ProjectOrderLine(OrderLine{}),
		Codec:      model.OrderLineCodec,
		Given: []projectiontest.Event{
			{Type: "OrderPlaced", Data: placed},
			{Type: "OrderLineRemoved", Data: `{"orderId": "o1", "category": "toys", "productId": "p2"}`},
		},
		Want: []model.OrderLine{{OrderID: "o1", Category: "books", ProductID: "p1", Quantity: 2}},
	})
}

func TestHistoryKeepsEveryStatus(t *testing.T) {
	projectiontest.Run(t, projectiontest.Spec[model.OrderHistory]{
		Projection: ops.ProjectOrderHistory(OrderHistory{}),
		Codec:      model.OrderHistoryCodec,
		Given:      progress,
		Want: []model.OrderHistory{
			{OrderID: "o1", Timestamp: at("2024-01-15T10:30:00Z"), Status: "placed", Total: 10.5},
			{OrderID: "o1", Timestamp: at("2024-01-15T11:00:00Z"), Status: "paid", Total: 10.5},
			{OrderID: "o1", Timestamp: at("2024-01-16T08:00:00Z"), Status: "shipped", Total: 10.5},
		},
	})
}

func TestVersionsAreNumberedAndTheCurrentOneIsKept(t *testing.T) {
	first, second := at("2024-01-01T00:00:00Z"), at("2024-01-01T00:01:00Z")
	projectiontest.Run(t, projectiontest.Spec[model.OrderVersion]{
		Projection: ops.ProjectOrderVersion(OrderVersion{}),
		Codec:      model.OrderVersionCodec,
		Given:      progress[:2],
		Want: []model.OrderVersion{
			{OrderID: "o1", Version: "v0001", Status: "placed", Total: 10.5, Since: &first, Changed: &first},
			{OrderID: "o1", Version: "v0002", Status: "paid", Total: 10.5, Since: &second, Changed: &second},
			{OrderID: "o1", Version: "~current", Status: "paid", Total: 10.5, Since: &first, Changed: &second},
		},
	})
}

func TestTrackingCarriesTheCustomerOn(t *testing.T) {
	projectiontest.Run(t, projectiontest.Spec[model.OrderTracking]{
		Projection: ops.ProjectOrderTracking(OrderTracking{}),
		Codec:      model.OrderTrackingCodec,
		Given:      progress,
		Want: []model.OrderTracking{
			{OrderID: "o1", ChangedAt: at("2024-01-15T10:30:00Z"), CustomerID: "c1", Status: "placed", Total: 10.5},
			{OrderID: "o1", ChangedAt: at("2024-01-15T11:00:00Z"), CustomerID: "c1", Status: "paid", Total: 10.5},
			{OrderID: "o1", ChangedAt: at("2024-01-16T08:00:00Z"), CustomerID: "c1", Status: "shipped", Total: 10.5},
		},
	})
}

func TestTheCatalogFollowsItsProducts(t *testing.T) {
	added := `{"productId": "p1", "category": "books", "brand": "Acme", "name": "Atlas", "price": 20,
		"addedAt": "2024-01-15T10:00:00Z"}`
	projectiontest.Run(t, projectiontest.Spec[model.Product]{
		Projection: ops.ProjectProduct(Product{}),
		Codec:      model.ProductCodec,
		Given: []projectiontest.Event{
			{Type: "ProductAdded", Subject: "p1", Data: added},
			{Type: "ProductRepriced", Subject: "p1", Data: `{"productId": "p1", "price": 18.5}`},
			{Type: "ProductAdded", Subject: "p2", Data: `{"productId": "p2", "category": "toys", "brand": "Acme",
				"supplier": "East SA", "name": "Kite", "price": 5, "addedAt": "2024-01-15T10:00:00Z"}`},
			{Type: "ProductRemoved", Subject: "p2", Data: `{"productId": "p2"}`},
			{Type: "ProductRepriced", Subject: "p2", Data: `{"productId": "p2", "price": 1}`},
		},
		Want: []model.Product{{
			ProductID: "p1", Category: "books", Brand: "Acme", Name: "Atlas", Price: 18.5, CreatedAt: at("2024-01-15T10:00:00Z"),
		}},
		WantDeadLetters: []projectiontest.DeadLetter{{ID: "5", Reason: "p2"}},
	})
}

func TestADeploymentIsTheLastOne(t *testing.T) {
	projectiontest.Run(t, projectiontest.Spec[model.Deployment]{
		Projection: ops.ProjectDeployment(Deployment{}),
		Codec:      model.DeploymentCodec,
		Given: []projectiontest.Event{
			{Type: "PluginDeployed", Data: `{"environment": "prod", "pluginName": "billing", "version": "1.0",
				"deployedAt": "2024-01-15T10:00:00Z"}`},
			{Type: "PluginDeployed", Data: `{"environment": "prod", "pluginName": "billing", "version": "1.1",
				"deployedAt": "2024-01-16T10:00:00Z"}`},
		},
		Want: []model.Deployment{{
			Environment: "prod", PluginName: "billing", Version: "1.1", DeployedAt: at("2024-01-16T10:00:00Z"),
		}},
	})
}

func TestBillsAndAccountsAreKept(t *testing.T) {
	projectiontest.Run(t, projectiontest.Spec[model.Ownership]{
		Projection: ops.ProjectOwnership(Ownership{}),
		Codec:      model.OwnershipCodec,
		Given:      []projectiontest.Event{{Type: "AccountOpened", Data: `{"ownerId": "a1", "subject": "ada"}`}},
		Want:       []model.Ownership{{OwnerID: "a1", Subject: "ada"}},
	})
	projectiontest.Run(t, projectiontest.Spec[model.Invoice]{
		Projection: ops.ProjectInvoice(Invoice{}),
		Codec:      model.InvoiceCodec,
		Given: []projectiontest.Event{{Type: "InvoiceIssued", Data: `{"invoiceId": "i1", "ownerId": "a1", "subject": "ada",
			"amount": "12.50", "issuedOn": "2024-02-29", "paid": false}`}},
		Want: []model.Invoice{{
			InvoiceID: "i1", OwnerID: "a1", Subject: "ada", Amount: "12.5", IssuedOn: "2024-02-29",
		}},
	})
}

func TestACustomerIsTheLastRegistration(t *testing.T) {
	projectiontest.Run(t, projectiontest.Spec[model.Customer]{
		Projection: ops.ProjectCustomer(Customer{}),
		Codec:      model.CustomerCodec,
		Given: []projectiontest.Event{{Type: "CustomerRegistered", Data: `{"customerId": "c1", "name": "Ada",
			"email": "ada@example.com", "group": "retail", "registeredAt": "2024-01-15T10:00:00.123456Z"}`}},
		Want: []model.Customer{{
			CustomerID: "c1", Name: "Ada", Email: "ada@example.com", Group: "retail",
			RegisteredAt: at("2024-01-15T10:00:00.123456Z"),
		}},
	})
}
