package ledger

import (
	"github.com/foldql/foldql/internal/tests/crash/ledger/event"
	"github.com/foldql/foldql/internal/tests/crash/ledger/model"
	"github.com/foldql/foldql/internal/tests/crash/ledger/projection/ops"
	"github.com/foldql/foldql/projection"
)

// Balance adds up. What is about an account that is not open becomes a dead letter.
type Balance struct{}

func (Balance) Opened(e event.Opened, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Balance.Create(model.Balance{Account: e.Account, Owner: e.Owner, Currency: e.Currency})}
}

func (Balance) Deposited(e event.Deposited, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Balance.Update(e.Account, func(b *model.Balance) { b.Amount += int64(e.Amount) })}
}

func (Balance) Moved(e event.Moved, _ projection.Meta) []projection.Op {
	return []projection.Op{
		ops.Balance.Update(e.From, func(b *model.Balance) { b.Amount -= int64(e.Amount); b.Moves++ }),
		ops.Balance.Update(e.To, func(b *model.Balance) { b.Amount += int64(e.Amount); b.Moves++ }),
	}
}

func (Balance) Closed(e event.Closed, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Balance.Delete(e.Account)}
}
