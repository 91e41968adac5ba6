package plain

import (
	"errors"
	"slices"
	"strings"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/internal/tests/crash/ledger/event"
	"github.com/foldql/foldql/internal/tests/crash/ledger/model"
)

// planFold folds events of plans, and of the tariffs of these and of boxes.
type planFold struct{ *state }

// takePlan folds an event of a plan.
func (s planFold) takePlan(e *eventlog.Event) error {
	switch e.Type {
	case "PlanTaken":
		return decoded(event.DecodePlanTaken, e, func(v event.PlanTaken) error {
			if _, known := s.plans[v.Plan]; !known {
				s.plans[v.Plan] = nil
			}
			p := &model.Plan{Plan: v.Plan, Name: v.Name, TariffID: v.Tariff, SpareID: v.Spare, Changed: &e.Time}
			if p.Tariff = s.tariffOf(v.Tariff, e); p.Tariff == nil {
				return nil
			}
			if v.Spare != nil {
				if p.Spare = s.tariffOf(*v.Spare, e); p.Spare == nil {
					return nil
				}
			}
			return s.setPlan(v.Plan, p)
		})
	case "PlanRenamed":
		return decoded(event.DecodePlanRenamed, e, func(v event.PlanRenamed) error {
			p := s.plans[v.Plan]
			if p == nil {
				return nil
			}
			p.Name, p.Changed = v.Name, &e.Time
			return s.setPlan(v.Plan, p)
		})
	}
	return decoded(event.DecodePlanEnded, e, func(v event.PlanEnded) error { return s.setPlan(v.Plan, nil) })
}

func (s planFold) setPlan(id string, p *model.Plan) error {
	s.plans[id] = p
	return note(s.state, model.PlanCodec, id, p)
}

// tariffOf is a copy of the tariff as it is now; nil where there is none, for which the event waits then.
func (s *state) tariffOf(id string, e *eventlog.Event) *model.TariffCopy {
	t := s.tariffs[id]
	if t == nil {
		s.waiting[id] = append(s.waiting[id], e)
		return nil
	}
	return &model.TariffCopy{ID: t.ID, Price: t.Price}
}

// isLater reports whether copies of a tariff follow after the commits of its changes. They follow each of them, and all
// do or always the same ones, so that at rest they are as if they had followed at once.
func isLater(tariff string) bool { return strings.HasPrefix(tariff, "x") }

// takeTariff folds an event of a tariff, which stays once it is there.
func (s planFold) takeTariff(e *eventlog.Event) error {
	if e.Type == "TariffSet" {
		return decoded(event.DecodeTariffSet, e, func(v event.TariffSet) error {
			return s.setTariff(v.Tariff, v.Price, func(_, _ string, asked bool) bool { return !asked && !v.Quiet })
		})
	}
	return decoded(event.DecodeTariffCorrected, e, func(v event.TariffCorrected) error {
		if s.tariffs[v.Tariff] == nil || slices.ContainsFunc(v.Targets, holdsNoTariff) {
			return nil
		}
		return s.setTariff(v.Tariff, v.Price, func(of, name string, _ bool) bool {
			return (len(v.Targets) == 0 || slices.Contains(v.Targets, of)) && (v.Name == nil || *v.Name == name)
		})
	})
}

// holdsNoTariff reports whether rows of the model hold no copies of tariffs, so that none can be asked to follow.
func holdsNoTariff(model string) bool { return model != "Plan" && model != "Home" }

// setTariff gives a tariff a price, and with it those copies that follow: it is asked of each by the model and the name
// of the row that holds it, and by whether it is one that follows nothing unless it is asked to.
func (s planFold) setTariff(id string, price int, follows func(of, name string, asked bool) bool) error {
	if t := s.tariffs[id]; t != nil && t.Price == price {
		return s.release(id)
	}
	t := &model.Tariff{ID: id, Price: price}
	s.tariffs[id] = t
	err := note(s.state, model.TariffCodec, id, t)
	now := &model.TariffCopy{ID: id, Price: price}
	for plan, p := range s.plans {
		if p == nil {
			continue
		}
		asked := p.TariffID == id && follows("Plan", p.Name, true)
		if asked {
			p.Tariff = now
		}
		spare := p.SpareID != nil && *p.SpareID == id && follows("Plan", p.Name, false)
		if spare {
			p.Spare = now
		}
		if asked || spare {
			err = errors.Join(err, s.setPlan(plan, p))
		}
	}
	for home, h := range s.homes {
		for _, b := range boxes(h) {
			if b.TariffID != nil && *b.TariffID == id && follows("Home", h.Name, true) {
				b.Tariff = now
				err = errors.Join(err, s.setHome(home, h))
			}
		}
	}
	return errors.Join(err, s.release(id))
}
