package projectors

import (
	"github.com/foldql/foldql/internal/shop/event"
	"github.com/foldql/foldql/internal/shop/model"
	"github.com/foldql/foldql/internal/shop/projection/ops"
	"github.com/foldql/foldql/projection"
)

// Customer keeps what is known of a customer.
type Customer struct{}

func (Customer) CustomerRegistered(e event.CustomerRegistered, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Customer.Set(model.Customer{
		CustomerID: e.CustomerID, Name: e.Name, Email: e.Email, Group: e.Group, RegisteredAt: e.RegisteredAt,
	})}
}

// Product keeps the catalog.
type Product struct{}

func (Product) ProductAdded(e event.ProductAdded, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Product.Set(model.Product{
		ProductID: e.ProductID,
		Category:  e.Category,
		Brand:     e.Brand,
		Supplier:  e.Supplier,
		Name:      e.Name,
		Price:     e.Price,
		CreatedAt: e.AddedAt,
	})}
}

func (Product) ProductRepriced(e event.ProductRepriced, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Product.Update(e.ProductID, func(p *model.Product) { p.Price = e.Price })}
}

func (Product) ProductRemoved(e event.ProductRemoved, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Product.Delete(e.ProductID)}
}
