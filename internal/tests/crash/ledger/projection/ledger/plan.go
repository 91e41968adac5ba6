package ledger

import (
	"github.com/foldql/foldql/internal/tests/crash/ledger/event"
	"github.com/foldql/foldql/internal/tests/crash/ledger/model"
	"github.com/foldql/foldql/internal/tests/crash/ledger/projection/ops"
	"github.com/foldql/foldql/projection"
)

// Plan keeps the plans that people have.
type Plan struct{}

func (Plan) PlanTaken(e event.PlanTaken, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Plan.Set(model.Plan{Plan: e.Plan, Name: e.Name, TariffID: e.Tariff, SpareID: e.Spare})}
}

func (Plan) PlanRenamed(e event.PlanRenamed, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Plan.Update(e.Plan, func(p *model.Plan) { p.Name = e.Name })}
}

func (Plan) PlanEnded(e event.PlanEnded, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Plan.Delete(e.Plan)}
}
