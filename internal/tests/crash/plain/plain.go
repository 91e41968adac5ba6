// Package plain folds those events of the ledger that references, cascades, aggregates and a time series hang on: with
// maps, one event after another, and without package projection. What servers keep must be what it says, so that a
// fault of package projection is not on both sides of the comparison.
//
// A copy that follows is made of the other row as it is in the end. One that does not is made when the row gets the
// identifier, and kept as long as the row has that.
package plain

import (
	"fmt"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/internal/tests/crash/ledger/event"
	"github.com/foldql/foldql/internal/tests/crash/ledger/model"
	"github.com/foldql/foldql/internal/tests/crash/verifier"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// Projection is the one whose rows are folded here.
const Projection = "Branch+Card+Home+Owner+Plan+Tariff+keepers+passes+readings+uses"

// Ledger is the fold, for the verifier.
var Ledger = verifier.Plain{Projection: Projection, Fold: Fold}

// Fold folds events in the order in which they take effect.
func Fold(events []verifier.Effect) ([]verifier.PlainRow, error) {
	s := newState()
	for i := range events {
		s.at = events[i].At
		if err := s.take(&events[i].Event); err != nil {
			return nil, fmt.Errorf("event %d: %w", events[i].Event.Offset, err)
		}
	}
	return s.rows()
}

// state is what the rows are, by their identifiers. A nil one was there once, or may have been. Copies that follow
// after the commit of a change are left out.
type state struct {
	owners    map[string]*model.Owner
	branches  map[string]*model.Branch
	cards     map[string]*model.Card
	passes    map[string]*model.Pass
	tariffs   map[string]*model.Tariff
	plans     map[string]*model.Plan
	terminals map[string]*terminal
	homes     map[string]*model.Home
	waiting   map[string][]*eventlog.Event // for the branch, or the tariff, of that identifier
	at        driver.Position              // of the event in hand
	versions  map[*querydb.Model]map[string][]verifier.PlainVersion
}

func newState() *state {
	return &state{
		owners: map[string]*model.Owner{}, branches: map[string]*model.Branch{}, cards: map[string]*model.Card{},
		passes: map[string]*model.Pass{}, tariffs: map[string]*model.Tariff{}, plans: map[string]*model.Plan{},
		terminals: map[string]*terminal{}, homes: map[string]*model.Home{}, waiting: map[string][]*eventlog.Event{},
		versions: map[*querydb.Model]map[string][]verifier.PlainVersion{},
	}
}

// note notes what the event in hand has made of a row, nil for none.
func note[R any](s *state, codec *querydb.Codec[R], id string, row *R) error {
	v := verifier.PlainVersion{At: s.at}
	if row != nil {
		encoded, err := querydb.Encode(codec, &record.Builder{}, row)
		if err != nil {
			return err
		}
		v.Record = encoded.Record
	}
	if s.versions[codec.Model] == nil {
		s.versions[codec.Model] = map[string][]verifier.PlainVersion{}
	}
	s.versions[codec.Model][id] = append(s.versions[codec.Model][id], v)
	return nil
}

// take folds an event. One that names a branch or a tariff which is not there waits for it; one about a card, a plan or
// a home that is not there has no effect.
func (s *state) take(e *eventlog.Event) error {
	switch e.Type {
	case "OwnerNamed":
		return decoded(event.DecodeOwnerNamed, e, func(v event.OwnerNamed) error {
			return s.setOwner(v.Owner, &model.Owner{ID: v.Owner, Name: v.Name, Changed: &e.Time})
		})
	case "OwnerGone":
		return decoded(event.DecodeOwnerGone, e, func(v event.OwnerGone) error { return s.setOwner(v.Owner, nil) })
	case "BranchNamed":
		return s.nameBranch(e)
	case "CardIssued", "CardUsed", "CardReturned":
		return s.takeCard(e)
	case "TariffSet", "TariffCorrected":
		return planFold{s}.takeTariff(e)
	case "PlanTaken", "PlanRenamed", "PlanEnded":
		return planFold{s}.takePlan(e)
	case "TerminalGiven", "TerminalRead", "TerminalLeft", "TerminalScrapped":
		return terminalFold{s}.takeTerminal(e)
	case "HomeFormed", "HomeRenamed", "KeyGiven", "KeyLost", "HomeLeft":
		return s.takeHome(e)
	case "BoxFilled", "BoxShared", "BoxTaken":
		return boxFold{s}.takeBox(e)
	}
	return nil
}

// decoded reads the data of an event.
func decoded[V any](decode func([]byte) (V, error), e *eventlog.Event, take func(V) error) error {
	v, err := decode(e.Data)
	if err != nil {
		return err
	}
	return take(v)
}

// setOwner makes an owner, or takes it away, and with it the seals on cards and the keepers of boxes: these follow in
// the same commit.
func (s *state) setOwner(id string, o *model.Owner) error {
	s.owners[id] = o
	if err := note(s, model.OwnerCodec, id, o); err != nil {
		return err
	}
	for card, c := range s.cards {
		if c == nil || c.SealID == nil || *c.SealID != id {
			continue
		}
		c.Seal = s.owner(c.SealID)
		if err := note(s, model.CardCodec, card, c); err != nil {
			return err
		}
	}
	return boxFold{s}.setKeepers(id)
}

// nameBranch makes the branch, for which events may have waited.
func (s *state) nameBranch(e *eventlog.Event) error {
	v, err := event.DecodeBranchNamed(e.Data)
	if err != nil {
		return err
	}
	s.branches[v.Branch] = &model.Branch{ID: v.Branch, Name: v.Name, HeadID: v.Head}
	if err := note(s, model.BranchCodec, v.Branch, s.branches[v.Branch]); err != nil {
		return err
	}
	return s.release(v.Branch)
}

// release folds the events that have waited for the row of the identifier.
func (s *state) release(id string) error {
	waiting := s.waiting[id]
	delete(s.waiting, id)
	for _, e := range waiting {
		if err := s.take(e); err != nil {
			return err
		}
	}
	return nil
}

// copyOf is a copy of the branch as it is now; nil where there is none, for which the event waits then.
func (s *state) copyOf(branch string, e *eventlog.Event) *model.BranchCopy {
	b := s.branches[branch]
	if b == nil {
		s.waiting[branch] = append(s.waiting[branch], e)
		return nil
	}
	return &model.BranchCopy{ID: b.ID, Name: b.Name, HeadID: b.HeadID}
}
