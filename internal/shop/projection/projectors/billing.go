package projectors

import (
	"github.com/foldql/foldql/internal/shop/event"
	"github.com/foldql/foldql/internal/shop/model"
	"github.com/foldql/foldql/internal/shop/projection/ops"
	"github.com/foldql/foldql/projection"
)

// Ownership says who stands behind an account; the rule on Invoice's index asks it.
type Ownership struct{}

func (Ownership) AccountOpened(e event.AccountOpened, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Ownership.Set(model.Ownership{OwnerID: e.OwnerID, Subject: e.Subject})}
}

// Invoice keeps bills.
type Invoice struct{}

func (Invoice) InvoiceIssued(e event.InvoiceIssued, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Invoice.Set(model.Invoice{
		InvoiceID: e.InvoiceID,
		OwnerID:   e.OwnerID,
		Subject:   e.Subject,
		Amount:    e.Amount,
		IssuedOn:  e.IssuedOn,
		Paid:      e.Paid,
	})}
}
