package plain

import (
	"errors"

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
			return errors.Join(s.setCard(v.Card, c), s.use(v.Card))
		})
	}
	return decoded(event.DecodeCardReturned, e, func(v event.CardReturned) error {
		return errors.Join(s.setCard(v.Card, nil), s.pass(v.Card, nil))
	})
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
	return errors.Join(s.pass(v.Card, &v.Branch), s.setCard(v.Card, &model.Card{
		Card: v.Card, HolderID: v.Holder, BranchID: v.Branch, IssuerID: v.Branch, Issuer: issuer, SealID: v.Seal,
		Seal: s.owner(v.Seal), Changed: &e.Time,
	}))
}

// pass says which branch has issued a card, nil for none. What is known of its use stays.
func (s *state) pass(card string, branch *string) error {
	next := model.Pass{Card: card, BranchID: branch}
	if p := s.passes[card]; p != nil {
		next.Uses = p.Uses
	}
	return s.setPass(next)
}

// use counts the use of a card.
func (s *state) use(card string) error {
	next := model.Pass{Card: card}
	if p := s.passes[card]; p != nil {
		next = *p
	}
	uses := 1
	if next.Uses != nil {
		uses += *next.Uses
	}
	next.Uses = &uses
	return s.setPass(next)
}

// setPass notes a row, which is gone when neither of its projectors has anything to say.
func (s *state) setPass(p model.Pass) error {
	row := &p
	if p.BranchID == nil && p.Uses == nil {
		row = nil
	}
	s.passes[p.Card] = row
	return note(s, model.PassCodec, p.Card, row)
}
