package ledger

import (
	"github.com/foldql/foldql/internal/tests/crash/ledger/event"
	"github.com/foldql/foldql/internal/tests/crash/ledger/model"
	"github.com/foldql/foldql/internal/tests/crash/ledger/projection/ops"
	"github.com/foldql/foldql/projection"
)

// Passes says which branch has issued a card.
type Passes struct{}

func (Passes) CardIssued(e event.CardIssued, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Pass.Set(model.Pass{Card: e.Card, BranchID: &e.Branch})}
}

func (Passes) CardReturned(e event.CardReturned, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Pass.Delete(e.Card)}
}

// Uses counts how often a card was used.
type Uses struct{}

func (Uses) CardUsed(e event.CardUsed, _ projection.Meta) []projection.Op {
	none := 0
	return []projection.Op{ops.Pass.Upsert(e.Card, model.Pass{Uses: &none}, func(p *model.Pass) {
		uses := 1
		if p.Uses != nil {
			uses += *p.Uses
		}
		p.Uses = &uses
	})}
}
