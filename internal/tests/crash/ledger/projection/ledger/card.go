package ledger

import (
	"github.com/foldql/foldql/internal/tests/crash/ledger/event"
	"github.com/foldql/foldql/internal/tests/crash/ledger/model"
	"github.com/foldql/foldql/internal/tests/crash/ledger/projection/ops"
	"github.com/foldql/foldql/projection"
)

// Card keeps cards, which have copies of each kind.
type Card struct{}

func (Card) CardIssued(e event.CardIssued, _ projection.Meta) []projection.Op {
	card := model.Card{Card: e.Card, BranchID: e.Branch, IssuerID: e.Branch, HolderID: e.Holder, SealID: e.Seal}
	return []projection.Op{ops.Card.Set(card)}
}

func (Card) CardUsed(e event.CardUsed, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Card.Update(e.Card, func(c *model.Card) { c.Uses++ })}
}

func (Card) CardReturned(e event.CardReturned, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Card.Delete(e.Card)}
}
