package plain

import (
	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/internal/tests/crash/ledger/event"
	"github.com/foldql/foldql/internal/tests/crash/ledger/model"
)

// takeCard folds an event of a card.
func (s *state) takeCard(e *eventlog.Event) error {
	switch e.Type {
	case "CardIssued":
		return decoded(event.DecodeCardIssued, e, func(v event.CardIssued) error { return s.issue(v, e) })
	case "CardUsed":
		return decoded(event.DecodeCardUsed, e, func(v event.CardUsed) error {
			c := s.cards[v.Card]
			if c == nil {
				return nil
			}
			c.Uses++
			c.Changed = &e.Time
			return s.setCard(v.Card, c)
		})
	}
	return decoded(event.DecodeCardReturned, e, func(v event.CardReturned) error { return s.setCard(v.Card, nil) })
}

func (s *state) setCard(id string, c *model.Card) error {
	s.cards[id] = c
	return note(s, model.CardCodec, id, c)
}

// issue makes a card anew: with the branch as it is.
func (s *state) issue(v event.CardIssued, e *eventlog.Event) error {
	if _, known := s.cards[v.Card]; !known {
		s.cards[v.Card] = nil
	}
	issuer := s.copyOf(v.Branch, e)
	if issuer == nil {
		return nil
	}
	return s.setCard(v.Card, &model.Card{
		Card: v.Card, HolderID: v.Holder, BranchID: v.Branch, IssuerID: v.Branch, Issuer: issuer, SealID: v.Seal,
		Seal: s.owner(v.Seal), Changed: &e.Time,
	})
}
