package projectors

import (
	"testing"

	"github.com/foldql/foldql/internal/shop/event"
	"github.com/foldql/foldql/internal/shop/model"
	"github.com/foldql/foldql/internal/shop/projection/ops"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/projection/projectiontest"
)

// firstRegistration keeps the first registration of each customer; docs/projectors.md shows it.
type firstRegistration struct{}

func (firstRegistration) CustomerRegistered(e event.CustomerRegistered, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Customer.Create(model.Customer{
		CustomerID: e.CustomerID, Name: e.Name, Email: e.Email, Group: e.Group, RegisteredAt: e.RegisteredAt,
	})}
}

func TestARowThatIsCreatedAgainStaysAsItIs(t *testing.T) {
	registered := func(name string) string {
		return `{"customerId": "c1", "name": "` + name + `", "email": "c@example.com", "group": "retail",
			"registeredAt": "2024-01-15T10:30:00Z"}`
	}
	projectiontest.Run(t, projectiontest.Spec[model.Customer]{
		Projection: ops.ProjectCustomer(firstRegistration{}),
		Codec:      model.CustomerCodec,
		Given: []projectiontest.Event{
			{Type: "CustomerRegistered", Data: registered("Ada")},
			{Type: "CustomerRegistered", Data: registered("Eve")},
		},
		Want: []model.Customer{{
			CustomerID: "c1", Name: "Ada", Email: "c@example.com", Group: "retail", RegisteredAt: at("2024-01-15T10:30:00Z"),
		}},
	})
}
